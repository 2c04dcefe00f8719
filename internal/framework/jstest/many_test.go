package jstest_test

import (
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/framework/mocha"
)

const packages = `
-- package.json --
{"workspaces":["packages/*"],"scripts":{"test":"yarn workspaces run test","unit":"CI=1 turbo run test:unit -- --ui tdd","both":"mocha && lerna run test","two":"npm test -w web -w api","build":"lerna run build && mocha","loop":"lerna exec -- mocha"},"devDependencies":{"mocha":"*"}}
-- packages/web/package.json --
{"name":"web","scripts":{"build":"tsc","test":"WEB=1 mocha","test:unit":"UNIT=1 mocha --config u.json"}}
-- packages/api/package.json --
{"name":"api","scripts":{"test":"API=1 mocha"}}
-- packages/docs/package.json --
{"name":"docs","scripts":{"test":"astro check"}}
`

func TestACommandForManyPackagesRunsTheScriptOfEach(t *testing.T) {
	t.Parallel()
	const web, api, doubt, standsIn = "WEB=1 |", "API=1 |", " does not show how it runs mocha", " stands in for it"
	for command, want := range map[string]struct{ web, api, doubt string }{
		"npm test":                               {web, api, ""},
		"yarn workspaces foreach -A run test":    {web, api, ""},
		"yarn workspaces run test --reporter=no": {web, api, ""},
		"npm test --workspaces":                  {web, api, ""},
		"npm t -ws":                              {web, api, ""},
		"npm test -w web -w packages/api":        {web, api, ""},
		"npm run two":                            {web, api, ""},
		"npm run both":                           {web, api, ""},
		"npx nx run-many --target=test":          {web, api, ""},
		"nx run web:test":                        {web, api, ""},
		"bun run --filter * test":                {web, api, ""},
		"pnpm --filter ./packages/* run test":    {web, api, ""},
		"env CI=1 pnpm -r test":                  {"CI=1 " + web, "CI=1 " + api, ""},
		"pnpm -r test --ui tdd":                  {web + " --ui tdd", api + " --ui tdd", ""},
		"npm test --workspaces -- --ui tdd":      {web + " --ui tdd", api + " --ui tdd", ""},
		"npm run unit":                           {"CI=1 UNIT=1 | --config u.json --ui tdd", api + " ?", doubt},
		"yarn workspace web test:unit":           {"UNIT=1 | --config u.json", api + " ?", ` runs mocha in "packages/web"`},
		"turbo run ci":                           {web + " ?", api + " ?", standsIn},
		"npm run loop":                           {web + " ?", api + " ?", standsIn},
		"npm run build":                          {web + " ?", api + " ?", ` runs mocha in "."`},
	} {
		for dir, want := range map[string][2]string{"packages/web": {want.web, want.doubt}, "packages/api": {want.api, want.doubt}} {
			run, _ := mocha.Runner.Resolve(files(packages), dir, "", strings.Fields(command))
			got := strings.TrimSpace(strings.Join(run.Env, " ") + " | " + strings.Join(run.Args, " "))
			if len(run.Doubts) > 0 {
				got += " ?"
			}
			if got != want[0] || run.Dir != dir || strings.HasSuffix(want[0], "?") && !strings.Contains(run.Doubts[0], want[1]) {
				t.Errorf("%s in %s: got %q in %q with doubts %q, want %q in it with %q", command, dir, got, run.Dir, run.Doubts, want[0], want[1])
			}
		}
	}
}

func TestOnlyACommandForOneDirectoryLeadsThere(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"npm run build":          "", // the packages are built, and the tests are the root's
		"npm test -w web":        "packages/web",
		"pnpm --filter api test": "packages/api",
		"npm test":               "no",
		"npm run both":           "no",
		"npm run two":            "no",
		"npm run unit":           "no",
		"npm run loop":           "no",
		"npx lerna exec mocha":   "no",
	} {
		dir, ok := mocha.Runner.Called(files(packages), "", strings.Fields(command))
		if !ok {
			dir = "no"
		}
		if dir != want {
			t.Errorf("%s leads to %q, want %q", command, dir, want)
		}
	}
}

func TestAPackageThatRunsItsTestsInAnotherWayThanItsSuiteIsTold(t *testing.T) {
	t.Parallel()
	root := files(packages)
	run, _ := mocha.Runner.Resolve(root, "", "", nil)
	for file, want := range map[string]string{
		"packages/web/test/a.js":  `the script "test" of packages/web/package.json`,
		"packages/docs/test/a.js": `the script "test" of packages/docs/package.json`, // nobody knows what astro does
		"packages/none/test/a.js": "",
		"test/a.js":               "",
		"":                        "",
	} {
		if got := mocha.Runner.Apart(root, run, "", file, "", nil); got != want {
			t.Errorf("%q: %q, want %q", file, got, want)
		}
	}
	run, _ = mocha.Runner.Resolve(root, "packages/web", "", nil)
	for dir, want := range map[string]string{"packages/web": "", "": ""} {
		if got := mocha.Runner.Apart(root, run, dir, "packages/web/test/a.js", "", nil); got != want {
			t.Errorf("below %q: %q, want %q", dir, got, want)
		}
	}
}

func TestWhatOneCommandForManyPackagesLeavesOpenIsTold(t *testing.T) {
	t.Parallel()
	const web, api = "\n-- packages/web/package.json --\n", "\n-- packages/api/package.json --\n"
	for name, c := range map[string]struct{ root, packages, dir, command, want string }{
		"two filters": {`"test":"pnpm --filter ./packages/a* test && STRICT=1 pnpm --filter ./packages/w* test"`,
			web + `{"scripts":{"test":"mocha"}}`, "packages/web", "npm test", "| | it runs mocha in more than one way, and the first is taken in packages/web"},
		"built before": {`"test":"npm run build && npm test --workspaces"`,
			web + `{"scripts":{"test":"mocha"}}`, "packages/web", "npm test", "| | after npm run build in packages/web"},
		"built before, in the second folder": {`"pretest":"tsc -b","test":"cd packages/api && mocha && cd ../web && mocha"`,
			web + "{}", "packages/web", "npm test", "| | after tsc -b in packages/web"},
		"the root's script, without a command": {`"test":"STRICT=1 npm test --workspaces"`,
			web + `{"scripts":{"test":"mocha"}}`, "packages/web", "", `| | the script "test" of package.json runs it in another way in packages/web`},
		"the root's script adds colours": {`"test":"FORCE_COLOR=1 NODE_OPTIONS=--max-old-space-size=4096 npm test --workspaces","ci":"turbo run test:slow"`,
			web + `{"scripts":{"test":"mocha","test:slow":"SLOW=1 mocha"}}`, "packages/web", "", "| in packages/web"},
		"the root's script is the package's own": {`"test":"npm test --workspaces"`,
			web + `{"scripts":{"test":"A=1 mocha"}}`, "packages/web", "", "A=1 | in packages/web"},
		"an option that is no filter": {`"test":"STRICT=1 node -r esm run-tests.js"`,
			web + "{}", "", "", `no | the script "test" of package.json ("STRICT=1 node -r esm run-tests.js") does not show how it runs mocha`},
		"a task that is no script": {`"test":"turbo run test:ci"`,
			web + `{"scripts":{"ci":"CI=1 mocha","test":"mocha"}}`, "packages/web", "npm test", `| | "npm test" does not show how it runs mocha, and the script "test" of packages/web/package.json stands in for it in packages/web`},
	} {
		root := files("-- package.json --\n" + `{"workspaces":["packages/*"],"scripts":{` + c.root + "}}" + c.packages + api + `{"scripts":{"test":"mocha"}}` + "\n")
		if got := told(mocha.Runner.Resolve(root, c.dir, "", strings.Fields(c.command))); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestAPackageThatACommandRunsOnItsOwnIsApartFromTheRoot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ root, script, command, want string }{
		"by the command":            {"mocha && npm test --workspaces", "STRICT=1 mocha", "npm test", `the script "test" of packages/web/package.json`},
		"in the same way":           {"mocha && npm test --workspaces", "mocha", "npm test", ""},
		"not by the command":        {"mocha", "STRICT=1 mocha", "npm test", ""},
		"alone":                     {"mocha", "STRICT=1 mocha", "", `the script "test" of packages/web/package.json`},
		"in a way that nobody sees": {"mocha", "STRICT=1 node run-tests.js", "", `the script "test" of packages/web/package.json`},
		"from the root":             {"mocha", "cd ../.. && mocha packages/web", "", ""},
		"no tests yet":              {"mocha", "echo no test specified", "", ""},
		"only types":                {"mocha", "tsc --noEmit && echo fine", "", ""},
	} {
		root := files("-- package.json --\n" + `{"workspaces":["packages/*"],"scripts":{"test":"` + c.root + `"}}` + "\n-- .mocharc.json --\n{}\n-- packages/web/package.json --\n" + `{"scripts":{"test":"` + c.script + `"}}` + "\n")
		run, _ := mocha.Runner.Resolve(root, "", "", strings.Fields(c.command))
		if got := mocha.Runner.Apart(root, run, "", "packages/web/test/a.js", "", strings.Fields(c.command)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
