package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/framework"
	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
)

// find completes what collect began: it resolves the names of --test, and runs
// the suite on head when no failing test was named at all.
func (s *session) find(ctx context.Context, f *measureFlags, c *collected, p *progress) error {
	opt, err := s.options()
	if err != nil {
		return err
	}
	for i := range c.failures {
		c.failures[i].Target.Suite = opt.Suite
	}
	if c.failures, err = s.locate(ctx, c.failures); err != nil {
		return err
	}
	if len(f.tests) > 0 {
		fs, err := named(f.tests, opt)
		if err != nil {
			return err
		}
		if fs, err = s.resolve(ctx, fs); err != nil {
			return err
		}
		c.add(fs)
		if c.source == "" {
			c.source = "test"
		}
	}
	if c.source != "" {
		return nil
	}
	p.Say("running the suite on head")
	c.source = "run"
	fs, warning, err := s.runSuite(ctx, opt)
	if err != nil {
		return err
	}
	if warning != "" {
		c.warnings = append(c.warnings, warning)
	}
	c.add(fs)
	if len(c.failures) == 0 {
		return errGreen
	}
	return nil
}

// locate finds the packages of the failures whose report named none, as a log
// does that was cut off before the line of its package.
func (s *session) locate(ctx context.Context, fs []triage.Failure) ([]triage.Failure, error) {
	var out []triage.Failure
	for _, f := range fs {
		if f.Target.Package != "" || f.Target.Test == "" {
			out = append(out, f)
			continue
		}
		found, err := s.resolve(ctx, []triage.Failure{f})
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// options tell the readers what the head tree knows.
func (s *session) options() (gotest.Options, error) {
	return readerOptions(s.ws.Tree(triage.Head).Dir, s.suite.Name)
}

// readerOptions tell the report readers what a checkout knows: which folder a
// package is, and the module that short package names are relative to.
func readerOptions(dir, suite string) (gotest.Options, error) {
	mods, err := gotest.Modules(dir)
	if err != nil {
		return gotest.Options{}, err
	}
	dirs, err := gotest.PackageDirs(dir)
	if err != nil {
		return gotest.Options{}, err
	}
	opt := gotest.Options{Suite: suite, PackageDir: dirs}
	if len(mods) == 1 {
		opt.Module = mods[0].Path
	}
	return opt, nil
}

// resolve gives the names of --test their import paths: a bare name is looked
// for in all packages, a relative folder is looked up.
func (s *session) resolve(ctx context.Context, fs []triage.Failure) ([]triage.Failure, error) {
	mods, err := gotest.Modules(s.ws.Tree(triage.Head).Dir)
	if err != nil {
		return nil, err
	}
	var out []triage.Failure
	for _, f := range fs {
		switch pkg := f.Target.Package; {
		case pkg == "":
			pkgs, err := s.packagesOf(ctx, f.Target.Test, mods)
			if err != nil {
				return nil, err
			}
			for _, pkg := range pkgs {
				f.Target.Package = pkg
				out = append(out, f)
			}
		case strings.HasPrefix(pkg, "."):
			f.Target.Package = importPath(mods, path.Join(s.ws.Prefix(), pkg))
			out = append(out, f)
		default:
			out = append(out, f)
		}
	}
	return out, nil
}

// importPath is the import path of a folder relative to the tree.
func importPath(mods []gotest.Module, dir string) string {
	best := gotest.Module{}
	for _, m := range mods {
		if m.Dir == "." || dir == m.Dir || strings.HasPrefix(dir, m.Dir+"/") {
			if best.Path == "" || len(m.Dir) > len(best.Dir) || best.Dir == "." {
				best = m
			}
		}
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(dir, best.Dir), "/")
	if best.Dir == "." {
		rel = dir
	}
	return path.Join(best.Path, rel)
}

// lookupTimeout bounds the search for a bare name: it builds the tests of a whole
// module, which a cold cache makes slow.
const lookupTimeout = 10 * time.Minute

// packagesOf finds the packages of head that have a test of this name.
func (s *session) packagesOf(ctx context.Context, test string, mods []gotest.Module) ([]string, error) {
	top, _, _ := strings.Cut(test, "/")
	var found, broken []string
	for _, m := range mods {
		argv := slices.Concat([]string{"go", "test", "-list", "^" + regexp.QuoteMeta(top) + "$"}, s.adapter.Flags, []string{"./..."})
		res, err := proc.Run(ctx, proc.Spec{
			Dir: filepath.Join(s.ws.Tree(triage.Head).Dir, filepath.FromSlash(m.Dir)), Argv: argv,
			Env: s.before(s.adapter.Env...), Timeout: lookupTimeout, OutputCap: 64 << 20,
		})
		if err != nil {
			return nil, fmt.Errorf("looking for %s: %w", test, err)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if res.TimedOut {
			return nil, fmt.Errorf("reading --test %q: looking for its package took longer than %s: name it as import/path.%s", test, lookupTimeout, test)
		}
		has, unbuilt := listed(res.Output, top)
		found, broken = append(found, has...), append(broken, unbuilt...)
	}
	if len(found) == 0 && len(broken) > 0 {
		return nil, fmt.Errorf("reading --test %q: no package on head has a test of that name, but %s does not build: name it as import/path.%s", test, several(broken), test)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("reading --test %q: no package on head has a test of that name", test)
	}
	return found, nil
}

// listed reads the output of go test -list: names, then the package they are of;
// or the package, and that it does not build.
func listed(out []byte, name string) (found, broken []string) {
	here := false
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if line == name {
			here = true
			continue
		}
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "ok" && f[0] != "FAIL" && f[0] != "?" {
			continue
		}
		switch {
		case here:
			found = append(found, f[1])
		case f[0] == "FAIL" && strings.HasSuffix(line, " failed]"):
			broken = append(broken, f[1])
		}
		here = false
	}
	return found, broken
}

// runSuite runs the suite's command once on head and reads what is red.
func (s *session) runSuite(ctx context.Context, opt gotest.Options) ([]triage.Failure, string, error) {
	var all []triage.Failure
	warning := ""
	commands, err := s.suiteCommands()
	if err != nil {
		return nil, "", err
	}
	for _, c := range commands {
		fs, w, err := s.runCommand(ctx, c, opt)
		if err != nil {
			return nil, "", err
		}
		all, warning = append(all, fs...), warning+w
	}
	return all, warning, nil
}

// suiteCommands are the user's command, or that of each suite that is found.
func (s *session) suiteCommands() ([]triage.Command, error) {
	head := s.ws.Tree(triage.Head).Dir
	if len(s.command) > 0 {
		dir := filepath.Join(head, filepath.FromSlash(path.Join(s.ws.Prefix(), s.suite.Dir)))
		return []triage.Command{{Dir: dir, Argv: withJSON(s.command)}}, nil
	}
	suites, err := framework.Detect(head)
	if err != nil {
		return nil, err
	}
	if len(suites) == 0 {
		return nil, errors.New("looking for a test suite: there is no go.mod: name the failing tests, or the command after --")
	}
	var out []triage.Command
	for _, d := range suites {
		out = append(out, triage.Command{Dir: filepath.Join(head, filepath.FromSlash(d.Dir)), Argv: withJSON(d.Command)})
	}
	return out, nil
}

// withJSON makes a go test command print events; any other is left as it is.
func withJSON(argv []string) []string {
	a, _, err := gotest.ParseCommand(argv)
	i := slices.Index(argv, "test")
	if err != nil || a.JSON || i < 0 || slices.ContainsFunc(argv, func(w string) bool { return filepath.Base(w) == "gotestsum" }) {
		return argv
	}
	return slices.Concat(argv[:i+1], []string{"-json"}, argv[i+1:])
}

// runCommand runs one command of the suite. A red one whose output names no test
// is itself the red.
func (s *session) runCommand(ctx context.Context, c triage.Command, opt gotest.Options) ([]triage.Failure, string, error) {
	spool, err := os.CreateTemp(s.dir, "suite-*")
	if err != nil {
		return nil, "", fmt.Errorf("running the suite: %w", err)
	}
	defer os.Remove(spool.Name())
	defer spool.Close()
	argv, env := rerun.SplitEnv(c.Argv)
	res, err := proc.Run(ctx, proc.Spec{Dir: c.Dir, Argv: argv, Env: s.before(env...), Timeout: s.cfg.Budget, Sink: spool})
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		return nil, "", fmt.Errorf("running the suite: there is no %q on head: correct the command after --", argv[0])
	}
	if err != nil {
		return nil, "", fmt.Errorf("running the suite: %w", err)
	}
	if ctx.Err() != nil {
		return nil, "", ctx.Err()
	}
	if res.TimedOut {
		return nil, "", fmt.Errorf("running the suite: it did not end within the budget of %s: give a report of the red run with --report, or a larger --budget", s.cfg.Budget)
	}
	if res.Exit == 0 {
		return nil, "", nil
	}
	fs, err := s.readSuite(spool, c.Dir, opt)
	if len(fs) > 0 {
		return fs, "", nil
	}
	warning := "the command is red, and its output names no test"
	if err != nil {
		warning += ": " + err.Error()
	}
	red := rerun.CommandResult(triage.Target{Suite: opt.Suite, Framework: gotest.Name}, triage.End{Exit: res.Exit, Signal: res.Signal}, res.Output).Failure
	red.Excerpt = lastLine(string(res.Output))
	return []triage.Failure{*red}, warning, nil
}

// readSuite reads the report that the command left, else what it printed.
func (s *session) readSuite(spool *os.File, dir string, opt gotest.Options) ([]triage.Failure, error) {
	if r := s.adapter.Report; r != "" {
		if b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(r))); err == nil {
			_, fs, err := readReport(bytes.NewReader(b), opt, false)
			return fs, err
		}
	}
	if _, err := spool.Seek(0, 0); err != nil {
		return nil, fmt.Errorf("reading the suite's output: %w", err)
	}
	_, fs, err := readReport(spool, opt, false)
	return fs, err
}
