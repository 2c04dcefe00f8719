package lagtest

import (
	"slices"

	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/triage"
)

// Singles runs the rung "one site at a time" after these green trials, until
// visit has seen enough.
func (l *Lab) Singles(t triage.Target, green []triage.Trial, visit func(triage.LagPlan, triage.Trial) (more bool)) {
	l.T.Helper()
	var seen []triage.Decision
	for _, tr := range green {
		seen = append(seen, tr.Decisions...)
	}
	for _, p := range lag.Singles(seen, 0) {
		if !visit(p, l.Try(t, &p)) {
			return
		}
	}
}

// Reveal climbs the plans until the test is red, and tells how many lagged runs
// that took. The single sites come where the pipeline puts them.
func (l *Lab) Reveal(t triage.Target, plans []triage.LagPlan) (plan triage.LagPlan, red triage.Trial, runs int) {
	l.T.Helper()
	var green []triage.Trial
	for i, p := range plans {
		if i > 0 && plans[i-1].Name == "yield" {
			l.Singles(t, green, func(p triage.LagPlan, tr triage.Trial) bool {
				runs++
				plan, red = p, tr
				return !tr.Outcome.Red()
			})
			if red.Outcome.Red() {
				return plan, red, runs
			}
		}
		tr := l.Try(t, &p)
		runs++
		if tr.Outcome.Red() {
			return p, tr, runs
		}
		green = append(green, tr)
	}
	return triage.LagPlan{}, triage.Trial{}, runs
}

// Explain names the cause of a test as the product does it: from the rungs in
// turn until one is conclusive. The cause is nil when no rung is red.
func (l *Lab) Explain(t triage.Target) (cause *triage.Cause, rung string, runs, probes int) {
	l.T.Helper()
	for plans := l.Plans; len(plans) > 0; {
		p, red, n := l.Reveal(t, plans)
		runs += n
		if !red.Outcome.Red() {
			break
		}
		res := l.Search(t, p, red)
		probes += res.Trials
		if cause == nil || res.Conclusive() {
			cause, rung = res.Cause, p.Name
		}
		i := slices.IndexFunc(plans, func(q triage.LagPlan) bool { return q.Name == p.Name })
		if res.Conclusive() || i < 0 {
			break
		}
		plans = plans[i+1:]
	}
	return cause, rung, runs, probes
}

// Search names the cause of one red. The sites grow with what the trials name.
func (l *Lab) Search(t triage.Target, p triage.LagPlan, red triage.Trial) lag.Result {
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
		Plan: p, Red: red, Reference: red.Failure.Signature, Sites: sites, Control: lag.Control{Runs: 5},
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
