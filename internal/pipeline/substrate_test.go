package pipeline_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/triagebot/triagebot/internal/classify"
	"github.com/triagebot/triagebot/internal/pipeline"
	"github.com/triagebot/triagebot/internal/triage"
)

// neighbours are a world in which each run with the package has another test red.
type neighbours struct {
	*world
	n int
}

func (w *neighbours) Run(ctx context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, error) {
	t, err := w.world.Run(ctx, req, plan)
	if req.Arm.Scope == triage.InPackage {
		w.n++
		other := req.Target
		other.Test = fmt.Sprintf("TestNeighbour%d", w.n)
		t.Others = append(t.Others, triage.Result{Target: other, Outcome: triage.Fail, Failure: &triage.Failure{Target: other, Outcome: triage.Fail, Signature: otherSignature}})
	}
	return t, err
}

func TestAReportTellsOneCauseUnderSeveralTests(t *testing.T) {
	in, w := check(1, ordered)
	r, err := pipeline.Triage(t.Context(), in, &neighbours{world: w})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Substrate) != 1 || r.Substrate[0].Place != target(0).Package || r.Substrate[0].Arms[0].Most != 1 {
		t.Fatalf("substrate %+v", r.Substrate)
	}
	// Judged again it is the same, and what earlier reports gave is kept.
	earlier := triage.Substrate{Place: "earlier", Victims: []triage.Target{target(0)}, Earlier: 3}
	again := in
	again.Report = r
	again.Report.Substrate = append([]triage.Substrate{earlier}, r.Substrate...)
	got, err := pipeline.Triage(t.Context(), again, &pipeline.Recorded{Trials: r.Trials, Sites: r.Plan.Sites})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append([]triage.Substrate{earlier}, r.Substrate...), got.Substrate); diff != "" {
		t.Error(diff)
	}
}

func TestAGreenTestAmongRedNeighboursIsRunOnInTheirCompany(t *testing.T) {
	in, w := check(1, quiet)
	r, err := pipeline.Triage(t.Context(), in, &neighbours{world: w})
	if err != nil {
		t.Fatal(err)
	}
	company := 0
	for _, tr := range r.Trials {
		if tr.Arm.Scope == triage.InPackage {
			company++
		}
	}
	if company != classify.CompanyRuns || len(r.Substrate) != 1 || r.Substrate[0].Arms[0].Victims != company {
		t.Errorf("%d runs with the package, want %d; substrate %+v", company, classify.CompanyRuns, r.Substrate)
	}
	if v := r.Verdicts[0]; v.Class != triage.Inconclusive || v.Reasons[0] != triage.ReasonNotReproduced {
		t.Errorf("verdict %s %v", v.Class, v.Reasons)
	}
	in, w = check(1, quiet)
	alone := triageOf(t, in, w)
	if n := len(r.Trials) - len(alone.Trials); n != company-1 {
		t.Errorf("%d runs more than without red neighbours, want %d", n, company-1)
	}
}

func TestAShardIsJudgedByTheThresholdsOfTheWholeCheck(t *testing.T) {
	in, w := check(1, regression)
	alone := triageOf(t, in, w)
	in, w = check(1, regression)
	in.Report.Plan.Shard = triage.Shard{Index: 1, Of: 10, Tests: 40}
	shard := triageOf(t, in, w)
	if len(shard.Trials) <= len(alone.Trials) {
		t.Errorf("%d trials as one of 40 tests, %d as the only one", len(shard.Trials), len(alone.Trials))
	}
}
