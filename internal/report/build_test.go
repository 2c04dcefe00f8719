package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

// A builder makes reports that hang together: trials, tallies and plans agree.
type builder struct {
	r triage.Report
	e map[triage.Target]*triage.Evidence
}

var built = time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC)

func newBuilder() *builder {
	return &builder{e: map[triage.Target]*triage.Evidence{}, r: triage.Report{
		Schema: triage.Schema,
		Tool:   triage.Tool{Name: "triagebot", Version: "v0.1.0", Go: "go1.26.0", Platform: "linux/amd64", Cores: 2},
		Check: triage.Check{Repo: "acme/loop", Suite: "go", Source: "log",
			Head: triage.Rev{SHA: "4f1c9a7b2d3e8f60514a7b9c8d2e3f4051627384", Ref: "HEAD"},
			Base: triage.Rev{SHA: "a90d1e2f3c4b5a69788796a5b4c3d2e1f0011223", Ref: "first parent"}},
		Plan: triage.Plan{Created: built, BudgetMS: 600_000, TrialTimeoutMS: 60_000, Lag: "auto", Seed: 7, Alpha: 0.01},
		Cost: triage.Cost{SetupMS: 310, BuildMS: 2840.5, Builds: 4, MemoryMB: 41.5},
	}}
}

func goTest(pkg, test string) triage.Target {
	return triage.Target{Suite: "go", Framework: "gotest", Package: "example.com/loop/" + pkg, Test: test}
}

// red adds a failure as CI showed it.
func (b *builder) red(t triage.Target, message, excerpt string) triage.Target {
	b.r.Failures = append(b.r.Failures, triage.Failure{Target: t, Outcome: triage.Fail, Message: message,
		Signature: signature(message), Excerpt: excerpt,
		Location: triage.Location{File: "dispatch/dispatch_test.go", Line: 41, Func: t.Test}})
	b.evidence(t).Reference = signature(message)
	return t
}

func signature(message string) triage.Signature {
	return triage.Signature{Phase: triage.PhaseTest, Message: message}
}

func (b *builder) evidence(t triage.Target) *triage.Evidence {
	if b.e[t] == nil {
		b.e[t] = &triage.Evidence{Target: t, Tallies: []triage.Tally{}}
	}
	return b.e[t]
}

// plan records a lag plan and returns its id.
func (b *builder) plan(p triage.LagPlan) string {
	p.Version = triage.PlanVersion
	if b.r.Plan.LagPlans == nil {
		b.r.Plan.LagPlans = map[string]triage.LagPlan{}
	}
	b.r.Plan.LagPlans[p.ID()] = p
	return p.ID()
}

// run adds trials of an arm, one a mark of the sequence, and their tally.
func (b *builder) run(t triage.Target, a triage.Arm, sequence string) {
	e := b.evidence(t)
	tally := triage.Tally{Arm: a, Sequence: sequence}
	for _, mark := range sequence {
		switch trial := b.trial(t, a, triage.Measure, mark); {
		case trial.Outcome == triage.Pass:
			tally.Pass++
		case trial.Outcome == triage.Absent:
			tally.Absent++
		case mark == 'F':
			tally.Same++
		default:
			tally.Other++
		}
	}
	e.Tallies = append(e.Tallies, tally)
}

// both runs an arm on both sides.
func (b *builder) both(t triage.Target, a triage.Arm, head, base string) {
	b.run(t, a.On(triage.Head), head)
	b.run(t, a.On(triage.Base), base)
}

func (b *builder) trial(t triage.Target, a triage.Arm, why triage.Purpose, mark rune) *triage.Trial {
	n := len(b.r.Trials) + 1
	x := triage.Trial{Seq: n, Request: triage.Request{Target: t, Arm: a, Purpose: why},
		Start: built.Add(time.Duration(n) * time.Second), DurationMS: 12.5 + float64(n%7), Ran: 1, Outcome: triage.Pass}
	switch mark {
	case '-':
		x.Outcome, x.Ran, x.Note = triage.Absent, 0, "the selection matched no test"
	case 'F', 'o':
		f := triage.Failure{Target: t, Outcome: triage.Fail, Signature: b.evidence(t).Reference, Message: "got 1, want 2",
			Excerpt: "--- FAIL: " + t.Test + " (0.01s)\n    dispatch_test.go:41: got 1, want 2\n"}
		if mark == 'o' {
			f.Signature = signature("dial tcp: connection refused")
		}
		x.Outcome, x.Exit, x.Failure, x.Output = triage.Fail, 1, &f, f.Excerpt+"FAIL\n"
	}
	b.r.Trials = append(b.r.Trials, x)
	return &b.r.Trials[len(b.r.Trials)-1]
}

// compare adds the comparison of an arm; the numbers are invented but possible.
func (b *builder) compare(t triage.Target, a triage.Arm, e, fisher float64) {
	h, g := b.evidence(t).Tally(a.On(triage.Head)), b.evidence(t).Tally(a.On(triage.Base))
	d := rate(h) - rate(g)
	b.evidence(t).Comparisons = append(b.evidence(t).Comparisons, triage.Comparison{
		Head: a.On(triage.Head), Base: a.On(triage.Base), Difference: d, Low: max(-1, d-0.35), High: min(1, d+0.25),
		E: e, P: min(1, 1/e), AdjustedP: min(1, 2/e), FisherP: fisher})
}

func rate(t triage.Tally) float64 {
	if t.N() == 0 {
		return 0
	}
	return float64(t.Same) / float64(t.N())
}

func (b *builder) verdict(t triage.Target, c triage.Class, bound triage.Bound, reasons ...triage.Reason) *triage.Verdict {
	b.r.Verdicts = append(b.r.Verdicts, triage.Verdict{Target: t, Class: c, Reasons: reasons, Bound: bound})
	v := &b.r.Verdicts[len(b.r.Verdicts)-1]
	for _, x := range b.r.Trials {
		if x.Target == t && x.Outcome.Red() {
			v.Trial, v.Reproduce = x.Seq, fmt.Sprintf("triagebot replay report.json --trial %d", x.Seq)
			break
		}
	}
	return v
}

func (b *builder) done() triage.Report {
	for _, v := range b.r.Verdicts {
		if e := b.e[v.Target]; e != nil && len(e.Tallies) > 0 {
			b.r.Evidence = append(b.r.Evidence, *e)
		}
	}
	b.r.Cost.Trials = len(b.r.Trials)
	for _, t := range b.r.Trials {
		b.r.Cost.TrialMS += t.DurationMS
	}
	b.r.Cost.WallMS = b.r.Cost.SetupMS + b.r.Cost.BuildMS + b.r.Cost.TrialMS + 120
	return bounded(b.r, excerptLimits[0])
}

var (
	plainArm   = triage.Arm{}
	packageArm = triage.Arm{Scope: triage.InPackage}
)

func lagArm(id string) triage.Arm { return triage.Arm{Lag: id} }

func wrong(p float64) triage.Bound {
	return triage.Bound{Wrong: p, Confidence: 0.95, Text: "wrong ≤ " + percent(p)}
}

func between(low, high float64) triage.Bound {
	return triage.Bound{RateLow: low, RateHigh: high, Confidence: 0.95,
		Text: fmt.Sprintf("%.0f–%.0f %% on base at 95 %%", 100*low, 100*high)}
}

func excerpt(test, message string) string {
	return strings.Join([]string{"=== RUN   " + test, "    dispatch_test.go:41: " + message, "--- FAIL: " + test + " (0.02s)", "FAIL"}, "\n")
}
