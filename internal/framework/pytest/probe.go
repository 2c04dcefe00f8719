package pytest

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	osexec "os/exec"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

//go:embed plugin/probe.py
var probe string

// envCheckout is the variable in which the probe is told of the user's checkout.
const envCheckout = "TRIAGEBOT_CHECKOUT"

// probed is what an interpreter tells of itself.
type probed struct {
	Executable string `json:"executable"`
	Major      int    `json:"major"`
	Minor      int    `json:"minor"`
	Pytest     string `json:"pytest"`
	Error      string `json:"error"`
	// System is set for one that was taken because no environment was found.
	System bool `json:"-"`
	// Editable are the directories of the checkout on its module path.
	Editable []string `json:"editable"`
	// Copies are what was installed from the project by copying it.
	Copies []installedCopy `json:"copies"`
}

// installedCopy is a distribution that an interpreter has of the project, outside
// of the tree: an install that is not editable.
type installedCopy struct {
	// Info is the directory of its metadata.
	Info string `json:"info"`
	// Places are the spellings of the directory it was installed into, each with a
	// separator at its end.
	Places []string `json:"places"`
	// Tops are the prefixes of the paths of its modules.
	Tops []string `json:"tops"`
	// Source is the directory of the tree that has its files, relative to the
	// root; empty for none.
	Source string `json:"source,omitempty"`
	// Missing are its files that the tree lacks there, relative to the root.
	Missing []string `json:"missing,omitempty"`
}

// ask starts an interpreter in dir and reads what it tells of itself and of the
// project in the tree.
func (a Adapter) ask(ctx context.Context, exec triage.Exec, dir, tree string, argv ...string) (probed, error) {
	env := append(append([]string{}, a.Env...), "PYTHONDONTWRITEBYTECODE=1", envCheckout+"="+a.Checkout, envTree+"="+tree)
	out, end, err := exec(ctx, triage.Command{Dir: dir, Argv: append(argv, "-c", probe), Env: env})
	if errors.Is(err, osexec.ErrNotFound) {
		return probed{}, fmt.Errorf("preparing pytest: there is no %s on the PATH: install Python 3.%d or newer, or make a virtual environment in the checkout", argv[0], leastPython)
	}
	if err != nil {
		return probed{}, fmt.Errorf("preparing pytest: asking %q: %w", argv[0], err)
	}
	var p probed
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if end.Exit != 0 || json.Unmarshal([]byte(lines[len(lines)-1]), &p) != nil || p.Executable == "" {
		return probed{}, fmt.Errorf("preparing pytest: %q is no working Python: %s", argv[0], lastLine(out))
	}
	if p.Major != 3 || p.Minor < leastPython {
		return probed{}, fmt.Errorf("preparing pytest: %s is Python %d.%d, at least 3.%d is needed: name a newer interpreter", p.Executable, p.Major, p.Minor, leastPython)
	}
	return p, nil
}

// sources are the directories of the tree that stand in for what is installed.
//
// A copy with a file that no commit has (a compiled extension, a generated
// version) has none: the tree's modules would not work without it. A file that
// the checkout has and the tree lacks is one that a commit added or removed.
func (a Adapter) sources(ctx context.Context, exec triage.Exec, copies []installedCopy) []string {
	var dirs []string
	for _, c := range copies {
		if c.Source != "" && a.inCheckout(ctx, exec, c.Missing) {
			dirs = append(dirs, c.Source)
		}
	}
	return dirs
}

// inCheckout reports whether git has all these files in the checkout, or would
// take them.
func (a Adapter) inCheckout(ctx context.Context, exec triage.Exec, files []string) bool {
	if len(files) == 0 {
		return true
	}
	argv := append([]string{"git", "-c", "safe.directory=*", "--literal-pathspecs", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}, files...)
	out, end, err := exec(ctx, triage.Command{Dir: a.Checkout, Argv: argv})
	if err != nil || end.Exit != 0 {
		return false
	}
	there := strings.Split(string(out), "\x00")
	return !slices.ContainsFunc(files, func(f string) bool { return !slices.Contains(there, f) })
}

// copies is what our plugin needs to know a module of a copy, empty for none.
func (p probed) copies() string {
	if len(p.Copies) == 0 {
		return ""
	}
	var out []installedCopy
	for _, c := range p.Copies {
		out = append(out, installedCopy{Info: c.Info, Places: c.Places, Tops: c.Tops})
	}
	text, err := json.Marshal(out)
	if err != nil {
		return ""
	}
	return string(text)
}
