package lagtest

import (
	"slices"

	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/triage"
)

const (
	// maxSingles bounds the rungs with one delay each, as the product does.
	maxSingles = 6
	// confirms is how often a red under a rung must come again before the product
	// asks for its cause (LagConfirm of classify's policy).
	confirms = 2
)

// Singles runs the rung "one site at a time" after these green trials, until
// visit has seen enough.
func (l *Lab) Singles(t triage.Target, green []triage.Trial, visit func(triage.LagPlan, triage.Trial) (more bool)) {
	l.T.Helper()
	for _, p := range lag.Singles(decisions(green), 0) {
		if !visit(p, l.Try(t, &p)) {
			return
		}
	}
}

func decisions(trials []triage.Trial) []triage.Decision {
	var all []triage.Decision
	for _, tr := range trials {
		all = append(all, tr.Decisions...)
	}
	return all
}

// Climb is one way up the ladder, as the pipeline goes it.
type Climb struct {
	lab    *Lab
	target triage.Target
	left   []triage.LagPlan
	seen   []triage.Trial
	// singled is set once the single sites were added, behind once deadlines are
	// out of the way.
	singled, behind bool
	// Runs are the lagged runs so far.
	Runs int
}

// Climb stands before the first rung.
func (l *Lab) Climb(t triage.Target) *Climb {
	return &Climb{lab: l, target: t, left: slices.Clone(l.Plans)}
}

// Next tries the rungs that are left, once each, until one is red. The single
// sites come before the first rung that picks its places at random.
func (c *Climb) Next() (plan triage.LagPlan, red triage.Trial, ok bool) {
	c.lab.T.Helper()
	for len(c.left) > 0 {
		if c.left[0].Probability > 0 && !c.singled {
			c.addSingles()
		}
		plan, c.left = c.left[0], c.left[1:]
		tr := c.lab.Try(c.target, &plan)
		c.Runs++
		c.seen = append(c.seen, tr)
		if tr.Outcome.Red() {
			return plan, tr, true
		}
	}
	return triage.LagPlan{}, triage.Trial{}, false
}

func (c *Climb) addSingles() {
	c.singled = true
	singles := lag.Singles(decisions(c.seen), maxSingles)
	if c.behind {
		for i := range singles {
			singles[i] = lag.Behind(singles[i])
		}
	}
	c.left = slices.Concat(singles, c.left)
}

// goBehind takes the deadlines out of the way of the rungs that are left.
func (c *Climb) goBehind() {
	if c.behind {
		return
	}
	c.behind = true
	for i := range c.left {
		c.left[i] = lag.Behind(c.left[i])
	}
}

// Said is what a check would say of a red: the cause, the rung that it was found
// from, and the trials of the searches.
type Said struct {
	// Cause is nil when no rung was red each time.
	Cause  *triage.Cause
	Rung   string
	Probes int
	// All are the causes that the searches came to, in turn.
	All []*triage.Cause
}

// Explain names the cause of a red that a climb came to, as the product does it: it
// is confirmed first, and where it is not, or where the search comes to nothing that
// is conclusive, the climb goes on. The control is what the test did without lag.
func (c *Climb) Explain(plan triage.LagPlan, red triage.Trial, control lag.Control) (s Said) {
	c.lab.T.Helper()
	for ok := true; ok; plan, red, ok = c.Next() {
		last, sure := c.lab.Confirm(c.target, plan, red)
		if !sure {
			continue
		}
		res := c.lab.Search(c.target, plan, last, control)
		s.Probes += res.Trials
		s.All = append(s.All, res.Cause)
		if s.Cause == nil || res.Conclusive() {
			s.Cause, s.Rung = res.Cause, plan.Name
		}
		if res.Conclusive() {
			break
		}
		if res.Cause.Kind == triage.CauseTimeBudget || res.Cause.Deadline {
			c.goBehind()
		}
	}
	return s
}

// Confirm repeats a red and returns the last one. It is not ok when one of the
// repeats was green, or failed in another way.
func (l *Lab) Confirm(t triage.Target, plan triage.LagPlan, red triage.Trial) (last triage.Trial, ok bool) {
	l.T.Helper()
	last = red
	for range confirms {
		tr := l.Try(t, &plan)
		if !tr.SameFailure(red.Failure.Signature) {
			return red, false
		}
		last = tr
	}
	return last, true
}

// Search names the cause of one red. The sites grow with what the trials name.
func (l *Lab) Search(t triage.Target, p triage.LagPlan, red triage.Trial, control lag.Control) lag.Result {
	l.T.Helper()
	sites := map[string]triage.Site{}
	learn := func(tr triage.Trial) {
		for _, d := range tr.Decisions {
			if s, ok := l.Site(d.Site); ok {
				sites[d.Site] = s
			}
		}
		for _, id := range tr.Stretched {
			if s, ok := l.Site(id); ok {
				sites[id] = s
			}
		}
	}
	learn(red)
	res, err := lag.Explain(lag.Input{
		Plan: p, Red: red, Reference: red.Failure.Signature, Sites: sites, Control: control,
	}, func(p triage.LagPlan) (triage.Trial, error) {
		tr := l.Try(t, &p)
		learn(tr)
		return tr, nil
	})
	if err != nil {
		l.T.Fatal(err)
	}
	return res
}
