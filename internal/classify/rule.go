package classify

import (
	"regexp"

	"github.com/triagebot/triagebot/internal/stats"
	"github.com/triagebot/triagebot/internal/triage"
)

// ruling is what the rounds of one pair amount to.
type ruling int

const (
	// undecided: more rounds.
	undecided ruling = iota
	// quiet: the red was not seen on either side.
	quiet
	// mixed: head passes and fails, base is clean so far.
	mixed
	// regressed: head fails beyond chance more, and never passed or base fails too.
	regressed
	// flaky: head fails beyond chance more, but passes at times; base is clean.
	flaky
	// excused: head passes at times, base fails the same way, head is not much worse.
	excused
	// broken: both fail every time, the same way, the red's way.
	broken
	// environment: both fail every time alike, but not the red's way.
	environment
	// elsewhere: both fail every time, each in its own way, and neither in the red's.
	elsewhere
	// unknown: both fail every time alike, and CI left no message.
	unknown
	// exhausted: undecided after all rounds.
	exhausted
)

// rule judges the rounds of a pair in the order of what is surest.
func (v *view) rule(p pair) ruling {
	h, b := p.head, p.base
	switch {
	case p.rounds() < v.p.MinRounds:
		return undecided
	case v.source == differing && h.Pass == 0 && b.Pass == 0 && b.N() > 0 && b.Same == 0:
		return elsewhere // in a test that fails here anyway, CI's red is not seen
	case v.contrast(p).e >= v.threshold():
		if h.Pass == 0 || b.Same > 0 {
			return regressed
		}
		return flaky
	case v.alike(p) && v.foreign():
		return environment
	case v.alike(p) && (v.source == measured || saysNothing(v.ref)) && p.rounds() >= v.p.BrokenRounds:
		return unknown
	case v.alike(p) && p.rounds() >= v.p.BrokenRounds:
		return broken
	case v.excuses(p):
		return excused
	case p.rounds() >= v.p.MaxRounds && !v.close(p):
		return exhausted
	case h.Pass == 0:
		return undecided
	case h.Red() > 0 && b.Red() == 0, h.Same > 0 && b.Same == 0:
		return mixed
	case h.Same == 0 && b.Same == 0 && (v.source == fromCI || h.Red()+b.Red() == 0):
		return quiet
	}
	return undecided
}

func (v *view) threshold() float64 { return v.p.Threshold(v.c.Family, v.c.Rejected) }

// alike reports whether both sides failed every time, all with the reference.
func (v *view) alike(p pair) bool {
	return p.head.Same > 0 && p.base.Same > 0 && p.head.Same == p.head.N() && p.base.Same == p.base.N()
}

// foreign reports whether the reference is not what broke in CI.
func (v *view) foreign() bool {
	return v.source == differing || v.source == measured && v.ref.Phase == triage.PhaseSetup
}

// saysNothing reports whether a signature has no content of its own: two failures
// that both "exited with 1" need not be the same failure.
func saysNothing(s triage.Signature) bool {
	switch s.Phase {
	case triage.PhaseTest:
		return s.Message == ""
	case triage.PhaseExit:
		return s.Message == "" || s.Message == "process ended early" || exitOnly.MatchString(s.Message)
	}
	return false
}

var exitOnly = regexp.MustCompile(`^exit (status )?(-?[0-9]+|N)$`)

// excuses reports whether base shares the failure, and head, which passes at
// times, is shown to be not much worse.
func (v *view) excuses(p pair) bool {
	if v.source == measured && p.head.Red() == 0 {
		return false // nothing links base's failure to the one that CI saw on head
	}
	return p.head.Pass > 0 && p.base.Same > 0 && v.notMuchWorse(p)
}

// notMuchWorse is about the failure itself and about all reds: a new failure
// beside the old one is no excuse. When CI left no message the failure was picked
// from head's, which makes head look worse by it; a lower level will do there.
func (v *view) notMuchWorse(p pair) bool {
	own, all := v.p.ExcuseE, v.p.ExcuseE
	if v.source != fromCI {
		own = v.p.ExcuseChosenE
	}
	return v.notWorseBy(p, false) >= own && v.notWorseBy(p, true) >= all
}

func (v *view) notWorseBy(p pair, every bool) float64 {
	r := stats.Pair(p.head.events(v.ref, every), p.base.events(v.ref, every))
	return stats.NotMuchWorse(r, v.p.ExcuseMargin)
}

// promising reports whether the rounds, going on in the same proportions, would
// come within FutileFactor of a decision before they end.
func (v *view) promising(p pair) bool {
	c := v.contrast(p)
	r := stats.Pair(c.head, c.base)
	n := p.rounds()
	scale := func(k int) int { return k * v.p.MaxRounds / n }
	return stats.Worse(stats.Rounds{Both: scale(r.Both), HeadOnly: scale(r.HeadOnly),
		BaseOnly: scale(r.BaseOnly), Neither: scale(r.Neither)}) >= v.threshold()/v.p.FutileFactor
}

// close reports whether a comparison out of rounds is worth a few more: it is
// within FutileFactor of accusing head, or on the way to excusing it.
func (v *view) close(p pair) bool {
	if p.rounds() >= v.p.MaxRounds+v.p.ExtraRounds {
		return false
	}
	return v.contrast(p).e*v.p.FutileFactor >= v.threshold() ||
		p.head.Pass > 0 && p.base.Same > 0 && v.notWorseBy(p, false) >= v.p.HopeE
}
