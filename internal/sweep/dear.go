package sweep

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

// dearRungs runs each test alone under each rung of its ladder, the tests that are
// likeliest to show something first, one rung over all of them before the next.
func (e *engine) dearRungs(ctx context.Context) error {
	tests := e.ordered()
	for step := 0; ; step++ {
		any := false
		for _, framework := range e.frameworks() {
			ladder := e.ladder(framework)
			if step >= len(ladder) {
				continue
			}
			any = true
			if err := e.dear(ctx, framework, ladder[step], tests); err != nil {
				return err
			}
		}
		if !any {
			return nil
		}
	}
}

// dear is one rung over the tests of a framework, each alone.
func (e *engine) dear(ctx context.Context, framework string, plan triage.LagPlan, tests []*test) error {
	var todo []*test
	r := e.rung(plan.Name, triage.Alone)
	for _, x := range tests {
		switch {
		case x.target.Framework != framework:
		case x.done(plan), e.told(x):
			r.Skipped++
		default:
			todo = append(todo, x)
		}
	}
	began := time.Now()
	defer func() { r.WallMS = ms(time.Since(began)) }()
	for i, x := range todo {
		e.progress(i, len(todo), began, plan.Name+", each test alone: "+x.target.String())
		r.Left = len(todo) - i
		if err := e.alone(ctx, r, x, plan); err != nil {
			return err
		}
		r.Left, r.Tests = len(todo)-i-1, i+1
	}
	return nil
}

// done reports whether a rung can tell nothing more of a test.
func (x *test) done(plan triage.LagPlan) bool {
	if x.lead != nil && x.lead.verdict != nil && !x.behind {
		return true
	}
	if x.idle && (plan.Role == triage.RoleWorker || plan.Role == triage.RoleTest || plan.Yield || plan.CleanupMS > 0) {
		return true // without threads of its own nothing can be late
	}
	return false
}

// told reports whether a subtest of a test has its verdict: run around it, it would
// be red for the same reason.
func (e *engine) told(x *test) bool {
	return slices.ContainsFunc(e.order, func(o *test) bool {
		return o.lead != nil && o.lead.verdict != nil && o.target.Package == x.target.Package && strings.HasPrefix(o.target.Test, x.target.Test+"/")
	})
}

// alone tries one rung on one test, and confirms and explains a red at once.
func (e *engine) alone(ctx context.Context, r *triage.SweepRung, x *test, plan triage.LagPlan) error {
	if x.behind && e.in.Behind != nil {
		plan = e.in.Behind(plan)
	}
	t, _, err := e.trial(ctx, triage.Request{Target: x.target, Purpose: triage.Ladder}, &plan)
	if errors.Is(err, errCapped) {
		return nil
	}
	if err != nil {
		return err
	}
	e.addTrial(r, t)
	if t.Outcome == triage.Pass && t.DecisionCount == 0 && plan.Role == triage.RoleWorker && slices.Contains(plan.Kinds, triage.KindCall) {
		x.idle = true
	}
	if !t.Outcome.Red() || t.Failure == nil {
		return nil
	}
	r.Leads++
	before := x.lead
	x.lead = &lead{failure: *t.Failure, first: t.Seq, plan: &plan, seen: "under " + plan.Name + " alone"}
	if err := e.confirm(ctx, x); err != nil {
		return e.keepOld(x, before, err)
	}
	if err := e.explain(ctx, x); err != nil {
		return e.keepOld(x, before, err)
	}
	if before != nil && before.verdict != nil && x.lead.verdict.Class == triage.Inconclusive {
		x.lead = before
	}
	return nil
}

// keepOld puts back what was known of a test before a try that came to nothing.
func (e *engine) keepOld(x *test, before *lead, err error) error {
	if before != nil && before.verdict != nil {
		x.lead = before
	}
	return err
}

// ordered are the tests that are run alone: what changed since the last sweep
// first, then by their past, then as they were seen. A subtest is run with the test
// around it.
func (e *engine) ordered() []*test {
	var targets []triage.Target
	for _, x := range e.order {
		green, _ := x.count(false)
		if x.target.IsCommand() || green == 0 || e.inner(x) {
			continue
		}
		targets = append(targets, x.target)
	}
	if e.in.Order != nil {
		targets = e.in.Order(targets)
	}
	if e.in.Changed != nil {
		changed := map[triage.Target]bool{}
		for _, t := range targets {
			changed[t] = e.in.Changed(t)
		}
		slices.SortStableFunc(targets, func(a, b triage.Target) int {
			switch {
			case changed[a] && !changed[b]:
				return -1
			case changed[b] && !changed[a]:
				return 1
			}
			return 0
		})
	}
	var out []*test
	for _, t := range targets {
		out = append(out, e.tests[t])
	}
	return out
}

// inner reports whether a test is run by another one around it.
func (e *engine) inner(x *test) bool {
	i := strings.IndexByte(x.target.Test, '/')
	if i < 0 {
		return false
	}
	around := x.target
	around.Test = around.Test[:i]
	return e.tests[around] != nil
}
