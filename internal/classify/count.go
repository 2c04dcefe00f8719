package classify

import (
	"strconv"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// arm is what is known of one arm: its tally, and the trials that count.
type arm struct {
	triage.Tally
	// counted are the trials with a pass or a red, in order.
	counted []triage.Trial
	// trailing is the number of trials since the last one that counted.
	trailing int
	// note is the last reason given for a trial that does not count.
	note string
}

func (a *arm) add(t triage.Trial, ref triage.Signature) {
	switch {
	case t.Outcome == triage.Pass:
		a.Pass++
		a.Sequence += "."
	case t.Outcome.Red() && isReference(t, ref):
		a.Same++
		a.Sequence += "F"
	case t.Outcome.Red():
		a.Other++
		a.Sequence += "o"
	default:
		a.addEmpty(t)
		return
	}
	a.trailing = 0
	a.counted = append(a.counted, t)
}

func (a *arm) addEmpty(t triage.Trial) {
	switch t.Outcome {
	case triage.Skip:
		a.Skip++
	case triage.Absent:
		a.Absent++
	case triage.Invalid:
		a.Invalid++
	default:
		a.Unknown++
	}
	a.Sequence += "-"
	a.trailing++
	if t.Note != "" {
		a.note = t.Note
	}
}

// isReference is never true for the zero signature: of two failures of which
// nothing is known it cannot be said that they are the same.
func isReference(t triage.Trial, ref triage.Signature) bool {
	return !ref.IsZero() && t.SameFailure(ref)
}

// signature of a red trial, zero when it left none.
func signature(t triage.Trial) triage.Signature {
	if !t.Outcome.Red() || t.Failure == nil {
		return triage.Signature{}
	}
	return t.Failure.Signature
}

// events tells for each counted trial whether it is a red, or only whether it
// is a red with the reference signature.
func (a *arm) events(ref triage.Signature, any bool) []bool {
	out := make([]bool, len(a.counted))
	for i, t := range a.counted {
		out[i] = t.Outcome.Red() && (any || isReference(t, ref))
	}
	return out
}

// empty is the number of trials that do not count.
func (a *arm) empty() int { return a.Skip + a.Absent + a.Invalid + a.Unknown }

// absent reports whether the test does not exist there.
func (a *arm) absent(p Policy) bool { return a.N() == 0 && a.Absent >= p.AbsentRuns }

// givenUp reports whether the arm says too little to go on with.
func (a *arm) givenUp(p Policy) bool {
	return a.trailing >= p.EmptyRun || a.empty() >= p.EmptyTotal && a.empty() > a.N()
}

// emptyReason is why a given-up arm is empty.
func (a *arm) emptyReason() triage.Reason {
	note := strings.ToLower(a.note)
	switch {
	case strings.Contains(note, "contaminated"):
		return triage.ReasonContaminated
	case a.Invalid+a.Unknown >= a.Skip && a.Arm.Side == triage.Base &&
		(strings.Contains(note, "build") || strings.Contains(note, "compile")):
		return triage.ReasonBaseUnbuildable
	case a.Arm.Side == triage.Head && a.Absent > a.Invalid+a.Unknown+a.Skip:
		return triage.ReasonNoMatch
	}
	return triage.ReasonEnvironment
}

// firstRed is the sequence number of the first red with the reference
// signature, else of the first red, else 0: the trial to replay.
func (a *arm) firstRed(ref triage.Signature) int {
	seq := 0
	for _, t := range a.counted {
		if isReference(t, ref) {
			return t.Seq
		}
		if seq == 0 && t.Outcome.Red() {
			seq = t.Seq
		}
	}
	return seq
}

// maxSaid is how much of a message a reason quotes, in letters.
const maxSaid = 200

// says quotes the first red trial, in the words of a reason: what is missing here is
// often told there.
func (a *arm) says() string {
	for _, t := range a.counted {
		if t.Outcome.Red() && t.Failure != nil && t.Failure.Message != "" {
			line, _, _ := strings.Cut(strings.TrimSpace(t.Failure.Message), "\n")
			if said := []rune(line); len(said) > maxSaid {
				line = string(said[:maxSaid]) + "…"
			}
			return ": here it says " + strconv.Quote(line)
		}
	}
	return ""
}

// dominant is the most frequent known signature of the red trials, the earliest
// of equals; zero when none is known.
func dominant(trials []triage.Trial) triage.Signature {
	count := map[triage.Signature]int{}
	var best triage.Signature
	for _, t := range trials {
		if s := signature(t); !s.IsZero() {
			count[s]++
		}
	}
	for _, t := range trials {
		if s := signature(t); count[s] > count[best] {
			best = s
		}
	}
	return best
}
