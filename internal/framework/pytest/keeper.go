package pytest

import (
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// keeper is a tool that keeps a project's virtual environment where it likes,
// often under a name made of the project's path.
type keeper struct {
	tool, lock string
	// install is what makes the environment.
	install string
	// where asks for the interpreter of the project in a directory; nil for a tool
	// that is not to be asked. The answer is a line of its output.
	where []string
	// told gives the interpreter without asking, empty for none.
	told func(dir string) string
}

// keepers are asked in ways that make no environment: "poetry run", "uv run" and
// "pdm run" would make one for a directory that has none.
var keepers = []keeper{
	{tool: "uv", lock: "uv.lock", install: "uv sync", told: func(dir string) string {
		env := os.Getenv("UV_PROJECT_ENVIRONMENT")
		switch {
		case env == "":
			return ""
		case !filepath.IsAbs(env):
			env = filepath.Join(dir, env)
		}
		return venvPython(env)
	}},
	{tool: "poetry", lock: "poetry.lock", install: "poetry install", where: []string{"poetry", "env", "info", "--executable"}},
	{tool: "pdm", lock: "pdm.lock", install: "pdm install", told: func(dir string) string {
		text, _ := os.ReadFile(filepath.Join(dir, ".pdm-python"))
		return strings.TrimSpace(string(text))
	}},
	{tool: "pipenv", lock: "Pipfile.lock", install: "pipenv sync --dev", where: []string{"pipenv", "--py"}},
}

// keeperVariables say where these tools keep environments. No test gets them.
var keeperVariables = []string{"POETRY_VIRTUALENVS_PATH", "POETRY_VIRTUALENVS_IN_PROJECT", "POETRY_CONFIG_DIR", "WORKON_HOME", "PIPENV_VENV_IN_PROJECT", "PIPENV_CUSTOM_VENV_NAME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"}

// Kept is the interpreter of the virtual environment that uv, poetry, pdm or
// pipenv keep for the project in one of these directories, the first that has a
// lock file of theirs and an environment with pytest; empty for none. These tools know a project by its
// path, so a tree has the environment that a set-up made in it, and never that
// of the checkout.
func Kept(ctx context.Context, exec triage.Exec, dirs ...string) string {
	for _, k := range keepers {
		for _, dir := range dirs {
			if !isThere(filepath.Join(dir, k.lock)) {
				continue
			}
			if python := k.python(ctx, exec, dir); python != "" {
				return python
			}
		}
	}
	return ""
}

// Active are the variables by which "uv run", "poetry run", "pdm run" and "pipenv run"
// take the environment of this interpreter as it is. By themselves they make one for
// the directory that they are started in, without what was added to the project's
// own, or without any package. They are nil for a command that runs none of these
// tools, and for an interpreter without an environment.
func Active(command []string, python string) []string {
	venv := filepath.Dir(filepath.Dir(python))
	at := slices.IndexFunc(command, func(w string) bool {
		return slices.ContainsFunc(keepers, func(k keeper) bool { return filepath.Base(w) == k.tool })
	})
	if at < 0 || !slices.Contains(command[at:], "run") || !isThere(filepath.Join(venv, "pyvenv.cfg")) {
		return nil
	}
	return []string{"VIRTUAL_ENV=" + venv, "UV_PROJECT_ENVIRONMENT=" + venv, "UV_NO_SYNC=1"}
}

func (k keeper) python(ctx context.Context, exec triage.Exec, dir string) string {
	var answers []string
	if k.told != nil {
		answers = []string{k.told(dir)}
	} else {
		out, end, err := exec(ctx, triage.Command{Dir: dir, Argv: k.where, Env: keeperEnv()})
		if err != nil || end.Exit != 0 {
			return ""
		}
		answers = strings.Split(string(out), "\n")
	}
	for _, answer := range slices.Backward(answers) {
		answer = strings.TrimSpace(answer)
		if !filepath.IsAbs(answer) || !isThere(answer) {
			continue
		}
		_, end, err := exec(ctx, triage.Command{Dir: dir, Argv: []string{answer, "-c", "import pytest"}})
		if err == nil && end.Exit == 0 {
			return answer
		}
	}
	return ""
}

func keeperEnv() []string {
	var env []string
	for _, name := range keeperVariables {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// missing says what a project whose environment was not found should do: which
// tool keeps it, and that the tool is not there or knows of none. It is empty
// where the project has no lock file of such a tool.
func (a Adapter) missing(ctx context.Context, exec triage.Exec, tree string) string {
	where := tree
	if a.Checkout != "" {
		where = a.Checkout
	}
	for _, k := range keepers {
		if !isThere(filepath.Join(a.dir(tree), k.lock)) && !isThere(filepath.Join(tree, k.lock)) {
			continue
		}
		why := fmt.Sprintf("%s keeps no environment with pytest for %s", k.tool, where)
		if _, _, err := exec(ctx, triage.Command{Dir: tree, Argv: []string{k.tool, "--version"}}); errors.Is(err, osexec.ErrNotFound) {
			why = k.tool + " is not on the PATH"
		}
		return fmt.Sprintf("%s is there, but %s: run %q in the checkout, or declare it as the set-up (--setup '%s')", k.lock, why, k.install, k.install)
	}
	return ""
}
