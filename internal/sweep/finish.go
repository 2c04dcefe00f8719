package sweep

import (
	"fmt"
	"slices"

	"github.com/triagebot/triagebot/internal/classify"
	"github.com/triagebot/triagebot/internal/pipeline"
	"github.com/triagebot/triagebot/internal/triage"
)

// finish fills the report.
func (e *engine) finish() triage.Report {
	r := e.r
	r.Schema, r.Plan.Stopped = triage.Schema, e.stopped
	r.Failures, r.Verdicts, r.Evidence = []triage.Failure{}, []triage.Verdict{}, []triage.Evidence{}
	for _, x := range append(e.cases(false), e.cases(true)...) {
		f := x.lead.failure
		if e.in.Note != nil {
			e.in.Note(&f)
		}
		r.Failures = append(r.Failures, f)
		if x.lead.verdict == nil {
			x.lead.verdict = e.undecided(x)
		}
		r.Verdicts = append(r.Verdicts, *x.lead.verdict)
	}
	for _, x := range e.order {
		if ev, ok := e.evidence(x); ok {
			r.Evidence = append(r.Evidence, ev)
		}
	}
	slices.SortStableFunc(r.Evidence, func(a, b triage.Evidence) int { return compareTargets(a.Target, b.Target) })
	r.Substrate = classify.Substrates(classify.Companies(r.Trials), r.Verdicts)
	r.Plan.LagPlans, r.Plan.Sites = e.usedPlans(r), pipeline.NamedSites(r.Trials, e.run.Site)
	r.Sweep = &triage.Sweep{Tests: e.testCount(), Units: len(e.units), Since: e.in.Since, Rungs: []triage.SweepRung{}}
	for _, rung := range e.rungs {
		r.Sweep.Rungs = append(r.Sweep.Rungs, *rung)
	}
	r.Warnings = append(r.Warnings, e.warnings()...)
	r.Cost.Trials, r.Cost.TrialMS = len(r.Trials), 0
	for _, t := range r.Trials {
		r.Cost.TrialMS += t.DurationMS
	}
	if r.Trials == nil {
		r.Trials = []triage.Trial{}
	}
	if r.Warnings == nil {
		r.Warnings = []string{}
	}
	return r
}

func (e *engine) testCount() int {
	n := 0
	for _, x := range e.order {
		if !x.target.IsCommand() {
			n++
		}
	}
	return n
}

// undecided is the verdict of a test that the time did not suffice for.
func (e *engine) undecided(x *test) *triage.Verdict {
	reason := triage.ReasonBudgetExhausted
	if e.stopped == "interrupted" {
		reason = triage.ReasonInterrupted
	}
	why := "red without lag, not run alone yet"
	switch {
	case x.lead.confirmed:
		a := x.alone()
		why = fmt.Sprintf("confirmed alone (under lag %d of %d, without %d of %d), its cause is not named yet", a.lagRed, a.lagRed+a.lagGreen, a.plainRed, a.plainRed+a.plainGreen)
	case x.lead.plan != nil:
		why = "red once " + x.lead.seen + ", not confirmed yet"
	}
	v := e.open(x, why, reason)
	v.Settle = "more time: a longer `--budget`, or `--resume`"
	return v
}

// evidence is the tallies of a test. What a search turned up is no measurement: a
// ladder's run alone counts only for a test that none of them turned red.
func (e *engine) evidence(x *test) (triage.Evidence, bool) {
	ev := triage.Evidence{Target: x.target, Tallies: []triage.Tally{}}
	if x.lead != nil {
		ev.Reference = x.lead.failure.Signature
		if !x.lead.reference.IsZero() {
			ev.Reference = x.lead.reference
		}
	}
	ev.DurationMS = x.typical()
	for _, s := range x.seen {
		if s.purpose == triage.Ladder && s.arm.Scope == triage.Alone && x.lead != nil {
			continue
		}
		i := slices.IndexFunc(ev.Tallies, func(t triage.Tally) bool { return t.Arm == s.arm })
		if i < 0 {
			i = len(ev.Tallies)
			ev.Tallies = append(ev.Tallies, triage.Tally{Arm: s.arm})
		}
		tally(&ev.Tallies[i], s, ev.Reference)
	}
	return ev, len(ev.Tallies) > 0
}

// tally enters one sighting.
func tally(t *triage.Tally, s sighting, reference triage.Signature) {
	mark := "-"
	switch {
	case s.outcome == triage.Pass:
		t.Pass, mark = t.Pass+1, "."
	case s.outcome.Red() && s.sign == reference:
		t.Same, mark = t.Same+1, "F"
	case s.outcome.Red():
		t.Other, mark = t.Other+1, "o"
	case s.outcome == triage.Skip:
		t.Skip++
	case s.outcome == triage.Absent:
		t.Absent++
	case s.outcome == triage.Invalid:
		t.Invalid++
	default:
		t.Unknown++
	}
	t.Sequence += mark
}

// usedPlans are the plans that a trial, a rung or a cause names.
func (e *engine) usedPlans(r triage.Report) map[string]triage.LagPlan {
	used := map[string]triage.LagPlan{}
	keep := func(id string) {
		if p, ok := e.plans[id]; ok {
			used[id] = p
		}
	}
	for _, t := range r.Trials {
		keep(t.Arm.Lag)
	}
	for _, v := range r.Verdicts {
		if v.Cause != nil {
			keep(v.Cause.Plan)
		}
	}
	for _, ids := range r.Plan.Ladders {
		for _, id := range ids {
			keep(id)
		}
	}
	return used
}

// warnings are what keeps the sweep from being whole.
func (e *engine) warnings() []string {
	var out []string
	for _, u := range e.units {
		if u.odd != "" {
			out = append(out, fmt.Sprintf("%s: %s", u.name(), u.odd))
		}
	}
	return out
}
