package pipeline_test

import (
	"context"
	"slices"
	"testing"

	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/pipeline"
	"github.com/triagebot/triagebot/internal/triage"
)

// still is a world in which no thread but the test's own passes a place.
type still struct {
	*world
	rungs []string
	slow  map[triage.Target]float64
}

func (s *still) Run(ctx context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, error) {
	t, err := s.world.Run(ctx, req, plan)
	t.Decisions, t.DecisionCount = nil, 0
	if ms, ok := s.slow[req.Target]; ok {
		t.DurationMS = ms
	}
	if req.Purpose == triage.Ladder {
		s.rungs = append(s.rungs, plan.Name)
	}
	return t, err
}

var _ pipeline.Runner = (*still)(nil)

func TestRungsForWorkersAreSpentOnlyWhereThereAreWorkers(t *testing.T) {
	in, w := check(1, quiet)
	caps := lag.Capabilities{Kinds: []triage.Kind{triage.KindCall, triage.KindStep}, Cleanup: true, Yield: true}
	plans, err := lag.Ladder(caps, 1, "auto")
	if err != nil {
		t.Fatal(err)
	}
	in.Report.Plan.Ladders, in.Report.Plan.LagPlans = map[string][]string{}, map[string]triage.LagPlan{}
	for _, p := range plans {
		in.Report.Plan.Ladders["gotest"] = append(in.Report.Plan.Ladders["gotest"], p.ID())
		in.Report.Plan.LagPlans[p.ID()] = p
	}
	s := &still{world: w}
	r := triageOf(t, in, s)
	if want := []string{"worker-10", "test-50", "yield", "cleanup", "slow-machine"}; !slices.Equal(s.rungs, want) {
		t.Errorf("rungs are %v, want %v", s.rungs, want)
	}
	if again := replayed(t, in, r); len(again.Trials) != len(r.Trials) {
		t.Errorf("a replay has %d trials, want %d", len(again.Trials), len(r.Trials))
	}
}

func TestALongSearchLeavesTimeForTheOthers(t *testing.T) {
	in, w := check(3, quiet, raceByHead)
	in.Report.Plan.BudgetMS = 60_000
	s := &still{world: w, slow: map[triage.Target]float64{target(0): 9_000, target(1): 1}}
	r := triageOf(t, in, s)
	rungOf := func(n int) func(triage.Trial) bool {
		return func(tr triage.Trial) bool { return tr.Target == target(n) && tr.Purpose == triage.Ladder }
	}
	count := func(trials []triage.Trial) (n int) {
		for _, tr := range trials {
			if rungOf(0)(tr) {
				n++
			}
		}
		return n
	}
	turn := slices.IndexFunc(r.Trials, rungOf(1))
	if turn < 0 {
		t.Fatal("the quick test never had its turn")
	}
	before, all := count(r.Trials[:turn]), count(r.Trials)
	if before >= all {
		t.Errorf("all %d rungs of the slow test came before the first of the quick one", all)
	}
}

// A plan that delays one place says nothing of a tree that has no such place.
func TestAPassWithoutTheDelayedPlaceIsNoEvidence(t *testing.T) {
	in, w := check(1, planted{head: side{lag: 1}, base: side{}})
	in.Singles = func(seen []triage.Decision) []triage.LagPlan { return lag.Singles(seen, 1) }
	single := lag.Singles([]triage.Decision{{Site: "a.go:F:call:1", Kind: triage.KindCall, Role: triage.RoleWorker, Hit: 1, MS: 10}}, 1)[0]
	in.Report.Plan.Ladders = map[string][]string{"gotest": {single.ID()}}
	in.Report.Plan.LagPlans = map[string]triage.LagPlan{single.ID(): single}
	r := triageOf(t, in, &still{world: w})
	if v := r.Verdicts[0]; v.Class != triage.Inconclusive {
		t.Errorf("verdict is %s of %s: base was never delayed", v.Class, v.Origin)
	}
}
