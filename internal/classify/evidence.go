package classify

import (
	"fmt"

	"github.com/triagebot/triagebot/internal/triage"
)

// evidence is the tallies in the order in which the arms were first run, the
// comparison of each head arm that has a base arm, and what a reader must know.
func (v *view) evidence() triage.Evidence {
	out := triage.Evidence{Target: v.c.Red.Target, Reference: v.ref, Tallies: []triage.Tally{}}
	for _, a := range v.order {
		out.Tallies = append(out.Tallies, v.arms[a].Tally)
		base := v.arm(a.On(triage.Base))
		if a.Side == triage.Head && v.arms[a].N() > 0 && base.N() > 0 {
			out.Comparisons = append(out.Comparisons, v.comparison(pair{v.arms[a], base}))
		}
	}
	out.Warnings = v.warnings()
	return out
}

func (v *view) warnings() []string {
	var out []string
	for _, a := range v.order {
		if t := v.arms[a]; t.empty() > 0 {
			text := fmt.Sprintf("%d trials on %s do not count", t.empty(), describe(a))
			if t.note != "" {
				text += ": " + t.note
			}
			out = append(out, text)
		}
	}
	switch {
	case v.source == differing:
		out = append(out, "head fails every time here, but not the way CI showed")
	case v.source == measured && !v.ref.IsZero():
		out = append(out, "CI left no message: the failure measured here stands for it")
	case v.source == measured && len(v.c.Trials) > 0:
		out = append(out, "CI left no message, and no failure with a message was seen here")
	}
	if text := v.raceWarning(); text != "" {
		out = append(out, text)
	}
	if _, foreign := v.ladderReds(); foreign {
		out = append(out, "under lag head failed in another way, which does not count")
	}
	if len(v.c.Rungs) > 0 && len(v.tries) > 0 && v.rungs() == nil {
		out = append(out, "lag could not be used: none of its trials counts")
	}
	return out
}

func describe(a triage.Arm) string {
	text := a.Side.String()
	if a.Scope != triage.Alone {
		text += " with its " + a.Scope.String()
	}
	if a.Lag != "" {
		text += " under lag"
	}
	if a.Detector != "" {
		text += " under the " + a.Detector + " detector"
	}
	return text
}
