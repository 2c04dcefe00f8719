package pipeline_test

import (
	"context"
	"slices"
	"testing"

	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/pipeline"
	"github.com/triagebot/triagebot/internal/triage"
)

// older is a world whose base does not know the option of a declared seam.
type older struct {
	*world
	rungs []string
	knows bool
}

func (o *older) Run(ctx context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, error) {
	t, err := o.world.Run(ctx, req, plan)
	if plan == nil || err != nil {
		return t, err
	}
	if req.Purpose == triage.Ladder {
		o.rungs = append(o.rungs, plan.Name)
	}
	if len(lag.Options(plan)) > 0 {
		t.Decisions, t.DecisionCount = plan.Decisions, len(plan.Decisions)
		if req.Arm.Side == triage.Base && !o.knows {
			t = triage.Trial{Request: t.Request, Start: t.Start, Outcome: triage.Invalid, Note: "base does not know --lag=0.3"}
		}
	}
	return t, nil
}

var _ pipeline.Runner = (*older)(nil)

// seamed gives the suite of a check a ladder of its own, and leaves the
// framework's beside it.
func seamed(t *testing.T, in *pipeline.Input, seams ...lag.Seam) {
	t.Helper()
	caps := lag.Capabilities{Kinds: []triage.Kind{triage.KindCall, triage.KindStep}, Cleanup: true, Yield: true, Seams: seams}
	plans, err := lag.Ladder(caps, 1, "auto")
	if err != nil {
		t.Fatal(err)
	}
	key := triage.LadderOf("gotest", "go")
	for _, p := range plans {
		in.Report.Plan.Ladders[key] = append(in.Report.Plan.Ladders[key], p.ID())
		in.Report.Plan.LagPlans[p.ID()] = p
	}
}

func TestASuiteWithSeamsClimbsItsOwnLadder(t *testing.T) {
	in, w := check(1, quiet)
	seamed(t, &in, lag.Seam{Option: "--lag={seconds}"}, lag.Seam{Sites: []string{"a.go:F"}})
	o := &older{world: w, knows: true}
	r := triageOf(t, in, o)
	// The functions were not passed, which says nothing of other workers: their rungs stay until worker-10 meets none.
	if want := []string{"declared", "declared2", "declared-50", "declared2-50", "worker-10", "test-50"}; len(o.rungs) < len(want) || !slices.Equal(o.rungs[:len(want)], want) {
		t.Errorf("rungs are %v, want %v first", o.rungs, want)
	}
	if again := replayed(t, in, r); len(again.Trials) != len(r.Trials) {
		t.Errorf("a replay has %d trials, want %d", len(again.Trials), len(r.Trials))
	}
}

func TestARedUnderAnOptionIsComparedWithBase(t *testing.T) {
	for name, tc := range map[string]struct {
		planted planted
		knows   bool
		rungs   int
		class   triage.Class
		origin  triage.Origin
	}{
		"base fails too":            {raceOnBase, true, 1, triage.LagRevealedRace, triage.OriginBase},
		"base passes":               {raceByHead, true, 1, triage.LagRevealedRace, triage.OriginHead},
		"base has no such option":   {raceOnBase, false, 2, triage.Inconclusive, ""},
		"base has not, and is well": {raceByHead, false, 2, triage.Inconclusive, ""},
		"another rung tells":        {raceOnBase, false, 4, triage.LagRevealedRace, triage.OriginBase},
		"another rung tells head's": {raceByHead, false, 4, triage.LagRevealedRace, triage.OriginHead},
	} {
		t.Run(name, func(t *testing.T) {
			in, w := check(1, tc.planted)
			seamed(t, &in, lag.Seam{Option: "--lag={seconds}"})
			key := triage.LadderOf("gotest", "go")
			in.Report.Plan.Ladders[key] = in.Report.Plan.Ladders[key][:tc.rungs]
			r := triageOf(t, in, &older{world: w, knows: tc.knows})
			v := r.Verdicts[0]
			if v.Class != tc.class || v.Origin != tc.origin {
				t.Errorf("%s of %s %v, want %s of %s", v.Class, v.Origin, v.Reasons, tc.class, tc.origin)
			}
		})
	}
}
