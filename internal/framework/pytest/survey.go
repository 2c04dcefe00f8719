package pytest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// Survey is what the interpreter of a tree tells of itself.
type Survey struct {
	// Python is the interpreter's path, Version and Implementation what it is:
	// "3.12.1" of "CPython".
	Python, Version, Implementation string
	// Pytest is the version of pytest; empty when it cannot be imported, and
	// Problem then says why.
	Pytest, Problem string
	// FreeThreaded is set for a build without the global interpreter lock.
	FreeThreaded bool
	// Packages are the versions of those that were asked for and are installed.
	Packages map[string]string
}

const survey = `import json,platform,sys,sysconfig
from importlib import metadata
found={}
for name in sys.argv[1:]:
    try:
        found[name]=metadata.version(name)
    except Exception:
        pass
print();print(json.dumps({"version":platform.python_version(),"implementation":platform.python_implementation(),
"free":bool(sysconfig.get_config_var("Py_GIL_DISABLED")),"packages":found}))`

// Survey finds the interpreter that runs a tree's tests, as [Adapter.Prepare]
// does, and asks it what it is and which of these packages it has. No Python, or
// one that is too old, is an error that says what to do.
func (a Adapter) Survey(ctx context.Context, exec triage.Exec, tree string, packages ...string) (Survey, error) {
	python, err := a.interpreter(ctx, exec, tree)
	if err != nil {
		return Survey{}, err
	}
	out, end, err := exec(ctx, triage.Command{
		Dir: a.dir(tree), Argv: append([]string{python.Executable, "-c", survey}, packages...),
		Env: append(append([]string{}, a.Env...), "PYTHONDONTWRITEBYTECODE=1"),
	})
	if err != nil {
		return Survey{}, fmt.Errorf("asking %q for its packages: %w", python.Executable, err)
	}
	var told struct {
		Version, Implementation string
		Free                    bool
		Packages                map[string]string
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if end.Exit != 0 || json.Unmarshal([]byte(lines[len(lines)-1]), &told) != nil {
		return Survey{}, fmt.Errorf("asking %q for its packages: %s", python.Executable, lastLine(out))
	}
	return Survey{
		Python: python.Executable, Version: told.Version, Implementation: told.Implementation,
		Pytest: python.Pytest, Problem: python.Error, FreeThreaded: told.Free, Packages: told.Packages,
	}, nil
}
