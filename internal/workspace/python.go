package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/triage"
)

// venvName is the virtual environment that is made in a tree.
const venvName = ".venv"

// venvPython is its interpreter, relative to the tree.
var venvPython = func() string {
	if runtime.GOOS == "windows" {
		return filepath.Join(venvName, "Scripts", "python.exe")
	}
	return filepath.Join(venvName, "bin", "python")
}()

// pythonLocks are the files that pin what a Python project installs, the surest
// sign first.
var pythonLocks = []string{"uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock"}

// InstallPython gives a tree whose Python project pins other packages than the
// checkout's an environment of its own, for callers whose project declares no
// set-up. A tree that pins the same uses the interpreter that the checkout uses.
//
// dir is the project's directory below the root, with forward slashes. python is
// the interpreter that new environments are made with. The environment stands in
// the tree as ".venv". Where no environment can be made from what differs (a
// manifest, which pins nothing), base is unbuildable: with the packages of head it
// may fail as head does. Head, whose revision the checkout may not be, has a
// warning then. A failure makes that side unbuildable and is no error.
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
		lock, err := w.changedLock(t.Dir, at)
		if err != nil {
			return "", err
		}
		pins, changed := w.changedRequirements(t.Dir, at)
		if lock != "" || len(changed) > 0 && len(pins) > 0 {
			return w.makeVenv(ctx, t, at, lock, pins, python, env)
		}
		names := append(changed, w.asksOtherwise(t.Dir, at)...)
		slices.Sort(names)
		if names = slices.Compact(names); len(names) > 0 {
			return w.borrowed(t, names), nil
		}
	}
	return "", nil
}

// borrowed is what is wrong with a tree that asks for other packages than the
// checkout has, and would use those.
func (w *Workspace) borrowed(t *Tree, names []string) (problem string) {
	what := fmt.Sprintf("%s of %s %s otherwise than the checkout's, whose packages it would use", strings.Join(names, ", "), t.Side, plural(len(names), "asks", "ask"))
	if t.Side == triage.Head {
		w.warn("%s: where that matters, declare the project's set-up (--setup)", what)
		return ""
	}
	return what + ": give each tree an environment of its own by set-up commands (--setup 'python3 -m venv .venv' --setup '.venv/bin/pip install -e . pytest')"
}

func plural(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// pythonHomes are the directory and, where it is another, the root.
func pythonHomes(dir string) []string {
	if dir == "" || dir == "." {
		return []string{"."}
	}
	return []string{dir, "."}
}

// changedLock is a manager's lock file of a directory that is not as the checkout
// has it, empty for none.
func (w *Workspace) changedLock(tree, dir string) (string, error) {
	for _, name := range pythonLocks {
		if there(tree, dir, name) {
			same, err := w.sameFile(tree, path.Join(dir, name))
			if err != nil {
				return "", fmt.Errorf("comparing %s: %w", path.Join(dir, name), err)
			}
			if !same {
				return name, nil
			}
		}
	}
	return "", nil
}

func there(tree, dir, name string) bool {
	_, err := os.Stat(filepath.Join(tree, filepath.FromSlash(dir), name))
	return err == nil
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
	commands := venvCommands(lock, pins, python)
	for i := 0; i < len(commands); i++ {
		problem, err := w.runTool(ctx, t, dir, commands[i], env, what)
		if problem != "" && !strings.Contains(problem, "--setup") {
			problem += "; where that is not how it is installed, declare the project's own set-up command (--setup)"
		}
		if problem != "" || err != nil {
			return problem, err
		}
		if lock == "" && i == 1 { // what the requirements name is there
			commands = append(commands, w.completeVenv(ctx, t, dir, pins, python, env)...)
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
	install := []string{filepath.Join(".", venvPython), "-m", "pip", "install", "--quiet"}
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
