package classify

import (
	"slices"

	"github.com/triagebot/triagebot/internal/stats"
	"github.com/triagebot/triagebot/internal/triage"
)

// source is where the reference signature comes from.
type source int

const (
	// fromCI: CI showed it.
	fromCI source = iota
	// measured: CI left no message, so head's own failure here stands for it.
	measured
	// differing: head fails steadily here, but never the way CI showed.
	differing
)

// view is a case, counted.
type view struct {
	p      Policy
	c      Case
	ref    triage.Signature
	source source
	arms   map[triage.Arm]*arm
	order  []triage.Arm
	// tries are the ladder's trials by arm; they are never part of a tally.
	tries map[triage.Arm]*arm
}

func newView(p Policy, c Case) *view {
	c.Trials = slices.Clone(c.Trials)
	c.Trials = slices.DeleteFunc(c.Trials, func(t triage.Trial) bool { return t.Target != c.Red.Target })
	v := &view{p: p, c: c}
	v.ref, v.source = v.reference()
	v.arms, v.order = v.count(triage.Measure)
	v.tries, _ = v.count(triage.Ladder)
	switch ms := v.plainMS(); {
	case ms == 0: // no trial, or one whose cost is not known
	case ms < v.p.CheapMS:
		v.p = v.p.patient()
	case ms < v.p.LongMS:
		v.p = v.p.long()
	}
	return v
}

// plainMS is the mean cost of the plain trials in milliseconds.
func (v *view) plainMS() float64 {
	n, ms := 0, 0.0
	for a, t := range v.arms {
		if !a.Plain() {
			continue
		}
		for _, trial := range t.counted {
			n, ms = n+1, ms+trial.DurationMS
		}
	}
	return ms / float64(max(1, n))
}

func (v *view) count(purpose triage.Purpose) (map[triage.Arm]*arm, []triage.Arm) {
	arms := map[triage.Arm]*arm{}
	var order []triage.Arm
	for _, t := range v.c.Trials {
		if t.Purpose != purpose {
			continue
		}
		if arms[t.Arm] == nil {
			arms[t.Arm] = &arm{Tally: triage.Tally{Arm: t.Arm}}
			order = append(order, t.Arm)
		}
		arms[t.Arm].add(t, v.ref)
	}
	return arms, order
}

// arm finds an arm, empty when it has no trials yet.
func (v *view) arm(a triage.Arm) *arm { return find(v.arms, a) }

// try finds a rung's tries on one side.
func (v *view) try(side triage.Side, rung string) *arm {
	return find(v.tries, triage.Arm{Side: side, Lag: rung})
}

func find(arms map[triage.Arm]*arm, a triage.Arm) *arm {
	if found := arms[a]; found != nil {
		return found
	}
	return &arm{Tally: triage.Tally{Arm: a}}
}

// reference is the signature that counts as the red's failure: CI's own, unless
// CI left none or head fails every time here in another way.
func (v *view) reference() (triage.Signature, source) {
	plain := v.reds(func(t triage.Trial) bool {
		return t.Arm.Side == triage.Head && t.Purpose == triage.Measure && t.Arm.Plain()
	})
	if ci := v.c.Red.Signature; !ci.IsZero() {
		if s := dominant(plain); v.steadily(ci) && !s.IsZero() {
			return s, differing
		}
		return ci, fromCI
	}
	if s := dominant(plain); !s.IsZero() {
		return s, measured
	}
	if s := v.stableUnderLag(); !s.IsZero() {
		return s, measured
	}
	return dominant(v.reds(onBase)), measured
}

// stableUnderLag is the signature of the first rung under which head was red
// each time, each time the same way.
func (v *view) stableUnderLag() triage.Signature {
	for _, rung := range v.c.Rungs {
		var first triage.Signature
		stable := false
		for _, t := range v.c.Trials {
			if !underLag(t) || t.Arm.Lag != rung || !t.Outcome.Counts() {
				continue
			}
			if s := signature(t); first.IsZero() {
				first, stable = s, !s.IsZero()
			} else if s != first {
				stable = false
			}
		}
		if stable {
			return first
		}
	}
	return triage.Signature{}
}

// steadily reports whether head fails every plain run here, never with CI's signature.
func (v *view) steadily(ci triage.Signature) bool {
	n := 0
	for _, t := range v.c.Trials {
		if t.Arm.Side != triage.Head || t.Purpose != triage.Measure || !t.Arm.Plain() || !t.Outcome.Counts() {
			continue
		}
		if t.Outcome == triage.Pass || t.SameFailure(ci) {
			return false
		}
		n++
	}
	return n >= v.p.MinRounds
}

func underLag(t triage.Trial) bool {
	return t.Arm.Side == triage.Head && t.Purpose == triage.Ladder && t.Arm.Lag != ""
}

func onBase(t triage.Trial) bool {
	return t.Arm.Side == triage.Base && t.Purpose == triage.Measure && t.Arm.Plain()
}

func (v *view) reds(which func(triage.Trial) bool) []triage.Trial {
	var out []triage.Trial
	for _, t := range v.c.Trials {
		if t.Outcome.Red() && which(t) {
			out = append(out, t)
		}
	}
	return out
}

// pair is one comparison: a head arm, its base arm.
type pair struct{ head, base *arm }

func (v *view) pair(scope triage.Scope, rung string) pair {
	a := triage.Arm{Scope: scope, Lag: rung}
	return pair{v.arm(a), v.arm(a.On(triage.Base))}
}

// rounds is the number of complete rounds.
func (p pair) rounds() int { return min(p.head.N(), p.base.N()) }

// contrast is the event that a comparison counts, with its e-value.
type contrast struct {
	head, base []bool
	e          float64
}

func newContrast(head, base []bool) contrast {
	return contrast{head, base, stats.Worse(stats.Pair(head, base))}
}

// contrast picks the event. With CI's signature known it is that failure, or any
// red when base has no red at all. Otherwise the reference was chosen by looking
// at head, so either every red counts, or the red that set the reference is
// left out together with its partner.
func (v *view) contrast(p pair) contrast {
	every := newContrast(p.head.events(v.ref, true), p.base.events(v.ref, true))
	same := newContrast(p.head.events(v.ref, false), p.base.events(v.ref, false))
	if v.source == fromCI {
		if p.base.Red() == 0 {
			return every
		}
		return same
	}
	first := 0
	for first < len(same.head) && !same.head[first] {
		first++
	}
	if rest := newContrast(without(same.head, first), without(same.base, first)); rest.e > every.e {
		return rest
	}
	return every
}

func without(events []bool, i int) []bool {
	if i >= len(events) {
		return events
	}
	return append(append([]bool{}, events[:i]...), events[i+1:]...)
}

func count(events []bool) int {
	n := 0
	for _, e := range events {
		if e {
			n++
		}
	}
	return n
}

// comparison is the contrast as the record has it. AdjustedP is that of a test
// alone until [Adjust] sees the others.
func (v *view) comparison(p pair) triage.Comparison {
	c := v.contrast(p)
	hk, hn, bk, bn := count(c.head), len(c.head), count(c.base), len(c.base)
	out := triage.Comparison{Head: p.head.Arm, Base: p.base.Arm, E: c.e, P: min(1, 1/c.e)}
	out.AdjustedP = out.P
	out.Difference, out.Low, out.High = stats.Difference(hk, hn, bk, bn, v.p.Confidence)
	out.FisherP = stats.Fisher(hk, hn, bk, bn)
	return out
}
