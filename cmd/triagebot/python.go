package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/framework/pytest"
	"github.com/triagebot/triagebot/internal/lag/pylag"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
)

// pythonLanguage is that of pytest.
type pythonLanguage struct {
	pytest.Adapter
	// direct is set when the suite's command is pytest's own.
	direct bool
	// line is the command that runs pytest, which a script may have.
	line []string
	// callers are the variables of our own environment.
	callers []string
	// base is how base's own files run pytest, when that is another way; baseTree is
	// its directory.
	base     *pytest.Script
	baseTree string
}

func (p *pythonLanguage) adapter() rerun.Adapter {
	if p.base == nil {
		return p.Adapter
	}
	own := p.Adapter
	own.Args, own.Chosen, own.Env = p.base.Adapter.Args, p.base.Adapter.Chosen, slices.Concat(p.callers, p.base.Adapter.Env)
	return bySide(p.Adapter, own, p.baseTree)
}

func (p *pythonLanguage) sets() []string { return p.Env }

func (p *pythonLanguage) engine(*session, *suite) rerun.Engine {
	return runtimeEngine(func(ctx context.Context, exec triage.Exec, tree, pkg, pkgDir, out string) (rerun.Instrumentation, error) {
		return pylag.Engine{}.Instrument(ctx, exec, tree, pkg, pkgDir, out)
	})
}

// runtimeEngine is an engine that lays down a runtime.
type runtimeEngine func(ctx context.Context, exec triage.Exec, tree, pkg, pkgDir, out string) (rerun.Instrumentation, error)

func (e runtimeEngine) Instrument(ctx context.Context, exec triage.Exec, tree, pkg, pkgDir, out string) (rerun.Instrumentation, error) {
	return e(ctx, exec, tree, pkg, pkgDir, out)
}

// pythonVariables are those of the caller that change what Python loads. They
// reach the tests through the adapter, which puts its own before them.
var pythonVariables = []string{"PYTHONPATH", "PYTEST_ADDOPTS", "PYTEST_PLUGINS"}

func (p *pythonLanguage) configure(top string, su *suite) error {
	a, direct := pytest.ParseCommand(su.Command)
	p.direct, p.line = direct, su.Command
	return p.adopt(a, top, su)
}

// adopt takes over what a command or script gives pytest.
func (p *pythonLanguage) adopt(a pytest.Adapter, top string, su *suite) error {
	p.Adapter, p.callers = a, nil
	p.Suite, p.Dir, p.Checkout = su.Name, su.dir(), top
	for _, name := range pythonVariables {
		if v := os.Getenv(name); v != "" {
			if name == "PYTHONPATH" {
				v = inTree(v, top, su.dir())
			}
			p.callers = append([]string{name + "=" + v}, p.callers...)
		}
	}
	p.Env = slices.Concat(p.callers, a.Env)
	if len(su.Setup) > 0 {
		return nil
	}
	checkout := filepath.Join(top, su.dir())
	var broken error
	p.Shared, broken = pytest.VenvOf(checkout, top)
	if strings.Contains(p.Python, "/") && !filepath.IsAbs(p.Python) {
		if own := filepath.Join(checkout, p.Python); isFile(own) {
			p.Python, p.Shared = "", own // an environment that only the checkout has
			return nil
		}
	}
	if p.Python != "" {
		return nil
	}
	return broken
}

// inTree makes a list of paths into the checkout relative to the directory that
// tests are started in, so that each tree loads its own files.
func inTree(list, top, dir string) string {
	parts := filepath.SplitList(list)
	for i, p := range parts {
		if rel, err := filepath.Rel(filepath.Join(top, dir), p); err == nil && filepath.IsAbs(p) && within(top, p) {
			parts[i] = rel
		}
	}
	return strings.Join(parts, string(os.PathListSeparator))
}

func within(top, p string) bool {
	rel, err := filepath.Rel(top, p)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && !st.IsDir()
}

// ready gives a tree that pins other packages an environment of its own, unless
// the project says how, and asks the interpreter of each side for pytest.
func (p *pythonLanguage) ready(ctx context.Context, s *session, su *suite) error {
	if len(su.Setup) == 0 {
		if p.Python == "" && p.Shared == "" {
			p.Shared = pytest.Kept(ctx, s.exec(su), filepath.Join(s.ws.Top(), su.dir()), s.ws.Top())
		}
		err := s.install(su, func() error {
			return s.ws.InstallPython(ctx, su.dir(), cmp.Or(p.Python, p.Shared, "python3"), s.before(su))
		})
		if err != nil {
			return err
		}
	}
	return s.tryBoth(ctx, su, p.adapter())
}

func (p *pythonLanguage) command(ctx context.Context, s *session, su *suite) ([]suiteCommand, error) {
	if len(su.Command) == 0 {
		return s.ownCommand(ctx, su, pytest.Name)
	}
	report := filepath.Join(s.dir, "suite-"+fileName(su.Name)+".xml")
	argv, active, err := p.active(ctx, s, su)
	if err != nil {
		return nil, err
	}
	c := triage.Command{Dir: s.commandDir(su), Argv: argv, Env: slices.Concat(p.callers, active, []string{
		"PYTHONDONTWRITEBYTECODE=1", "PYTEST_ADDOPTS=" + strings.TrimSpace("--junitxml="+shellWord(report)+" "+p.addOpts()),
	})}
	return []suiteCommand{{Command: c, report: report}}, nil
}

// active is the suite's command with the checkout's environment, which trials take
// too: a program of it that head's tree does not have is named where it is, and the
// tools that keep environments are told of it. The variables make head's own files
// those that are loaded.
func (p *pythonLanguage) active(ctx context.Context, s *session, su *suite) (argv, env []string, err error) {
	head, dir := s.ws.Tree(triage.Head).Dir, s.commandDir(su)
	if own, err := pytest.VenvOf(dir, head); p.Shared == "" || own != "" || err != nil {
		return su.Command, nil, nil // the tree's own, or none
	}
	argv, env = slices.Clone(su.Command), pytest.Active(p.line, p.Shared)
	named := false
	for i, w := range argv {
		there := filepath.Join(s.ws.Top(), filepath.FromSlash(s.commandBelow(su)), filepath.FromSlash(w))
		if p.direct && strings.Contains(w, "/") && !filepath.IsAbs(w) && filepath.Dir(there) == filepath.Dir(p.Shared) && !isFile(filepath.Join(dir, w)) && isFile(there) {
			argv[i], named = there, true
		}
	}
	if !named && env == nil {
		return argv, nil, nil
	}
	prepared, err := p.Prepare(ctx, s.exec(su), triage.BuildSpec{Tree: head, Out: filepath.Join(s.dir, "suite-"+fileName(su.Name))})
	if err != nil {
		return nil, nil, err
	}
	return argv, append(env, "PYTHONPATH="+lastOf(prepared.Env, "PYTHONPATH")), nil
}

// addOpts are the caller's options of pytest, and those of the command itself.
func (p *pythonLanguage) addOpts() string {
	if p.direct {
		return lastOf(p.Env, "PYTEST_ADDOPTS")
	}
	return lastOf(p.callers, "PYTEST_ADDOPTS")
}

// lastOf is the last value of a variable in a list.
func lastOf(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			value = v
		}
	}
	return value
}

func (p *pythonLanguage) plain() []string {
	return append([]string{cmp.Or(p.Python, p.Shared, "python3"), "-m", "pytest"}, p.Args...)
}

func (p *pythonLanguage) named(id string, su *suite) (triage.Failure, bool) {
	file, _, _ := strings.Cut(id, "::")
	if !strings.HasSuffix(file, ".py") {
		return triage.Failure{}, false
	}
	return triage.Failure{Target: pytest.ParseID(id, pytest.Options{Suite: su.Name, Dir: su.dir()}), Outcome: triage.Fail}, true
}

func (p *pythonLanguage) resolve(_ context.Context, s *session, su *suite, fs []triage.Failure) ([]triage.Failure, error) {
	return s.filesThere(su, fs)
}

func (p *pythonLanguage) reach(context.Context, *session, string) *triage.Reach { return nil }

// ownCommand runs a whole suite on head by its adapter, so that the reds are
// read as those of trials are.
func (s *session) ownCommand(ctx context.Context, su *suite, framework string) ([]suiteCommand, error) {
	a := su.lang.adapter()
	tree := s.ws.Tree(triage.Head).Dir
	prepared, err := a.Prepare(ctx, s.exec(su), triage.BuildSpec{Tree: tree, Out: filepath.Join(s.dir, "suite-"+fileName(su.Name))})
	if err != nil {
		return nil, err
	}
	if prepared.Failure != nil {
		return nil, errors.New(prepared.Failure.Message)
	}
	spec := triage.RunSpec{Prepared: prepared, Tree: tree, Target: triage.Target{Suite: su.Name, Framework: framework}, Scope: triage.InSuite, Timeout: s.cfg.Budget}
	read := func(end triage.End, output io.Reader) ([]triage.Failure, error) {
		results, err := a.Results(spec, end, output)
		var fs []triage.Failure
		for _, r := range results {
			if r.Outcome.Red() && r.Failure != nil && r.Target != spec.Target {
				fs = append(fs, *r.Failure)
			}
		}
		return fs, err
	}
	return []suiteCommand{{Command: a.Command(spec), read: read}}, nil
}

// fileName is a suite's name as a part of a file's.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ':' || r == 0 {
			return '-'
		}
		return r
	}, name)
}
