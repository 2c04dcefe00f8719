//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

// packedRepo is a repository whose package "shop" is the directory libs/shop; head
// is the second of two commits. files are those of base and change those that head
// has otherwise, "" for none. install makes the checkout's node_modules.
func packedRepo(t *testing.T, files, change map[string]string, install func(r *repo)) *repo {
	t.Helper()
	r := newRepo(t, filepath.Join(t.TempDir(), "repo"))
	all := map[string]string{
		".gitignore": "node_modules\ndist\n", "package.json": `{"dependencies": {"shop": "file:./libs/shop"}}`, "yarn.lock": "# yarn lockfile v1\n",
		"libs/shop/package.json": `{"name": "shop", "version": "1.0.0"}`, "libs/shop/index.js": "old", "libs/shop/same.js": "same",
	}
	for _, set := range []map[string]string{files, change} {
		for name, text := range set {
			all[name] = text
		}
		for name, text := range all {
			if text != "" {
				r.write(name, text)
				continue
			}
			if err := os.RemoveAll(filepath.Join(r.dir, name)); err != nil {
				t.Fatal(err)
			}
			delete(all, name)
		}
		r.commit("count", all["count"]+"1")
		all["count"] += "1"
	}
	install(r)
	return r
}

// packInto copies libs/shop to a place, as a package manager does.
func packInto(at string, but ...string) func(*repo) {
	return func(r *repo) {
		r.t.Helper()
		from := filepath.Join(r.dir, "libs/shop")
		if err := os.CopyFS(filepath.Join(r.dir, at), os.DirFS(from)); err != nil {
			r.t.Fatal(err)
		}
		for _, name := range but {
			if err := os.Remove(filepath.Join(r.dir, at, name)); err != nil {
				r.t.Fatal(err)
			}
		}
	}
}

func TestACopyOfTheProjectsOwnDirectoryIsThatOfTheTree(t *testing.T) {
	at := "node_modules/shop"
	for name, c := range map[string]struct {
		files, change map[string]string
		at            string
		but           []string
		// want are files of the copy on base.
		want map[string]string
	}{
		"a changed file": {change: map[string]string{"libs/shop/index.js": "new"}, want: map[string]string{"index.js": "old", "same.js": "same"}},
		"a file of head only": {
			change: map[string]string{"libs/shop/index.js": "new", "libs/shop/lib/more.js": "more"},
			want:   map[string]string{"index.js": "old", "lib/more.js": "<none>"},
		},
		"a file of base only": {
			files:  map[string]string{"libs/shop/lib/less.js": "less"},
			change: map[string]string{"libs/shop/index.js": "new", "libs/shop/lib/less.js": ""},
			want:   map[string]string{"index.js": "old", "lib/less.js": "less"},
		},
		"a changed file that is not installed": {
			files:  map[string]string{"libs/shop/test.js": "old"},
			change: map[string]string{"libs/shop/index.js": "new", "libs/shop/test.js": "new"},
			but:    []string{"test.js"},
			want:   map[string]string{"index.js": "old", "test.js": "<none>"},
		},
		"in the store of pnpm": {
			change: map[string]string{"libs/shop/index.js": "new"}, at: "node_modules/.pnpm/shop@file+libs+shop/node_modules/shop",
			want: map[string]string{"index.js": "old"},
		},
		"in the store of yarn": {
			change: map[string]string{"libs/shop/index.js": "new"}, at: "node_modules/.store/shop-file-123/package",
			want: map[string]string{"index.js": "old"},
		},
		"below another package": {
			change: map[string]string{"libs/shop/index.js": "new"}, at: "node_modules/left/node_modules/shop",
			want: map[string]string{"index.js": "old"},
		},
		"a package of the workspace": {
			files:  map[string]string{"package.json": `{"dependencies": {"shop": "workspace:*"}}`},
			change: map[string]string{"libs/shop/index.js": "new"}, want: map[string]string{"index.js": "old"},
		},
		"a package that only its name tells": {
			files:  map[string]string{"package.json": `{"dependencies": {"shop": "^1.0.0"}}`},
			change: map[string]string{"libs/shop/index.js": "new"}, want: map[string]string{"index.js": "old"},
		},
		"another name than its directory's": {
			files:  map[string]string{"package.json": `{"dependencies": {"@our/store": "./libs/shop"}}`},
			change: map[string]string{"libs/shop/index.js": "new"}, at: "node_modules/@our/store",
			want: map[string]string{"index.js": "old"},
		},
		"without a lock file": {
			files:  map[string]string{"yarn.lock": ""},
			change: map[string]string{"libs/shop/index.js": "new"}, want: map[string]string{"index.js": "old"},
		},
		"built, and the same on both sides": {
			files:  map[string]string{"libs/shop/package.json": `{"name": "shop", "scripts": {"prepare": "tsc"}}`},
			change: map[string]string{"test.js": "new"}, want: map[string]string{"index.js": "old", "same.js": "same"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.at == "" {
				c.at = at
			}
			r := packedRepo(t, c.files, c.change, packInto(c.at, c.but...))
			t.Setenv("PATH", onlyGit(t))
			r.unchanged(func() {
				w := r.openModules("")
				if w.Tree(triage.Base).Unbuildable != "" {
					t.Fatal(w.Tree(triage.Base).Unbuildable)
				}
				got := map[string]string{}
				for f := range c.want {
					got[f] = content(t, w, triage.Base, c.at+"/"+f)
				}
				if d := cmp.Diff(c.want, got); d != "" {
					t.Errorf("on base (-want +got):\n%s", d)
				}
				for f, text := range c.change {
					if f, ok := strings.CutPrefix(f, "libs/shop/"); ok && text != "" && !strings.Contains(f, "test") {
						if got := content(t, w, triage.Head, c.at+"/"+f); got != text {
							t.Errorf("%s on head is %q, want %q", f, got, text)
						}
					}
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func TestACopyThatIsMadeByTheInstallIsInstalledAnew(t *testing.T) {
	index := map[string]string{"libs/shop/index.js": "new"}
	for name, c := range map[string]struct {
		files, change map[string]string
		install       func(*repo)
		want          string
	}{
		"a script builds it": {
			files: map[string]string{"libs/shop/package.json": `{"name": "shop", "version": "1.0.0", "scripts": {"prepare": "tsc"}}`}, change: index,
			want: "it is built when it is installed",
		},
		"something built it": {
			change: index, install: func(r *repo) {
				r.write("libs/shop/dist/index.js", "built of new")
				packInto("node_modules/shop")(r)
			},
			want: "its dist/index.js is not a file of that directory",
		},
		"an install of long ago": {
			change: index, install: func(r *repo) {
				packInto("node_modules/shop")(r)
				r.write("node_modules/shop/index.js", "older")
			},
			want: "its index.js is not a file of that directory",
		},
		"its manifest is another one": {
			change: map[string]string{"libs/shop/index.js": "new", "libs/shop/package.json": `{"name": "shop", "version": "1.0.0", "files": ["index.js"]}`},
			want:   "package.json tells what is installed of it",
		},
		"a file of base that may not be installed": {
			files:   map[string]string{"libs/shop/a.js": "a", "libs/shop/test.js": "t"},
			change:  map[string]string{"libs/shop/a.js": ""},
			install: packInto("node_modules/shop", "test.js"),
			want:    "not all of its files are installed",
		},
		"a shared node_modules": {
			change: index, install: func(r *repo) {
				packInto("elsewhere/shop")(r)
				store := filepath.Join(r.t.TempDir(), "node_modules")
				if err := os.Rename(filepath.Join(r.dir, "elsewhere"), store); err != nil {
					r.t.Fatal(err)
				}
				r.write(".gitignore", "node_modules\ndist\n")
				r.link(store, "node_modules")
			},
			want: "node_modules is shared by both trees",
		},
		"an archive": {
			files:  map[string]string{"package.json": `{"dependencies": {"shop": "file:./shop.tgz"}}`, "shop.tgz": "old"},
			change: map[string]string{"shop.tgz": "new"},
			want:   "shop.tgz is installed from a file that is another one on base",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.install == nil {
				c.install = packInto("node_modules/shop")
			}
			r := packedRepo(t, c.files, c.change, c.install)
			manager(t, "yarn", `mkdir -p node_modules && echo "$@" >node_modules/yarn; echo no network; exit 1`)
			w := r.openModules("")
			if got := w.Tree(triage.Base).Unbuildable; !strings.Contains(got, "`yarn install --frozen-lockfile` exited with 1: no network") || !strings.Contains(got, c.want) {
				t.Errorf("base is %q, want %q", got, c.want)
			}
			if got := w.Tree(triage.Head).Unbuildable; got != "" {
				t.Errorf("head is %q", got)
			}
		})
	}
}

func TestAPackageOfARegistryIsShared(t *testing.T) {
	for name, manifest := range map[string]string{
		"another version":                       `{"name": "shop", "version": "0.9.0"}`,
		"the same version, as it was published": `{"name": "shop", "version": "1.0.0", "gitHead": "1"}`,
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"package.json": `{"dependencies": {"shop": "^0.9.0"}}`}
			r := packedRepo(t, files, map[string]string{"libs/shop/index.js": "new"}, func(r *repo) {
				r.write("node_modules/shop/package.json", manifest)
				r.write("node_modules/shop/index.js", "published")
			})
			t.Setenv("PATH", onlyGit(t))
			w := r.openModules("")
			if got := content(t, w, triage.Base, "node_modules/shop/index.js"); got != "published" || w.Tree(triage.Base).Unbuildable != "" {
				t.Errorf("base has %q: %q", got, w.Tree(triage.Base).Unbuildable)
			}
		})
	}
}

func TestAStaleCopyIsSaid(t *testing.T) {
	r := packedRepo(t, nil, map[string]string{"test.js": "new"}, func(r *repo) {
		packInto("node_modules/shop")(r)
		r.write("node_modules/shop/index.js", "older")
	})
	t.Setenv("PATH", onlyGit(t))
	w := r.openModules("")
	if want := "node_modules/shop of the checkout is not what libs/shop has (index.js differs): install it anew"; !hasWarning(w, want) {
		t.Errorf("warnings are %q, want %q", w.Warnings(), want)
	}
}

func TestPlacesThatDependenciesName(t *testing.T) {
	for spec, want := range map[string]string{
		"file:./libs/shop": "web/libs/shop", "file:libs/shop": "web/libs/shop", "link:../libs/shop": "libs/shop", "portal:..": ".",
		"../libs/shop.tgz": "libs/shop.tgz", "file:///repo/libs": "libs", "file:../libs#../libs::hash=1&locator=a": "libs",
		"^1.0.0": "", "workspace:*": "", "npm:left@1": "", "file:../../other": "", "file:/elsewhere": "", "github:a/b": "", "*": "",
	} {
		got, ok := localPath("/repo", "web", spec)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v, want %q", spec, got, ok, want)
		}
	}
}
