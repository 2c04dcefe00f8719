package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/framework"
	"github.com/triagebot/triagebot/internal/framework/jstest"
	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
)

// find completes what collect began: it gives the failures their suites,
// resolves the names of --test, and runs the suites on head when no failing test
// was named at all.
func (s *session) find(ctx context.Context, f *measureFlags, c *collected, p *progress) error {
	if err := s.findAll(ctx, f, c, p); err != nil {
		return err
	}
	s.commandSeeds(c.failures)
	for _, red := range c.failures {
		if err := s.ready(ctx, s.of(red.Target)); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) findAll(ctx context.Context, f *measureFlags, c *collected, p *progress) error {
	if err := s.assign(c.failures); err != nil {
		return err
	}
	var err error
	if c.failures, err = s.locate(ctx, c.failures); err != nil {
		return err
	}
	if len(f.tests) > 0 {
		fs, err := s.named(f.tests)
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
	c.source = "run"
	for i, su := range s.suites {
		if su.typed && i > 0 {
			break // one command runs them all
		}
		if len(s.suites) == 1 || su.typed {
			p.Say("running the suite on head")
		} else {
			p.Say("running the suite %s on head", su.Name)
		}
		fs, warning, err := s.runSuite(ctx, su)
		if err != nil {
			return err
		}
		if warning != "" {
			c.warnings = append(c.warnings, warning)
		}
		c.add(fs)
	}
	if len(c.failures) == 0 {
		return greenRun{s.unread()}
	}
	return nil
}

// unread are the warnings of a green run, with what it left out of scripts.
func (s *session) unread() []string {
	all := slices.Clone(s.warnings)
	for _, su := range s.suites {
		if su.unread != "" {
			all = append(all, su.unread)
		}
	}
	return all
}

// commandSeeds gives the failures that no output has a seed of the one that the
// command of their suite sets.
func (s *session) commandSeeds(fs []triage.Failure) {
	for i, f := range fs {
		if su := s.of(f.Target); su != nil && f.Seed == 0 {
			fs[i].Seed = framework.CommandSeed(su.Framework, su.Command)
		}
	}
}

// locate finds the packages of the failures whose report named none, as a log
// does that was cut off before the line of its package.
func (s *session) locate(ctx context.Context, fs []triage.Failure) ([]triage.Failure, error) {
	files, err := s.filesOf(ctx, fs)
	if err != nil {
		return nil, err
	}
	var out []triage.Failure
	for _, f := range fs {
		found := []triage.Failure{f}
		var err error
		switch j, script := s.of(f.Target).lang.(*scriptLanguage); {
		case f.Target.Package != "" || f.Target.Test == "":
		case script:
			found = s.inFiles(f, files[j.leaf(f.Target.Test)])
		default:
			found, err = s.resolve(ctx, found)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// filesOf finds the files of JavaScript for the failures that name none, by the
// tests' own names.
func (s *session) filesOf(ctx context.Context, fs []triage.Failure) (map[string][]string, error) {
	var titles []string
	for _, f := range fs {
		if j, script := s.of(f.Target).lang.(*scriptLanguage); script && f.Target.Package == "" && f.Target.Test != "" {
			titles = append(titles, j.leaf(f.Target.Test))
		}
	}
	if len(titles) == 0 {
		return nil, nil
	}
	slices.Sort(titles)
	return jstest.FilesWithTitles(ctx, s.ws.Tree(triage.Head).Dir, slices.Compact(titles))
}

// inFiles is a failure in each of the files that it may be in: the one that its
// stack shows, else those of the suite whose folder the report lies in, else all. The
// failure stays without a file when none has its title.
func (s *session) inFiles(f triage.Failure, files []string) []triage.Failure {
	if at := f.Location.File; fileIn(s.ws.Tree(triage.Head).Dir)(at) && (len(files) == 0 || slices.Contains(files, at)) {
		files = []string{at}
	}
	var all, own []triage.Failure
	for _, file := range files {
		g := f
		g.Target.Package = file
		su := s.suiteFor(g.Target)
		g.Target.Suite = su.Name
		all = append(all, g)
		if su == s.of(f.Target) {
			own = append(own, g)
		}
	}
	first := slices.IndexFunc(s.suites, func(su *suite) bool { return su.Framework == f.Target.Framework })
	if len(own) > 0 && s.of(f.Target) != s.suites[first] { // the first is taken where nothing tells
		all = own
	}
	if len(all) == 0 { // a made title, as of it.each: no trial selects it, and the other reds are judged
		s.warnings = append(s.warnings, fmt.Sprintf("a report names no file for %q, and no test file on head has that title: name it with --test as %s, or let the report have the file (for jest-junit: addFileAttribute)", f.Target.Test, forms[f.Target.Framework]))
		return []triage.Failure{f}
	}
	if len(all) > 1 {
		s.warnings = append(s.warnings, fmt.Sprintf("a report names no file for %q, and %s and %d more may have it: all are run", f.Target.Test, all[0].Target.Package, len(all)-1))
	}
	return all
}

// resolve completes failures, each by its own suite.
func (s *session) resolve(ctx context.Context, fs []triage.Failure) ([]triage.Failure, error) {
	var out []triage.Failure
	for _, f := range fs {
		su := s.of(f.Target)
		if err := s.ready(ctx, su); err != nil {
			return nil, err
		}
		found, err := su.lang.resolve(ctx, s, su, []triage.Failure{f})
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// forms says how a test is named, by framework.
var forms = map[string]string{
	"gotest": "TestName, or import/path.TestName/sub", "pytest": "tests/test_a.py::TestB::test_c",
	"vitest": "src/a.test.ts > describe > test", "jest": "src/a.test.js > describe test",
	"mocha": "test/a.js > describe test", "nodetest": "test/a.test.mjs > suite > test",
}

// named makes failures of --test: each is of the first suite that it can be a
// name of.
func (s *session) named(ids []string) ([]triage.Failure, error) {
	var out []triage.Failure
	for _, id := range ids {
		f, ok := s.namedOne(id)
		if !ok {
			var want []string
			for _, su := range s.suites {
				want = append(want, fmt.Sprintf("%s of %s", forms[su.Framework], su.Name))
			}
			return nil, fmt.Errorf("reading --test %q: not the name of a test (want %s)", id, strings.Join(want, ", or "))
		}
		out = append(out, f)
	}
	return out, nil
}

func (s *session) namedOne(id string) (triage.Failure, bool) {
	for _, su := range s.suites {
		if f, ok := su.lang.named(id, su); ok && s.suiteFor(f.Target) == su {
			return f, true
		}
	}
	for _, su := range s.suites {
		if f, ok := su.lang.named(id, su); ok {
			return f, true
		}
	}
	return triage.Failure{}, false
}

// filesThere refuses failures whose file head does not have. A name may have been
// typed relative to the directory that --repo is.
func (s *session) filesThere(su *suite, fs []triage.Failure) ([]triage.Failure, error) {
	head := s.ws.Tree(triage.Head).Dir
	for i, f := range fs {
		if f.Target.Package == "" || isFile(filepath.Join(head, filepath.FromSlash(f.Target.Package))) {
			continue
		}
		bare := strings.TrimPrefix(f.Target.Package, su.dir()+"/")
		here := path.Join(s.ws.Prefix(), bare)
		switch {
		case isFile(filepath.Join(head, filepath.FromSlash(here))):
			fs[i].Target.Package = here
		case isFile(filepath.Join(head, filepath.FromSlash(bare))):
			fs[i].Target.Package = bare
		default:
			return nil, fmt.Errorf("reading --test %q: there is no file %s on head", f.Target.String(), f.Target.Package)
		}
	}
	return fs, nil
}

// fileIn tells whether a file is below a directory, by its path with forward slashes.
func fileIn(dir string) func(string) bool {
	return func(file string) bool {
		return file != "" && !path.IsAbs(file) && isFile(filepath.Join(dir, filepath.FromSlash(file)))
	}
}

// runSuite runs a suite once on head and reads what is red.
func (s *session) runSuite(ctx context.Context, su *suite) ([]triage.Failure, string, error) {
	if err := s.ready(ctx, su); err != nil {
		return nil, "", err
	}
	commands, err := su.lang.command(ctx, s, su)
	if err != nil {
		return nil, "", err
	}
	var all []triage.Failure
	warning := ""
	for _, c := range commands {
		fs, w, err := s.runCommand(ctx, su, c)
		if err != nil {
			return nil, "", err
		}
		all, warning = append(all, fs...), warning+w
	}
	return all, warning, nil
}

// runCommand runs one command of the suite. A red one whose output names no test
// is itself the red.
func (s *session) runCommand(ctx context.Context, su *suite, c suiteCommand) ([]triage.Failure, string, error) {
	spool, err := os.CreateTemp(s.dir, "suite-*")
	if err != nil {
		return nil, "", fmt.Errorf("running the suite: %w", err)
	}
	defer os.Remove(spool.Name())
	defer spool.Close()
	argv, env := rerun.SplitEnv(c.Argv)
	res, err := proc.Run(ctx, proc.Spec{Dir: c.Dir, Argv: argv, Env: s.before(su, slices.Concat(c.Env, env)...), Timeout: s.cfg.Budget, Sink: spool})
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
	end := triage.End{Exit: res.Exit, Signal: res.Signal}
	fs, err := s.readSuite(su, c, end, spool)
	if len(fs) > 0 {
		return fs, "", nil
	}
	warning := "the command is red, and its output names no test"
	if err != nil {
		warning += ": " + err.Error()
	}
	red := rerun.CommandResult(triage.Target{Suite: su.Name, Framework: su.Framework}, end, s.ws.Tree(triage.Head).Dir, res.Output).Failure
	red.Excerpt = lastLines(string(res.Output), 8)
	return []triage.Failure{*red}, warning, nil
}

// readSuite reads the report that the command left, else what it printed.
func (s *session) readSuite(su *suite, c suiteCommand, end triage.End, spool *os.File) ([]triage.Failure, error) {
	of := []config.Suite{su.Suite}
	if su.typed {
		of = nil
		for _, other := range s.suites {
			of = append(of, other.Suite)
		}
	}
	in, err := reading(s.ws.Tree(triage.Head).Dir, of)
	if err != nil {
		return nil, err
	}
	if c.report != "" {
		path := filepath.FromSlash(c.report)
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.Dir, path)
		}
		if report, err := os.Open(path); err == nil {
			defer report.Close()
			_, fs, err := framework.ReadReport(report, in)
			if len(fs) > 0 || len(of) == 1 {
				return printedSeeds(fs, spool, in), err
			}
			// What is red is of another suite of the command.
		}
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("reading the suite's output: %w", err)
	}
	if c.read != nil {
		return c.read(end, spool)
	}
	_, fs, err := framework.ReadReport(spool, in)
	if len(fs) > 0 {
		return fs, err
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("reading the suite's output: %w", err)
	}
	if told, _ := framework.ReadPrefixed(spool, in, folderOf(in)); len(told) > 0 {
		return told, nil
	}
	return fs, err
}

// printedSeeds gives the failures of a report the order seed that the command
// printed; where it printed several, each the one of its own run.
func printedSeeds(fs []triage.Failure, spool io.ReadSeeker, in framework.Reading) []triage.Failure {
	c := collected{failures: fs}
	var printed framework.Seeds
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return fs // an order that is not known is the source's
	}
	if told, err := framework.ReadLog(io.TeeReader(spool, &printed), in); err == nil {
		reported := c.failures
		c.add(told)
		c.failures = c.failures[:len(reported)] // the report is whole, and its names are exact
	}
	c.seed(printed.Only)
	return c.failures
}
