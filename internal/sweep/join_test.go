package sweep

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

// The shards of a sweep are one sweep: counts add up, the clock is that of the longest.
func TestTheShardsOfASweepAreJoined(t *testing.T) {
	part := func(i int, tests int, wall float64, rungs ...triage.SweepRung) triage.Report {
		r := shardReport(i, 2, 2)
		r.Check.Base.SHA = r.Check.Head.SHA
		r.Sweep = &triage.Sweep{Tests: tests, Units: i, Since: "a90d1e2f",
			Rungs: append([]triage.SweepRung{{Name: "control", Scope: triage.InSuite, Runs: 2 * i, Tests: tests, WallMS: wall, TrialMS: wall / 2}}, rungs...)}
		return r
	}
	extra := triage.SweepRung{Name: "doubles", Scope: triage.Alone, Tests: 4, Left: 1}
	first, second := part(1, 10, 500), part(2, 30, 200, extra)
	got, err := Merge(sources(t, first, second), report.Decode)
	if err != nil {
		t.Fatal(err)
	}
	want := &triage.Sweep{Tests: 40, Units: 3, Since: "a90d1e2f",
		Rungs: []triage.SweepRung{{Name: "control", Scope: triage.InSuite, Runs: 6, Tests: 40, WallMS: 500, TrialMS: 350}, extra}}
	if diff := cmp.Diff(want, got.Sweep); diff != "" {
		t.Error(diff)
	}
	if first.Sweep.Tests != 10 || len(first.Sweep.Rungs) != 1 {
		t.Errorf("a shard was changed: %+v", first.Sweep)
	}
}

func TestChecksHaveNoSweepWhenJoined(t *testing.T) {
	if joinSweeps(nil, nil) != nil {
		t.Error("two checks make a sweep")
	}
}
