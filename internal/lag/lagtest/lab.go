package lagtest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
)

// trialTimeout is far above what any test of a corpus takes.
const trialTimeout = time.Minute

// Instrument is the method of an engine that lays down a runtime.
type Instrument func(ctx context.Context, exec triage.Exec, tree, pkg, pkgDir, out string) (rerun.Instrumentation, error)

// Instrument makes a function an engine.
func (f Instrument) Instrument(ctx context.Context, exec triage.Exec, tree, pkg, pkgDir, out string) (rerun.Instrumentation, error) {
	return f(ctx, exec, tree, pkg, pkgDir, out)
}

// Lab runs the tests of one tree as the product does: by its runner, in
// processes of their own, under plans.
type Lab struct {
	*rerun.Runner
	T testing.TB
	// Plans are the ladder.
	Plans []triage.LagPlan
	// Suite and Framework are those of the targets.
	Suite, Framework string
}

// New makes a lab of a tree, an absolute path.
func New(t testing.TB, framework, tree string, a rerun.Adapter, engine Instrument, caps lag.Capabilities) *Lab {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run, err := rerun.New(rerun.Config{
		Adapter: a, Engine: engine, Trees: map[triage.Side]string{triage.Head: tree},
		Dir: dir, Env: proc.CleanEnv(os.Environ()), Timeout: trialTimeout,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Close() }) // the directory is the test's own
	plans, err := lag.Ladder(caps, 1, "auto")
	if err != nil {
		t.Fatal(err)
	}
	return &Lab{Runner: run, T: t, Plans: plans, Suite: framework, Framework: framework}
}

// Target names a test.
func (l *Lab) Target(file, test string) triage.Target {
	return triage.Target{Suite: l.Suite, Framework: l.Framework, Package: file, Test: test}
}

// Plan finds a rung by its name.
func (l *Lab) Plan(name string) *triage.LagPlan {
	l.T.Helper()
	i := slices.IndexFunc(l.Plans, func(p triage.LagPlan) bool { return p.Name == name })
	if i < 0 {
		l.T.Fatalf("the ladder has no rung %q", name)
	}
	return &l.Plans[i]
}

// Try carries out one trial, under a plan when it is not nil. One that says
// nothing ends the test: none may here.
func (l *Lab) Try(t triage.Target, p *triage.LagPlan) triage.Trial {
	l.T.Helper()
	req := triage.Request{Target: t, Purpose: triage.Measure}
	if p != nil {
		req.Arm.Lag = p.ID()
	}
	tr, err := l.Run(l.T.Context(), req, p)
	if err != nil {
		l.T.Fatal(err)
	}
	if !tr.Outcome.Counts() {
		l.T.Fatalf("%s came to %s (%s)\n%s", t, tr.Outcome, tr.Note, tr.Output)
	}
	return tr
}
