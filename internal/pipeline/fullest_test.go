package pipeline

import (
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestTheRedThatMetTheMostPlacesIsExplained(t *testing.T) {
	trial := func(seq int, o triage.Outcome, sites ...string) triage.Trial {
		tr := triage.Trial{Seq: seq, Outcome: o, Failure: &triage.Failure{}, Request: triage.Request{Arm: triage.Arm{Lag: "p"}}}
		for _, s := range sites {
			tr.Decisions = append(tr.Decisions, triage.Decision{Site: s})
		}
		return tr
	}
	base := trial(9, triage.Fail, "a", "b", "c", "d")
	base.Arm.Side = triage.Base
	for _, c := range []struct {
		name   string
		trials []triage.Trial
		want   int
	}{
		{"the last of equals", []triage.Trial{trial(1, triage.Fail, "a", "b"), trial(2, triage.Fail, "b", "a")}, 2},
		{"more places", []triage.Trial{trial(1, triage.Fail, "a", "b", "c"), trial(2, triage.Fail, "a", "b", "b", "b")}, 1},
		{"green, and base's", []triage.Trial{trial(1, triage.Fail, "a"), trial(2, triage.Pass, "a", "b"), base}, 1},
		{"no place at all", []triage.Trial{trial(1, triage.Fail)}, 1},
		{"none", []triage.Trial{trial(1, triage.Pass)}, 0},
	} {
		if red, ok := fullestRed(c.trials, "p"); red.Seq != c.want || ok != (c.want > 0) {
			t.Errorf("%s: trial %d, want %d", c.name, red.Seq, c.want)
		}
	}
}
