package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/proc"
)

// venvName is the virtual environment that is made in a tree.
const venvName = ".venv"

// pythonLocks are the files that pin what a Python project installs, the surest
// sign first.
var pythonLocks = []string{"uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock"}

// pythonManifests ask for packages without pinning all of them.
var pythonManifests = []string{"pyproject.toml", "setup.py", "setup.cfg"}

// rePythonVersion is the project's own version, which asks for nothing.
var rePythonVersion = regexp.MustCompile(`(?m)^\s*(?:version|__version__)\s*=.*$`)

// InstallPython gives a tree whose Python project pins other packages than the
// checkout's an environment of its own, for callers whose project declares no
// set-up. A tree that pins the same uses the interpreter that the checkout uses.
//
// dir is the project's directory below the root, with forward slashes. python is
// the interpreter that new environments are made with. The environment stands in
// the tree as ".venv". Where only a manifest differs, which pins nothing, both
// trees use the checkout's environment and a warning says so. A failure makes that
// side unbuildable and is no error.
func (w *Workspace) InstallPython(ctx context.Context, dir, python string, env []string) error {
	for i := range w.trees {
		t := &w.trees[i]
		if t.Unbuildable != "" {
			continue
		}
		start := time.Now()
		problem, err := w.installPython(ctx, t, dir, python, env)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		if problem != "" {
			t.Unbuildable, t.Rev.Unbuildable = problem, problem
			w.warn("set-up of %s failed: %s", t.Side, problem)
		}
		t.Setup += time.Since(start)
	}
	return nil
}

func (w *Workspace) installPython(ctx context.Context, t *Tree, dir, python string, env []string) (problem string, err error) {
	for _, at := range pythonHomes(dir) {
		if _, err := os.Stat(filepath.Join(t.Dir, at, venvName)); err == nil {
			return "", nil // committed, or here from an earlier call
		}
		lock, pins, err := w.changedPins(t.Dir, at)
		if err != nil {
			return "", err
		}
		if lock != "" || len(pins) > 0 {
			return w.makeVenv(ctx, t, at, lock, pins, python, env)
		}
		for _, m := range pythonManifests {
			if w.asksOtherwise(t.Dir, path.Join(at, m)) {
				w.warn("%s of %s differs from the checkout's, whose packages both sides use: where it asks for others, declare the project's set-up (--setup)", path.Join(at, m), t.Side)
			}
		}
	}
	return "", nil
}

// pythonHomes are the directory and, where it is another, the root.
func pythonHomes(dir string) []string {
	if dir == "" || dir == "." {
		return []string{"."}
	}
	return []string{dir, "."}
}

// changedPins are the pinning files of a directory that are not as the checkout
// has them: the lock file of a manager, or files of pip's requirements.
func (w *Workspace) changedPins(tree, dir string) (lock string, pins []string, err error) {
	for _, name := range pythonLocks {
		if there(tree, dir, name) {
			same, err := w.sameFile(tree, path.Join(dir, name))
			if err != nil || same {
				return "", nil, err
			}
			return name, nil, nil
		}
	}
	all, err := filepath.Glob(filepath.Join(tree, filepath.FromSlash(dir), "*requirements*.txt"))
	if err != nil {
		return "", nil, err
	}
	changed := false
	for _, p := range all {
		same, err := w.sameFile(tree, path.Join(dir, filepath.Base(p)))
		if err != nil {
			return "", nil, err
		}
		changed = changed || !same
		pins = append(pins, filepath.Base(p))
	}
	if !changed {
		return "", nil, nil
	}
	return "", pins, nil
}

func there(tree, dir, name string) bool {
	_, err := os.Stat(filepath.Join(tree, filepath.FromSlash(dir), name))
	return err == nil
}

func (w *Workspace) sameFile(tree, name string) (bool, error) {
	theirs, err := fileDigest(filepath.Join(tree, filepath.FromSlash(name)))
	if err != nil {
		return false, fmt.Errorf("comparing %s: %w", name, err)
	}
	ours, err := fileDigest(filepath.Join(w.top, filepath.FromSlash(name)))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && ours == theirs, err
}

// asksOtherwise reports whether a manifest differs in more than the project's version.
func (w *Workspace) asksOtherwise(tree, name string) bool {
	theirs, err := readBounded(filepath.Join(tree, filepath.FromSlash(name)), maxManifest)
	if err != nil {
		return false
	}
	ours, err := readBounded(filepath.Join(w.top, filepath.FromSlash(name)), maxManifest)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	return !slices.Equal(rePythonVersion.ReplaceAll(ours, nil), rePythonVersion.ReplaceAll(theirs, nil))
}

// makeVenv installs what a tree pins into an environment in it.
func (w *Workspace) makeVenv(ctx context.Context, t *Tree, dir, lock string, pins []string, python string, env []string) (problem string, err error) {
	what := lock
	if lock == "" {
		what = strings.Join(pins, ", ")
	}
	w.opt.Logf("set-up of %s: %s differs from the checkout's: making an environment of its own", t.Side, what)
	// An environment that is active here is not the tree's.
	env = append(slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, "VIRTUAL_ENV=") }),
		"POETRY_VIRTUALENVS_IN_PROJECT=1", "PIPENV_VENV_IN_PROJECT=1", "PDM_VENV_IN_PROJECT=1", "PIP_DISABLE_PIP_VERSION_CHECK=1")
	for _, argv := range venvCommands(lock, pins, python) {
		if problem, err := w.runTool(ctx, t, dir, argv, env, what); problem != "" || err != nil {
			return problem, err
		}
	}
	return "", nil
}

// venvCommands make an environment from a lock file or from requirements.
func venvCommands(lock string, pins []string, python string) [][]string {
	switch lock {
	case "uv.lock":
		return [][]string{{"uv", "sync", "--frozen", "--all-groups", "--all-extras"}}
	case "poetry.lock":
		return [][]string{{"poetry", "install", "--no-interaction", "--all-extras"}}
	case "pdm.lock":
		return [][]string{{"pdm", "install", "--frozen-lockfile", "--dev"}}
	case "Pipfile.lock":
		return [][]string{{"pipenv", "sync", "--dev"}}
	}
	own := filepath.Join(venvName, "bin", "python")
	if runtime.GOOS == "windows" {
		own = filepath.Join(venvName, "Scripts", "python.exe")
	}
	install := []string{filepath.Join(".", own), "-m", "pip", "install", "--quiet"}
	for _, p := range pins {
		install = append(install, "-r", p)
	}
	return [][]string{{python, "-m", "venv", venvName}, install}
}

// runTool runs one command of a set-up in the tree.
func (w *Workspace) runTool(ctx context.Context, t *Tree, dir string, argv, env []string, what string) (problem string, err error) {
	limit := w.setupLimit()
	at := filepath.Join(t.Dir, filepath.FromSlash(dir))
	if strings.HasPrefix(argv[0], venvName) {
		argv = append([]string{filepath.Join(at, argv[0])}, argv[1:]...)
	}
	r, err := proc.Run(ctx, proc.Spec{Dir: at, Argv: argv, Env: env, Timeout: limit})
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Sprintf("%s of %s is not the checkout's, and %s is not in the PATH: install %s, or declare the project's own set-up command (--setup)", what, t.Side, argv[0], argv[0]), nil
	}
	if errors.Is(err, os.ErrPermission) || err == nil {
		return setupProblem(argv, limit, r, err), nil
	}
	return "", err
}
