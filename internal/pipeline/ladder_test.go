package pipeline_test

import (
	"context"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/pipeline"
	"github.com/triagebot/triagebot/internal/triage"
)

// honest is a world whose only fault is a deadline: with the timeouts stretched
// every test is green.
type honest struct {
	*world
	// missed are the rungs that could trip the deadline again after the first.
	rungs, missed []string
}

func (h *honest) Run(ctx context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, error) {
	t, err := h.world.Run(ctx, req, plan)
	if plan == nil || err != nil {
		return t, err
	}
	if plan.Stretch.Timeouts > 1 {
		t.Outcome, t.Failure = triage.Pass, nil
	}
	if req.Purpose == triage.Ladder {
		h.rungs = append(h.rungs, plan.Name)
		if !strings.HasPrefix(plan.Name, ladder[0].Name) && plan.Stretch.Timeouts <= 1 {
			h.missed = append(h.missed, plan.Name)
		}
	}
	return t, nil
}

func TestNoRungTripsADeadlineThatIsKnown(t *testing.T) {
	in, w := check(1, raceOnBase)
	in.Explain, in.Behind = deadline, lag.Behind
	in.Singles = func(seen []triage.Decision) []triage.LagPlan { return lag.Singles(seen, 2) }
	h := &honest{world: w}
	r := triageOf(t, in, h)
	if !strings.Contains(strings.Join(h.rungs, " "), "single-1") {
		t.Fatalf("no rung with one delay among %v", h.rungs)
	}
	if len(h.missed) > 0 {
		t.Errorf("rungs %v can trip the deadline again", h.missed)
	}
	if v := r.Verdicts[0]; v.Class != triage.Inconclusive || len(v.Reasons) != 1 || v.Reasons[0] != triage.ReasonLagArtefact {
		t.Errorf("%s %v, want inconclusive for a lag artefact", v.Class, v.Reasons)
	}
}

var _ pipeline.Runner = (*honest)(nil)
