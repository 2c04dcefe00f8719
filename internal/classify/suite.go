package classify

import (
	"fmt"

	"github.com/triagebot/triagebot/internal/triage"
)

// suite runs the test with its whole suite, on head first: it was quiet alone,
// under lag and with its package. A run of all is dear, so it comes last, one
// probe has to do, and two runs in a row that say nothing end it. Head and base
// take turns like in any other scope, and the same rule judges them. ok is false
// when there is nothing to learn from it.
func (v *view) suite(plain pair) (d decision, ok bool) {
	if !v.c.SuiteScope || plain.head.Same > 0 || plain.base.absent(v.p) {
		return decision{}, false
	}
	p := v.pair(triage.InSuite, "")
	switch {
	case p.head.N() == 0 && p.head.empty() > 0:
		return decision{}, false
	case p.head.N() == 0:
		return run(Step{Kind: StepSuite, Requests: []triage.Request{v.request(p.head.Arm, triage.Measure)}}), true
	case p.head.Same == 0 && p.rounds() == 0:
		return decision{}, false
	case v.void(p.head):
		return v.emptyArm(p.head), true
	case v.void(p.base):
		return v.emptyArm(p.base), true
	}
	r := v.rule(p)
	switch {
	case r == undecided, r == quiet, r == mixed && (p.rounds() < v.p.FutileRounds || v.promising(p)):
		return run(v.round(StepSuite, p)), true
	case r == mixed:
		return v.ordered(p.head, v.exhausted(p, triage.ReasonOrder)), true
	}
	return v.polluted(p.head, v.settled(r, p, triage.ReasonOrder)), true
}

// newInSuite runs a new test, which passes alone and with its package, with its
// whole suite. ok is false when there is nothing to learn from it.
func (v *view) newInSuite() (d decision, ok bool) {
	a := v.arm(triage.Arm{Scope: triage.InSuite})
	if !v.c.SuiteScope || v.void(a) || a.N() == 0 && a.empty() > 0 {
		return decision{}, false
	}
	return v.newInCompany(a, StepSuite)
}

// suiteUnrun is what is said when all else was done and the allowed time, or
// number of runs, was used up before the whole suite had run once.
func (v *view) suiteUnrun(plain pair, stop triage.Reason, settle string) decision {
	d := v.notReproduced(plain)
	d.verdict.Reasons = append(d.verdict.Reasons, stop)
	d.verdict.Settle = settle + " with room for a run of the whole suite"
	return d
}

// suiteSoFar is the bound of a whole suite that was red on head, and not run often
// enough on both sides.
func suiteSoFar(p pair) triage.Bound {
	return bound(fmt.Sprintf("with its whole suite head fails %d of %d times, base %d of %d; more runs are needed",
		p.head.Red(), p.head.N(), p.base.Red(), p.base.N()))
}
