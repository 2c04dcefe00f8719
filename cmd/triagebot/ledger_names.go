package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"

	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/framework/pytest"
	"github.com/triagebot/triagebot/internal/triage"
)

// presence is what is known of a test on head.
type presence int

const (
	unknown presence = iota
	there
	gone
)

// namedTests looks for tests of frameworks that name them only when their file is
// loaded. What a file says is kept: a ledger has many names of few files.
type namedTests struct {
	s *session
	// collected are the tests of a file of pytest, nil for one that cannot be told.
	collected map[string][]string
	// unready are suites that cannot be started here.
	unready map[*suite]bool
	setUp   bool
}

func (s *session) namedTests() *namedTests {
	return &namedTests{s: s, collected: map[string][]string{}, unready: map[*suite]bool{}}
}

// onHead reads a name of the ledger. Its file is relative to the root, or to the
// directory of a suite: the suite that has the file, and of those the innermost,
// is meant; when none has it, the one that [session.namedOne] finds.
func (s *session) onHead(name string) (f triage.Failure, ok bool) {
	f, ok = s.namedOne(name)
	inner := -1
	for _, su := range s.suites {
		named, is := su.lang.named(name, su)
		if !is || su.Framework == gotest.Name {
			continue
		}
		for _, file := range []string{strings.TrimPrefix(named.Target.Package, su.dir()+"/"), named.Target.Package} {
			inside := su.dir() == "" || strings.HasPrefix(file, su.dir()+"/")
			if inside && len(su.dir()) > inner && isFile(filepath.Join(s.ws.Tree(triage.Head).Dir, filepath.FromSlash(file))) {
				named.Target.Package = file
				f, ok, inner = named, true, len(su.dir())
			}
		}
	}
	return f, ok
}

// look tells whether head has a test. An error is that of the context.
func (n *namedTests) look(ctx context.Context, su *suite, t triage.Target) (presence, error) {
	head := n.s.ws.Tree(triage.Head).Dir
	if t.Package == "" {
		return unknown, nil
	}
	if !isFile(filepath.Join(head, filepath.FromSlash(t.Package))) {
		return gone, nil
	}
	if t.Test == "" {
		return there, nil
	}
	if ok, err := n.ready(ctx, su); !ok {
		return unknown, err
	}
	if su.Framework == pytest.Name {
		return n.inCollection(ctx, su, t)
	}
	return n.runAlone(ctx, su, t)
}

// ready makes a suite ready, its declared set-up included. One that cannot be is
// no fault of the ledger.
func (n *namedTests) ready(ctx context.Context, su *suite) (bool, error) {
	if n.unready[su] {
		return false, nil
	}
	var err error
	if len(su.Setup) > 0 && !n.setUp {
		err, n.setUp = n.s.setUp(ctx), true
	}
	if err == nil {
		err = n.s.ready(ctx, su)
	}
	n.unready[su] = err != nil
	return err == nil, ctx.Err()
}

// inCollection asks pytest what the file holds, once; no test is run.
func (n *namedTests) inCollection(ctx context.Context, su *suite, t triage.Target) (presence, error) {
	tests, asked := n.collected[t.Package]
	if !asked {
		p, err := n.prepare(ctx, su, t)
		if err == nil && p.Failure == nil {
			tests = collectedTests(p.Output)
		}
		if n.collected[t.Package] = tests; ctx.Err() != nil {
			return unknown, ctx.Err()
		}
	}
	if tests == nil {
		return unknown, nil
	}
	for _, name := range tests {
		if name == t.Test || strings.HasPrefix(name, t.Test+"[") {
			return there, nil
		}
	}
	return gone, nil
}

// collectedTests are the tests that pytest --collect-only -q names, nil when it
// names none and does not say that there are none.
func collectedTests(out []byte) []string {
	var tests []string
	for line := range strings.Lines(string(out)) {
		file, test, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "::")
		if ok && strings.HasSuffix(file, ".py") {
			tests = append(tests, test)
		}
	}
	if tests == nil && bytes.Contains(out, []byte("no tests collected")) {
		return []string{}
	}
	return tests
}

// runAlone runs the test once: the runners of JavaScript tell of a name only so,
// and say when nothing has it.
func (n *namedTests) runAlone(ctx context.Context, su *suite, t triage.Target) (presence, error) {
	p, err := n.prepare(ctx, su, t)
	if err != nil || p.Failure != nil {
		return unknown, ctx.Err()
	}
	a := su.lang.adapter()
	spec := triage.RunSpec{Prepared: p, Tree: n.s.ws.Tree(triage.Head).Dir, Target: t, Scope: triage.Alone, Timeout: readyTimeout}
	c := a.Command(spec)
	if len(c.Argv) == 0 {
		return unknown, nil
	}
	out, end, err := n.s.exec(su)(ctx, c)
	if err != nil {
		return unknown, ctx.Err()
	}
	results, err := a.Results(spec, end, bytes.NewReader(out))
	if err != nil {
		return unknown, nil
	}
	for _, r := range results {
		if r.Target != t {
			continue
		}
		switch r.Outcome {
		case triage.Absent:
			return gone, nil
		case triage.Invalid, triage.Unknown:
			return unknown, nil
		}
		return there, nil
	}
	return unknown, nil
}

func (n *namedTests) prepare(ctx context.Context, su *suite, t triage.Target) (triage.Prepared, error) {
	return su.lang.adapter().Prepare(ctx, n.s.exec(su), triage.BuildSpec{
		Tree: n.s.ws.Tree(triage.Head).Dir, Package: t.Package, Out: filepath.Join(n.s.dir, "names-"+fileName(su.Name)),
	})
}
