package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/triagebot/triagebot/internal/pipeline"
	"github.com/triagebot/triagebot/internal/stats"
	"github.com/triagebot/triagebot/internal/triage"
)

// How often each arm is run, and what separates before from after.
const (
	// proveFirst plain runs of before show how red it is without help.
	proveFirst = 10
	// proveRed runs of before must be red under the plan, with one signature.
	proveRed = 5
	// proveGreen runs of after must be green under the same plan: 5 of 5 against
	// 0 of 10 has p = 0.0003.
	proveGreen = 10
	// proveP is the p of Fisher's exact test, one-sided, from which on a row
	// separates before from after.
	proveP     = 0.01
	proveLevel = 0.95
)

// proofRecord is the record of a proof: before is base, after is head.
type proofRecord struct {
	Schema    string           `json:"schema"`
	Tool      triage.Tool      `json:"tool"`
	Repo      string           `json:"repo"`
	Target    triage.Target    `json:"target"`
	Before    triage.Rev       `json:"before"`
	After     triage.Rev       `json:"after"`
	Reference triage.Signature `json:"reference,omitzero"`
	Message   string           `json:"message,omitempty"`
	Rows      []proofRow       `json:"rows"`
	Cause     *triage.Cause    `json:"cause,omitempty"`
	Proven    bool             `json:"proven"`
	// Why says why it is not proven.
	Why    string  `json:"why,omitempty"`
	Runs   int     `json:"runs"`
	WallMS float64 `json:"wall_ms"`
	// Beside tells what else used the machine, when it was much.
	Beside string `json:"beside,omitempty"`
}

const proofSchema = "triagebot/proof/v1"

// proofRow is one arm on both trees.
type proofRow struct {
	Kind   string          `json:"kind"` // "plain", "lag" or "least"
	Plan   *triage.LagPlan `json:"plan,omitempty"`
	Before proofCount      `json:"before"`
	After  proofCount      `json:"after"`
}

// proofCount counts the runs of one arm on one tree.
type proofCount struct {
	Runs int `json:"runs"`
	// Red are all reds, Same those with the reference signature.
	Red  int `json:"red"`
	Same int `json:"same"`
	// Odd had no result, Idle were under a plan that reached nothing.
	Odd  int `json:"odd,omitempty"`
	Idle int `json:"idle,omitempty"`
}

// p is Fisher's one-sided p of the row, 1 when it has nothing to compare.
func (r proofRow) p() float64 {
	after := r.After.Runs
	if r.Plan != nil {
		after -= r.After.Idle // where nothing is late nothing is proven
	}
	if r.Before.Runs == 0 || after <= 0 || r.After.Red > after {
		return 1
	}
	return stats.FisherGreater(r.Before.Same, r.Before.Runs, r.After.Red, after)
}

// runsFor is the number of green runs that bound a rate at the level of the page.
func runsFor(bound float64) int {
	return int(math.Ceil(math.Log(1-proveLevel) / math.Log1p(-bound)))
}

// prover runs a proof. Nothing runs beside its trials.
type prover struct {
	run      pipeline.Runner
	explain  pipeline.Explain
	ladder   []triage.LagPlan
	repeats  int
	deadline time.Time
	p        *progress
	r        proofRecord
	// lastRed is the red trial of before that the search for its cause starts from.
	lastRed triage.Trial
}

// errUnproven ends the runs of a proof: there is nothing left to find out.
var errUnproven = errors.New("not proven")

// prove makes the record. Only what keeps runs from being made is an error.
func (v *prover) prove(ctx context.Context) error {
	err := v.steps(ctx)
	if errors.Is(err, pipeline.ErrBudget) {
		v.r.Why, err = "the time budget was used up: allow more with --budget", nil
	}
	if errors.Is(err, errUnproven) {
		err = nil
	}
	v.r.Proven = err == nil && v.r.Why == ""
	return err
}

func (v *prover) unproven(format string, args ...any) error {
	v.r.Why = fmt.Sprintf(format, args...)
	return errUnproven
}

func (v *prover) steps(ctx context.Context) error {
	v.r.Rows = []proofRow{{Kind: "plain"}}
	if err := v.repeat(ctx, 0, triage.Base, proveFirst); err != nil {
		return err
	}
	if plain := v.r.Rows[0].Before; plain.Runs == 0 {
		return v.unproven("the test has no result before the fix: is it new?")
	}
	if v.r.Rows[0].Before.Same < v.r.Rows[0].Before.Runs {
		if err := v.lagged(ctx); err != nil {
			return err
		}
	}
	if v.lastRed.Failure == nil {
		return v.unproven("the test is not red before the fix: 0 of %d plainly, and under none of %d lag plans", v.r.Rows[0].Before.Runs, len(v.ladder))
	}
	for i := range v.r.Rows {
		if v.r.Rows[i].Plan == nil {
			continue
		}
		if err := v.repeat(ctx, i, triage.Head, proveGreen); err != nil {
			return err
		}
		if c := v.r.Rows[i].After; c.Red > 0 {
			return v.unproven("the test is still red after the fix, under the lag that made it red before: %d of %d", c.Red, c.Runs)
		}
	}
	for v.r.Rows[0].After.Runs < v.repeats {
		if err := v.once(ctx, 0, triage.Head); err != nil {
			return err
		}
		if c := v.r.Rows[0].After; c.Red > 0 {
			return v.unproven("the test is still red after the fix: in run %d of %d", c.Runs, v.repeats)
		}
		if c := v.r.Rows[0].After; c.Odd > proveGreen {
			return v.unproven("the test has no result after the fix")
		}
	}
	return v.separated()
}

// separated looks for a row in which before and after differ beyond chance.
func (v *prover) separated() error {
	idle := false
	for _, row := range v.r.Rows {
		if row.p() <= proveP {
			return nil
		}
		idle = idle || row.After.Idle > 0
	}
	if idle {
		return v.unproven("the lag that makes the test red before the fix reaches nothing after it, and plain runs do not tell: the code that it delayed is gone")
	}
	return v.unproven("it was red too rarely before the fix for its green runs after it to prove anything")
}

// lagged finds the first rung of the ladder under which before is red with one
// signature, and then the least plan that still is.
func (v *prover) lagged(ctx context.Context) error {
	for _, plan := range v.ladder {
		v.r.Rows = append(v.r.Rows, proofRow{Kind: "lag", Plan: &plan})
		i := len(v.r.Rows) - 1
		if err := v.repeat(ctx, i, triage.Base, 1); err != nil {
			return err
		}
		if v.r.Rows[i].Before.Same == 1 {
			if err := v.repeat(ctx, i, triage.Base, proveRed-1); err != nil {
				return err
			}
		}
		if c := v.r.Rows[i].Before; c.Same == proveRed {
			return v.least(ctx, plan)
		}
		v.r.Rows = v.r.Rows[:i]
		v.forget()
	}
	return nil
}

// forget drops the signature of a rung that was not red for good, unless plain
// runs have shown it.
func (v *prover) forget() {
	if v.r.Rows[0].Before.Same == 0 {
		v.r.Reference, v.r.Message, v.lastRed = triage.Signature{}, "", triage.Trial{}
	}
}

// least has the cause named; its plan becomes a row of its own.
func (v *prover) least(ctx context.Context, plan triage.LagPlan) error {
	plain := v.r.Rows[0].Before
	tried := map[string]triage.LagPlan{}
	cause, err := v.explain(pipeline.Lagged{
		Plan: plan, Red: v.lastRed, Reference: v.r.Reference, Site: v.run.Site, ControlRed: plain.Same, ControlRuns: plain.Runs,
	}, func(p triage.LagPlan) (triage.Trial, error) {
		tried[p.ID()] = p
		return v.trial(ctx, triage.Base, &p, triage.Explain)
	})
	if err != nil {
		return err
	}
	v.r.Cause = cause
	if cause == nil {
		return nil
	}
	smallest, ok := tried[cause.Plan]
	if !ok || smallest.ID() == plan.ID() || cause.Red < cause.Runs {
		return nil
	}
	v.r.Rows = append(v.r.Rows, proofRow{Kind: "least", Plan: &smallest})
	return v.repeat(ctx, len(v.r.Rows)-1, triage.Base, proveRed)
}

// repeat makes n runs of a row.
func (v *prover) repeat(ctx context.Context, row int, side triage.Side, n int) error {
	for range n {
		if err := v.once(ctx, row, side); err != nil {
			return err
		}
	}
	return nil
}

// once makes one run of a row and counts it.
func (v *prover) once(ctx context.Context, row int, side triage.Side) error {
	r := &v.r.Rows[row]
	t, err := v.trial(ctx, side, r.Plan, triage.Measure)
	if err != nil {
		return err
	}
	c := &r.After
	if side == triage.Base {
		c = &r.Before
	}
	if !t.Outcome.Counts() {
		c.Odd++
		return nil
	}
	c.Runs++
	if r.Plan != nil && t.DecisionCount == 0 && r.Plan.Procs == 0 && r.Plan.Burners == 0 && r.Plan.CleanupMS == 0 {
		c.Idle++
	}
	if !t.Outcome.Red() {
		return nil
	}
	c.Red++
	if side == triage.Head || t.Failure == nil {
		return nil
	}
	if v.r.Reference.IsZero() {
		v.r.Reference, v.r.Message = t.Failure.Signature, t.Failure.Message
	}
	if t.SameFailure(v.r.Reference) {
		c.Same++
		v.lastRed = t
	}
	return nil
}

func (v *prover) trial(ctx context.Context, side triage.Side, plan *triage.LagPlan, why triage.Purpose) (triage.Trial, error) {
	if !v.deadline.IsZero() && time.Now().After(v.deadline) {
		return triage.Trial{}, pipeline.ErrBudget
	}
	req := triage.Request{Target: v.r.Target, Arm: triage.Arm{Side: side}, Purpose: why}
	if plan != nil {
		req.Arm.Lag = plan.ID()
	}
	t, err := v.run.Run(ctx, req, plan)
	if err != nil {
		return t, err
	}
	t.Request = req
	v.r.Runs++
	t.Seq = v.r.Runs
	if v.p != nil {
		v.p.Finished(t)
	}
	return t, nil
}
