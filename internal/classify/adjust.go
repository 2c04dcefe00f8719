package classify

import (
	"slices"

	"github.com/triagebot/triagebot/internal/stats"
	"github.com/triagebot/triagebot/internal/triage"
)

// Adjust returns the evidence with the p-values adjusted by Holm's method over
// the tests of the check. A test that was stopped at [Policy.Threshold] has an
// adjusted p of at most Alpha here: the tests rejected before it have p-values
// below their own, stricter thresholds.
//
// A test counts with its smallest p-value; its other comparisons are adjusted
// as if each were the test's only one.
func Adjust(evidence []triage.Evidence) []triage.Evidence {
	out := slices.Clone(evidence)
	smallest := make([]float64, len(out))
	for i := range out {
		out[i].Comparisons = slices.Clone(out[i].Comparisons)
		smallest[i] = smallestP(out[i])
	}
	for i := range out {
		for j := range out[i].Comparisons {
			p := slices.Clone(smallest)
			p[i] = out[i].Comparisons[j].P
			out[i].Comparisons[j].AdjustedP = stats.Holm(p)[i]
		}
	}
	return out
}

// Rejects reports whether the evidence rejects "head fails no more often than
// base" for a test of the family, given how many others are rejected already.
func (p Policy) Rejects(e triage.Evidence, family, rejected int) bool {
	for _, c := range e.Comparisons {
		if c.E >= p.Threshold(family, rejected) {
			return true
		}
	}
	return false
}

func smallestP(e triage.Evidence) float64 {
	smallest := 1.0
	for _, c := range e.Comparisons {
		smallest = min(smallest, c.P)
	}
	return smallest
}
