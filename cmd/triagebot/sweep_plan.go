package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/history"
	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/sweep"
	"github.com/triagebot/triagebot/internal/triage"
)

// sweepPlan is a sweep before its first run.
type sweepPlan struct {
	header triage.Report
	units  []sweep.Unit
	// history is the folder of earlier reports, past what is in it.
	history string
	past    *history.Record
	// changed tells whether a test's files changed since the last sweep; nil when
	// that is not known.
	changed func(triage.Target) bool
}

// planSweep finds out what there is to run.
func (s *session) planSweep(ctx context.Context, f *sweepFlags) (sweepPlan, error) {
	plan := sweepPlan{history: f.history}
	c := collected{source: "run"}
	for _, su := range s.suites {
		if err := s.ready(ctx, su); err != nil {
			return plan, err
		}
		units, err := s.units(ctx, su, f.shard != "")
		if err != nil {
			return plan, err
		}
		plan.units = append(plan.units, units...)
	}
	if len(plan.units) == 0 {
		return plan, fmt.Errorf("looking for tests: no suite has any (there are %s): name the command after --", strings.Join(s.names(), ", "))
	}
	var err error
	if plan.past, err = readPast(ctx, f.history, s.ws.RepoName()); err != nil {
		return plan, err
	}
	c.warnings = plan.past.Warnings
	if plan.header, err = s.header(c); err != nil {
		return plan, err
	}
	h := &plan.header
	h.Failures, h.Sweep = []triage.Failure{}, &triage.Sweep{Since: f.since, Rungs: []triage.SweepRung{}}
	if h.Sweep.Since == "" {
		h.Sweep.Since = plan.past.LastSweep()
	}
	if f.shard != "" {
		if h.Plan.Shard, err = plan.takeShard(f.shard); err != nil {
			return plan, err
		}
	}
	return plan, s.recallChanges(ctx, &plan)
}

// recall finds out again what a resumed sweep knew.
func (s *session) recall(ctx context.Context, plan *sweepPlan) error {
	var err error
	if plan.past, err = readPast(ctx, plan.history, s.ws.RepoName()); err != nil {
		return err
	}
	return s.recallChanges(ctx, plan)
}

// takeShard leaves the units of one shard. Every machine finds the same units.
func (plan *sweepPlan) takeShard(text string) (triage.Shard, error) {
	shard, err := triage.ParseShard(text)
	if err != nil {
		return shard, err
	}
	cost := map[string]float64{}
	for t, ms := range plan.past.Durations() {
		cost[t.Suite+"\x00"+t.Package] += ms
	}
	var items []sweep.Item
	for _, u := range plan.units {
		items = append(items, sweep.Item{Target: u.Target, MS: cost[u.Target.Suite+"\x00"+u.Target.Package]})
	}
	shard.Tests = len(items)
	mine := sweep.Assign(items, shard.Of)[shard.Index-1]
	plan.units = slices.DeleteFunc(plan.units, func(u sweep.Unit) bool {
		return !slices.ContainsFunc(mine, func(i sweep.Item) bool { return i.Target == u.Target })
	})
	return shard, nil
}

// sweepRungs are the rungs of a sweep in its order: what costs least first, and
// none that picks its places at random or only slows the machine.
var sweepRungs = []string{"doubles", "worker-10", "worker-100", "test-50", "yield", "cleanup"}

// sweepLadder is the lag plans for one framework, the one for the whole suite first.
func (s *session) sweepLadder(framework string) ([]triage.LagPlan, error) {
	c := capabilities(framework)
	if s.cfg.Lag != "" && s.cfg.Lag != "auto" {
		return lag.Ladder(c, s.cfg.Seed, s.cfg.Lag)
	}
	all, err := lag.Ladder(c, s.cfg.Seed, "auto")
	var out []triage.LagPlan
	for _, name := range sweepRungs {
		if i := slices.IndexFunc(all, func(p triage.LagPlan) bool { return p.Name == name }); i >= 0 {
			out = append(out, all[i])
		}
	}
	return out, err
}

// sweep runs the procedure and writes the report, whatever ended it.
func (s *session) sweep(ctx context.Context, st *store, results *resultStore, plan sweepPlan, p *progress) (triage.Report, error) {
	in := sweep.Input{
		Report: plan.header, Units: plan.units, Ladders: map[string][]triage.LagPlan{}, Since: plan.header.Sweep.Since,
		Changed: plan.changed, Order: plan.past.Order, Behind: lag.Behind, PerTest: func(f string) bool { return capabilities(f).PerTest }, Observer: &sweepProgress{progress: p},
	}
	lagged := false
	for _, su := range s.suites {
		ladder, err := s.sweepLadder(su.Framework)
		if err != nil {
			return triage.Report{}, err
		}
		in.Ladders[su.Framework] = ladder
		lagged = lagged || len(ladder) > 0
	}
	if lagged {
		in.Explain = explainSweep
	}
	var warnings []string
	in.Note, warnings = s.noter(plan.past)
	in.Report.Warnings = append(slices.Clone(in.Report.Warnings), warnings...)
	live := s.runners(lagged, p)
	defer live.Close()
	start := time.Now()
	in.Deadline = start.Add(s.cfg.Budget)
	in.Report.Plan.BudgetMS = s.cfg.Budget.Milliseconds()
	record := st.recorder(live.Site)
	in.Record = func(t triage.Trial, rs []triage.Result) error {
		if err := results.record(t, rs); err != nil {
			return err
		}
		return record(t)
	}
	whole := &wholeRunner{runners: live, timeout: max(s.cfg.Budget, s.cfg.TrialTimeout)}
	r, runErr := sweep.Sweep(ctx, in, &sweep.Recorded{
		Trials: st.trials, Results: results.read, Sites: st.sites, Next: sweep.Limited{Runner: whole, Deadline: in.Deadline},
	})
	r.Cost = s.costOf(r.Cost, live, start)
	r.Warnings = append(r.Warnings, s.circumstances(r.Trials)...)
	if skipped := live.Skipped(); len(skipped) > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("no lag in %d files, for example %s", len(skipped), skipped[0]))
	}
	err := st.finish(r)
	if runErr != nil {
		return r, fmt.Errorf("%w: what was measured is in %s, go on with --resume", runErr, st.dir)
	}
	return r, err
}

// noter adds to a red test what earlier reports and the ledger tell of it.
func (s *session) noter(past *history.Record) (note func(*triage.Failure), warnings []string) {
	l, err := readLedger(s.ws.Tree(triage.Head).Dir, sweep.LedgerPath)
	if err != nil {
		warnings = append(warnings, fmt.Sprintf("the ledger of known reds: %s", oneLine(err)))
	}
	return func(f *triage.Failure) {
		f.Past = past.Past(f.Target, f.Signature)
		_, f.Ledger = l.Find(f.Target)
	}, warnings
}
