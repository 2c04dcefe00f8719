package pytest

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

//go:embed plugin/zztriagebot.py
var plugin []byte

const (
	pluginName = "zztriagebot"
	// lagPlugin is the module of the lag runtime that tells it of pytest's tests.
	lagPlugin = "zzlag.plugin"
	// The variables that our plugin reads.
	envFence = "TRIAGEBOT_PYTEST_FENCE"
	envSeed  = "TRIAGEBOT_PYTEST_SEED"
	// envOrdered is set when the tests run in the order in which they are named.
	envOrdered = "TRIAGEBOT_PYTEST_ORDERED"
	envTree    = "TRIAGEBOT_TREE"
	// envCopies are the copies of the project that the interpreter has installed.
	envCopies = "TRIAGEBOT_PYTEST_COPIES"
	// leastPython is the oldest minor version of Python 3 that works.
	leastPython = 9
)

// Adapter runs tests by pytest. It is safe to copy; it keeps no state.
type Adapter struct {
	// Suite is the suite's name in the targets; "pytest" when empty.
	Suite string
	// Dir is the directory below the tree that pytest is started in, with
	// forward slashes; empty for the root.
	Dir string
	// Python is the interpreter, a path or a name; empty to look for one: the
	// tree's virtual environment, that which uv, poetry, pdm or pipenv keep for the
	// tree, then python3.
	Python string
	// Shared is the interpreter of a tree without an environment of its own: that
	// of the user's checkout, its own ([VenvOf]) or one that a tool keeps for it
	// ([Kept]). Empty for none.
	Shared string
	// Checkout is the absolute root of the user's checkout. What an interpreter
	// has installed from there is loaded from each tree instead where it can be:
	// in editable mode, or as a copy whose files the tree has. Empty for none.
	Checkout string
	// Args are the suite's own arguments of pytest, kept in every trial.
	Args []string
	// Chosen are the words of the suite's own command that choose tests; for the
	// whole suite around a test.
	Chosen []string
	// SuiteCommand is the suite's own command; empty for pytest over everything.
	SuiteCommand []string
	// Env is added to the environment of every process, as KEY=VALUE.
	Env []string
}

func (a Adapter) options() Options { return Options{Suite: a.Suite, Dir: a.Dir} }

func (a Adapter) dir(tree string) string { return filepath.Join(tree, filepath.FromSlash(a.Dir)) }

// Prepare finds the interpreter, lays our plugin into the directory b.Out and
// collects the file once: a file that cannot be imported is Prepared.Failure.
//
// b.Overlay, when set, is the directory of the lag runtime; it goes on the
// module path of the trials. Prepared.Bin is the interpreter and Prepared.Env
// what every trial's environment needs.
func (a Adapter) Prepare(ctx context.Context, exec triage.Exec, b triage.BuildSpec) (triage.Prepared, error) {
	p := triage.Prepared{Dir: a.dir(b.Tree)}
	if _, err := os.Stat(p.Dir); err != nil {
		return p, fmt.Errorf("preparing pytest: %w", err)
	}
	python, err := a.interpreter(ctx, exec, b.Tree)
	if err != nil {
		return p, err
	}
	p.Bin = python.Executable
	if err := writePlugin(b.Out); err != nil {
		return p, err
	}
	p.Env = a.env(b, append(python.Editable, a.sources(ctx, exec, python.Copies)...))
	if copies := python.copies(); copies != "" {
		p.Env = append(p.Env, envCopies+"="+copies)
	}
	if python.Pytest == "" {
		p.Output = []byte(python.Error)
		advice := "install it, or name another interpreter"
		if more := a.missing(ctx, exec, b.Tree); more != "" {
			advice = more
		}
		p.Failure = a.broken(b.Package, fmt.Sprintf("pytest cannot be imported by %s: %s (%s)", python.Executable, python.Error, advice))
		return p, nil
	}
	if b.Package == "" {
		return p, nil
	}
	err = a.collect(ctx, exec, b, &p)
	if f := p.Failure; f != nil && python.System && strings.Contains(f.Message, "No module named") {
		if more := a.missing(ctx, exec, b.Tree); more != "" {
			f.Message += " (" + more + ")"
		}
	}
	return p, err
}

// broken is a tree on which nothing can be run.
func (a Adapter) broken(file, message string) *triage.Failure {
	t := triage.Target{Suite: a.options().suite(), Framework: Name, Package: file}
	f := a.options().failure(t, crash{phase: triage.PhaseSetup, message: message, text: message})
	return &f
}

// writePlugin lays our plugin into dir.
func writePlugin(dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("preparing pytest: path %q is not absolute", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("preparing pytest: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, pluginName+".py"), plugin, 0o644); err != nil {
		return fmt.Errorf("preparing pytest: %w", err)
	}
	return nil
}

// env is what every trial of a prepared package needs. The fence is new each time.
//
// sources are directories of the project that the interpreter has modules of,
// relative to the root: those of this tree stand before what it has.
func (a Adapter) env(b triage.BuildSpec, sources []string) []string {
	var word [12]byte
	_, _ = rand.Read(word[:]) // never fails
	dirs := []string{b.Out}
	if b.Overlay != "" {
		dirs = append(dirs, b.Overlay)
	}
	for _, rel := range sources {
		if dir := filepath.Join(b.Tree, filepath.FromSlash(rel)); filepath.IsLocal(filepath.FromSlash(rel)) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if own := lookup(a.Env, "PYTHONPATH"); own != "" {
		dirs = append(dirs, own)
	}
	env := []string{
		"PYTHONPATH=" + strings.Join(dirs, string(os.PathListSeparator)),
		envFence + "=" + hex.EncodeToString(word[:]),
		envTree + "=" + b.Tree,
		"PYTHONDONTWRITEBYTECODE=1",
	}
	if b.Overlay != "" {
		plugins := lagPlugin
		if own := lookup(a.Env, "PYTEST_PLUGINS"); own != "" {
			plugins += "," + own
		}
		env = append(env, "PYTEST_PLUGINS="+plugins)
	}
	return env
}

// collect imports the file, without running a test.
func (a Adapter) collect(ctx context.Context, exec triage.Exec, b triage.BuildSpec, p *triage.Prepared) error {
	spec := triage.RunSpec{Prepared: *p, Tree: b.Tree, Target: triage.Target{Package: b.Package}, Scope: triage.InPackage}
	c := a.Command(spec)
	c.Argv = append(c.Argv, "--collect-only", "-q")
	out, end, err := exec(ctx, c)
	if err != nil {
		return fmt.Errorf("collecting %s: %w", b.Package, err)
	}
	s := a.readRun(spec, strings.NewReader(string(out)))
	p.Output = out
	switch {
	case len(s.collect) > 0:
		p.Failure = &s.collect[0]
		for i := range s.collect { // the file's own error before that of another
			if s.collect[i].Target.Package == b.Package {
				p.Failure = &s.collect[i]
				break
			}
		}
	case s.internal != "" || !s.finished && end.Exit != 4: // 4 is a file that is not there
		p.Failure = a.broken(b.Package, "pytest broke while it collected: "+lastLine(out))
	case !s.finished && s.records == 0 && !notFound(out):
		p.Failure = a.broken(b.Package, "pytest does not start: "+refusal(out, b.Tree)+": correct its configuration or its arguments")
	}
	return nil
}

// notFound reports whether pytest said that what it was asked for is not there.
func notFound(out []byte) bool {
	s := string(out)
	return strings.Contains(s, "ERROR: not found: ") || strings.Contains(s, "ERROR: file or directory not found: ") ||
		strings.Contains(s, "ERROR: found no collectors for ")
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if s := strings.TrimSpace(reANSI.ReplaceAllString(lines[i], "")); s != "" {
			return truncate(s, 400)
		}
	}
	return "it printed nothing"
}

// Command is the process of one trial. It is never run through a shell, so a
// node id may hold anything.
func (a Adapter) Command(r triage.RunSpec) triage.Command {
	c := triage.Command{Dir: r.Prepared.Dir, Env: append(append([]string{}, a.Env...), r.Prepared.Env...)}
	if c.Dir == "" {
		c.Dir = a.dir(r.Tree)
	}
	if r.Seed != 0 {
		c.Env = append(c.Env, envSeed+"="+strconv.FormatInt(r.Seed, 10))
	}
	if r.With != nil || r.WithFiles != nil {
		c.Env = append(c.Env, envOrdered+"=1")
	}
	ours := a.ourArgs(r)
	if r.Scope == triage.InSuite && r.WithFiles == nil && len(a.SuiteCommand) > 0 {
		c.Argv = a.SuiteCommand
		c.Env = append(c.Env, "PYTEST_ADDOPTS="+strings.TrimSpace(strings.Join(append(ours, r.Args...), " ")+" "+lookup(a.Env, "PYTEST_ADDOPTS")))
		return c
	}
	c.Argv = append([]string{r.Prepared.Bin, "-m", "pytest"}, ours...)
	if r.Prepared.Bin == "" {
		c.Argv[0] = a.named(r.Tree)
	}
	c.Argv = append(append(c.Argv, a.Args...), r.Args...)
	return a.selected(c, r)
}

// ourArgs are the arguments that load our plugin and keep caches out of the
// tree, and the lag runtime's plugin where there is one.
func (a Adapter) ourArgs(r triage.RunSpec) []string {
	if lookup(r.Prepared.Env, envFence) == "" { // the suite's own command, not prepared
		return []string{"-rA"}
	}
	args := []string{"-p", pluginName, "-o", "cache_dir=$TRIAGEBOT_PYTEST_CACHE", "-o", "tmp_path_retention_policy=none"}
	if r.Scope == triage.InSuite && r.WithFiles == nil && len(a.SuiteCommand) > 0 {
		args[3] = `'` + args[3] + `'` // pytest parts PYTEST_ADDOPTS as a shell does
	}
	return args
}

// selection is the node id of the trial, relative to the directory of the run.
func (a Adapter) selection(r triage.RunSpec) string {
	file := r.Target.Package
	if a.Dir != "" {
		if rel, err := filepath.Rel(filepath.FromSlash(a.Dir), filepath.FromSlash(file)); err == nil {
			file = filepath.ToSlash(rel)
		}
	}
	if strings.HasPrefix(file, "-") || strings.HasPrefix(file, "@") { // an option, or a file of arguments
		file = "./" + path.Clean(file)
	}
	if r.Scope == triage.InPackage || r.Target.Test == "" {
		return file
	}
	return file + "::" + r.Target.Test
}

// lookup finds the last value of a variable.
func lookup(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			value = v
		}
	}
	return value
}
