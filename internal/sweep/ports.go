package sweep

import (
	"context"
	"errors"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

// Errors of a [Runner] that end the measuring but not the sweep: the report is
// made of what was measured.
var (
	// ErrBudget: the time budget of the sweep is spent.
	ErrBudget = errors.New("time budget spent")
	// ErrInterrupted: the user or the machine asked to stop.
	ErrInterrupted = errors.New("interrupted")
)

// Runner carries out one trial. The plan is nil without lag. For a process of
// many tests it also tells what became of each; for a test alone that may be nil.
// Seq of the trial is set by the sweep.
type Runner interface {
	Run(ctx context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, []triage.Result, error)
	// Site finds what is known of a site that a decision or a stretch named.
	Site(id string) (triage.Site, bool)
}

// Red is a failure that a lag plan brought out, and how the test does without lag.
type Red struct {
	Plan  triage.LagPlan
	Trial triage.Trial
	// Reference is the signature that counts.
	Reference triage.Signature
	// ControlRed of ControlRuns plain runs alone failed with the reference.
	ControlRed, ControlRuns int
	Site                    func(id string) (triage.Site, bool)
}

// Explain names the cause of a red under a lag plan. It asks probe for trials; an
// error of probe ends the search and is returned with what was found.
type Explain func(red Red, probe func(triage.LagPlan) (triage.Trial, error)) (*triage.Cause, error)

// Observer is told of progress. Its methods must return at once.
type Observer interface {
	// Finished: a trial ended and is part of the record.
	Finished(t triage.Trial)
	// Progress: n of total are done of what is said; left is the time that the
	// rest is expected to take, 0 when nothing is known yet.
	Progress(n, total int, left time.Duration, doing string)
}

// Unit is one process of a run of the whole suite: a package of Go, or everything
// of a framework that runs all files from one command.
type Unit struct {
	// Target has no test.
	Target triage.Target
	// Scope is that of the package or of the suite.
	Scope triage.Scope
}

// Limited is a [Runner] with a deadline. It turns the end of the time into
// ErrBudget and a cancelled context into ErrInterrupted; a trial cut short by
// either says nothing and is not returned.
type Limited struct {
	Runner
	Deadline time.Time
}

// Run carries out one trial if there is time left.
func (l Limited) Run(ctx context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, []triage.Result, error) {
	if ctx.Err() != nil {
		return triage.Trial{}, nil, ErrInterrupted
	}
	timed, cancel := context.WithDeadline(ctx, l.Deadline)
	defer cancel()
	if timed.Err() != nil {
		return triage.Trial{}, nil, ErrBudget
	}
	t, results, err := l.Runner.Run(timed, req, plan)
	switch {
	case ctx.Err() != nil:
		return triage.Trial{}, nil, ErrInterrupted
	case errors.Is(timed.Err(), context.DeadlineExceeded):
		return triage.Trial{}, nil, ErrBudget
	}
	return t, results, err
}

// Recorded is a [Runner] that hands out recorded trials in their order, and then
// lets Next go on. From the first trial that is not the one asked for, the rest of
// the record is dropped.
type Recorded struct {
	Trials []triage.Trial
	// Results are those of the processes of many tests, by the trial's number.
	Results map[int][]triage.Result
	Sites   map[string]triage.Site
	Next    Runner

	used int
}

// Run returns the next recorded trial, or lets Next run it.
func (r *Recorded) Run(ctx context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, []triage.Result, error) {
	if r.used < len(r.Trials) {
		if t := r.Trials[r.used]; t.Request.Equal(req) {
			r.used++
			return t, r.Results[t.Seq], nil
		}
		r.Trials = r.Trials[:r.used]
	}
	return r.Next.Run(ctx, req, plan)
}

// Site looks in the record first.
func (r *Recorded) Site(id string) (triage.Site, bool) {
	if s, ok := r.Sites[id]; ok {
		return s, true
	}
	return r.Next.Site(id)
}
