package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

// Input is a sweep whose suite is known and whose tree is ready.
type Input struct {
	// Report holds what is known before the first trial: tool, check, plan, warnings.
	Report triage.Report
	// Units are the processes of one run of the whole suite.
	Units []Unit
	// Ladders are the lag plans of each framework, the one for the whole suite
	// first; empty to run the control only.
	Ladders map[string][]triage.LagPlan
	// Controls is how often the whole suite is run without lag, 0 for [Controls].
	Controls int
	// Since is the commit of an earlier sweep, for the record. Changed tells
	// whether what a test is made of changed since; nil when that is not known.
	Since   string
	Changed func(triage.Target) bool
	// Order sorts tests by what is known of their past; nil for no past.
	Order func([]triage.Target) []triage.Target
	// Note adds to a red test what is known of it beforehand; nil for nothing.
	Note func(*triage.Failure)
	// PerTest tells whether the lag engine of a framework counts the hits of a site
	// anew for each test; nil for none.
	PerTest func(framework string) bool
	// Behind is a rung with the deadlines of the code under test out of the way.
	Behind func(triage.LagPlan) triage.LagPlan
	// Explain names causes; nil when lag is off.
	Explain Explain
	// Record keeps a finished trial at once; nil for none. Its error ends the measuring.
	Record func(triage.Trial, []triage.Result) error
	// Observer is told of progress; nil for none.
	Observer Observer
	// Deadline is when the budget ends, for the time that is shown.
	Deadline time.Time
}

// How often things are run.
const (
	// Controls is how often the whole suite is run without lag.
	Controls = 2
	// mostControls is how often a process is run whose reds differ from run to run:
	// that many show whether they share a cause.
	mostControls = 9
	// confirmRuns of each arm confirm a lead, and more of them one that was not red
	// every time.
	confirmRuns = 5
	moreRuns    = 10
	// maxTrials bounds the record of one sweep.
	maxTrials = 15_000
)

// Sweep runs a whole suite without lag and under lag, has each lead confirmed
// alone and its cause named, and goes on with the dearer rungs while there is
// time. It returns a whole report whenever it can: a spent budget or an interrupt
// is in the report's plan.stopped, not in the error. Any other error of the runner
// is returned together with the report of what was measured until then.
func Sweep(ctx context.Context, in Input, run Runner) (triage.Report, error) {
	e := newEngine(in, run)
	err := e.steps(ctx)
	switch {
	case errors.Is(err, ErrBudget):
		e.stopped, err = "budget", nil
	case errors.Is(err, ErrInterrupted):
		e.stopped, err = "interrupted", nil
	case err != nil:
		e.stopped = "interrupted"
		err = fmt.Errorf("sweeping: %w", err)
	}
	return e.finish(), err
}

// engine is one run of the procedure.
type engine struct {
	in      Input
	run     Runner
	r       triage.Report
	plans   map[string]triage.LagPlan
	units   []*unit
	tests   map[triage.Target]*test
	order   []*test // as they were first seen
	rungs   []*triage.SweepRung
	runs    map[triage.Target]int // trials of a test alone
	stopped string
}

// unit is one process of the suite, and what its plain runs came to.
type unit struct {
	Unit
	// ms are the durations of the plain runs; odd says why a run had no result.
	ms  []float64
	odd string
}

// test is one test, or the command of a unit that was red without one.
type test struct {
	target triage.Target
	unit   *unit
	// seen are its runs, in order.
	seen []sighting
	ms   []float64
	// lead is set once it was red; see [lead].
	lead *lead
	// idle is set when a rung that delays all workers found none to delay.
	idle bool
	// behind is set once a deadline of it was seen to trip.
	behind bool
}

// sighting is the outcome of a test in one process.
type sighting struct {
	arm     triage.Arm
	purpose triage.Purpose
	outcome triage.Outcome
	sign    triage.Signature
}

func newEngine(in Input, run Runner) *engine {
	e := &engine{in: in, run: run, r: in.Report, plans: map[string]triage.LagPlan{}, tests: map[triage.Target]*test{}, runs: map[triage.Target]int{}}
	e.r.Trials, e.r.Evidence, e.r.Verdicts, e.r.Failures = nil, nil, nil, nil
	for id, p := range in.Report.Plan.LagPlans {
		e.plans[id] = p
	}
	for _, u := range in.Units {
		e.units = append(e.units, &unit{Unit: u})
	}
	if e.in.Controls == 0 {
		e.in.Controls = Controls
	}
	return e
}

// steps is the procedure. What costs little and tells much comes first.
func (e *engine) steps(ctx context.Context) error {
	if err := e.control(ctx); err != nil {
		return err
	}
	for step := range e.longest() {
		err := e.wholeRung(ctx, step)
		if err == nil {
			err = e.settleAll(ctx)
		}
		if errors.Is(err, ErrBudget) && step > 0 && e.settled() {
			return nil // the later rungs are there to use up the time that is left
		}
		if err != nil {
			return err
		}
	}
	if err := e.settleAll(ctx); err != nil { // where lag is off
		return err
	}
	err := e.dearRungs(ctx)
	if errors.Is(err, ErrBudget) && e.settled() {
		return nil
	}
	return err
}

// longest is the number of rungs of the longest ladder.
func (e *engine) longest() int {
	n := 0
	for _, framework := range e.frameworks() {
		n = max(n, len(e.ladder(framework)))
	}
	return n
}

// trial runs one request and enters it into the record.
func (e *engine) trial(ctx context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, []triage.Result, error) {
	if len(e.r.Trials) >= maxTrials {
		return triage.Trial{}, nil, ErrBudget
	}
	if most := e.r.Plan.MaxTrials; most > 0 && !req.Target.IsCommand() && e.runs[req.Target] >= most {
		return triage.Trial{}, nil, errCapped
	}
	if plan != nil {
		req.Arm.Lag = plan.ID()
		e.plans[req.Arm.Lag] = *plan
	}
	t, results, err := e.run.Run(ctx, req, plan)
	if err != nil {
		return triage.Trial{}, nil, err
	}
	t.Request, t.Seq = req, len(e.r.Trials)+1
	slim(&t)
	if e.in.Record != nil {
		if err := e.in.Record(t, results); err != nil {
			return triage.Trial{}, nil, err
		}
	}
	e.r.Trials = append(e.r.Trials, t)
	if !req.Target.IsCommand() {
		e.runs[req.Target]++
		e.see(req.Target, t)
	}
	if e.in.Observer != nil {
		e.in.Observer.Finished(t)
	}
	return t, results, nil
}

// errCapped ends the runs of one test at the user's cap.
var errCapped = errors.New("as many trials as are allowed")

// slim drops of a green try what thousands of them cannot all keep. The search for a
// cause reads all of its trials.
func slim(t *triage.Trial) {
	if t.Purpose == triage.Ladder && !t.Outcome.Red() {
		t.Decisions, t.Stretched, t.Output = nil, nil, ""
	}
}

// see notes the outcome of a test alone.
func (e *engine) see(target triage.Target, t triage.Trial) {
	x := e.tests[target]
	if x == nil || t.Purpose == triage.Explain {
		return
	}
	s := sighting{arm: t.Arm, purpose: t.Purpose, outcome: t.Outcome}
	if t.Failure != nil && t.Outcome.Red() {
		s.sign = t.Failure.Signature
	}
	x.seen = append(x.seen, s)
}

// test finds a test or enters it.
func (e *engine) test(target triage.Target, u *unit) *test {
	x := e.tests[target]
	if x == nil {
		x = &test{target: target, unit: u}
		e.tests[target] = x
		e.order = append(e.order, x)
	}
	return x
}

// count counts the plain runs of a test in the company of its unit.
func (x *test) count(lagged bool) (green, red int) {
	for _, s := range x.seen {
		if s.arm.Scope == triage.Alone || (s.arm.Lag != "") != lagged {
			continue
		}
		switch {
		case s.outcome == triage.Pass:
			green++
		case s.outcome.Red():
			red++
		}
	}
	return green, red
}

// ladder is the lag plans for a test's framework.
func (e *engine) ladder(framework string) []triage.LagPlan {
	if e.in.Explain == nil {
		return nil
	}
	return e.in.Ladders[framework]
}

// progress tells how far a step is. The time is what the rest of it would take at
// the pace until now, and never more than the budget has left.
func (e *engine) progress(n, total int, began time.Time, doing string) {
	if e.in.Observer == nil {
		return
	}
	var left time.Duration
	if n > 0 {
		left = time.Since(began) / time.Duration(n) * time.Duration(total-n)
	}
	if !e.in.Deadline.IsZero() {
		left = min(left, max(0, time.Until(e.in.Deadline)))
	}
	e.in.Observer.Progress(n, total, left, doing)
}

// rung begins a step of the record.
func (e *engine) rung(name string, scope triage.Scope) *triage.SweepRung {
	e.rungs = append(e.rungs, &triage.SweepRung{Name: name, Scope: scope})
	return e.rungs[len(e.rungs)-1]
}

func (e *engine) addTrial(r *triage.SweepRung, t triage.Trial) {
	r.Runs++
	r.TrialMS += t.DurationMS
	if r.Lag == "" {
		r.Lag = t.Arm.Lag
	}
}

// frameworks lists those of the units, each once.
func (e *engine) frameworks() []string {
	var out []string
	for _, u := range e.units {
		if !slices.Contains(out, u.Target.Framework) {
			out = append(out, u.Target.Framework)
		}
	}
	return out
}
