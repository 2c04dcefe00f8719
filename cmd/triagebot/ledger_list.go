package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/triage"
	"github.com/triagebot/triagebot/internal/workspace"
)

// openTrees makes the two trees and reads the suites, and sets nothing up: the
// names of tests are to be had without.
func openTrees(ctx context.Context, f *measureFlags, p *progress) (*session, error) {
	ws, err := workspace.Open(ctx, workspace.Options{Repo: f.repo, Head: f.head, Base: f.base, NoWait: f.noWait, OneTree: true, Logf: p.Say})
	if ctx.Err() != nil && err != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	s := &session{ws: ws}
	if err := s.makeDir(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.configure(f); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// listTests tells which names are not tests of head any more. A Go test is looked
// for in what go test lists, one of pytest in what it collects, and one of
// JavaScript is run.
func (s *session) listTests(ctx context.Context, names []string) (missing, unclear []string, err error) {
	goTests, others := map[*suite]*goList{}, s.namedTests()
	for _, name := range names {
		f, ok := s.onHead(name)
		su := s.of(f.Target)
		switch {
		case !ok || su == nil:
			unclear = append(unclear, name)
		case su.Framework != gotest.Name:
			found, err := others.look(ctx, su, f.Target)
			switch {
			case err != nil:
				return nil, nil, err
			case found == gone:
				missing = append(missing, name)
			case found == unknown:
				unclear = append(unclear, name)
			}
		default:
			if goTests[su] == nil {
				if goTests[su], err = s.listGo(ctx, su); err != nil {
					return nil, nil, err
				}
			}
			switch there, known := goTests[su].has(f.Target); {
			case !known:
				unclear = append(unclear, name)
			case !there:
				missing = append(missing, name)
			}
		}
	}
	return missing, unclear, nil
}

// goList has the top-level tests of the packages of a tree.
type goList struct {
	tests map[string][]string
	// broken are the packages that do not build.
	broken []string
}

// has looks for a test, in every package when its own is not named. A subtest is
// there when the test around it is. known is false when a package that does not
// build could have it.
func (l *goList) has(t triage.Target) (there, known bool) {
	top, _, _ := strings.Cut(t.Test, "/")
	if t.Package != "" {
		return slices.Contains(l.tests[t.Package], top), !slices.Contains(l.broken, t.Package)
	}
	for _, tests := range l.tests {
		if slices.Contains(tests, top) {
			return true, true
		}
	}
	return false, len(l.broken) == 0
}

// listGo asks go test for the tests of all modules of head.
func (s *session) listGo(ctx context.Context, su *suite) (*goList, error) {
	g := su.lang.(*goLanguage)
	if err := s.ready(ctx, su); err != nil {
		return nil, err
	}
	head := s.ws.Tree(triage.Head).Dir
	mods, err := gotest.Modules(head)
	if err != nil {
		return nil, err
	}
	l := &goList{tests: map[string][]string{}}
	for _, m := range mods {
		res, err := proc.Run(ctx, proc.Spec{
			Dir: filepath.Join(head, filepath.FromSlash(m.Dir)), Argv: slices.Concat([]string{"go", "test", "-list", "."}, g.Flags, []string{"./..."}),
			Env: s.before(su, g.Env...), Timeout: lookupTimeout, OutputCap: 64 << 20,
		})
		if err == nil && ctx.Err() != nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("listing tests: %w", err)
		}
		if res.TimedOut {
			return nil, fmt.Errorf("listing tests: it took longer than %s: leave it out with --no-list", lookupTimeout)
		}
		l.read(res.Output)
	}
	return l, nil
}

// read reads the output of go test -list: names, then the package they are of; or
// the package, and that it does not build.
func (l *goList) read(out []byte) {
	var here []string
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		switch {
		case len(f) == 1:
			here = append(here, f[0])
			continue
		case len(f) < 2 || f[0] != "ok" && f[0] != "FAIL" && f[0] != "?":
			continue
		case f[0] == "FAIL" && strings.HasSuffix(strings.TrimSpace(line), " failed]"):
			l.broken = append(l.broken, f[1])
		default:
			l.tests[f[1]] = here
		}
		here = nil
	}
}
