//go:build unix

package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

// webRepo is a repository with an installed JavaScript project: a manifest, a
// lock file, and a node_modules that git ignores.
func webRepo(t *testing.T, lock string) *repo {
	t.Helper()
	r := newRepo(t, filepath.Join(t.TempDir(), "repo"))
	r.write(".gitignore", "node_modules\n")
	r.write("package.json", `{"devDependencies": {"left": "1.0.0"}}`)
	if lock != "" {
		r.write(lock, "left 1\n")
	}
	r.commit("a.js", "1")
	r.commit("a.js", "2")
	r.write("node_modules/left/index.js", "left 1")
	return r
}

// openModules opens the last two commits and installs.
func (r *repo) openModules(dir string, env ...string) *Workspace {
	r.t.Helper()
	o := r.options()
	o.Base = "HEAD~1"
	w := r.open(o)
	if err := w.InstallModules(r.t.Context(), dir, env); err != nil {
		r.t.Fatal(err)
	}
	return w
}

// manager puts a package manager on the PATH that writes its arguments into the
// node_modules that it makes.
func manager(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
}

func TestSameLockCopiesWhatTheCheckoutHas(t *testing.T) {
	for _, lock := range []string{"package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", ""} {
		t.Run(lock, func(t *testing.T) {
			r := webRepo(t, lock)
			t.Setenv("PATH", onlyGit(t))
			r.unchanged(func() {
				w := r.openModules("")
				for _, s := range []triage.Side{triage.Head, triage.Base} {
					if got := content(t, w, s, "node_modules/left/index.js"); got != "left 1" || w.Tree(s).Unbuildable != "" || w.Tree(s).Setup <= 0 {
						t.Errorf("%s: %q, %+v", s, got, w.Tree(s))
					}
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// onlyGit is a PATH with git and no package manager.
func onlyGit(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"git", "sh"} {
		for _, at := range filepath.SplitList(os.Getenv("PATH")) {
			if _, err := os.Stat(filepath.Join(at, name)); err == nil {
				if err := os.Symlink(filepath.Join(at, name), filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
	}
	return dir
}

func TestAnotherLockIsInstalledOnThatSideOnly(t *testing.T) {
	for name, c := range map[string]struct{ lock, text, manager, want string }{
		"npm":       {"package-lock.json", "left 2\n", "npm", "ci"},
		"pnpm":      {"pnpm-lock.yaml", "left 2\n", "pnpm", "install --frozen-lockfile"},
		"yarn":      {"yarn.lock", "__metadata:\n", "yarn", "install --immutable"},
		"yarn 1":    {"yarn.lock", "# yarn lockfile v1\n", "yarn", "install --frozen-lockfile"},
		"bun":       {"bun.lock", "left 2\n", "bun", "install --frozen-lockfile"},
		"no lock":   {"package.json", `{"devDependencies": {"left": "2.0.0"}}`, "npm", "install --no-package-lock --no-audit --no-fund"},
		"new, bare": {"web/package.json", `{"devDependencies": {"left": "2.0.0"}}`, "npm", "install --no-package-lock --no-audit --no-fund"},
	} {
		t.Run(name, func(t *testing.T) {
			first := c.lock
			if filepath.Base(c.lock) == "package.json" {
				first = ""
			}
			r := webRepo(t, first)
			r.commit(c.lock, c.text)
			// The checkout goes back to what it has installed, as if --head named the newer one.
			r.git("checkout", "-q", "-b", "old", "HEAD~1")
			manager(t, c.manager, `mkdir -p node_modules/left && echo "$@" >node_modules/left/index.js`)
			o := r.options()
			o.Head, o.Base = "main", "old"
			w := r.open(o)
			dir := filepath.Dir(c.lock)
			if err := w.InstallModules(t.Context(), dir, nil); err != nil {
				t.Fatal(err)
			}
			if got := content(t, w, triage.Head, filepath.Join(dir, "node_modules/left/index.js")); got != c.want+"\n" {
				t.Errorf("head has %q, want %q: %+v", got, c.want, w.Tree(triage.Head))
			}
			want := "left 1"
			if dir != "." {
				want = "<none>" // that project is not on base
			}
			if got := content(t, w, triage.Base, filepath.Join(dir, "node_modules/left/index.js")); got != want {
				t.Errorf("base has %q, want %q", got, want)
			}
		})
	}
}

func TestFailedInstallMakesOnlyThatSideUnbuildable(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"fails":  {"echo no such version; exit 1", "`npm ci` exited with 1: no such version"},
		"absent": {"", "package-lock.json of base is not the one that the checkout has installed, and npm is not in the PATH: install npm, or declare"},
	} {
		t.Run(name, func(t *testing.T) {
			r := webRepo(t, "package-lock.json")
			r.commit("package-lock.json", "left 2\n")
			if c.script == "" {
				t.Setenv("PATH", onlyGit(t))
			} else {
				manager(t, "npm", c.script)
			}
			w := r.openModules("")
			base := w.Tree(triage.Base)
			if !strings.Contains(base.Unbuildable, c.want) || base.Rev.Unbuildable != base.Unbuildable || !hasWarning(w, c.want) {
				t.Errorf("base is %+v, want %q", base, c.want)
			}
			if w.Tree(triage.Head).Unbuildable != "" || content(t, w, triage.Head, "node_modules/left/index.js") != "left 1" {
				t.Errorf("head is %+v", w.Tree(triage.Head))
			}
		})
	}
}

func TestCheckoutWithoutModulesIsInstalled(t *testing.T) {
	for name, has := range map[string]string{
		"none": "",
		// Yarn's Plug'n'Play makes none, but vitest a directory for its cache in it.
		"a cache alone": "node_modules/.vite",
	} {
		t.Run(name, func(t *testing.T) {
			r := webRepo(t, "package-lock.json")
			if err := errors.Join(os.RemoveAll(filepath.Join(r.dir, "node_modules")), os.MkdirAll(filepath.Join(r.dir, has), 0o755)); err != nil {
				t.Fatal(err)
			}
			manager(t, "npm", "mkdir -p node_modules/left")
			w := r.openModules("")
			for _, s := range []triage.Side{triage.Head, triage.Base} {
				if _, err := os.Stat(filepath.Join(w.Tree(s).Dir, "node_modules/left")); err != nil || w.Tree(s).Unbuildable != "" {
					t.Errorf("%s: %v %+v", s, err, w.Tree(s))
				}
			}
		})
	}
}

func TestProjectWithoutPackagesNeedsNothing(t *testing.T) {
	r := newRepo(t, filepath.Join(t.TempDir(), "repo"))
	r.write("package.json", `{"scripts": {"test": "node --test"}}`)
	r.write("package-lock.json", "{}")
	r.commit("a", "1")
	r.commit("a", "2")
	t.Setenv("PATH", onlyGit(t))
	w := r.openModules("")
	if w.Tree(triage.Head).Unbuildable != "" || len(w.Warnings()) > 0 {
		t.Errorf("head is %+v, warnings %q", w.Tree(triage.Head), w.Warnings())
	}
}

func TestWorkspaceLinksStayInsideTheTree(t *testing.T) {
	r := webRepo(t, "package-lock.json")
	r.write("packages/money/package.json", `{"name": "money"}`)
	r.write("packages/money/index.js", "old")
	r.write("packages/shop/package.json", `{"name": "shop", "dependencies": {"money": "*"}}`)
	r.commit("b.js", "1")
	r.commit("packages/money/index.js", "new")
	r.link("../packages/money", "node_modules/money")
	r.link(filepath.Join(r.dir, "packages/money"), "node_modules/absolute")
	r.link("../../money", "packages/shop/node_modules/money")
	r.write("examples/other/node_modules/x/index.js", "another project's")
	r.write("examples/other/package.json", "{}")
	r.write("examples/other/yarn.lock", "")
	r.unchanged(func() {
		w := r.openModules("packages/shop")
		for side, want := range map[triage.Side]string{triage.Head: "new", triage.Base: "old"} {
			for _, at := range []string{"node_modules/money", "node_modules/absolute", "packages/shop/node_modules/money"} {
				if got := content(t, w, side, at+"/index.js"); got != want {
					t.Errorf("%s through %s is %q, want %q", side, at, got, want)
				}
				real, err := filepath.EvalSymlinks(filepath.Join(w.Tree(side).Dir, at))
				if err != nil || real != filepath.Join(w.Tree(side).Dir, "packages/money") {
					t.Errorf("%s: %s leads to %s, %v", side, at, real, err)
				}
			}
			if got := content(t, w, side, "examples/other/node_modules/x/index.js"); got != "<none>" {
				t.Errorf("%s has another project's packages", side)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func (r *repo) link(target, name string) {
	r.t.Helper()
	full := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Symlink(target, full); err != nil {
		r.t.Fatal(err)
	}
}

func TestModulesOutsideTheCheckoutAreShared(t *testing.T) {
	r := webRepo(t, "")
	store := t.TempDir()
	if err := os.Rename(filepath.Join(r.dir, "node_modules"), filepath.Join(store, "node_modules")); err != nil {
		t.Fatal(err)
	}
	r.write(".gitignore", "node_modules\n")
	r.link(filepath.Join(store, "node_modules"), "node_modules")
	w := r.openModules("")
	if content(t, w, triage.Base, "node_modules/left/index.js") != "left 1" || !hasWarning(w, "node_modules is a link out of the checkout") {
		t.Errorf("warnings are %q", w.Warnings())
	}
}

func TestSecondCallChangesNothing(t *testing.T) {
	r := webRepo(t, "package-lock.json")
	w := r.openModules("")
	at := filepath.Join(w.Tree(triage.Head).Dir, "node_modules/left/index.js")
	if err := os.WriteFile(at, []byte("patched"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := w.InstallModules(t.Context(), "", nil); err != nil {
		t.Fatal(err)
	}
	if got := content(t, w, triage.Head, "node_modules/left/index.js"); got != "patched" {
		t.Errorf("got %q", got)
	}
}

func TestStaleModulesAreSaid(t *testing.T) {
	r := newRepo(t, filepath.Join(t.TempDir(), "repo"))
	locked := func(version string) string {
		return fmt.Sprintf(`{"packages": {"": {"version": "9"}, "node_modules/left": {"version": %q}}}`, version)
	}
	r.write(".gitignore", "node_modules\n")
	r.write("package.json", `{"dependencies": {"left": "1"}}`)
	r.commit("package-lock.json", locked("1.1.0"))
	r.commit("a", "2")
	r.write("node_modules/.package-lock.json", locked("1.0.0"))
	w := r.openModules("")
	if want := "node_modules of the checkout is not what package-lock.json says (node_modules/left is 1.0.0, not 1.1.0): run npm ci"; !hasWarning(w, want) {
		t.Errorf("warnings are %q, want %q", w.Warnings(), want)
	}
}

func TestInstallEndsWithItsContext(t *testing.T) {
	r := webRepo(t, "package-lock.json")
	o := r.options()
	o.Base = "HEAD~1"
	w := r.open(o)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.InstallModules(ctx, "", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestProjectsOfADirectory(t *testing.T) {
	asks, none := `{"dependencies": {"a": "1"}}`, `{}`
	for name, c := range map[string]struct {
		files map[string]string
		dir   string
		want  []jsProject
	}{
		"root":                     {map[string]string{"package.json": asks, "yarn.lock": ""}, "", []jsProject{{".", "yarn.lock"}}},
		"package of a workspace":   {map[string]string{"package.json": asks, "pnpm-lock.yaml": "", "a/package.json": asks}, "a", []jsProject{{".", "pnpm-lock.yaml"}}},
		"workspace of pnpm":        {map[string]string{"package.json": none, "pnpm-lock.yaml": "", "pnpm-workspace.yaml": "packages: [a]", "a/package.json": asks}, "a", []jsProject{{".", "pnpm-lock.yaml"}}},
		"two locks on the way":     {map[string]string{"package.json": asks, "yarn.lock": "", "a/package.json": asks, "a/package-lock.json": ""}, "a", []jsProject{{"a", "package-lock.json"}, {".", "yarn.lock"}}},
		"the old lock file stayed": {map[string]string{"package.json": asks, "pnpm-lock.yaml": "", "package-lock.json": ""}, "", []jsProject{{".", "pnpm-lock.yaml"}}},
		"no lock":                  {map[string]string{"package.json": asks, "a/package.json": asks}, "a", []jsProject{{"a", ""}}},
		"nothing asked for":        {map[string]string{"package.json": none, "package-lock.json": ""}, "", nil},
		"lock without a manifest":  {map[string]string{"yarn.lock": ""}, "", nil},
		"broken manifest":          {map[string]string{"package.json": "{", "yarn.lock": ""}, "", []jsProject{{".", "yarn.lock"}}},
		"no project":               {map[string]string{"go.mod": ""}, "a", nil},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for f, text := range c.files {
				(&repo{t, root}).write(f, text)
			}
			if d := cmp.Diff(c.want, jsProjects(root, c.dir), cmp.AllowUnexported(jsProject{})); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// An install leaves a lock file in the checkout of a project that commits none.
func TestALockThatOnlyTheCheckoutHasIsNoDifference(t *testing.T) {
	r := webRepo(t, "")
	r.write(".git/info/exclude", "package-lock.json\n")
	r.write("package-lock.json", "left 1\n")
	t.Setenv("PATH", onlyGit(t))
	w := r.openModules("")
	for _, s := range []triage.Side{triage.Head, triage.Base} {
		if got := content(t, w, s, "node_modules/left/index.js"); got != "left 1" || w.Tree(s).Unbuildable != "" {
			t.Errorf("%s: %q, %+v", s, got, w.Tree(s))
		}
	}
}
