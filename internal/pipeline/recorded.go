package pipeline

import (
	"context"
	"errors"

	"github.com/triagebot/triagebot/internal/triage"
)

// ErrDiverged: a recorded trial is not the one that the procedure asks for, as
// when another version of the policy wrote the record.
var ErrDiverged = errors.New("the record holds another trial than the one asked for")

// Recorded is a [Runner] that hands out recorded trials in their order. When
// they are used up, Next goes on; without Next it returns End.
type Recorded struct {
	Trials []triage.Trial
	// Sites are the sites that the record knows.
	Sites map[string]triage.Site
	// End is what the live runner said when the record was made: ErrBudget,
	// ErrInterrupted, or nil when it ran to its end.
	End error
	// Next, when set, carries out what the record does not hold.
	Next Runner

	used int
}

// Run returns the next recorded trial. A request that differs from the recorded
// one is ErrDiverged without Next; with Next the rest of the record is dropped.
func (r *Recorded) Run(ctx context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, error) {
	if r.used < len(r.Trials) {
		t := r.Trials[r.used]
		if t.Request.Equal(req) {
			r.used++
			return t, nil
		}
		if r.Next == nil {
			return triage.Trial{}, ErrDiverged
		}
		r.Trials = r.Trials[:r.used]
	}
	switch {
	case r.Next != nil:
		return r.Next.Run(ctx, req, plan)
	case r.End != nil:
		return triage.Trial{}, r.End
	}
	return triage.Trial{}, ErrDiverged
}

// Site looks in the record first.
func (r *Recorded) Site(id string) (triage.Site, bool) {
	if s, ok := r.Sites[id]; ok {
		return s, true
	}
	if r.Next != nil {
		return r.Next.Site(id)
	}
	return triage.Site{}, false
}

// Left is the number of recorded trials that were not asked for.
func (r *Recorded) Left() int { return len(r.Trials) - r.used }
