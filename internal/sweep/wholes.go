package sweep

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

// control runs the whole suite without lag: what is red there is red plainly and
// is no lead. A process whose tests do not do the same each time is run more often,
// for several victims of one cause show in no single run.
func (e *engine) control(ctx context.Context) error {
	r := e.rung("control", triage.InSuite)
	began := time.Now()
	defer func() { r.WallMS = ms(time.Since(began)) }()
	total := e.in.Controls * len(e.units)
	for round := range e.in.Controls {
		for i, u := range e.units {
			e.progress(round*len(e.units)+i, total, began, "without lag: "+u.name())
			if err := e.plain(ctx, r, u); err != nil {
				return err
			}
		}
	}
	for _, u := range e.units {
		for n := e.in.Controls; n < mostControls && e.unsteady(u, n) && !e.dearControl(r); n++ {
			e.progress(n, mostControls, began, "without lag, again: "+u.name())
			if err := e.plain(ctx, r, u); err != nil {
				return err
			}
		}
	}
	return nil
}

// controlShare is the part of the budget that the control may use up before it stops
// running what is unsteady again.
const controlShare = 0.25

// dearControl is counted in recorded durations, so that a resumed sweep does alike.
func (e *engine) dearControl(r *triage.SweepRung) bool {
	return r.TrialMS > controlShare*float64(e.r.Plan.BudgetMS)
}

// plain is one run of a unit without lag.
func (e *engine) plain(ctx context.Context, r *triage.SweepRung, u *unit) error {
	t, results, err := e.trial(ctx, u.request(triage.Measure), nil)
	if err != nil {
		return err
	}
	e.addTrial(r, t)
	e.take(u, t, results)
	u.ms = append(u.ms, t.DurationMS)
	r.Tests = len(e.order)
	if len(results) == 0 && t.Note != "" && !t.Outcome.Red() {
		u.odd = t.Note
	}
	return nil
}

// wholeRung runs the whole suite under one rung of the ladder, one process for each
// unit, with the delays scaled so that it takes about twice the time.
func (e *engine) wholeRung(ctx context.Context, step int) error {
	for _, framework := range e.frameworks() {
		ladder := e.ladder(framework)
		if step >= len(ladder) || len(ladder[step].Kinds) == 0 {
			continue // what delays no code is paid by each test
		}
		if err := e.wholeOf(ctx, framework, ladder[step]); err != nil {
			return err
		}
	}
	return nil
}

func (e *engine) wholeOf(ctx context.Context, framework string, plan triage.LagPlan) error {
	r := e.rung(plan.Name, triage.InSuite)
	began := time.Now()
	defer func() { r.WallMS = ms(time.Since(began)) }()
	reached := map[triage.Target]bool{}
	var short []*unit
	for i, u := range e.units {
		if u.Target.Framework != framework || !e.hasGreen(u) {
			continue
		}
		e.progress(i, len(e.units), began, plan.Name+" over all: "+u.name())
		used, err := e.wide(ctx, r, u, u.Unit, plan, u.typical(), reached)
		if err != nil {
			r.Left = e.left(reached, framework)
			return err
		}
		if used && u.Scope == triage.InSuite {
			short = append(short, u)
		}
	}
	r.Tests = len(reached)
	for _, u := range short {
		if err := e.byFile(ctx, u, plan); err != nil {
			return err
		}
	}
	return nil
}

// wide is one process under a rung that is scaled to it; used tells that its delays
// were used up before its end.
func (e *engine) wide(ctx context.Context, r *triage.SweepRung, u *unit, what Unit, plan triage.LagPlan, plainMS float64, reached map[triage.Target]bool) (used bool, err error) {
	wide := widen(plan, what.Scope, plainMS, e.in.PerTest != nil && e.in.PerTest(what.Target.Framework))
	t, results, err := e.trial(ctx, what.request(triage.Ladder), &wide)
	if err != nil {
		return false, err
	}
	e.addTrial(r, t)
	if t.Outcome == triage.Invalid {
		u.odd = t.Note
	}
	if float64(t.DecisionCount+1)*plan.MaxMS > wide.BudgetMS && t.DecisionCount > 0 {
		used = true
		r.Short++
	}
	for _, x := range e.take(u, t, results) {
		reached[x] = true
	}
	r.Leads += e.noteLeads(u, t, plan, r.Name)
	return used, nil
}

// byFile runs a rung over a suite once more, one file at a time: where the delays of
// one process did not suffice, those of many do.
func (e *engine) byFile(ctx context.Context, u *unit, plan triage.LagPlan) error {
	cost := map[string]float64{}
	var files []string
	for _, x := range e.ordered() {
		if x.unit != u {
			continue
		}
		if _, ok := cost[x.target.Package]; !ok {
			files = append(files, x.target.Package)
		}
		cost[x.target.Package] += x.typical()
	}
	if len(files) < 2 {
		return nil
	}
	r := e.rung(plan.Name, triage.InPackage)
	began, reached := time.Now(), map[triage.Target]bool{}
	defer func() { r.WallMS, r.Tests = ms(time.Since(began)), len(reached) }()
	for i, file := range files {
		e.progress(i, len(files), began, plan.Name+", file by file: "+file)
		what := Unit{Target: u.Target, Scope: triage.InPackage}
		what.Target.Package = file
		if _, err := e.wide(ctx, r, u, what, plan, cost[file], reached); err != nil {
			return err
		}
	}
	return nil
}

// typical is the median of the plain durations of a test in milliseconds.
func (x *test) typical() float64 {
	if len(x.ms) == 0 {
		return 0
	}
	return median(slices.Clone(x.ms))
}

// left counts the tests of a framework that a rung did not come to.
func (e *engine) left(reached map[triage.Target]bool, framework string) int {
	n := 0
	for _, x := range e.order {
		if !reached[x.target] && x.target.Framework == framework && !x.target.IsCommand() {
			n++
		}
	}
	return n
}

// Caps on the delays of a process that runs many tests.
const (
	// leastWideMS is what the delays may add up to in the shortest process: those of
	// a package are for a few tests with a double each. leastSuiteMS is that for a
	// whole suite in one process.
	leastWideMS  = 2_000
	leastSuiteMS = 8_000
	// siteShare is the part of it that one site may use up, so that a hot one
	// leaves something for the others.
	siteShare = 0.2
	leastHits = 3
)

// widen makes a rung for one test one for many: each is to have its delays, and
// together they may take no longer than the tests do without, or a few seconds.
// Where the engine counts for each test, one hit a site is enough for each of them.
func widen(p triage.LagPlan, scope triage.Scope, plainMS float64, perTest bool) triage.LagPlan {
	least := float64(leastWideMS)
	if scope == triage.InSuite {
		least = leastSuiteMS
	}
	p.Name += ", many tests"
	p.CleanupMS = 0 // it is paid once for every test
	p.BudgetMS = math.Round(max(least, plainMS))
	p.Hits = max(leastHits, int(siteShare*p.BudgetMS/max(1, p.MaxMS)))
	if perTest {
		p.PerTest, p.Hits = true, 1
	}
	return p
}

// take enters the results of a process into its tests, and tells which tests it
// reached. A process that was red without a red test is entered as its command.
func (e *engine) take(u *unit, t triage.Trial, results []triage.Result) []triage.Target {
	var reached []triage.Target
	red := false
	for _, res := range results {
		if res.Target.IsCommand() || res.Outcome == triage.Absent || res.Outcome == triage.Unknown {
			continue
		}
		reached = append(reached, res.Target)
		x := e.test(res.Target, u)
		s := sighting{arm: t.Arm, purpose: t.Purpose, outcome: res.Outcome}
		if res.Outcome.Red() {
			red = true
			if res.Failure != nil {
				s.sign = res.Failure.Signature
			}
		}
		if t.Arm.Plain() && res.DurationMS > 0 {
			x.ms = append(x.ms, res.DurationMS)
		}
		x.seen = append(x.seen, s)
		e.keepFailure(x, t, res)
	}
	if t.Outcome.Red() && !red {
		x := e.test(u.Target, u)
		e.keepFailure(x, t, triage.Result{Target: u.Target, Outcome: t.Outcome, Failure: t.Failure})
	}
	if x := e.tests[u.Target]; x != nil { // a unit of its own once it was red
		x.seen = append(x.seen, sighting{arm: t.Arm, purpose: t.Purpose, outcome: t.Outcome, sign: signOf(t.Failure)})
	}
	return reached
}

func signOf(f *triage.Failure) triage.Signature {
	if f == nil {
		return triage.Signature{}
	}
	return f.Signature
}

// keepFailure keeps the first failure of a test: it is what the report shows.
func (e *engine) keepFailure(x *test, t triage.Trial, res triage.Result) {
	if x.lead != nil && x.lead.verdict != nil && x.lead.verdict.Class == triage.Inconclusive && x.lead.verdict.Cause == nil && res.Outcome.Red() {
		x.lead = nil // a lead that came to nothing, red again
	}
	if !res.Outcome.Red() || x.lead != nil && x.lead.failure.Outcome.Red() {
		return
	}
	f := triage.Failure{Target: x.target, Outcome: res.Outcome}
	if res.Failure != nil {
		f = *res.Failure
		f.Target = x.target
	}
	if x.lead == nil {
		x.lead = &lead{}
	}
	x.lead.failure, x.lead.first = f, t.Seq
}

// hasGreen reports whether anything in a unit was ever green: else lag can bring
// out nothing.
func (e *engine) hasGreen(u *unit) bool {
	return slices.ContainsFunc(e.order, func(x *test) bool {
		green, _ := x.count(false)
		return x.unit == u && green > 0
	})
}

// unsteady reports whether the n plain runs of a unit differ, so that more of them
// may tell something. That one test is red in two of two says little yet: with a
// cause that they share, another may be next.
func (e *engine) unsteady(u *unit, n int) bool {
	return slices.ContainsFunc(e.order, func(x *test) bool {
		green, red := x.count(false)
		return x.unit == u && red > 0 && (green > 0 || n <= Controls)
	})
}

// innermost reports whether no subtest of a test is red where it is.
func (e *engine) innermost(x *test, lag string) bool {
	return !slices.ContainsFunc(e.order, func(o *test) bool {
		return o.target.Package == x.target.Package && strings.HasPrefix(o.target.Test, x.target.Test+"/") && x.target.Test != "" &&
			slices.ContainsFunc(o.seen, func(s sighting) bool {
				return s.outcome.Red() && s.arm.Scope != triage.Alone && s.arm.Lag == lag
			})
	})
}

func (u Unit) request(why triage.Purpose) triage.Request {
	return triage.Request{Target: u.Target, Arm: triage.Arm{Scope: u.Scope}, Purpose: why}
}

func (u *unit) name() string {
	if u.Target.Package != "" {
		return u.Target.Package
	}
	return u.Target.Suite
}

// typical is the median duration of the plain runs in milliseconds.
func (u *unit) typical() float64 {
	if len(u.ms) == 0 {
		return 0
	}
	return median(slices.Clone(u.ms))
}

func ms(d time.Duration) float64 { return math.Round(float64(d.Microseconds()) / 1000) }
