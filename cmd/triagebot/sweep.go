package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/triage"
)

type sweepFlags struct {
	measureFlags
	since string
}

func newSweep(s streams) *cobra.Command {
	f := &sweepFlags{}
	c := &cobra.Command{
		Use:   "sweep [flags] [-- COMMAND…]",
		Short: "Look for races in a whole suite, by running it under lag",
		Long: `sweep runs the whole suite without lag, and then once more with every test double late:
that takes about twice as long. A test that is red only then is a lead. Each lead is run
alone, with and without the lag, and its cause is named: a race, a fixed sleep, or an
honest deadline, which is no finding. Tests that are red without lag are told too.

What is left of --budget goes to the dearer delays, one test at a time; what changed since
the last sweep and what was red in the past comes first.

Writes report.json, report.md and report.html to --out. Every finished run is kept at
once, and --resume goes on after an interrupt.`,
		Example: `  triagebot sweep
  triagebot sweep --budget 30m --history reports
  triagebot sweep --shard 2/3 -- go test -tags integration ./...
  triagebot sweep --resume --budget 30m`,
		Args: onlyBehindDash,
		RunE: func(c *cobra.Command, args []string) error {
			f.command = args
			return runSweep(c.Context(), s, f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.repo, "repo", ".", "the git repository")
	fl.StringVar(&f.head, "head", "", "the revision to sweep (default: HEAD with what is uncommitted)")
	fl.StringVar(&f.since, "since", "", "what changed since this revision is looked at first (default: that of the last sweep in --history)")
	fl.StringVar(&f.since, "base", "", "the same as --since")
	fl.StringVar(&f.suite, "suite", "", "the suites of the configuration, with commas between them")
	fl.StringVar(&f.out, "out", defaultOut, "where the report goes (`DIR`)")
	fl.BoolVar(&f.resume, "resume", false, "go on with an interrupted sweep in --out")
	fl.BoolVar(&f.json, "json", false, "print report.json instead of the terminal report")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	fl.StringArrayVar(&f.setup, "setup", nil, "a command that makes a fresh tree ready (`COMMAND`, repeatable)")
	fl.BoolVar(&f.noWait, "no-wait", false, "fail when another triagebot runs on this machine, instead of waiting")
	fl.StringVar(&f.shard, "shard", "", "sweep one part of the suite only (`INDEX/SHARDS`); merge joins the reports")
	fl.StringVar(&f.history, "history", "", "earlier reports: what was red there is looked at first (`DIR`)")
	addSettings(fl, &f.settings)
	if err := fl.MarkHidden("base"); err != nil {
		panic(err) // the flag is defined right above
	}
	return c
}

func (f *sweepFlags) check() error {
	if f.resume && (len(f.command) > 0 || f.shard != "" || f.history != "" || f.since != "") {
		return errors.New("reading flags: --resume goes on with the interrupted sweep; leave out --shard, --history, --since and the command")
	}
	if f.shard != "" {
		if _, err := triage.ParseShard(f.shard); err != nil {
			return fmt.Errorf("reading --shard: %w", err)
		}
	}
	if _, err := lag.Ladder(goCapabilities(), config.Defaults().Seed, f.settings.Lag); err != nil {
		return fmt.Errorf("reading --lag: %w", err)
	}
	return nil
}

func runSweep(ctx context.Context, s streams, f *sweepFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	p := newProgress(s.err, f.quiet)
	defer p.Close()
	run := newSweepRun
	if f.resume {
		run = resumeSweep
	}
	r, cfg, err := run(ctx, f, p)
	p.Close()
	if err != nil {
		return err
	}
	if err := show(s, r, &f.measureFlags); err != nil {
		return err
	}
	if sweepFails(cfg, r) {
		return errPolicy
	}
	return nil
}

// sweepFails reports whether a finding trips the policy of fail-on. A lead that is
// not confirmed and an honest deadline are none, and what is on the ledger is known.
func sweepFails(cfg config.Config, r triage.Report) bool {
	known := map[triage.Target]bool{}
	for _, f := range r.Failures {
		known[f.Target] = f.Ledger
	}
	for _, v := range r.Verdicts {
		if v.NotYours() && !known[v.Target] && cfg.Fails(v) {
			return true
		}
	}
	return false
}

// openSweep makes the tree ready. Both sides are the one commit.
func openSweep(ctx context.Context, f *sweepFlags, p *progress) (*session, error) {
	f.base, f.oneTree = f.head, true
	if f.base == "" {
		f.base = "HEAD"
	}
	return open(ctx, &f.measureFlags, p)
}

// newSweepRun sweeps from the beginning.
func newSweepRun(ctx context.Context, f *sweepFlags, p *progress) (triage.Report, config.Config, error) {
	none, noCfg := triage.Report{}, config.Config{}
	if err := refuseLoss(f.out); err != nil {
		return none, noCfg, err
	}
	sess, err := openSweep(ctx, f, p)
	if err != nil {
		return none, noCfg, err
	}
	defer sess.Close()
	plan, err := sess.planSweep(ctx, f)
	if err != nil {
		return none, noCfg, err
	}
	uncommitted, err := sess.headDigest()
	if err != nil {
		return none, noCfg, err
	}
	st, err := createStore(f.out, plan.header, uncommitted)
	if err != nil {
		return none, noCfg, err
	}
	defer st.Close()
	results, err := createResults(f.out, plan)
	if err != nil {
		return none, noCfg, err
	}
	defer results.Close()
	r, err := sess.sweep(ctx, st, results, plan, p)
	return r, sess.cfg, err
}

// resumeSweep goes on with the sweep that --out holds.
func resumeSweep(ctx context.Context, f *sweepFlags, p *progress) (triage.Report, config.Config, error) {
	none, noCfg := triage.Report{}, config.Config{}
	header, err := readHeader(f.out)
	if err != nil {
		return none, noCfg, err
	}
	if header.Sweep == nil {
		return none, noCfg, fmt.Errorf("resuming: %s holds no sweep: go on with it by \"triagebot measure --resume\"", f.out)
	}
	f.command, f.suite = header.Check.Command, header.Check.Suite
	if !header.Check.Head.Dirty {
		f.head = header.Check.Head.SHA
	}
	if f.settings.TrialTimeout == 0 {
		f.settings.TrialTimeout = time.Duration(header.Plan.TrialTimeoutMS) * time.Millisecond
	}
	if f.settings.Budget == 0 {
		f.settings.Budget = time.Duration(header.Plan.BudgetMS) * time.Millisecond
	}
	sess, err := openSweep(ctx, f, p)
	if err != nil {
		return none, noCfg, err
	}
	defer sess.Close()
	st, err := openStore(f.out)
	if err != nil {
		return none, noCfg, err
	}
	defer st.Close()
	if err := sess.sameHead(st, header); err != nil {
		return none, noCfg, err
	}
	results, units, past, err := openResults(f.out)
	if err != nil {
		return none, noCfg, err
	}
	defer results.Close()
	plan := sweepPlan{header: header, units: units, history: past}
	if err := sess.recall(ctx, &plan); err != nil {
		return none, noCfg, err
	}
	p.Say("resuming after %d runs", len(st.trials))
	r, err := sess.sweep(ctx, st, results, plan, p)
	return r, sess.cfg, err
}
