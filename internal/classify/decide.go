package classify

import "github.com/triagebot/triagebot/internal/triage"

// decide is the procedure: the verdict, or the next step.
func (v *view) decide() decision {
	if d, ok := v.unbuildable(); ok {
		return d
	}
	p := v.pair(triage.Alone, "")
	if d, ok := v.givenUp(p); ok {
		return d
	}
	if p.base.absent(v.p) {
		return v.decideNew(p)
	}
	switch r := v.rule(p); r {
	case mixed:
		return v.decideMixed(p)
	case quiet:
		return v.decideQuiet(p)
	case flaky:
		return v.decideFlaky(p)
	case undecided:
		return run(v.round(StepPlain, p))
	default:
		return v.settled(r, p)
	}
}

// settled is the verdict of a ruling that needs no further arm; why refines it.
func (v *view) settled(r ruling, p pair, why ...triage.Reason) decision {
	switch r {
	case regressed:
		return v.regression(p, why...)
	case flaky:
		return v.introduced(p, why...)
	case excused:
		if d, ok := v.explainedRace(p); ok {
			return d
		}
		return v.preExisting(p, why...)
	case broken:
		if t := v.c.Red.Target; t.IsCommand() && t.Package == "" {
			return v.brokenCommand(p)
		}
		if v.c.Unlike {
			return v.brokenUnlike(p)
		}
		return v.brokenOnBase(p, why...)
	case environment:
		return v.sharedEnvironment(p)
	case elsewhere:
		return v.otherEnvironment(p)
	case unknown:
		return v.unknownRed(p)
	}
	return v.exhausted(p, why...)
}

// unbuildable ends a named test that one tree cannot even build. When the build
// itself is what was red, its failures are trials like any others.
func (v *view) unbuildable() (decision, bool) {
	if v.c.Red.Target.IsCommand() || v.c.Red.Signature.Phase == triage.PhaseBuild {
		return decision{}, false
	}
	switch {
	case v.c.HeadUnbuildable != "":
		return v.inconclusive(bound("head does not build here: "+v.c.HeadUnbuildable),
			"a machine on which head builds", triage.ReasonEnvironment), true
	case v.c.BaseUnbuildable != "":
		return v.inconclusive(bound("base does not build: "+v.c.BaseUnbuildable),
			"a base revision that builds", triage.ReasonBaseUnbuildable), true
	}
	return decision{}, false
}

// givenUp ends a case in which an arm says too little to go on.
func (v *view) givenUp(p pair) (decision, bool) {
	if p.head.absent(v.p) {
		return v.inconclusive(bound("the id selects no test on head"), "the test's full id", triage.ReasonNoMatch), true
	}
	for _, a := range []*arm{p.head, p.base} {
		if a.givenUp(v.p) && !(a == p.base && a.absent(v.p)) {
			return v.emptyArm(a), true
		}
	}
	return decision{}, false
}

// decideMixed: head passes and fails, base is clean so far. A few more rounds
// first, then the ladder on both sides, then rounds to the end.
func (v *view) decideMixed(p pair) decision {
	if p.rounds() < v.p.MixedRounds {
		return run(v.round(StepPlain, p))
	}
	if d, ok := v.ladder(p, true); ok {
		return d
	}
	if p.rounds() >= v.p.FutileRounds && !v.promising(p) {
		return v.exhausted(p)
	}
	return run(v.round(StepPlain, p))
}

// decideQuiet: the red was not seen. The ladder and the package, then a few more
// plain rounds, then the whole suite, then the bound.
func (v *view) decideQuiet(p pair) decision {
	if d, ok := v.ladder(p, false); ok {
		return d
	}
	if p.head.N() < v.p.QuietRuns {
		return run(Step{Kind: StepPlain, Requests: []triage.Request{v.request(p.head.Arm, triage.Measure)}})
	}
	if d, ok := v.suite(p); ok {
		return d
	}
	if d, ok := v.detect(p); ok {
		return d
	}
	return v.notReproduced(p)
}

// decideFlaky: head fails beyond chance more but passes at times. Base has to be
// clean under every rung too before the flake is called introduced; if it is
// not, main has the race and head made it far worse.
func (v *view) decideFlaky(p pair) decision {
	if p.base.Other > 0 && newContrast(p.head.events(v.ref, true), p.base.events(v.ref, true)).e < v.threshold() {
		return v.reworded(p)
	}
	for _, rung := range v.rungs() {
		base := v.try(triage.Base, rung)
		if base.N() == 0 && !v.void(base) {
			return run(v.ladderStep(rung, triage.Base))
		}
		if base.Same > 0 {
			return v.regression(p, triage.ReasonMadeWorse)
		}
	}
	return v.introduced(p)
}

// decideNew: base has no such test, so head is all there is.
func (v *view) decideNew(p pair) decision {
	h := p.head
	inPackage := v.arm(triage.Arm{Scope: triage.InPackage})
	switch {
	case h.N() < v.p.MinRounds:
	case h.Red() > 0 && h.Pass > 0:
		return v.introduced(p, triage.ReasonNewTest)
	case h.Pass == 0 && h.N() >= v.p.BrokenRounds:
		return v.regression(p, triage.ReasonNewTest)
	case h.Pass > 0:
		if d, ok := v.ladder(p, false); ok {
			return d
		}
		if d, ok := v.newInPackage(inPackage); ok {
			return d
		}
		if h.N() >= v.p.QuietRuns {
			if d, ok := v.newInSuite(); ok {
				return d
			}
			return v.notReproduced(p)
		}
	}
	return run(Step{Kind: StepPlain, Requests: []triage.Request{v.request(h.Arm, triage.Measure)}})
}

// newInPackage runs a new test, which passes alone, with its package. ok is
// false when there is nothing to learn from it.
func (v *view) newInPackage(a *arm) (d decision, ok bool) {
	if !v.c.PackageScope || a.givenUp(v.p) {
		return decision{}, false
	}
	return v.newInCompany(a, StepScope)
}

// newInCompany judges a new test in the company of others, or asks for its next run there.
func (v *view) newInCompany(a *arm, kind StepKind) (d decision, ok bool) {
	switch {
	case a.N() > 0 && a.Same == 0:
		return decision{}, false
	case a.Same > 0 && a.Pass > 0:
		return v.polluted(a, v.introduced(pair{a, v.arm(a.Arm.On(triage.Base))}, triage.ReasonNewTest, triage.ReasonOrder)), true
	case a.N() >= v.p.BrokenRounds:
		return v.polluted(a, v.regression(pair{a, v.arm(a.Arm.On(triage.Base))}, triage.ReasonNewTest, triage.ReasonOrder)), true
	}
	return run(Step{Kind: kind, Requests: []triage.Request{v.request(a.Arm, triage.Measure)}}), true
}

// round asks for the next round of a pair. Sides alternate in who goes first
// (head base, base head); an arm that lags behind is filled up alone.
func (v *view) round(kind StepKind, p pair) Step {
	head, base := v.request(p.head.Arm, triage.Measure), v.request(p.base.Arm, triage.Measure)
	s := Step{Kind: kind, Rung: p.head.Arm.Lag}
	switch {
	case p.head.N() < p.base.N():
		s.Requests = []triage.Request{head}
	case p.base.N() < p.head.N():
		s.Requests = []triage.Request{base}
	case p.rounds()%2 == 0:
		s.Requests = []triage.Request{head, base}
	default:
		s.Requests = []triage.Request{base, head}
	}
	return s
}

func (v *view) request(a triage.Arm, why triage.Purpose) triage.Request {
	r := triage.Request{Target: v.c.Red.Target, Arm: a, Purpose: why}
	if a.Scope != triage.Alone {
		r.Seed = v.c.Red.Seed
	}
	return r
}
