package sweep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/triagebot/triagebot/internal/stats"
	"github.com/triagebot/triagebot/internal/triage"
)

// lead is a test that was red. Red under lag and green without it is a lead until
// it is confirmed alone; red without lag needs none.
type lead struct {
	// failure is the first one seen, in trial first.
	failure triage.Failure
	first   int
	// plan is the rung that is run again with the test alone, nil when the test
	// was red without lag. seen says where it was red.
	plan *triage.LagPlan
	seen string
	// reference is the signature that counts once there is a steady one, red the
	// trial that shows it.
	reference triage.Signature
	red       triage.Trial
	// confirmed is set when lag makes the difference beyond chance.
	confirmed bool
	// verdict is nil until there is one.
	verdict *triage.Verdict
}

// noteLeads makes leads of the tests of a unit that were red in a lagged trial and
// green in every plain one, and tells how many.
func (e *engine) noteLeads(u *unit, t triage.Trial, plan triage.LagPlan, where string) int {
	n := 0
	for _, x := range e.order {
		if x.unit != u || x.lead == nil || x.lead.first != t.Seq {
			continue
		}
		if green, red := x.count(false); red > 0 || green == 0 && !x.target.IsCommand() || !e.innermost(x, t.Arm.Lag) {
			continue
		}
		x.lead.plan, x.lead.seen = &plan, fmt.Sprintf("under %s in its %s", where, t.Arm.Scope)
		n++
	}
	return n
}

// cases are the tests that need a verdict, in the order in which they were seen
// red. A test around a red subtest needs none.
func (e *engine) cases(lagged bool) []*test {
	var out []*test
	for _, x := range e.order {
		if x.lead == nil || (x.lead.plan != nil) != lagged {
			continue
		}
		if _, red := x.count(false); !lagged && (red == 0 || !e.innermost(x, "")) {
			continue
		}
		out = append(out, x)
	}
	return out
}

// settleAll judges what is red plainly, confirms the leads, and then has the
// causes named, so that a short budget still tells of each whether it is one.
func (e *engine) settleAll(ctx context.Context) error {
	if err := e.plainReds(ctx); err != nil {
		return err
	}
	leads, began := e.cases(true), time.Now()
	for i, x := range leads {
		e.progress(i, len(leads), began, "confirming leads: "+x.target.String())
		if err := e.confirm(ctx, x); err != nil {
			return err
		}
	}
	began = time.Now()
	for i, x := range leads {
		e.progress(i, len(leads), began, "naming causes: "+x.target.String())
		if err := e.explain(ctx, x); err != nil {
			return err
		}
	}
	return nil
}

// settled reports whether every red test has its verdict.
func (e *engine) settled() bool {
	for _, x := range append(e.cases(false), e.cases(true)...) {
		if x.lead.verdict == nil {
			return false
		}
	}
	return true
}

// arms are the runs of a test alone, without lag and under its lead's plan.
type arms struct {
	plainGreen, plainRed int
	lagGreen, lagRed     int
	// same are the lagged reds with the commonest signature.
	same int
	sign triage.Signature
}

// alone counts the measured runs of a test alone.
func (x *test) alone() arms {
	var a arms
	signs := map[triage.Signature]int{}
	for _, s := range x.seen {
		if s.arm.Scope != triage.Alone || s.purpose != triage.Measure {
			continue
		}
		switch {
		case s.outcome == triage.Pass && s.arm.Plain():
			a.plainGreen++
		case s.outcome.Red() && s.arm.Plain():
			a.plainRed++
		case x.lead.plan == nil || s.arm.Lag != x.lead.plan.ID():
		case s.outcome == triage.Pass:
			a.lagGreen++
		case s.outcome.Red():
			a.lagRed++
			if signs[s.sign]++; signs[s.sign] > a.same {
				a.same, a.sign = signs[s.sign], s.sign
			}
		}
	}
	return a
}

// confirmP is the p of Fisher's exact test, one-sided, from which on lag makes the
// difference: 5 of 5 against 0 of 5 has 0.004, 6 of 10 against 0 of 10 has 0.005.
const confirmP = 0.01

// confirm runs a lead alone, without lag and under it in turn. A lead that is red
// without lag too is a flake; one that is not red again stays a lead.
func (e *engine) confirm(ctx context.Context, x *test) error {
	l := x.lead
	if l.verdict != nil || l.confirmed {
		return nil
	}
	if x.target.IsCommand() {
		l.verdict = e.open(x, "the process ends early "+l.seen+", and no test is named", triage.ReasonUnstable)
		return nil
	}
	want := confirmRuns
	for n := 0; n < want; n++ {
		if err := e.pair(ctx, x, n%2 == 0); errors.Is(err, errCapped) {
			break
		} else if err != nil {
			return err
		}
		a := x.alone()
		switch {
		case a.plainRed > 0: // a flake, whatever lag does
			return e.judgePlain(ctx, x)
		case n == 1 && a.lagRed == 0:
			n = want
		case n == want-1 && want < moreRuns && a.same < a.lagRed+a.lagGreen && a.lagRed > 0:
			want = moreRuns
		}
	}
	a := x.alone()
	lagged := a.lagRed + a.lagGreen
	said := fmt.Sprintf("alone under lag it failed %d of %d times, without lag %d of %d", a.lagRed, lagged, a.plainRed, a.plainGreen+a.plainRed)
	switch {
	case lagged == 0:
		l.verdict = e.open(x, "no run alone counts", triage.ReasonUnstable)
	case a.lagRed == 0:
		l.verdict = e.open(x, said+"; it was red once "+l.seen, triage.ReasonNotReproduced)
	case stats.FisherGreater(a.same, lagged, 0, a.plainGreen) > confirmP || a.sign.IsZero():
		l.verdict = e.open(x, said, triage.ReasonUnstable)
	default:
		l.confirmed, l.reference = true, a.sign
		l.red = e.redTrial(x, l.plan.ID(), a.sign)
	}
	return nil
}

// pair is one run of each arm.
func (e *engine) pair(ctx context.Context, x *test, lagFirst bool) error {
	for _, lagged := range []bool{lagFirst, !lagFirst} {
		plan := x.lead.plan
		if !lagged {
			plan = nil
		}
		if _, _, err := e.trial(ctx, triage.Request{Target: x.target, Purpose: triage.Measure}, plan); err != nil {
			return err
		}
	}
	return nil
}

// redTrial is the first trial of a test alone that shows the signature.
func (e *engine) redTrial(x *test, plan string, sign triage.Signature) triage.Trial {
	for _, t := range e.r.Trials {
		if t.Target == x.target && t.Arm == (triage.Arm{Lag: plan}) && t.Purpose == triage.Measure && t.SameFailure(sign) {
			return t
		}
	}
	return triage.Trial{}
}

// explain has the cause of a confirmed lead named, which gives it its verdict.
func (e *engine) explain(ctx context.Context, x *test) error {
	l := x.lead
	if l.verdict != nil || !l.confirmed {
		return nil
	}
	a := x.alone()
	probe := func(p triage.LagPlan) (triage.Trial, error) {
		t, _, err := e.trial(ctx, triage.Request{Target: x.target, Purpose: triage.Explain}, &p)
		return t, err
	}
	cause, err := e.in.Explain(Red{Plan: *l.plan, Trial: l.red, Reference: l.reference, ControlRuns: a.plainGreen, Site: e.run.Site}, probe)
	if err != nil && !errors.Is(err, errCapped) {
		return err
	}
	if cause != nil {
		if _, ran := e.plans[cause.Plan]; !ran { // the smallest plan was only ever run with its clocks stretched
			cause.Plan = l.plan.ID()
		}
	}
	l.verdict = e.lagVerdict(x, a, cause)
	return nil
}

// lagVerdict is what a confirmed lead comes to. Only a cause that is named makes it
// a finding: a deadline that is too short for the delays is honest, and what is
// unstable may be one.
func (e *engine) lagVerdict(x *test, a arms, c *triage.Cause) *triage.Verdict {
	v := &triage.Verdict{Target: x.target, Cause: c, Trial: x.lead.red.Seq, Reproduce: reproduction(x.lead.red.Seq)}
	n := a.lagRed + a.lagGreen
	v.Bound = rateBound(a.same, n, " under lag")
	switch {
	case c == nil:
		v.Class, v.Reasons = triage.Inconclusive, []triage.Reason{triage.ReasonUnstable}
	case c.Kind == triage.CauseTimeBudget, c.Kind == triage.CauseUnstable && c.Deadline:
		v.Class, v.Reasons = triage.Inconclusive, []triage.Reason{triage.ReasonLagArtefact}
		x.behind = true
	case c.Kind == triage.CauseUnstable:
		v.Class, v.Reasons = triage.Inconclusive, []triage.Reason{triage.ReasonUnstable}
	default:
		v.Class, v.Origin = triage.LagRevealedRace, triage.OriginBase
	}
	return v
}

// rateBound says how often something fails.
func rateBound(k, n int, when string) triage.Bound {
	const level = bounded
	b := triage.Bound{Confidence: level}
	switch {
	case n == 0:
		return triage.Bound{}
	case k == n:
		b.RateLow, b.RateHigh = stats.Lower(k, n, level), 1
		b.Text = fmt.Sprintf("fails ≥ %.0f %% of the time%s at 95 %%", 100*b.RateLow, when)
	case k == 0:
		b.RateHigh = stats.Upper(k, n, level)
		b.Text = fmt.Sprintf("fails ≤ %.0f %% of the time%s at 95 %%", 100*b.RateHigh, when)
	default:
		b.RateLow, b.RateHigh = stats.Interval(k, n, level)
		b.Text = fmt.Sprintf("fails %.0f to %.0f %% of the time%s at 95 %%", 100*b.RateLow, 100*b.RateHigh, when)
	}
	return b
}

func reproduction(seq int) string {
	if seq == 0 {
		return ""
	}
	return fmt.Sprintf("triagebot replay report.json --trial %d", seq)
}

// open is the verdict of a lead that is not confirmed.
func (e *engine) open(x *test, why string, reason triage.Reason) *triage.Verdict {
	return &triage.Verdict{
		Target: x.target, Class: triage.Inconclusive, Reasons: []triage.Reason{reason}, Bound: triage.Bound{Text: why},
		Trial: x.lead.first, Reproduce: reproduction(x.lead.first),
	}
}
