package pipeline

import (
	"context"
	"errors"

	"github.com/triagebot/triagebot/internal/triage"
)

// Errors of a [Runner] that end the measuring but not the check: the report is
// made of what was measured.
var (
	// ErrBudget: the time budget of the check is spent.
	ErrBudget = errors.New("time budget spent")
	// ErrInterrupted: the user or the machine asked to stop.
	ErrInterrupted = errors.New("interrupted")
)

// Runner carries out one trial. The plan is nil without lag. Seq of the
// returned trial is set by the pipeline.
type Runner interface {
	Run(ctx context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, error)
	// Site finds what is known of a site that a decision or a stretch named.
	Site(id string) (triage.Site, bool)
}

// Explain names the cause of a red under a lag plan. It asks probe for trials on
// head; an error of probe ends the search and is returned with what was found.
type Explain func(red Lagged, probe func(triage.LagPlan) (triage.Trial, error)) (*triage.Cause, error)

// Lagged is a failure that a lag plan brought out.
type Lagged struct {
	Plan triage.LagPlan
	// Red is a red trial under the plan.
	Red triage.Trial
	// Reference is the signature that counts.
	Reference triage.Signature
	// ControlRed of ControlRuns plain trials on head failed with the reference.
	ControlRed, ControlRuns int
	// Site looks up a site by its id.
	Site func(id string) (triage.Site, bool)
}

// Observer is told of progress. Its methods must return at once.
type Observer interface {
	// Measuring: the n-th of total red tests is looked at, for the given reason.
	Measuring(target triage.Target, n, total int, doing string)
	// Finished: a trial ended and is part of the record.
	Finished(t triage.Trial)
}
