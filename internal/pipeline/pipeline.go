package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/triagebot/triagebot/internal/classify"
	"github.com/triagebot/triagebot/internal/triage"
)

// Input is a check whose failures are known and whose trees are ready.
type Input struct {
	// Report holds what is known before the first trial: tool, check, plan with
	// its ladder and the ladder's plans, failures, warnings.
	Report triage.Report
	Policy classify.Policy
	// PackageScope is set when a test can be run in the company of its package.
	PackageScope bool
	// Explain names causes; nil when lag is off.
	Explain Explain
	// Behind is a rung with the deadlines of the code under test out of the way,
	// for what is left of the ladder once a deadline was seen to trip. Singles
	// are rungs with one delay each, at places that earlier rungs passed. Either
	// may be nil.
	Behind  func(triage.LagPlan) triage.LagPlan
	Singles func(seen []triage.Decision) []triage.LagPlan
	// Record keeps a finished trial at once; nil for none. Its error ends the measuring.
	Record func(triage.Trial) error
	// Observer is told of progress; nil for none.
	Observer Observer
}

// Triage measures the failures of a check and judges them. It returns a whole
// report whenever it can: a spent budget or an interrupt is in the report's
// plan.stopped, not in the error. Any other error of the runner is returned
// together with the report of what was measured until then.
func Triage(ctx context.Context, in Input, run Runner) (triage.Report, error) {
	c := newCheck(in, run)
	err := c.measure(ctx)
	switch {
	case errors.Is(err, ErrBudget):
		c.stopped, err = classify.StoppedBudget, nil
	case errors.Is(err, ErrInterrupted):
		c.stopped, err = classify.StoppedInterrupted, nil
	case err != nil:
		c.stopped = classify.StoppedInterrupted
		err = fmt.Errorf("measuring: %w", err)
	}
	return c.finish(), err
}

// maxSingly is the number of failing tests up to which each is measured by
// itself; above it, those with one signature share a verdict.
const maxSingly = 8

// check is one run of the procedure.
type check struct {
	in      Input
	run     Runner
	report  triage.Report
	groups  []classify.Group
	targets []*target
	plans   map[string]triage.LagPlan
	stopped string
}

// target is one measured test: a representative of its group.
type target struct {
	c classify.Case
	// rejected is set for good once "head fails no more often than base" is.
	rejected bool
	// singled is set once the ladder has its rungs with one delay each.
	singled bool
	// behind is set once the deadlines are out of the way of the rungs that are left.
	behind bool
}

func newCheck(in Input, run Runner) *check {
	c := &check{in: in, run: run, report: in.Report, plans: map[string]triage.LagPlan{}}
	for id, p := range in.Report.Plan.LagPlans {
		c.plans[id] = p
	}
	c.report.Trials, c.report.Evidence, c.report.Verdicts = nil, nil, nil
	c.groups = classify.Cluster(in.Report.Failures, maxSingly)
	for _, g := range c.groups {
		for _, f := range g.Measured {
			c.addTarget(f)
		}
	}
	return c
}

// addTarget makes a failing test one that is measured.
func (c *check) addTarget(f triage.Failure) {
	r := c.in.Report
	c.targets = append(c.targets, &target{c: classify.Case{
		Red:             f,
		Rungs:           slices.Clone(c.rungs(f.Target)),
		PackageScope:    c.in.PackageScope && !f.Target.IsCommand(),
		SuiteScope:      slices.Contains(r.Plan.SuiteScope, f.Target.Suite) && !f.Target.IsCommand(),
		Unlike:          slices.Contains(r.Plan.Unlike, f.Target.Suite),
		HeadUnbuildable: r.Check.Head.Unbuildable,
		BaseUnbuildable: r.Check.Base.Unbuildable,
		MaxTrials:       r.Plan.MaxTrials,
		Detector:        r.Plan.Detectors[f.Target.Framework],
	}})
	for _, t := range c.targets {
		t.c.Family = max(len(c.targets), r.Plan.Shard.Tests) // the other shards' tests are of the family too
	}
}

// rungs is the ladder, empty for a target that cannot be instrumented: the
// suite's own command runs as it is.
func (c *check) rungs(t triage.Target) []string {
	if c.in.Explain == nil || t.IsCommand() {
		return nil
	}
	if own, ok := c.in.Report.Plan.Ladders[triage.LadderOf(t.Framework, t.Suite)]; ok {
		return own
	}
	return c.in.Report.Plan.Ladders[t.Framework]
}

// measure first goes round all targets while their next step is a plain round,
// so that a short budget still tells something of each, then finishes them one
// by one.
func (c *check) measure(ctx context.Context) error {
	if err := c.measureTargets(ctx); err != nil {
		return err
	}
	if !c.unshare() {
		return nil
	}
	return c.measureTargets(ctx)
}

// unshare makes targets of those that would share an excuse, and reports whether
// there are any.
func (c *check) unshare() bool {
	more := false
	verdicts, _ := c.verdicts()
	for i := range c.groups {
		g := &c.groups[i]
		var measured []triage.Verdict
		for _, f := range g.Measured {
			measured = append(measured, verdicts[f.Target])
		}
		if len(g.Others) == 0 || !classify.Excuses(measured) {
			continue
		}
		for _, f := range g.Others {
			c.addTarget(f)
		}
		g.Measured, g.Others, more = append(g.Measured, g.Others...), nil, true
	}
	return more
}

// measureTargets takes every target to its verdict.
func (c *check) measureTargets(ctx context.Context) error {
	for busy := true; busy; {
		busy = false
		for i, t := range c.targets {
			step := classify.Next(c.in.Policy, c.current(t))
			if step.Kind != classify.StepPlain {
				continue
			}
			busy = true
			if err := c.step(ctx, i, step); err != nil {
				return err
			}
		}
	}
	// A test that is rejected eases the threshold of the others, so those that
	// were given up may have a next step again.
	for busy := true; busy; {
		busy = false
		for i, t := range c.targets {
			ran, err := c.finishTarget(ctx, i, t, c.share(len(c.targets)-i))
			if err != nil {
				return err
			}
			busy = busy || ran
		}
	}
	return nil
}

// share is how many milliseconds of trials one of the targets that are left may
// use before the others have had their turn. It is counted in recorded
// durations, so that it replays.
func (c *check) share(left int) float64 {
	return max(leastShareMS, (float64(c.report.Plan.BudgetMS)-spentMS(c.report.Trials))/float64(left))
}

// leastShareMS keeps turns from becoming so short that nothing is finished.
const leastShareMS = 5_000

// finishTarget takes one target to its verdict, or as far as its share goes; ran
// is false when there was nothing left to do.
func (c *check) finishTarget(ctx context.Context, i int, t *target, shareMS float64) (ran bool, err error) {
	for first := len(c.report.Trials); ; {
		if spentMS(c.report.Trials[first:]) > shareMS {
			return ran, nil
		}
		step := classify.Next(c.in.Policy, c.current(t))
		if step.Kind == classify.StepDone {
			return ran, nil
		}
		ran = true
		if step.Kind == classify.StepLadder && c.addSingles(t, step.Rung) {
			continue
		}
		if err := c.step(ctx, i, step); err != nil {
			return ran, err
		}
	}
}

// current is the target's case with what is known of the others by now.
func (c *check) current(t *target) classify.Case {
	cur := t.c
	cur.Stopped = c.stopped
	cur.SuiteScope = cur.SuiteScope && !c.suiteIsTooLong(t)
	for _, o := range c.targets {
		if o != t && o.rejected {
			cur.Rejected++
		}
	}
	return cur
}

// settle notes whether the target is rejected now, which eases the threshold of
// the others (Holm's method in its sequential form).
func (c *check) settle(t *target) {
	if t.rejected {
		return
	}
	cur := c.current(t)
	e, _ := classify.Judge(c.in.Policy, cur)
	t.rejected = c.in.Policy.Rejects(e, cur.Family, cur.Rejected)
}

func (c *check) step(ctx context.Context, i int, step classify.Step) error {
	t := c.targets[i]
	if c.in.Observer != nil {
		c.in.Observer.Measuring(t.c.Red.Target, i+1, len(c.targets), c.doing(step))
	}
	switch step.Kind {
	case classify.StepExplain:
		return c.explain(ctx, t, step.Rung)
	case classify.StepPolluter:
		return c.findPolluters(ctx, t)
	}
	for _, req := range step.Requests {
		tr, err := c.trial(ctx, t, req)
		if err != nil {
			return err
		}
		if step.Kind == classify.StepLadder {
			c.dropIdle(t, step.Rung, tr)
		}
	}
	c.settle(t)
	return nil
}

func (c *check) doing(step classify.Step) string {
	switch step.Kind {
	case classify.StepPlain:
		return "head against base"
	case classify.StepLadder:
		return "lag: " + c.plans[step.Rung].Name
	case classify.StepConfirm:
		return "the same lag on head and base"
	case classify.StepExplain:
		return "naming the cause"
	case classify.StepScope:
		return "with its whole package"
	case classify.StepDetect:
		return "under the race detector"
	case classify.StepPolluter:
		return "looking for the test that it fails after"
	case classify.StepSuite:
		return "with its whole suite"
	}
	return ""
}

// trial runs one request and enters it into the record.
func (c *check) trial(ctx context.Context, t *target, req triage.Request) (triage.Trial, error) {
	var plan *triage.LagPlan
	if req.Arm.Lag != "" {
		p, ok := c.plans[req.Arm.Lag]
		if !ok {
			return triage.Trial{}, fmt.Errorf("running %s: lag plan %q is not in the plan", req.Target, req.Arm.Lag)
		}
		plan = &p
	}
	tr, err := c.start(ctx, t, req, plan)
	if err != nil {
		return triage.Trial{}, err
	}
	tr.Request = req
	voidWithoutPlace(&tr, plan)
	tr.Seq = len(c.report.Trials) + 1
	if c.in.Record != nil {
		if err := c.in.Record(tr); err != nil {
			return triage.Trial{}, err
		}
	}
	c.report.Trials = append(c.report.Trials, tr)
	t.c.Trials = append(t.c.Trials, tr)
	c.noteUnbuildable(t, tr)
	if c.in.Observer != nil {
		c.in.Observer.Finished(tr)
	}
	return tr, nil
}

// noteUnbuildable learns from a trial that a tree has no binary to run.
func (c *check) noteUnbuildable(t *target, tr triage.Trial) {
	if tr.Outcome != triage.Invalid || tr.Arm.Lag != "" || tr.Failure == nil || tr.Failure.Signature.Phase != triage.PhaseBuild {
		return
	}
	switch tr.Arm.Side {
	case triage.Head:
		t.c.HeadUnbuildable = tr.Note
	case triage.Base:
		t.c.BaseUnbuildable = tr.Note
	}
}

// errCapped ends the search for a cause at the user's cap on a test's trials.
var errCapped = errors.New("as many trials as are allowed")

// explain has the cause of a red under lag named. Every probe is a trial of the
// record.
func (c *check) explain(ctx context.Context, t *target, rung string) error {
	red, ok := fullestRed(t.c.Trials, rung)
	if !ok {
		return fmt.Errorf("naming the cause of %s: no red trial under plan %s", t.c.Red.Target, rung)
	}
	probe := func(p triage.LagPlan) (triage.Trial, error) {
		if most := t.c.MaxTrials; most > 0 && len(t.c.Trials) >= most {
			return triage.Trial{}, errCapped
		}
		id := p.ID()
		c.plans[id] = p
		return c.trial(ctx, t, triage.Request{
			Target:  t.c.Red.Target,
			Arm:     triage.Arm{Side: triage.Head, Scope: red.Arm.Scope, Lag: id},
			Purpose: triage.Explain,
			Seed:    red.Seed,
		})
	}
	l := Lagged{Plan: c.plans[rung], Red: red, Reference: red.Failure.Signature, Site: c.run.Site}
	for _, tr := range t.c.Trials {
		if tr.Arm == (triage.Arm{}) && tr.Purpose == triage.Measure && tr.Outcome.Counts() {
			l.ControlRuns++
			if tr.SameFailure(l.Reference) {
				l.ControlRed++
			}
		}
	}
	cause, err := c.in.Explain(l, probe)
	if errors.Is(err, errCapped) {
		err = nil
	}
	if t.c.Causes == nil {
		t.c.Causes = map[string]*triage.Cause{}
	}
	t.c.Causes[rung] = cause
	if cause != nil && (cause.Kind == triage.CauseTimeBudget || cause.Deadline) {
		c.goBehind(t, rung)
	}
	return err
}

// fullestRed is head's red trial under a plan that met the most places, the last
// one of several: a red can come before a place is passed that it takes another
// time, and without that place's delay nothing may turn the test red again.
func fullestRed(trials []triage.Trial, plan string) (red triage.Trial, ok bool) {
	most := 0
	for _, tr := range trials {
		if tr.Arm.Side != triage.Head || tr.Arm.Lag != plan || !tr.Outcome.Red() || tr.Failure == nil {
			continue
		}
		places := map[string]bool{}
		for _, d := range tr.Decisions {
			places[d.Site] = true
		}
		if n := len(places); n >= most {
			red, ok, most = tr, true, n
		}
	}
	return red, ok
}
