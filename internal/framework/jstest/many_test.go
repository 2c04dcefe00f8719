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
		"packages/docs/test/a.js": "",
		"test/a.js":               "",
		"":                        "",
	} {
		if got := mocha.Runner.Apart(root, run, "", file); got != want {
			t.Errorf("%q: %q, want %q", file, got, want)
		}
	}
	run, _ = mocha.Runner.Resolve(root, "packages/web", "", nil)
	for dir, want := range map[string]string{"packages/web": "", "": ""} {
		if got := mocha.Runner.Apart(root, run, dir, "packages/web/test/a.js"); got != want {
			t.Errorf("below %q: %q, want %q", dir, got, want)
		}
	}
}
