package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/framework/pytest"
	"github.com/triagebot/triagebot/internal/triage"
)

// unpacked makes a directory of an archive.
func unpacked(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		file := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// manifest is an archive of a package.json with one test script.
func manifest(script string) string {
	return "-- package.json --\n{\"scripts\":{\"test\":\"" + script + "\"},\"devDependencies\":{\"mocha\":\"*\"}}\n"
}

func TestTrialsOfEachSideRunWhatTheScriptsSay(t *testing.T) {
	t.Setenv("NODE_OPTIONS", "")
	for name, c := range map[string]struct {
		head, base string
		command    []string
		want       [2]string
		warns      []string
	}{
		"one script":               {"STRICT=1 mocha --ui tdd", "STRICT=1 mocha --ui tdd", nil, [2]string{"STRICT=1 --ui tdd", "STRICT=1 --ui tdd"}, nil},
		"the head's is another":    {"STRICT=1 mocha", "mocha --ui tdd", nil, [2]string{"STRICT=1", "--ui tdd"}, []string{"differs between head and base", "STRICT=1 mocha on head, mocha --ui tdd on base"}},
		"a command runs a script":  {"STRICT=1 mocha", "mocha", []string{"npm", "test"}, [2]string{"STRICT=1", ""}, []string{"differs between head and base"}},
		"a command of its own":     {"STRICT=1 mocha", "mocha", []string{"npx", "mocha", "--ui", "qunit"}, [2]string{"--ui qunit", "--ui qunit"}, nil},
		"base has none":            {"STRICT=1 mocha", "echo no test specified", nil, [2]string{"STRICT=1", "STRICT=1"}, nil},
		"head's cannot be read":    {"node run.js", "STRICT=1 mocha", nil, [2]string{"STRICT=1", "STRICT=1"}, []string{"node run.js", "base's does", "triagebot.yml"}},
		"neither can be read":      {"node run.js", "node run.js", nil, [2]string{"", ""}, []string{`"node run.js") does not show how it runs mocha`, "command: env KEY=VALUE npx mocha --require ./setup.js"}},
		"another script stands in": {"STRICT=1 mocha", "STRICT=1 mocha", []string{"npm", "run", "ci"}, [2]string{"STRICT=1", "STRICT=1"}, []string{`"npm run ci" does not show how it runs mocha, and the script "test" of package.json stands in for it`}},
		"a runner of its own":      {"craco test", "craco test", nil, [2]string{"", ""}, []string{`"craco test") does not show how it runs mocha`, "Trials run \"npx --no-install mocha\", which may not be what CI ran"}},
		"other files":              {"mocha test/a", "mocha test/b", nil, [2]string{"", ""}, []string{"differs between head and base"}},
		"something is made before": {"tsc && mocha", "tsc && mocha", nil, [2]string{"", ""}, []string{"first runs tsc, and trials do not", "--setup"}},
	} {
		head, base := unpacked(t, manifest(c.head)), unpacked(t, manifest(c.base))
		lang := afterReading(t, name, "mocha", head, base, c.command, c.warns)
		var got [2]string
		for i, tree := range []string{head, base} {
			spec := triage.RunSpec{Tree: tree, Prepared: triage.Prepared{Bin: "mocha.js", Dir: tree}, Target: triage.Target{Package: "test/a.js", Test: "x"}}
			cmd := lang.adapter().Command(spec)
			at := slices.Index(cmd.Argv, "^x$")
			got[i] = strings.Join(slices.Concat(cmd.Env, cmd.Argv[at+1:]), " ")
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestAScriptsCommandChoosesTheSuite(t *testing.T) {
	tree := unpacked(t, `-- package.json --
{"workspaces":["packages/*"],"scripts":{"test":"npm test -w web"},"devDependencies":{"vitest":"*","mocha":"*","jest":"*"}}
-- packages/web/package.json --
{"name":"web","scripts":{"test":"STRICT=1 mocha","e2e":"jest -c e2e.js"}}
-- packages/api/package.json --
{"scripts":{"test":"vitest"}}
-- Makefile --
check:
	npm run e2e -w web
`)
	for command, want := range map[string]config.Suite{
		"npm test":                  {Name: "mocha", Framework: "mocha", Dir: "packages/web"},
		"pnpm -C packages/api test": {Name: "vitest", Framework: "vitest", Dir: "packages/api"},
		"make check":                {Name: "jest", Framework: "jest", Dir: "packages/web"},
	} {
		want.Command = strings.Fields(command)
		got, err := chosen(nil, want.Command, tree, "", "")
		if d := cmp.Diff([]config.Suite{want}, got); d != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", command, err, d)
		}
		named, err := chosen([]config.Suite{{Name: "own", Dir: ".", Command: want.Command}}, nil, tree, "", "")
		if err != nil || named[0].Framework != want.Framework || named[0].Name != "own" {
			t.Errorf("%s in the configuration: %+v, %v", command, named, err)
		}
	}
}

func TestATestIsOfTheSuiteThatItsFileLiesDeepestIn(t *testing.T) {
	t.Parallel()
	s := &session{}
	for _, dir := range []string{"packages/alpha", "packages/beta", "packages/beta/sub"} {
		s.suites = append(s.suites, &suite{Suite: config.Suite{Name: dir, Framework: "jest", Dir: dir}})
	}
	for file, want := range map[string]string{
		"packages/alpha/a.test.js": "packages/alpha", "packages/beta/a.test.js": "packages/beta", "packages/beta/sub/a.test.js": "packages/beta/sub",
		"a.test.js": "packages/alpha", "packages/betas/a.test.js": "packages/alpha",
	} {
		if got := s.suiteFor(triage.Target{Framework: "jest", Package: file}).Name; got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
	if s.suiteFor(triage.Target{Framework: "mocha"}) != nil {
		t.Error("a suite of another framework")
	}
}

func TestACommandForManyPackagesIsOfTheirSuites(t *testing.T) {
	t.Parallel()
	const root = `-- package.json --
{"workspaces":["apps/*"],"scripts":{"test":"npm test --workspaces"},"devDependencies":{"mocha":"*"}}
-- apps/web/package.json --
{"name":"web","scripts":{"test":"STRICT=1 mocha"}}
-- apps/api/package.json --
{"name":"api","scripts":{"test":"mocha"}}
`
	const twoKinds = root + `-- apps/site/package.json --
{"name":"site","scripts":{"test":"vitest"},"devDependencies":{"vitest":"*"}}
`
	for name, c := range map[string]struct{ tree, command, from, want string }{
		"one framework":         {root, "npm test", "", "mocha:apps/api mocha:apps/web"},
		"by a program":          {root, "npx turbo run test", "", "mocha:apps/api mocha:apps/web"},
		"by a script of shell":  {root, "sh ci.sh", "", "mocha:apps/api mocha:apps/web"},
		"two frameworks":        {twoKinds, "npm test", "", "mocha:apps/api vitest:apps/site mocha:apps/web"},
		"of one package":        {twoKinds, "npm test -w site", "", "vitest"},
		"typed in a package":    {twoKinds, "sh ci.sh", "apps/web", "mocha"},
		"the framework itself":  {root, "npx mocha", "", "mocha"},
		"what runs Go as well":  {root + "-- go.mod --\nmodule m\n", "sh ci.sh", "", "go"},
		"a word that names one": {twoKinds, "sh ci.sh vitest", "", "vitest:apps/site"},
	} {
		got, err := chosen(nil, strings.Fields(c.command), unpacked(t, c.tree), c.from, "")
		var names []string
		for _, su := range got {
			names = append(names, su.Name)
			if strings.Join(su.Command, " ") != c.command {
				t.Errorf("%s: %s has the command %q", name, su.Name, su.Command)
			}
		}
		if strings.Join(names, " ") != c.want || err != nil {
			t.Errorf("%s: %q, %v, want %s", name, names, err, c.want)
		}
	}
}

func TestTrialsOfPytestRunWhatAMakefileSays(t *testing.T) {
	for _, name := range pythonVariables {
		t.Setenv(name, "")
	}
	const tox = "[testenv]\nsetenv = STRICT=1\ncommands = pytest -W error {posargs}\n"
	for name, c := range map[string]struct {
		head, base, command string
		want                [2]string
		warns               []string
	}{
		"one line":      {"-- Makefile --\ntest:\n\tSTRICT=1 pytest -p no:x\n", "", "make test", [2]string{"STRICT=1|-p no:x", "STRICT=1|-p no:x"}, nil},
		"two sides":     {"-- Makefile --\ntest:\n\tSTRICT=1 pytest\n", "-- Makefile --\ntest:\n\tpytest -W error\n", "make test", [2]string{"STRICT=1|", "|-W error"}, []string{"Makefile differs between head and base"}},
		"tox":           {"-- tox.ini --\n" + tox, "", "tox", [2]string{"STRICT=1|-W error", "STRICT=1|-W error"}, []string{"tox makes an environment of its own", "triagebot.yml"}},
		"a script":      {"-- run.sh --\npytest\n", "", "./run.sh", [2]string{"|", "|"}, []string{`"./run.sh" does not show how it runs pytest`, `Trials run "python3 -m pytest"`}},
		"nox":           {"-- noxfile.py --\n", "", "nox -s t", [2]string{"|", "|"}, []string{`"nox -s t" does not show how it runs pytest`}},
		"pytest itself": {"-- Makefile --\n", "", "env A=1 pytest -W error", [2]string{"A=1|-W error", "A=1|-W error"}, nil},
	} {
		head, base := unpacked(t, c.head), unpacked(t, c.head)
		if c.base != "" {
			base = unpacked(t, c.base)
		}
		lang := afterReading(t, name, "pytest", head, base, strings.Fields(c.command), c.warns)
		var got [2]string
		for i, tree := range []string{head, base} {
			a, ok := lang.adapter().(pytest.Adapter)
			if !ok {
				a = lang.adapter().(inOne).of(tree).(pytest.Adapter)
			}
			got[i] = strings.Join(a.Env, " ") + "|" + strings.Join(a.Args, " ")
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestOfGoOnlyItsOwnCommandIsTakenOver(t *testing.T) {
	t.Parallel()
	dir := unpacked(t, "-- go.mod --\nmodule m\n-- Makefile --\ntest:\n\tSTRICT=1 go test ./...\n")
	afterReading(t, "go test", "gotest", dir, dir, []string{"env", "STRICT=1", "go", "test", "./..."}, nil)
	afterReading(t, "none", "gotest", dir, dir, nil, nil)
	afterReading(t, "make", "gotest", dir, dir, []string{"make", "test"}, []string{`"make test" does not show how it runs go test. Trials run "go test"`, "command: env KEY=VALUE go test -tags TAG ./..."})
}

func TestMakeThatAlsoRunsGoIsOfGo(t *testing.T) {
	t.Parallel()
	dir := unpacked(t, "-- go.mod --\nmodule m\n-- Makefile --\ntest:\n\tgo test ./...\n\tcd web && npm test\nweb:\n\tcd web && npm test\n-- web/package.json --\n{\"scripts\":{\"test\":\"mocha\"},\"devDependencies\":{\"mocha\":\"*\"}}\n")
	for target, want := range map[string]string{"test": "gotest", "web": "mocha"} {
		got, err := chosen(nil, []string{"make", target}, dir, "", "")
		if err != nil || len(got) != 1 || got[0].Framework != want {
			t.Errorf("make %s: %+v, %v, want a suite of %s", target, got, err, want)
		}
	}
}

func TestScriptsAreNotReadThroughALinkOutOfTheTree(t *testing.T) {
	t.Parallel()
	outside, dir := unpacked(t, "-- env --\nTOKEN=hush\n"), unpacked(t, manifest("env-cmd -f .env mocha"))
	if err := os.Symlink(filepath.Join(outside, "env"), filepath.Join(dir, ".env")); err != nil {
		t.Skip(err)
	}
	lang, _ := newLanguage("mocha")
	su := &suite{Suite: config.Suite{Name: "mocha", Framework: "mocha", Dir: "."}, lang: lang}
	if err := lang.configure(dir, su); err != nil {
		t.Fatal(err)
	}
	warns := strings.Join(lang.(scripted).readScripts(dir, "", "", su), "\n")
	if !strings.Contains(warns, "the variables of .env cannot be read") || slices.Contains(lang.(*scriptLanguage).project.Env, "TOKEN=hush") {
		t.Errorf("read: %s", warns)
	}
}

// afterReading is a suite's language after it has read the scripts of both trees,
// which must give warnings with these words, or none.
func afterReading(t *testing.T, name, framework, head, base string, command, warns []string) language {
	t.Helper()
	lang, _ := newLanguage(framework)
	su := &suite{Suite: config.Suite{Name: framework, Framework: framework, Dir: ".", Command: command}, lang: lang}
	if err := lang.configure(head, su); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(lang.(scripted).readScripts(head, base, "", su), "\n")
	if told := strings.Contains(text, "may not be what CI ran") || strings.Contains(text, "and trials do not"); su.unlike != told {
		t.Errorf("%s: trials unlike CI's: %v, warnings are %q", name, su.unlike, text)
	}
	for _, w := range warns {
		if !strings.Contains(text, w) {
			t.Errorf("%s: warnings are %q, want %q in them", name, text, w)
		}
	}
	if len(warns) == 0 && text != "" {
		t.Errorf("%s: warnings %q", name, text)
	}
	return lang
}
