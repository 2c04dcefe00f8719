package pipeline

import (
	"slices"

	"github.com/triagebot/triagebot/internal/triage"
)

// goBehind takes the deadlines out of the way of the rungs that are left.
func (c *check) goBehind(t *target, rung string) {
	at := slices.Index(t.c.Rungs, rung)
	if c.in.Behind == nil || at < 0 {
		return
	}
	t.behind = true
	for i, id := range t.c.Rungs[at+1:] {
		p := c.in.Behind(c.plans[id])
		c.plans[p.ID()] = p
		t.c.Rungs[at+1+i] = p.ID()
	}
}

// addSingles puts the rungs with one delay each before the first one that picks
// its places at random: an early delay can mask a late one, and by then the
// earlier rungs have told which places the test passes. It reports whether there
// is another rung to try now.
func (c *check) addSingles(t *target, next string) bool {
	if c.in.Singles == nil || t.singled || c.plans[next].Probability == 0 {
		return false
	}
	t.singled = true
	var seen []triage.Decision
	for _, tr := range t.c.Trials {
		if tr.Purpose == triage.Ladder && tr.Arm.Side == triage.Head {
			seen = append(seen, tr.Decisions...)
		}
	}
	var ids []string
	for _, p := range c.in.Singles(seen) {
		if t.behind {
			p = c.in.Behind(p)
		}
		c.plans[p.ID()] = p
		ids = append(ids, p.ID())
	}
	at := slices.Index(t.c.Rungs, next)
	t.c.Rungs = slices.Insert(t.c.Rungs, at, ids...)
	return len(ids) > 0
}

// dropIdle takes the rungs that delay workers out of what is left of the ladder,
// when a rung that delays every worker met none: then the test has no threads of
// its own. What delays the test's own thread, or the machine, stays.
func (c *check) dropIdle(t *target, rung string, tr triage.Trial) {
	p := c.plans[rung]
	at := slices.Index(t.c.Rungs, rung)
	if at < 0 || len(p.Sites) > 0 || p.Role != triage.RoleWorker || !slices.Contains(p.Kinds, triage.KindCall) || tr.Outcome != triage.Pass || tr.DecisionCount > 0 {
		return
	}
	rest := slices.DeleteFunc(slices.Clone(t.c.Rungs[at+1:]), func(id string) bool {
		p := c.plans[id]
		return p.Role == triage.RoleWorker || p.Probability > 0
	})
	t.c.Rungs = append(t.c.Rungs[:at+1:at+1], rest...)
}

// voidWithoutPlace takes a pass back that says nothing: a plan that delays named
// places only, on a tree where none of them was passed. The function may be
// called otherwise there.
func voidWithoutPlace(tr *triage.Trial, plan *triage.LagPlan) {
	if plan == nil || len(plan.Decisions)+len(plan.Sites) == 0 || tr.Arm.Side != triage.Base || tr.Outcome != triage.Pass || tr.DecisionCount > 0 {
		return
	}
	tr.Outcome, tr.Note = triage.Invalid, "the place that the plan delays was not passed on base"
}
