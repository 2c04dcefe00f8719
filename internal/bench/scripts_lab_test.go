package bench

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/triagebot/triagebot/internal/framework/pytest"
	"github.com/triagebot/triagebot/internal/framework/vitest"
	"github.com/triagebot/triagebot/internal/lag/lagtest"
	"github.com/triagebot/triagebot/internal/lag/nodelag"
	"github.com/triagebot/triagebot/internal/lag/pylag"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
)

func pythonLab(t testing.TB) *lagtest.Lab {
	t.Helper()
	return lagtest.New(t, pytest.Name, pythonTree(t), pytest.Adapter{Python: python(t)}, func(ctx context.Context, exec triage.Exec, tree, pkg, pkgDir, out string) (rerun.Instrumentation, error) {
		return pylag.Engine{}.Instrument(ctx, exec, tree, pkg, pkgDir, out)
	}, pylag.Capabilities())
}

func python(t testing.TB) string {
	t.Helper()
	name := os.Getenv("TRIAGEBOT_TEST_PYTHON")
	if name == "" {
		t.Skip("TRIAGEBOT_TEST_PYTHON names no Python with pytest: run \"make python-env\"")
	}
	return name
}

// pythonTree is a copy of the corpus without compiled code, as a tree of a check is.
func pythonTree(t testing.TB) string {
	t.Helper()
	tree := copyTree(t, filepath.Join("..", "lag", "pylag", "testdata", "corpus"))
	err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "__pycache__" {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
			return filepath.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func copyTree(t testing.TB, from string) string {
	t.Helper()
	tree, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(tree, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return tree
}

func nodeLab(t testing.TB) *lagtest.Lab {
	t.Helper()
	return lagtest.New(t, vitest.Name, nodeTree(t, "corpus"), vitest.Adapter{}, layNode, nodelag.Capabilities())
}

func layNode(ctx context.Context, exec triage.Exec, tree, pkg, pkgDir, out string) (rerun.Instrumentation, error) {
	return nodelag.Engine{}.Instrument(ctx, exec, tree, pkg, pkgDir, out)
}

// nodeTree is a copy of a corpus with the pinned runners in it.
func nodeTree(t testing.TB, name string) string {
	t.Helper()
	modules := os.Getenv("TRIAGEBOT_TEST_NODE_MODULES")
	if modules == "" {
		t.Skip("TRIAGEBOT_TEST_NODE_MODULES names no node_modules with vitest: run \"make node-env\"")
	}
	tree := copyTree(t, filepath.Join("..", "lag", "nodelag", "testdata", name))
	if err := os.WriteFile(filepath.Join(tree, "package.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(tree, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return tree
}
