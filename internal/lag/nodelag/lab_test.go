package nodelag_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/triagebot/triagebot/internal/framework/vitest"
	"github.com/triagebot/triagebot/internal/lag/lagtest"
	"github.com/triagebot/triagebot/internal/lag/nodelag"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
)

// newLab runs the corpus by vitest.
func newLab(t *testing.T, args ...string) *lagtest.Lab {
	t.Helper()
	return newLabOf(t, vitest.Name, "corpus", vitest.Adapter{Args: args})
}

func newLabOf(t *testing.T, framework, dir string, a rerun.Adapter) *lagtest.Lab {
	t.Helper()
	return newLabWith(t, modules(t), framework, dir, a)
}

// modules is the node_modules of the runners; without it the test is skipped.
func modules(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node here")
	}
	modules := os.Getenv("TRIAGEBOT_TEST_NODE_MODULES")
	if modules == "" {
		t.Skip("TRIAGEBOT_TEST_NODE_MODULES does not name a node_modules with vitest (internal/framework/jstest/testdata/npm)")
	}
	return modules
}

// released is a node_modules whose vitest is the one of a name in that of the runners.
func released(t *testing.T, name string) string {
	t.Helper()
	from, dir := modules(t), filepath.Join(t.TempDir(), "node_modules")
	if _, err := os.Stat(filepath.Join(from, name)); err != nil {
		t.Skipf("TRIAGEBOT_TEST_NODE_MODULES has no %s: run \"make node-env\"", name)
	}
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Symlink(filepath.Join(from, name), filepath.Join(dir, "vitest"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func newLabWith(t *testing.T, modules, framework, dir string, a rerun.Adapter) *lagtest.Lab {
	t.Helper()
	tree, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(tree, os.DirFS(filepath.Join("testdata", dir))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tree, "package.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(tree, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return lagtest.New(t, framework, tree, a, func(ctx context.Context, exec triage.Exec, tree, pkg, pkgDir, out string) (rerun.Instrumentation, error) {
		return nodelag.Engine{}.Instrument(ctx, exec, tree, pkg, pkgDir, out)
	}, nodelag.Capabilities())
}

func truth(t *testing.T) lagtest.Truth {
	t.Helper()
	all, err := lagtest.ReadTruth(filepath.Join("testdata", "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}
