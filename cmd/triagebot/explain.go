package main

import (
	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/pipeline"
	"github.com/triagebot/triagebot/internal/triage"
)

// explain puts the search for a cause behind the pipeline's port. The sites grow
// with what the trials name: those are the ones that the record has too, so that
// a replay searches with the same knowledge.
func explain(red pipeline.Lagged, probe func(triage.LagPlan) (triage.Trial, error)) (*triage.Cause, error) {
	sites := map[string]triage.Site{}
	learn := func(id string) {
		if s, ok := red.Site(id); ok {
			sites[id] = s
		}
	}
	learnAll := func(t triage.Trial) {
		for _, d := range t.Decisions {
			learn(d.Site)
		}
		for _, id := range t.Stretched {
			learn(id)
		}
	}
	learnAll(red.Red)
	res, err := lag.Explain(lag.Input{
		Plan: red.Plan, Red: red.Red, Reference: red.Reference, Sites: sites,
		Control: lag.Control{Red: red.ControlRed, Runs: red.ControlRuns},
	}, func(p triage.LagPlan) (triage.Trial, error) {
		t, err := probe(p)
		learnAll(t)
		return t, err
	})
	return res.Cause, err
}
