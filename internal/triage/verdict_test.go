package triage

import "testing"

func TestVerdictIsYoursOrNotOrNeither(t *testing.T) {
	for _, c := range []struct {
		class         Class
		origin        Origin
		yours, theirs bool
	}{
		{Inconclusive, "", false, false},
		{LikelyRegression, OriginHead, true, false},
		{IntroducedFlake, OriginHead, true, false},
		{PreExistingFlake, OriginBase, false, true},
		{BrokenOnBase, OriginBase, false, true},
		{LagRevealedRace, OriginHead, true, false},
		{LagRevealedRace, OriginBase, false, true},
		// The zero origin must never excuse.
		{LagRevealedRace, "", false, false},
	} {
		v := Verdict{Class: c.class, Origin: c.origin}
		if v.Yours() != c.yours || v.NotYours() != c.theirs {
			t.Errorf("%v of %q: yours %v, not yours %v, want %v, %v", c.class, c.origin, v.Yours(), v.NotYours(), c.yours, c.theirs)
		}
	}
}
