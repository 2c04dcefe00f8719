package pylag_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/triagebot/triagebot/internal/framework/pytest"
	"github.com/triagebot/triagebot/internal/lag/lagtest"
	"github.com/triagebot/triagebot/internal/lag/pylag"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
)

// lookPython finds an interpreter that can import a module, or says why not.
func lookPython(module string) (path, why string) {
	name := os.Getenv("TRIAGEBOT_TEST_PYTHON")
	if name == "" {
		name = "python3"
	}
	out, err := exec.Command(name, "-c", "import sys, "+module+"; assert sys.version_info >= (3, 9), sys.version; print(sys.executable)").CombinedOutput()
	if err != nil {
		return "", name + " is no Python 3.9 that can import " + module + " (TRIAGEBOT_TEST_PYTHON names another): " + string(out)
	}
	return strings.TrimSpace(string(out)), ""
}

var pythonWithPytest = sync.OnceValues(func() (string, string) { return lookPython("pytest") })

// newLab runs the corpus.
func newLab(t *testing.T) *lagtest.Lab {
	t.Helper()
	tree, err := filepath.Abs(filepath.Join("testdata", "corpus"))
	if err != nil {
		t.Fatal(err)
	}
	return labOf(t, tree)
}

// labOf runs the tests of a tree.
func labOf(t *testing.T, tree string) *lagtest.Lab {
	t.Helper()
	python, why := pythonWithPytest()
	if python == "" {
		t.Skip(why)
	}
	return lagtest.New(t, pytest.Name, tree, pytest.Adapter{Python: python}, func(ctx context.Context, exec triage.Exec, tree, pkg, pkgDir, out string) (rerun.Instrumentation, error) {
		return pylag.Engine{}.Instrument(ctx, exec, tree, pkg, pkgDir, out)
	}, pylag.Capabilities())
}

// treeOf writes a tree.
func treeOf(t *testing.T, files map[string]string) string {
	t.Helper()
	tree, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(tree, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return tree
}

func truth(t *testing.T) lagtest.Truth {
	t.Helper()
	all, err := lagtest.ReadTruth(filepath.Join("testdata", "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}
