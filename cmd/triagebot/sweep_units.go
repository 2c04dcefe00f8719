package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/framework"
	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/framework/pytest"
	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/sweep"
	"github.com/triagebot/triagebot/internal/triage"
)

// units are the processes of one run of a suite: the packages of Go, one process
// for everything else, or one for each test file when shards share them.
func (s *session) units(ctx context.Context, su *suite, sharded bool) ([]sweep.Unit, error) {
	target := triage.Target{Suite: su.Name, Framework: su.Framework}
	if g, ok := su.lang.(*goLanguage); ok {
		pkgs, err := s.testPackages(ctx, su, g)
		return unitsOf(target, pkgs), err
	}
	if !sharded {
		return []sweep.Unit{{Target: target, Scope: triage.InSuite}}, nil
	}
	files, err := s.testFiles(ctx, su)
	return unitsOf(target, files), err
}

func unitsOf(t triage.Target, packages []string) []sweep.Unit {
	var out []sweep.Unit
	for _, p := range packages {
		t.Package = p
		out = append(out, sweep.Unit{Target: t, Scope: triage.InPackage})
	}
	return out
}

// withTests is the template that names the packages that have tests.
const withTests = "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}"

// testPackages asks the go command for the packages of the suite that have tests.
func (s *session) testPackages(ctx context.Context, su *suite, g *goLanguage) ([]string, error) {
	head := s.ws.Tree(triage.Head).Dir
	type query struct {
		dir      string
		patterns []string
	}
	var queries []query
	_, patterns, err := gotest.ParseCommand(su.Command)
	switch {
	case len(su.Command) > 0 && err == nil:
		queries = []query{{s.commandDir(su), patterns}}
	default: // all of all modules, whatever else the command does
		found, err := framework.Detect(head)
		if err != nil {
			return nil, err
		}
		for _, d := range found {
			if d.Framework == gotest.Name {
				queries = append(queries, query{filepath.Join(head, filepath.FromSlash(d.Dir)), []string{"./..."}})
			}
		}
	}
	var out []string
	for _, q := range queries {
		argv := slices.Concat([]string{"go", "list", "-e", "-f", withTests}, listFlags(g.Flags), q.patterns)
		res, err := proc.Run(ctx, proc.Spec{Dir: q.dir, Argv: argv, Env: s.before(su, g.Env...), Timeout: readyTimeout, OutputCap: 16 << 20})
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return nil, fmt.Errorf("listing packages: %w", err)
		case res.Exit != 0:
			return nil, fmt.Errorf("listing packages: %s", lastLine(string(res.Output)))
		}
		for line := range strings.Lines(string(res.Output)) {
			line = strings.TrimSpace(line)
			if line != "" && !strings.ContainsAny(line, " :") && !slices.Contains(out, line) { // the go command says what it downloads
				out = append(out, line)
			}
		}
	}
	return out, nil
}

// listFlags are the build flags that decide which files a package has.
func listFlags(flags []string) []string {
	var out []string
	for i, f := range flags {
		name := strings.TrimLeft(f, "-")
		switch name, _, joined := strings.Cut(name, "="); name {
		case "tags", "mod", "modfile":
			out = append(out, f)
			if !joined && i+1 < len(flags) {
				out = append(out, flags[i+1])
			}
		case "race":
			out = append(out, f)
		}
	}
	return out
}

// What test files are called, as the frameworks find them by default.
var (
	pythonTests = regexp.MustCompile(`(^|/)(test_[^/]*|[^/]*_test)\.py$`)
	scriptTests = regexp.MustCompile(`(\.|-|_)(test|spec)\.[cm]?[jt]sx?$|(^|/)(test|tests|__tests__)/[^/]*\.[cm]?[jt]sx?$`)
)

// testFiles are the test files of a suite by their names.
func (s *session) testFiles(ctx context.Context, su *suite) ([]string, error) {
	names := scriptTests
	if su.Framework == pytest.Name {
		names = pythonTests
	}
	out, end, err := s.quick(ctx, triage.Command{Dir: s.ws.Tree(triage.Head).Dir, Argv: []string{"git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"}})
	if err == nil && end.Exit != 0 {
		err = errors.New(lastLine(string(out)))
	}
	if err != nil {
		return nil, fmt.Errorf("listing test files: %w", err)
	}
	var files []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		inside := su.dir() == "" || strings.HasPrefix(name, su.dir()+"/")
		if inside && names.MatchString(name) && !strings.Contains("/"+name, "/node_modules/") {
			files = append(files, name)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("reading --shard: no test file of %s is called as %s does by default: leave out --shard", su.Name, su.Framework)
	}
	return files, nil
}

// recallChanges finds out which files changed since the last sweep. That it cannot
// be told is no error: it only orders the work.
func (s *session) recallChanges(ctx context.Context, plan *sweepPlan) error {
	since := plan.header.Sweep.Since
	if since == "" {
		return nil
	}
	head := s.ws.Tree(triage.Head).Rev.SHA
	out, end, err := s.quick(ctx, triage.Command{Dir: s.ws.Top(), Argv: []string{"git", "diff", "--name-only", "-z", "--end-of-options", since, head, "--"}})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || end.Exit != 0 {
		plan.header.Warnings = append(plan.header.Warnings, fmt.Sprintf("what changed since %.12s is not known: git does not have it here", since))
		plan.header.Sweep.Since = ""
		return nil
	}
	dirs, err := gotest.PackageDirs(s.ws.Tree(triage.Head).Dir)
	if err != nil {
		return nil
	}
	folders, stems := map[string]bool{}, map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" {
			folders[path.Dir(name)], stems[stem(name)] = true, true
		}
	}
	plan.changed = func(t triage.Target) bool {
		if dir, ok := dirs(t.Package); ok && t.Framework == gotest.Name {
			return folders[path.Clean(dir)]
		}
		return stems[stem(t.Package)]
	}
	return nil
}

// stem is what a test file and the file that it tests are called alike: without
// folder, extension and the word for a test.
func stem(name string) string {
	base, _, _ := strings.Cut(path.Base(name), ".")
	return strings.TrimSuffix(strings.TrimPrefix(base, "test_"), "_test")
}
