package jstest

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

func TestDetectInAWorkspace(t *testing.T) {
	t.Parallel()
	const (
		npm    = "-- package.json --\n" + `{"workspaces":["packages/*"],"devDependencies":{"vitest":"3","jest":"30","mocha":"11"}}` + "\n"
		pnpm   = "-- pnpm-workspace.yaml --\npackages:\n  # ours\n  - 'packages/**' # all\n  - \"!packages/old\"\ncatalog:\n  - x\n-- package.json --\n" + `{"devDependencies":{"vitest":"3"}}` + "\n"
		script = `{"scripts":{"test":"vitest run --coverage","lint":"eslint"}}` + "\n"
		bare   = "-- packages/types/package.json --\n{}\n"
	)
	for name, c := range map[string]struct {
		d       Dialect
		archive string
		want    []string
	}{
		"a root that only has it for its packages": {arrows, npm + "-- packages/web/package.json --\n" + script + "-- packages/api/package.json --\n{}\n-- packages/api/vitest.config.mts --\nexport default {}\n" + bare, []string{"packages/api", "packages/web"}},
		"no package has its own set-up":            {arrows, npm + bare, []string{""}},
		"the root's configuration has projects":    {arrows, npm + "-- vitest.config.ts --\nexport default { test: { projects: ['packages/*'] } }\n-- packages/web/package.json --\n" + script, []string{""}},
		"the root has a file of its workspace":     {arrows, npm + "-- vitest.workspace.ts --\n-- packages/web/package.json --\n" + script, []string{""}},
		"the root's configuration is a base":       {arrows, npm + "-- vitest.config.ts --\nexport default {}\n-- packages/web/package.json --\n" + script + "-- packages/web/vitest.config.ts --\n", []string{"", "packages/web"}},
		"a package with a script uses the root's":  {arrows, npm + "-- vitest.config.ts --\nexport default {}\n-- packages/web/package.json --\n" + script, []string{""}},
		"a package has what vite reads there":      {arrows, npm + "-- vitest.config.ts --\nexport default {}\n-- packages/web/package.json --\n" + script + "-- packages/web/vite.config.ts --\nexport default { plugins: [] }\n", []string{"", "packages/web"}},
		"projects in the short form":               {arrows, npm + "-- vitest.config.ts --\nconst projects = ['packages/*']; export default {test:{projects}}\n-- packages/web/package.json --\n" + script + "-- packages/web/vitest.config.ts --\n", []string{""}},
		"projects in the short form, by lines":     {arrows, npm + "-- vitest.config.ts --\nexport default {\n  test: {\n    globals: true, // all\n    projects,\n  },\n}\n-- packages/web/package.json --\n" + script + "-- packages/web/vitest.config.ts --\n", []string{""}},
		"a comment on projects":                    {arrows, npm + "-- vitest.config.ts --\n// the base of all projects, as of now\nexport default {}\n-- packages/web/package.json --\n" + script + "-- packages/web/vitest.config.ts --\n", []string{"", "packages/web"}},
		"a script that names the root's":           {spaces, "-- package.json --\n" + `{"workspaces":["packages/*"],"scripts":{"test":"jest"},"devDependencies":{"jest":"30"}}` + "\n-- jest.config.js --\nmodule.exports={}\n-- packages/foo/package.json --\n" + `{"scripts":{"test":"jest -c ../../jest.config.js --rootDir ."}}` + "\n", []string{""}},
		"both have script and configuration":       {spaces, "-- package.json --\n" + `{"workspaces":["packages/*"],"scripts":{"test":"jest"},"devDependencies":{"jest":"30"}}` + "\n-- jest.config.js --\nmodule.exports={}\n-- packages/foo/package.json --\n" + `{"scripts":{"test":"jest"},"jest":{"preset":"x"}}` + "\n-- packages/bar/package.json --\n" + `{"jest":{}}` + "\n", []string{"", "packages/foo"}},
		"the root's script runs it":                {arrows, strings.Replace(npm, "{", `{"scripts":{"test":"npx vitest"},`, 1) + "-- packages/web/package.json --\n" + script + "-- packages/api/package.json --\n{}\n-- packages/api/vitest.config.ts --\n", []string{"", "packages/web"}},
		"the root's script runs them all":          {arrows, strings.Replace(npm, "{", `{"scripts":{"test":"turbo run test"},`, 1) + "-- packages/web/package.json --\n" + script, []string{"packages/web"}},
		"vite's configuration with tests":          {arrows, npm + "-- packages/web/package.json --\n{}\n-- packages/web/vite.config.ts --\nexport default { test: {} }\n-- packages/ui/package.json --\n{}\n-- packages/ui/vite.config.ts --\nexport default { build: {} }\n", []string{"packages/web"}},
		"pnpm, any depth, one left out":            {arrows, pnpm + "-- packages/a/b/c/package.json --\n" + script + "-- packages/old/package.json --\n" + script + "-- tools/package.json --\n" + script, []string{"packages/a/b/c"}},
		"pnpm, the short form of the list":         {arrows, "-- pnpm-workspace.yaml --\npackages: ['apps/*', \"libs\"]\n-- package.json --\n" + `{"devDependencies":{"vitest":"3"}}` + "\n-- apps/x/package.json --\n" + script + "-- libs/package.json --\n" + script, []string{"apps/x", "libs"}},
		"pnpm, the short form over lines":          {arrows, "-- pnpm-workspace.yaml --\npackages: [\n  'apps/[a-x]', # ours\n  # 'old/*', too\n  libs,\n]\ncatalog:\n  - y\n-- package.json --\n" + `{"devDependencies":{"vitest":"3"}}` + "\n-- apps/x/package.json --\n" + script + "-- libs/package.json --\n" + script + "-- y/package.json --\n" + script, []string{"apps/x", "libs"}},
		"braces":                                   {arrows, "-- package.json --\n" + `{"workspaces":["{apps,libs/{a,b}}/*"],"devDependencies":{"vitest":"3"}}` + "\n-- apps/x/package.json --\n" + script + "-- libs/b/y/package.json --\n" + script + "-- libs/package.json --\n" + script, []string{"apps/x", "libs/b/y"}},
		"yarn's older form":                        {spaces, "-- package.json --\n" + `{"workspaces":{"packages":["./packages/*/"]},"devDependencies":{"jest":"30"}}` + "\n-- packages/a/package.json --\n" + `{"jest":{"testEnvironment":"node"}}` + "\n", []string{"packages/a"}},
		"jest's projects in package.json":          {spaces, "-- package.json --\n" + `{"workspaces":["packages/*"],"devDependencies":{"jest":"30"},"jest":{"projects":["packages/*"]}}` + "\n-- packages/a/jest.config.js --\n-- packages/a/package.json --\n{}\n", []string{""}},
		"another framework's script":               {spaces, npm + "-- packages/web/package.json --\n" + script, []string{""}},
		"mocha's file":                             {Dialect{Name: "mocha", Package: "mocha"}, npm + "-- packages/web/package.json --\n{}\n-- packages/web/.mocharc.yml --\nspec: x\n", []string{"packages/web"}},
		"node's own, by scripts":                   {nodes, npm + "-- packages/web/package.json --\n" + `{"scripts":{"test":"node --test"}}` + "\n", []string{"packages/web"}},
		"a package deep down has the dependency":   {arrows, "-- package.json --\n" + `{"workspaces":["a/b/c/*"]}` + "\n-- a/b/c/d/package.json --\n" + `{"devDependencies":{"vitest":"3"}}` + "\n", []string{"a/b/c/d"}},
		"a root without a workspace":               {arrows, strings.Replace(npm, `"workspaces":["packages/*"],`, "", 1) + "-- packages/web/package.json --\n" + script, []string{""}},
	} {
		root := fstest.MapFS{}
		for _, f := range txtar.Parse([]byte(c.archive)).Files {
			root[f.Name] = &fstest.MapFile{Data: f.Data}
		}
		var got []string
		for _, f := range Detect(root, c.d) {
			got = append(got, f.Dir)
			if f.Why == "" || f.Install == "" {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func FuzzPNPMPackages(f *testing.F) {
	f.Add("packages:\n  - 'a/*'\n")
	f.Add("packages: [a, \"b\"]\n")
	f.Add("packages: [\n  'a', # b\n  {c,d}/*]\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range pnpmPackages([]byte(text)) {
			spelt := braces(p, maxBraces)
			if len(spelt) == 0 {
				t.Errorf("nothing is left of %q", p)
			}
			chosen(spelt, "a/b/c")
		}
	})
}
