package jstest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestACopyOfAnotherTreesFilesIsOutside(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// spec is how the root's manifest asks for libs/shop.
		spec string
		// copied are the files of the package in the linked node_modules.
		copied map[string]string
		want   bool
	}{
		"another file":                {"file:./libs/shop", map[string]string{"index.js": "head"}, true},
		"a path alone":                {"./libs/shop", map[string]string{"index.js": "head"}, true},
		"the same files":              {"file:libs/shop", map[string]string{"index.js": "base", "package.json": "{ }"}, false},
		"what is built beside":        {"file:./libs/shop", map[string]string{"index.js": "base", "dist/index.js": "head"}, false},
		"a package of its own below":  {"file:./libs/shop", map[string]string{"index.js": "base", "node_modules/left/index.js": "head"}, false},
		"a package of a registry":     {"^1.0.0", map[string]string{"index.js": "head"}, false},
		"a directory not in the tree": {"file:../shop", map[string]string{"index.js": "head"}, false},
	} {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		write := func(name, text string) {
			at := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write("tree/package.json", `{"dependencies": {"shop": "`+c.spec+`"}}`)
		write("tree/libs/shop/index.js", "base")
		write("tree/libs/shop/package.json", "{}")
		write("tree/libs/shop/node_modules/left/index.js", "base")
		for f, text := range c.copied {
			write("checkout/node_modules/shop/"+f, text)
		}
		tree := filepath.Join(dir, "tree")
		if err := os.Symlink(filepath.Join(dir, "checkout", "node_modules"), filepath.Join(tree, "node_modules")); err != nil {
			t.Fatal(err)
		}
		got := linkedOutside(tree, filepath.Join(tree, "libs"))
		if (got != "") != c.want || c.want && !strings.HasSuffix(got, "-> "+filepath.Join(dir, "checkout/node_modules/shop")) {
			t.Errorf("%s: %q, want %v", name, got, c.want)
		}
	}
}
