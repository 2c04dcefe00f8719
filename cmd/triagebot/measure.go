package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/triagebot/triagebot/internal/classify"
	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/framework"
	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/pipeline"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

// errGreen ends measure when the suite was run and nothing was red.
var errGreen = errors.New("nothing is red")

// greenRun is errGreen with what the run may have lacked.
type greenRun struct{ warnings []string }

func (greenRun) Error() string        { return errGreen.Error() }
func (greenRun) Is(target error) bool { return target == errGreen }

// warningsOf are those of a green run.
func warningsOf(err error) []string {
	var g greenRun
	errors.As(err, &g)
	return g.warnings
}

func newMeasure(s streams) *cobra.Command {
	f := &measureFlags{}
	c := &cobra.Command{
		Use:   "measure [flags] [-- COMMAND…]",
		Short: "Triage the failing tests of one red check",
		Long: `measure runs each failing test on the red tree and on the tree without the change,
plainly and under dispatch lag, and says what each red is.

The failing tests come from --report, --log or --test. Without any of them the
COMMAND (default: every suite that is found) is run once on the red tree.

Writes report.json, report.md and report.html to --out. Every finished trial is kept
at once: after an interrupt there is a report of what was measured, and --resume
goes on from there.`,
		Example: `  triagebot measure --report 'results/*.json'
  triagebot measure --log job.log --budget 5m
  triagebot measure --test 'example.com/app/mail.TestDispatch/retry'
  triagebot measure -- go test -race -tags integration ./...
  triagebot measure --resume`,
		Args: onlyBehindDash,
		RunE: func(c *cobra.Command, args []string) error {
			f.command = args
			err := runMeasure(c.Context(), f, s)
			if errors.Is(err, errGreen) {
				fmt.Fprintln(s.err, "The suite is green on head: nothing to triage. Of a run that was red elsewhere, give the report (--report) or the log (--log).")
				for _, w := range warningsOf(err) {
					fmt.Fprintln(s.err, "Warning: "+harmless(w))
				}
				return nil
			}
			return err
		},
	}
	f.register(c)
	return c
}

// onlyBehindDash refuses words before "--": they are meant as something else than
// the suite's command.
func onlyBehindDash(c *cobra.Command, args []string) error {
	if len(args) > 0 && c.ArgsLenAtDash() != 0 {
		return fmt.Errorf("reading arguments: %q is not a flag: name a report with --report, and put the suite's command after --", args[0])
	}
	return nil
}

func runMeasure(ctx context.Context, f *measureFlags, s streams) error {
	if err := f.check(); err != nil {
		return err
	}
	p := newProgress(s.err, f.quiet)
	defer p.Close()
	run := newRun
	if f.resume {
		run = resumeRun
	}
	r, cfg, err := run(ctx, f, p)
	p.Close()
	if err != nil {
		return err
	}
	if err := show(s, r, f); err != nil {
		return err
	}
	if fails(cfg, r.Verdicts) {
		return errPolicy
	}
	return nil
}

// newRun measures a check from its beginning.
func newRun(ctx context.Context, f *measureFlags, p *progress) (triage.Report, config.Config, error) {
	none, noCfg := triage.Report{}, config.Config{}
	if err := refuseLoss(f.out); err != nil {
		return none, noCfg, err
	}
	c, err := collect(f, beforeOpen(f))
	if err != nil {
		return none, noCfg, err
	}
	sess, err := open(ctx, f, p)
	if err != nil {
		return none, noCfg, err
	}
	defer sess.Close()
	if err := sess.find(ctx, f, &c, p); err != nil {
		return none, noCfg, err
	}
	past, err := readPast(ctx, f.history, sess.ws.RepoName())
	if err != nil {
		return none, noCfg, err
	}
	shard, err := c.takeShard(f.shard, past.Durations())
	if err != nil {
		return none, noCfg, err
	}
	sess.addReach(ctx, c.failures)
	sess.addPast(past, &c)
	sess.apart(c.failures)
	if err := sess.noteKept(ctx, c.failures); err != nil {
		return none, noCfg, err
	}
	if err := sess.noteUnmade(ctx, c); err != nil {
		return none, noCfg, err
	}
	header, err := sess.header(c)
	if err != nil {
		return none, noCfg, err
	}
	header.Plan.Shard, header.Substrate = shard, past.Substrates(c.failures)
	uncommitted, err := sess.headDigest()
	if err != nil {
		return none, noCfg, err
	}
	st, err := createStore(f.out, header, uncommitted)
	if err != nil {
		return none, noCfg, err
	}
	defer st.Close()
	r, err := sess.measure(ctx, st, header, p)
	return r, sess.cfg, err
}

// resumeRun goes on with the run that --out holds.
func resumeRun(ctx context.Context, f *measureFlags, p *progress) (triage.Report, config.Config, error) {
	header, err := readHeader(f.out)
	if err != nil {
		return triage.Report{}, config.Config{}, err
	}
	if header.Sweep != nil {
		return triage.Report{}, config.Config{}, fmt.Errorf("resuming: %s holds a sweep: go on with \"triagebot sweep --resume\"", f.out)
	}
	f.command, f.suite = header.Check.Command, header.Check.Suite
	if !header.Check.Head.Dirty {
		f.head = header.Check.Head.SHA
	}
	f.base = header.Check.Base.SHA
	if f.settings.TrialTimeout == 0 {
		f.settings.TrialTimeout = time.Duration(header.Plan.TrialTimeoutMS) * time.Millisecond
	}
	if f.settings.Budget == 0 {
		f.settings.Budget = time.Duration(header.Plan.BudgetMS) * time.Millisecond
	}
	sess, err := open(ctx, f, p)
	if err != nil {
		return triage.Report{}, config.Config{}, err
	}
	defer sess.Close()
	st, err := openStore(f.out) // only now: another run that was waited for may have gone on with it
	if err != nil {
		return triage.Report{}, config.Config{}, err
	}
	defer st.Close()
	if err := sess.sameHead(st, header); err != nil {
		return triage.Report{}, config.Config{}, err
	}
	p.Say("resuming after %d trials", len(st.trials))
	r, err := sess.measure(ctx, st, header, p)
	return r, sess.cfg, err
}

// beforeOpen is what reports are read with before the trees are made: a report
// that cannot be read is told at once. What is wrong with the repository
// workspace.Open will say.
func beforeOpen(f *measureFlags) framework.Reading {
	dir, err := filepath.Abs(f.repo)
	if err != nil {
		dir = f.repo
	}
	top, prefix := rootOf(dir)
	suites, err := chosen(nil, f.command, top, prefix, "")
	if err != nil {
		return framework.Reading{}
	}
	in, _ := reading(top, suites)
	if prefix != "" && in.Go.Module == "" { // of several modules, the one that we stand in
		here, _ := goOptions(dir, "")
		in.Go.Module = here.Module
	}
	return in
}

// rootOf is the root of the checkout that a directory is in, and where below that it
// is, with forward slashes; the directory itself when it is in none.
func rootOf(dir string) (top, prefix string) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			rel, err := filepath.Rel(at, dir)
			if err != nil || rel == "." {
				rel = ""
			}
			return at, filepath.ToSlash(rel)
		}
		if at == filepath.Dir(at) {
			return dir, ""
		}
	}
}

// header is the report before its first trial.
func (s *session) header(c collected) (triage.Report, error) {
	plan := triage.Plan{
		Created:        time.Now().UTC().Truncate(time.Second),
		BudgetMS:       s.cfg.Budget.Milliseconds(),
		TrialTimeoutMS: s.cfg.TrialTimeout.Milliseconds(),
		MaxTrials:      s.cfg.MaxTrials,
		Lag:            s.cfg.Lag,
		Seed:           s.cfg.Seed,
		Alpha:          s.cfg.Alpha,
		Ladders:        map[string][]string{},
		Detectors:      map[string]string{},
		LagPlans:       map[string]triage.LagPlan{},
	}
	if err := s.addLadders(&plan, c.failures); err != nil {
		return triage.Report{}, err
	}
	plan.SuiteScope, plan.Unlike = s.wholeSuites(c.failures), s.unlike(c.failures)
	return triage.Report{
		Schema: triage.Schema,
		Tool:   tool(),
		Check: triage.Check{
			Repo: s.ws.RepoName(), Suite: strings.Join(s.names(), ","), Command: s.typed(), Source: c.source,
			Head: s.ws.Tree(triage.Head).Rev, Base: s.ws.Tree(triage.Base).Rev,
		},
		Plan:     plan,
		Failures: c.failures,
		Warnings: append(append(s.ws.Warnings(), s.warnings...), c.warnings...),
	}, nil
}

// wholeSuites names the suites of failing tests that can be run whole in one
// process of their framework. A package of Go is a process of its own, and there is
// none for more. A command that was typed in another folder than the suite's chooses
// its tests by other paths.
func (s *session) wholeSuites(failures []triage.Failure) []string {
	return s.suitesOf(failures, func(t triage.Target, su *suite) bool {
		elsewhere := len(su.Command) > 0 && path.Clean(s.commandBelow(su)) != path.Clean(su.dir())
		return t.Framework != gotest.Name && !t.IsCommand() && !elsewhere
	})
}

// unlike names the suites of failing tests whose trials may not be run as CI runs them.
func (s *session) unlike(failures []triage.Failure) []string {
	return s.suitesOf(failures, func(_ triage.Target, su *suite) bool { return su.unlike })
}

// suitesOf names the suites of those failing tests for which holds says so.
func (s *session) suitesOf(failures []triage.Failure, holds func(triage.Target, *suite) bool) []string {
	var names []string
	for _, f := range failures {
		if su := s.of(f.Target); su != nil && holds(f.Target, su) && !slices.Contains(names, f.Target.Suite) {
			names = append(names, f.Target.Suite)
		}
	}
	return names
}

// addLadders puts the lag plans of the frameworks of these failures into the
// plan, and the detectors that are tried last.
func (s *session) addLadders(plan *triage.Plan, failures []triage.Failure) error {
	for _, f := range failures {
		su, key := s.of(f.Target), f.Target.Framework
		can := capabilities(key)
		if len(su.seams) > 0 {
			key, can.Seams = triage.LadderOf(key, su.Name), su.seams
		}
		if _, ok := plan.Ladders[key]; ok {
			continue
		}
		plans, err := lag.Ladder(can, s.cfg.Seed, s.cfg.Lag)
		if err != nil {
			return err
		}
		for _, p := range plans {
			plan.Ladders[key] = append(plan.Ladders[key], p.ID())
			plan.LagPlans[p.ID()] = p
		}
		if d := su.detector(); d != "" {
			plan.Detectors[f.Target.Framework] = d
		}
	}
	return nil
}

// measure runs the procedure and writes the report, whatever ended it.
func (s *session) measure(ctx context.Context, st *store, header triage.Report, p *progress) (triage.Report, error) {
	live := s.runners(len(header.Plan.Ladders) > 0, p)
	defer live.Close()
	start := time.Now()
	// The budget is for measuring: waiting for another run on this machine, and
	// making the trees ready, are not held against it.
	limited := pipeline.Limited{Runner: live, Deadline: time.Now().Add(s.cfg.Budget)}
	in := input(header)
	in.Record, in.Observer = st.recorder(live.Site), p
	r, runErr := pipeline.Triage(ctx, in, &pipeline.Recorded{Trials: st.trials, Sites: st.sites, Next: limited})
	stats := live.Stats()
	r.Cost.WallMS = float64((s.setup + time.Since(start)).Milliseconds())
	r.Cost.SetupMS = float64(s.setup.Milliseconds())
	r.Cost.Builds, r.Cost.BuildMS = stats.Builds, stats.BuildMS
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	r.Cost.MemoryMB = float64(mem.Sys >> 20)
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

// maxSingles bounds the rungs with one delay each: a test passes few places
// between its steps, and the random rungs follow.
const maxSingles = 6

// input is the part of a report that the procedure starts from. Measuring and
// replaying use the same.
func input(header triage.Report) pipeline.Input {
	policy := classify.DefaultPolicy().Within(float64(header.Plan.BudgetMS), len(header.Failures))
	policy.Alpha = header.Plan.Alpha
	in := pipeline.Input{Report: header, Policy: policy, PackageScope: true}
	if len(header.Plan.Ladders) > 0 {
		in.Explain, in.Behind = explain, lag.Behind
		in.Singles = func(seen []triage.Decision) []triage.LagPlan { return lag.Singles(seen, maxSingles) }
	}
	return in
}

// show prints the report for people, or as it is with --json.
func show(s streams, r triage.Report, f *measureFlags) error {
	if f.json {
		return report.Encode(s.out, r)
	}
	path := filepath.Join(f.out, reportFile)
	width, _ := terminal(s.out)
	return report.Terminal(s.out, located(r, path, f.repo), report.Options{Width: width, Color: colour(s.out), ReportPath: path})
}
