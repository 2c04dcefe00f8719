package classify

import (
	"slices"
	"unicode"

	"github.com/triagebot/triagebot/internal/triage"
)

// representatives is how many members of a group are measured: one could be the
// odd one out, and two that disagree show it.
const representatives = 2

// Group is a set of failures that look the same.
type Group struct {
	Signature triage.Signature
	// Measured are the representatives, Others share their verdict by [Share].
	Measured, Others []triage.Failure
}

// Cluster groups failures by signature when there are more than limit; up to
// that each is a group of its own. Failures without a signature are never taken
// for the same. Groups and members keep the order of the input.
func Cluster(failures []triage.Failure, limit int) []Group {
	var groups []Group
	index := map[triage.Signature]int{}
	for _, f := range failures {
		key := clusterKey(f.Signature)
		i, known := index[key]
		if len(failures) <= limit || f.Signature.IsZero() || !known {
			index[key] = len(groups)
			groups = append(groups, Group{Signature: f.Signature, Measured: []triage.Failure{f}})
			continue
		}
		if g := &groups[i]; len(g.Measured) < representatives {
			g.Measured = append(g.Measured, f)
		} else {
			g.Others = append(g.Others, f)
		}
	}
	return groups
}

// tellingLetters is how many letters a message needs to speak for its cause in
// another test too: "got N, want N" says too little.
const tellingLetters = 16

// clusterKey is what the failures of one cause have in common. The failing
// function of an assertion is the test itself, so it is left out where the
// message is telling.
func clusterKey(s triage.Signature) triage.Signature {
	letters := 0
	for _, r := range s.Message {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	if s.Phase == triage.PhaseTest && letters >= tellingLetters {
		s.Func = ""
	}
	return s
}

// Excuses reports whether any of the verdicts excuses the pull request. An
// excuse is not shared: a library's stock message ("context deadline exceeded")
// may stand for a regression in one test and for an old flake in another.
func Excuses(measured []triage.Verdict) bool {
	return slices.ContainsFunc(measured, triage.Verdict.NotYours)
}

// Share is the verdict of a failure that was not measured, from those of its
// group's representatives. When they disagree it is inconclusive.
func Share(measured []triage.Verdict, f triage.Failure) triage.Verdict {
	if len(measured) == 0 {
		return triage.Verdict{
			Target: f.Target, Reasons: []triage.Reason{triage.ReasonBudgetExhausted},
			Bound: triage.Bound{Text: "not measured"}, Settle: "measure it by name",
		}
	}
	first := measured[0]
	same := first.Target
	for _, v := range measured[1:] {
		if v.Class != first.Class || v.Origin != first.Origin {
			return triage.Verdict{
				Target: f.Target, SameAs: &same,
				Reasons: []triage.Reason{triage.ReasonSameSignature, triage.ReasonUnstable},
				Bound:   triage.Bound{Text: "tests with this signature got different verdicts"},
				Settle:  "measure it by name",
			}
		}
	}
	out := triage.Verdict{
		Target: f.Target, Class: first.Class, Origin: first.Origin, SameAs: &same,
		Reasons: slices.Clone(first.Reasons), Bound: first.Bound, Cause: first.Cause,
		Settle: first.Settle, Trial: first.Trial,
	}
	out.Reasons = append(out.Reasons, triage.ReasonSameSignature)
	return out
}
