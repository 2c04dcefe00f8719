package pytest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/triagebot/triagebot/internal/triage"
)

// venvNames are the directories that people keep a virtual environment in.
var venvNames = []string{".venv", "venv", "env", ".env"}

// interpreter finds the Python that runs the tests of a tree and asks it for its
// version and for pytest.
func (a Adapter) interpreter(ctx context.Context, exec triage.Exec, tree string) (probed, error) {
	dir := a.dir(tree)
	if a.Python != "" {
		return a.ask(ctx, exec, dir, tree, a.named(tree))
	}
	if found, err := a.inTree(tree); found != "" || err != nil {
		if err != nil {
			return probed{}, err
		}
		return a.ask(ctx, exec, dir, tree, found)
	}
	if a.Shared != "" {
		return a.ask(ctx, exec, dir, tree, a.Shared)
	}
	if kept := Kept(ctx, exec, dir, tree); kept != "" {
		if p, err := a.ask(ctx, exec, dir, tree, kept); err == nil && p.Pytest != "" {
			return p, nil
		}
	}
	if ctx.Err() != nil {
		return probed{}, ctx.Err()
	}
	p, err := a.ask(ctx, exec, dir, tree, a.named(tree))
	p.System = true
	return p, err
}

// named is the interpreter by its name: the configured one, which may be
// relative to the tree, or the system's.
func (a Adapter) named(tree string) string {
	if a.Python == "" {
		if found, err := a.inTree(tree); err == nil && found != "" {
			return found
		}
		if a.Shared != "" {
			return a.Shared
		}
		if runtime.GOOS == "windows" {
			return "python"
		}
		return "python3"
	}
	if in := filepath.Join(tree, filepath.FromSlash(a.Python)); filepath.Base(a.Python) != a.Python && !filepath.IsAbs(a.Python) {
		return in
	}
	return a.Python
}

// inTree finds a virtual environment in the tree.
func (a Adapter) inTree(tree string) (string, error) {
	return VenvOf(a.dir(tree), tree)
}

func venvPython(venv string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(venv, "Scripts", "python.exe")
	}
	return filepath.Join(venv, "bin", "python")
}

// VenvOf is the interpreter of a virtual environment that one of these
// directories has, the first that is found; empty for none. One without its
// interpreter is an error: it was made by a Python that is gone.
func VenvOf(dirs ...string) (string, error) {
	for _, dir := range dirs {
		for _, name := range venvNames {
			venv := filepath.Join(dir, name)
			if !isThere(filepath.Join(venv, "pyvenv.cfg")) {
				continue
			}
			if python := venvPython(venv); isThere(python) {
				return python, nil
			}
			return "", fmt.Errorf("preparing pytest: virtual environment %q has no working interpreter: make it anew", venv)
		}
	}
	return "", nil
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
