package classify

import (
	"cmp"
	"slices"

	"github.com/triagebot/triagebot/internal/triage"
)

// rungState is what the tries of one rung have shown.
type rungState int

const (
	// rungOpen: tries are missing.
	rungOpen rungState = iota
	// rungClean: head passed, or the rung could not be run.
	rungClean
	// rungForeign: red, but not the red's way.
	rungForeign
	// rungUnsteady: red the red's way, but not each time.
	rungUnsteady
	// rungHit: red the red's way each time.
	rungHit
)

// mostUnstable rungs without an answerable delay are passed over in the hope of a
// later one; each has cost a search.
const mostUnstable = 2

// voidTries that say nothing end a rung; maxVoidTries without a single one that
// counts end the ladder (the instrumented copy does not work here).
const (
	voidTries    = 2
	maxVoidTries = 4
)

// rungs are the plans worth trying. A data race report and a build do not depend
// on delays, and a command without a test id has nothing to aim at.
func (v *view) rungs() []string {
	if v.ref.Phase == triage.PhaseRace || v.ref.Phase == triage.PhaseBuild || v.c.Red.Target.IsCommand() {
		return nil
	}
	said, void := 0, 0
	for _, a := range v.tries {
		said += a.N()
		void += a.empty()
	}
	if said == 0 && void >= maxVoidTries {
		return nil
	}
	return v.c.Rungs
}

// ladder goes through the rungs, with base's tries when bothSides is set, and
// through the package after some of them. An honest deadline says nothing of a
// race that another rung may show, so it is what is said only in the end; before
// it come the rungs whose delays could not be made answerable, as happens to a
// rung that a busy machine turned red. ok is false when all is done and nothing
// was found.
func (v *view) ladder(plain pair, bothSides bool) (d decision, ok bool) {
	rungs := v.rungs()
	deadline := ""
	var unstable []string
	for i, rung := range rungs {
		if i == v.p.ScopeAfter {
			if d, ok := v.scope(plain); ok {
				return d, true
			}
		}
		switch state, missing := v.rung(rung, plain, bothSides); state {
		case rungOpen:
			return run(v.ladderStep(rung, missing...)), true
		case rungHit:
			if c := v.c.Causes[rung]; c != nil && c.Undelayed {
				continue // red by itself, three times by chance
			}
			if v.honestDeadline(v.c.Causes[rung]) {
				deadline = cmp.Or(deadline, rung)
				continue
			}
			if c := v.c.Causes[rung]; c != nil && noCause(c) && len(unstable) < mostUnstable {
				unstable = append(unstable, rung)
				continue
			}
			if d, ok := v.lagged(rung, plain); ok {
				return d, true
			}
		}
	}
	if len(rungs) <= v.p.ScopeAfter {
		if d, ok := v.scope(plain); ok {
			return d, true
		}
	}
	for _, rung := range unstable {
		if d, ok := v.lagged(rung, plain); ok {
			return d, true
		}
	}
	if deadline != "" {
		return v.lagArtefact(deadline), true
	}
	return decision{}, false
}

// rung is the state of one rung, and whose tries are missing when it is open.
func (v *view) rung(rung string, plain pair, bothSides bool) (rungState, []triage.Side) {
	head, base := v.try(triage.Head, rung), v.try(triage.Base, rung)
	var missing []triage.Side
	if head.N() == 0 && !v.void(head) {
		missing = append(missing, triage.Head)
	}
	if bothSides && base.N() == 0 && !v.void(base) {
		missing = append(missing, triage.Base)
	}
	if missing != nil {
		return rungOpen, missing
	}
	state := v.headState(head)
	switch {
	case bothSides && base.Same == 0 && v.flakyAnyway(plain.head):
		// Head's reds under this rung are its plain flakiness.
		return rungClean, nil
	case state == rungOpen:
		return rungOpen, []triage.Side{triage.Head}
	}
	return state, nil
}

// headState judges head's tries of one rung, the first of which is there.
func (v *view) headState(head *arm) rungState {
	same := head.Same
	if v.ref.IsZero() { // nothing known yet: the first red speaks for this rung
		same = v.likeFirst(head)
	}
	switch {
	case head.Red() == 0:
		return rungClean
	case same == 0:
		return rungForeign
	case same < head.N():
		return rungUnsteady
	case head.N() <= v.p.LagConfirm && !v.void(head):
		return rungOpen
	case head.N() <= v.p.LagConfirm:
		return rungUnsteady
	}
	return rungHit
}

// likeFirst counts the trials that are red as the first one was.
func (v *view) likeFirst(a *arm) int {
	n := 0
	for _, t := range a.counted {
		if isReference(t, signature(a.counted[0])) {
			n++
		}
	}
	return n
}

// void reports whether the tries of a rung have said nothing often enough.
func (v *view) void(a *arm) bool { return a.trailing >= voidTries }

// flakyAnyway reports whether head fails so often without lag that a few reds
// under lag say nothing about the lag.
func (v *view) flakyAnyway(head *arm) bool {
	return float64(head.Red()) > v.p.LagPlainRate*float64(head.N())
}

func (v *view) ladderStep(rung string, sides ...triage.Side) Step {
	s := Step{Kind: StepLadder, Rung: rung}
	for _, side := range sides {
		s.Requests = append(s.Requests, v.request(triage.Arm{Side: side, Lag: rung}, triage.Ladder))
	}
	return s
}

// lagged goes on from a rung that turns head red each time: the cause, then the
// same plan on head and base, counted afresh. ok is false when the plan does not
// tell after all, and the search goes on.
func (v *view) lagged(rung string, plain pair) (d decision, ok bool) {
	d, ok = v.confirm(rung, plain)
	cause, explained := v.c.Causes[rung]
	switch {
	case ok && !explained:
		return run(Step{Kind: StepExplain, Rung: rung}), true
	case ok && noCause(cause) && plain.head.Red() > 0:
		return decision{}, false // it fails without lag too, and no delay is answerable
	case ok && noCause(cause) && plain.head.N() < v.p.QuietRuns:
		return run(Step{Kind: StepPlain, Requests: []triage.Request{v.request(plain.head.Arm, triage.Measure)}}), true
	}
	return d, ok
}

// noCause reports whether no delay could be made answerable. Then the reds under
// lag may be a plain flakiness that happened to be quiet in the first rounds, and
// more plain runs have to speak first.
func noCause(c *triage.Cause) bool { return c == nil || c.Kind == triage.CauseUnstable }

// confirm judges the rounds under the plan, or asks for the next.
func (v *view) confirm(rung string, plain pair) (d decision, ok bool) {
	p := v.pair(triage.Alone, rung)
	switch {
	case plain.base.absent(v.p):
		return v.confirmNew(rung, p)
	case p.head.givenUp(v.p), p.base.givenUp(v.p):
		return decision{}, false
	case v.onBaseToo(p, plain) && plain.head.Red() == 0 && plain.head.N() < v.p.RaceRuns:
		return run(Step{Kind: StepPlain, Requests: []triage.Request{v.request(plain.head.Arm, triage.Measure)}}), true
	case v.onBaseToo(p, plain) && v.widened(plain):
		// The race is main's, but head may have made it show: the plain rounds tell.
		return run(v.round(StepPlain, plain)), true
	case v.onBaseToo(p, plain):
		return v.race(rung, p, triage.OriginBase), true
	case p.base.Red() == 0 && v.contrast(p).e >= v.threshold():
		return v.race(rung, p, triage.OriginHead), true
	case p.rounds() >= v.p.LagRounds:
		return decision{}, false
	}
	return run(v.round(StepConfirm, p)), true
}

// onBaseToo reports whether base fails under the plan as head does. When head
// also failed without lag, base must be shown to be not much better under the
// plan: its reds could be a plain flakiness that head made worse.
func (v *view) onBaseToo(p, plain pair) bool {
	if p.base.Same < v.p.LagBaseReds {
		return false
	}
	if plain.head.Red() > 0 {
		return v.notMuchWorse(p)
	}
	return 2*p.base.Same >= p.base.N()
}

// widened reports whether head fails without lag and base does not, and the plain
// rounds are not yet at their end: one round before it, for at the end they are
// exhausted.
func (v *view) widened(plain pair) bool {
	return plain.head.Red() > 0 && plain.base.Red() == 0 && plain.rounds() < v.p.MaxRounds-1
}

// confirmNew repeats the plan on head alone, for a test that base does not have.
func (v *view) confirmNew(rung string, p pair) (d decision, ok bool) {
	switch {
	case p.head.givenUp(v.p), p.head.Same < p.head.N():
		return decision{}, false
	case p.head.N() >= v.p.MinRounds:
		return v.race(rung, p, triage.OriginHead, triage.ReasonNewTest), true
	}
	return run(Step{Kind: StepConfirm, Rung: rung,
		Requests: []triage.Request{v.request(p.head.Arm, triage.Measure)}}), true
}

// explainedRace is what is told in place of a flake that both sides have, when a
// cause was named before the plain reds came and the same plan turns both red: a
// race of main's that shows without lag too, as on a busy machine.
func (v *view) explainedRace(plain pair) (d decision, ok bool) {
	if plain.head.Arm != (triage.Arm{}) {
		return decision{}, false
	}
	for _, rung := range v.rungs() {
		c, p := v.c.Causes[rung], v.pair(triage.Alone, rung)
		if !noCause(c) && !v.honestDeadline(c) && v.onBaseToo(p, plain) {
			return v.race(rung, p, triage.OriginBase), true
		}
	}
	return decision{}, false
}

// honestDeadline reports whether the lag only pushed a time budget past its end.
// A budget that breaks at a scheduler's hiccup, in the way CI saw it break, is
// not honest.
func (v *view) honestDeadline(c *triage.Cause) bool {
	switch {
	case c == nil:
		return false
	case c.Kind == triage.CauseUnstable && c.Deadline:
		return true // which deadline it is could not be told, but a race it is not
	case c.Kind != triage.CauseTimeBudget:
		return false
	}
	return v.source != fromCI || c.DoseMS > v.p.HiccupMS
}

// scope runs the test with its package, on head first. ok is false when there is
// nothing to learn from it.
func (v *view) scope(plain pair) (d decision, ok bool) {
	if !v.c.PackageScope || plain.head.Same > 0 || plain.base.absent(v.p) {
		return decision{}, false
	}
	p := v.pair(triage.InPackage, "")
	switch {
	case p.head.givenUp(v.p):
		return decision{}, false
	case p.head.N() == 0:
		probe := v.request(p.head.Arm, triage.Measure)
		return run(Step{Kind: StepScope, Requests: []triage.Request{probe}}), true
	case p.head.Same == 0 && p.rounds() == 0:
		if v.othersRed(p.head) && p.head.N() < CompanyRuns {
			return run(Step{Kind: StepScope, Requests: []triage.Request{v.request(p.head.Arm, triage.Measure)}}), true
		}
		return decision{}, false
	case p.base.givenUp(v.p):
		return v.emptyArm(p.base), true
	}
	switch r := v.rule(p); r {
	case undecided, mixed, quiet:
		return run(v.round(StepScope, p)), true
	default:
		return v.polluted(p.head, v.settled(r, p, triage.ReasonOrder)), true
	}
}

// othersRed reports whether other tests of the target's package were red in its
// company.
func (v *view) othersRed(a *arm) bool {
	for _, t := range a.counted {
		for _, o := range t.Others {
			if o.Outcome.Red() && o.Target.Package == t.Target.Package && !o.Target.IsCommand() {
				return true
			}
		}
	}
	return false
}

// polluted has the tests looked for after which the target fails, before what is
// said of one that depends on them; the search changes nothing in the verdict.
func (v *view) polluted(head *arm, d decision) decision {
	d = v.ordered(head, d)
	switch {
	case !d.final || !slices.Contains(d.verdict.Reasons, triage.ReasonOrder):
		return d
	case v.c.Polluted:
		d.verdict.Polluters = v.c.Polluters
		return d
	}
	for _, t := range head.counted {
		if len(t.Before)+len(t.BeforeFiles) > 0 {
			return run(Step{Kind: StepPolluter})
		}
	}
	return d
}

// ordered takes the reason "order-dependent" from what is said of a test which may
// fail as often alone as it does in company: the reds of a flake fall where they will.
func (v *view) ordered(head *arm, d decision) decision {
	alone := v.arm(triage.Arm{})
	if d.final && !v.p.NeedsCompany(head.Same, head.N(), alone.Same, alone.N()) {
		d.verdict.Reasons = slices.DeleteFunc(slices.Clone(d.verdict.Reasons), func(r triage.Reason) bool { return r == triage.ReasonOrder })
	}
	return d
}
