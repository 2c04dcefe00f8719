package classify

import (
	"slices"

	"github.com/triagebot/triagebot/internal/stats"
	"github.com/triagebot/triagebot/internal/triage"
)

// refine is the reasons that go with the failure itself, then why, each once.
func (v *view) refine(why ...triage.Reason) []triage.Reason {
	out := why
	switch v.ref.Phase {
	case triage.PhaseRace:
		out = append(out, triage.ReasonDataRace)
	case triage.PhaseBuild:
		out = append(out, triage.ReasonBuild)
	}
	var once []triage.Reason
	for _, r := range out {
		if !slices.Contains(once, r) {
			once = append(once, r)
		}
	}
	return once
}

// against refines a verdict on head by what base did.
func (v *view) against(p pair, why []triage.Reason) []triage.Reason {
	switch {
	case p.base.Same > 0:
		why = append(why, triage.ReasonMadeWorse)
	case p.base.Other > 0:
		why = append(why, triage.ReasonOtherOnBase)
	}
	if v.source == differing || v.source == fromCI && p.head.Same == 0 {
		why = append(why, triage.ReasonSignatureDiffers)
	}
	return v.refine(why...)
}

func (v *view) regression(p pair, why ...triage.Reason) decision {
	return final(triage.Verdict{
		Class: triage.LikelyRegression, Origin: triage.OriginHead, Reasons: v.against(p, why),
		Bound: v.accusation(p), Trial: p.head.firstRed(v.ref),
	})
}

func (v *view) introduced(p pair, why ...triage.Reason) decision {
	return final(triage.Verdict{
		Class: triage.IntroducedFlake, Origin: triage.OriginHead, Reasons: v.against(p, why),
		Bound: v.accusation(p), Trial: p.head.firstRed(v.ref),
	})
}

// accusation is the bound of a verdict against the pull request. Without a base
// there is no comparison, and head's own rate is all that can be bounded.
func (v *view) accusation(p pair) triage.Bound {
	if p.base.absent(v.p) {
		return v.rate(p.head.Red(), p.head.N(), "fails ", " of the time")
	}
	return triage.Bound{Wrong: v.p.Alpha, Text: "wrong ≤ " + percent(v.p.Alpha)}
}

func (v *view) preExisting(p pair, why ...triage.Reason) decision {
	if v.c.Red.Signature.IsZero() && p.head.Red() == 0 {
		why = append(why, triage.ReasonNoLog) // only base showed what the failure may have been
	}
	b := v.rate(p.base.Same, p.base.N(), "", " on base")
	b.Wrong = excuseWrong
	trial := p.head.firstRed(v.ref)
	if trial == 0 {
		trial = p.base.firstRed(v.ref)
	}
	return final(triage.Verdict{
		Class: triage.PreExistingFlake, Origin: triage.OriginBase, Reasons: v.refine(why...),
		Bound: b, Trial: trial,
	})
}

// excuseWrong is the promised bound on excusing a head that is worse by
// ExcuseMargin; the enumeration in the tests holds it.
const excuseWrong = 0.005

func (v *view) brokenOnBase(p pair, why ...triage.Reason) decision {
	return final(triage.Verdict{
		Class: triage.BrokenOnBase, Origin: triage.OriginBase, Reasons: v.refine(why...),
		Bound: v.rate(p.base.Same, p.base.N(), "base fails ", " of the time"), Trial: p.head.firstRed(v.ref),
	})
}

// race is a lag-revealed race; its comparison under the plan is in the evidence.
func (v *view) race(rung string, p pair, origin triage.Origin, why ...triage.Reason) decision {
	b := triage.Bound{Wrong: v.p.Alpha, Text: "wrong ≤ " + percent(v.p.Alpha)}
	switch {
	case origin == triage.OriginBase:
		b = v.rate(p.base.Same, p.base.N(), "base fails ", " under the same plan")
	case len(why) > 0: // new test: no base to compare with
		b = v.rate(p.head.Same, p.head.N(), "fails ", " under the plan")
	}
	return final(triage.Verdict{
		Class: triage.LagRevealedRace, Origin: origin, Reasons: v.refine(why...),
		Bound: b, Cause: v.c.Causes[rung], Trial: v.lagTrial(rung),
	})
}

// lagTrial is the head red under the plan to replay: a measured one, else the
// ladder's.
func (v *view) lagTrial(rung string) int {
	if seq := v.arm(triage.Arm{Lag: rung}).firstRed(v.ref); seq != 0 {
		return seq
	}
	return v.try(triage.Head, rung).firstRed(v.ref)
}

// rate is a bound that says how often something fails, between before and after.
func (v *view) rate(k, n int, before, after string) triage.Bound {
	b := triage.Bound{Confidence: v.p.Confidence}
	at := " at " + percent(v.p.Confidence)
	switch k {
	case n:
		b.RateLow, b.RateHigh = stats.Lower(k, n, v.p.Confidence), 1
		b.Text = before + "≥ " + percent(b.RateLow) + after + at
	case 0:
		b.RateHigh = stats.Upper(k, n, v.p.Confidence)
		b.Text = before + "≤ " + percent(b.RateHigh) + after + at
	default:
		b.RateLow, b.RateHigh = stats.Interval(k, n, v.p.Confidence)
		b.Text = before + span(b.RateLow, b.RateHigh) + after + at
	}
	return b
}
