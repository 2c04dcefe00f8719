package jstest_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/triagebot/triagebot/internal/framework/jest"
	"github.com/triagebot/triagebot/internal/framework/jstest"
	"github.com/triagebot/triagebot/internal/framework/mocha"
	"github.com/triagebot/triagebot/internal/framework/nodetest"
	"github.com/triagebot/triagebot/internal/framework/vitest"
)

func files(archive string) fstest.MapFS {
	root := fstest.MapFS{}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		root[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	return root
}

// told is what a run tells, as one text: variables, then options, then doubts.
func told(run jstest.Run, ok bool) string {
	p := run.Project("")
	out := strings.TrimSpace(strings.Join(p.Env, " ") + " | " + strings.Join(p.Args, " "))
	if !ok {
		out = "no"
	}
	if len(run.Before) > 0 {
		out += " | after " + strings.Join(run.Before, ", ")
	}
	if len(run.Doubts) > 0 {
		out += " | " + strings.Join(run.Doubts, "; ")
	}
	if run.Dir != "" {
		out += " in " + run.Dir
	}
	return out
}

func TestAScriptGivesItsOptionsAndEnvironment(t *testing.T) {
	t.Parallel()
	mo, je, vi, no := mocha.Runner, jest.Runner, vitest.Runner, nodetest.Runner
	for script, c := range map[string]struct {
		r    jstest.Runner
		want string
	}{
		"mocha":          {mo, "|"},
		"STRICT=1 mocha": {mo, "STRICT=1 |"},
		"mocha --require ./test/setup.cjs --ui tdd spec/*.spec.js":                                    {mo, "| --require ./test/setup.cjs --ui tdd"},
		"cross-env A=1 B='2 3' mocha -r ts-node/register --reporter dot --bail --timeout=5000 'a/**'": {mo, "A=1 B=2 3 | -r ts-node/register --timeout=5000"},
		"mocha --parallel --jobs 2 --no-color --check-leaks --dispatch-lag=0.2":                       {mo, "| --check-leaks --dispatch-lag=0.2"},
		"nyc --reporter=lcov --reporter text mocha --ui tdd":                                          {mo, "| --ui tdd"},
		"c8 -r html npx mocha --ui=tdd":                                                               {mo, "| --ui=tdd"},
		"eslint . && mocha --ui tdd | tee out.txt":                                                    {mo, "| --ui tdd"},
		"tsc -p . && mocha --ui tdd build":                                                            {mo, "| --ui tdd | after tsc -p ."},
		"export STRICT=1; mocha":                                                                      {mo, "STRICT=1 |"},
		"npm run build && npm run unit":                                                               {mo, "U=1 | --ui bdd | after npm run build"},
		"S=1 npm run -s unit -- --ui tdd --foo=1":                                                     {mo, "S=1 U=1 | --ui bdd --ui tdd --foo=1"},
		"yarn unit --ui tdd":                                                                          {mo, "U=1 | --ui bdd --ui tdd"},
		"run-s lint test:*":                                                                           {mo, "D=1 |"},
		"pnpm run loop":                                                                               {mo, `no | the script "test" of package.json ("pnpm run loop") does not show how it runs mocha`},
		"dotenv -e .env.test -- mocha":                                                                {mo, "FROM=file TWO=a b |"},
		"dotenv -e .env.gone -- mocha":                                                                {mo, "| | the variables of .env.gone cannot be read"},
		"KEY=$SECRET A=1 mocha --reporter $R":                                                         {mo, "A=1 | | the value of the variable KEY is known to a shell only"},
		"mocha --ui tdd --require $SETUP":                                                             {mo, "| --ui tdd | the value of the option --require is known to a shell only"},
		"(cd lib && mocha)":                                                                           {mo, `no | the script "test" of package.json runs mocha in "lib"`},
		"mocha a && STRICT=1 mocha b":                                                                 {mo, "| | it runs mocha in more than one way, and the first is taken"},
		"node scripts/test.js":                                                                        {mo, `no | the script "test" of package.json ("node scripts/test.js") does not show how it runs mocha`},
		"node --expose-gc --import ./x.mjs node_modules/mocha/bin/mocha.js --ui tdd":                  {mo, "NODE_OPTIONS=--import ./x.mjs | --ui tdd | Node has the option --expose-gc, which trials leave out"},
		"node --trace-gc --no-opt --trace-warnings node_modules/mocha/bin/mocha.js":                   {mo, "NODE_OPTIONS=--trace-warnings | | Node has the option --trace-gc, which trials leave out; Node has the option --no-opt, which trials leave out"},
		"node --experimental-test-coverage node_modules/mocha/bin/mocha.js":                           {mo, "| | Node has the option --experimental-test-coverage, which trials leave out"},
		"make check":                                  {mo, "M=1 | --ui qunit"},
		"sh -c 'STRICT=1 mocha --delay'":              {mo, "STRICT=1 | --delay"},
		"turbo run test":                              {mo, "no"},
		`echo "Error: no test specified" && exit 1`:   {mo, "no"},
		"NODE_OPTIONS=--experimental-vm-modules jest": {je, "NODE_OPTIONS=--experimental-vm-modules |"},
		"node --experimental-vm-modules node_modules/jest/bin/jest.js --coverage":    {je, "NODE_OPTIONS=--experimental-vm-modules |"},
		"node --experimental-vm-modules node_modules/.bin/jest -i":                   {je, "NODE_OPTIONS=--experimental-vm-modules |"},
		"cross-env X=1 jest --config c.js --maxWorkers 2 --ci src":                   {je, "X=1 | --config c.js"},
		"TZ=UTC jest --env=jsdom --selectProjects a b --test-timeout 100 --no-cache": {je, "TZ=UTC | --env=jsdom --selectProjects a b --test-timeout 100"},
		"jest -ub": {je, "|"},
		"jest -ux": {je, "| | jest has the option -ux, which trials leave out"},
		"mocha --experimental-loader ts-node/esm test": {mo, "| --experimental-loader ts-node/esm"},
		"cd lib && npm ci; cd .. && mocha --ui tdd":    {mo, "| --ui tdd"},
		"(cd lib && npm ci) && mocha --ui tdd":         {mo, "| --ui tdd"},
		"docker compose run app npx mocha --ui tdd":    {mo, `no | the script "test" of package.json ("docker compose run app npx mocha --ui tdd") does not show how it runs mocha`},
		"jest --foo bar": {je, "| | jest has the option --foo, which trials leave out"},
		"vitest --config x --run --coverage.enabled --poolOptions.forks.maxForks 1 u": {vi, "| --config x --poolOptions.forks.maxForks 1"},
		"vitest run --environment jsdom --reporter dot --bail 1":                      {vi, "| --environment jsdom"},
		"node --import tsx --test 'test/**/*.ts' --test-reporter spec":                {no, "| --import tsx"},
		"A=1 tsx --test test/*.ts":                                                    {no, "A=1 | --import tsx"},
		"tsx --tsconfig t.json --test test/*.ts":                                      {no, "TSX_TSCONFIG_PATH=t.json | --import tsx"},
		"c8 node --test --experimental-strip-types":                                   {no, "| --experimental-strip-types"},
		"borp": {no, `no | the script "test" of package.json ("borp") does not show how it runs node --test`},
	} {
		manifest := `{"scripts":{"test":` + quoted(script) + `,"unit":"U=1 mocha --ui bdd","test:deep":"D=1 mocha","loop":"npm run loop","lint":"eslint"}}`
		if !strings.Contains(script, "unit") && !strings.Contains(script, "run-s") {
			manifest = `{"scripts":{"test":` + quoted(script) + `,"loop":"npm run loop"}}`
		}
		root := files("-- package.json --\n" + manifest + "\n-- Makefile --\nX = 1\ncheck: build\n\t@M=1 mocha --ui qunit \\\n\t $(X)\nother:\n\tmocha\n-- .env.test --\n# ours\nFROM=file\nexport TWO=\"a b\"\n")
		if d := cmp.Diff(c.want, told(c.r.Resolve(root, "", "", nil))); d != "" {
			t.Errorf("%s (-want +got):\n%s", script, d)
		}
	}
}

func TestAConditionIsTold(t *testing.T) {
	t.Parallel()
	root := files("-- package.json --\n" + `{"scripts":{"test":"if [ -n x ]; then mocha --ui tdd; fi"}}` + "\n")
	if got := told(mocha.Runner.Resolve(root, "", "", nil)); !strings.HasPrefix(got, "| --ui tdd | it stands in a condition") {
		t.Errorf("told %q", got)
	}
}

func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

const workspace = `
-- package.json --
{"workspaces":["packages/*"],"scripts":{"test":"npm test -w @a/web","all":"turbo run test"},"devDependencies":{"mocha":"*"}}
-- packages/web/package.json --
{"name":"@a/web","scripts":{"pretest":"tsc","test":"STRICT=1 mocha","test:tdd":"mocha --ui tdd","jest":"mocha --ui bdd"}}
`

func TestACommandLeadsToAScript(t *testing.T) {
	t.Parallel()
	const script = "STRICT=1 | | after tsc in packages/web"
	for command, want := range map[string]string{
		"npm test":                              script,
		"npm test --prefix packages/web":        script,
		"npm --prefix=packages/web t":           script,
		"pnpm -C packages/web test":             script,
		"pnpm --filter @a/web test":             script,
		"yarn workspace @a/web test":            script,
		"yarn --cwd packages/web test":          script,
		"X=1 npm test":                          "X=1 " + script,
		"env X=1 npm test":                      "X=1 " + script,
		"npm run test:tdd -w packages/web":      "| --ui tdd in packages/web",
		"pnpm -C packages/web run test:tdd --x": "| --ui tdd --x in packages/web",
		"yarn workspace @a/web run jest":        "| --ui bdd in packages/web",
		"npm exec -w @a/web -- mocha --ui tdd":  "| --ui tdd",
		"npx mocha --ui tdd":                    "| --ui tdd",
		"yarn mocha --ui tdd":                   "| --ui tdd",
		"npx --no-install mocha --ui tdd":       "| --ui tdd",
		"npm run all":                           script,
		"turbo run test":                        script,
		"pnpm -r test":                          script,
		"./ci.sh":                               script + `"./ci.sh" does not show how it runs mocha`,
	} {
		got := told(mocha.Runner.Resolve(files(workspace), "packages/web", "", strings.Fields(command)))
		if command == "./ci.sh" {
			want = `no | "./ci.sh" does not show how it runs mocha`
			got = told(mocha.Runner.Resolve(files("-- package.json --\n{}\n"), "", "", strings.Fields(command)))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", command, d)
		}
	}
}

func TestWhereACommandRunsAFramework(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{"pnpm -C packages/web test": "packages/web", "npx mocha": "", "npm test": "packages/web"} {
		if dir, ok := mocha.Runner.Called(files(workspace), "", strings.Fields(command)); !ok || dir != want {
			t.Errorf("%s: %q, %v, want %q", command, dir, ok, want)
		}
	}
	for _, command := range []string{"npm run lint", "make", "npm run all"} {
		if dir, ok := mocha.Runner.Called(files(workspace), "", strings.Fields(command)); ok {
			t.Errorf("%s is taken for mocha in %q", command, dir)
		}
	}
}

func TestParseCommandReadsOnlyWhatNamesTheFramework(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"npm test", "npm run mocha", "yarn run unit", "make mocha", "sh run.sh", "echo mocha", "npm install mocha", ""} {
		if p, ok := mocha.ParseCommand(strings.Fields(command)); ok {
			t.Errorf("%q is taken for mocha: %+v", command, p)
		}
	}
	for command, want := range map[string]jstest.Project{
		"A=1 pnpm exec mocha --ui tdd x":    {Env: []string{"A=1"}, Args: []string{"--ui", "tdd"}, Chosen: []string{"x"}},
		"xvfb-run -a npx mocha --ui=tdd":    {Args: []string{"--ui=tdd"}},
		"node_modules/.bin/_mocha --ui=tdd": {Args: []string{"--ui=tdd"}},
	} {
		got, ok := mocha.ParseCommand(strings.Fields(command))
		if d := cmp.Diff(want, got); d != "" || !ok {
			t.Errorf("%s: ok %v (-want +got):\n%s", command, ok, d)
		}
	}
}

func TestTwoScriptsThatDisagreeAreTold(t *testing.T) {
	t.Parallel()
	root := files("-- package.json --\n" + `{"scripts":{"test:a":"A=1 mocha","test:b":"B=1 mocha","e2e":"mocha"}}` + "\n")
	want := `A=1 | | the script "test:b" of package.json runs mocha in another way; the script "e2e" of package.json runs mocha in another way`
	if d := cmp.Diff(want, told(mocha.Runner.Resolve(root, "", "", nil))); d != "" {
		t.Error(d)
	}
}

func FuzzResolve(f *testing.F) {
	f.Add("npm run a", "A=1 mocha && yarn b", "npm test")
	f.Add("npx -c 'npm run a'", "pnpm a", "tsx --test")
	f.Add("env-cmd -f", "cross-env-shell 'a b'", "make -C . a")
	f.Fuzz(func(t *testing.T, a, b, command string) {
		root := files("-- package.json --\n{\"scripts\":{\"test\":" + quoted(a) + ",\"a\":" + quoted(b) + ",\"b\":\"npm run a\"}}\n")
		for _, r := range []jstest.Runner{mocha.Runner, nodetest.Runner} {
			run, ok := r.Resolve(root, "", "", strings.Fields(command))
			if !ok && len(run.Args)+len(run.Env) > 0 {
				t.Errorf("options of nothing: %+v", run)
			}
		}
	})
}

func TestACommandForSeveralDirectoriesIsNoneOfThem(t *testing.T) {
	t.Parallel()
	root := files("-- package.json --\n" + `{"workspaces":["packages/*"],"scripts":{"test":"npm test -w packages/a && npm test -w packages/b","all":"run-s t:*","t:a":"cd packages/a && mocha","t:b":"cd packages/b && mocha","up":"cd ../.. && mocha"}}` +
		"\n-- packages/a/package.json --\n" + `{"scripts":{"test":"mocha"}}` + "\n-- packages/b/package.json --\n" + `{"scripts":{"test":"mocha"}}` + "\n")
	for _, command := range []string{"npm test", "npm run all", "run-p t:*", "npm run up"} {
		if dir, ok := mocha.Runner.Called(root, "", strings.Fields(command)); ok {
			t.Errorf("%s: runs in %q alone", command, dir)
		}
	}
}

func TestOptionsForAnotherDirectoryAreLeftOut(t *testing.T) {
	t.Parallel()
	root := files("-- web/package.json --\n" + `{"scripts":{"test":"A=1 mocha --config ./x.js"}}` + "\n")
	if got, want := told(mocha.Runner.Resolve(root, "", "", strings.Fields("npm --prefix web test"))), `no | "npm --prefix web test" runs mocha in "web"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestValuesOfAFileOfVariablesAreNotTold(t *testing.T) {
	t.Parallel()
	root := files("-- package.json --\n" + `{"scripts":{"test":"env-cmd -f .env cross-env A=1 mocha"}}` + "\n-- .env --\nTOKEN=hush\n")
	run, _ := mocha.Runner.Resolve(root, "", "", nil)
	if got := run.String(); strings.Contains(got, "hush") || !strings.Contains(got, "TOKEN=… A=1 mocha") {
		t.Errorf("told %s", got)
	}
}

func TestAPartOfTheWrongKindIsPassedOver(t *testing.T) {
	t.Parallel()
	root := files("-- package.json --\n\ufeff" + `{"name":1,"scripts":{"x":2,"test":"mocha --ui tdd"},"devDependencies":{"mocha":"*"}}` + "\n")
	if got := told(mocha.Runner.Resolve(root, "", "", nil)); got != "| --ui tdd" {
		t.Errorf("told %s", got)
	}
	if len(mocha.Detect(root)) != 1 {
		t.Error("not found")
	}
}

func TestALongScriptIsShownInPart(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"node " + strings.Repeat("x ", 5000), "mocha " + strings.Repeat("x ", 5000) + " --ui $X"} {
		root := files("-- package.json --\n" + `{"scripts":{"test":` + quoted(script) + `}}` + "\n")
		run, ok := mocha.Runner.Resolve(root, "", "", nil)
		shown := strings.Join(run.Doubts, "; ")
		if ok {
			shown += run.String()
		}
		if len(run.Doubts) == 0 || len(shown) > 600 {
			t.Errorf("%d bytes are shown, with %d doubts", len(shown), len(run.Doubts))
		}
	}
}
