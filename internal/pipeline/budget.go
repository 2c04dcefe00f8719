package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

// Limited is a [Runner] with a deadline. It turns the end of the time into
// ErrBudget and a cancelled context into ErrInterrupted; a trial cut short by
// either says nothing and is not returned.
type Limited struct {
	Runner
	Deadline time.Time
}

// Run carries out one trial if there is time left.
func (l Limited) Run(ctx context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, error) {
	if ctx.Err() != nil {
		return triage.Trial{}, ErrInterrupted
	}
	timed, cancel := context.WithDeadline(ctx, l.Deadline)
	defer cancel()
	if timed.Err() != nil {
		return triage.Trial{}, ErrBudget
	}
	t, err := l.Runner.Run(timed, req, plan)
	switch {
	case ctx.Err() != nil:
		return triage.Trial{}, ErrInterrupted
	case errors.Is(timed.Err(), context.DeadlineExceeded):
		return triage.Trial{}, ErrBudget
	}
	return t, err
}
