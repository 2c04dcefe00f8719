package main

import (
	"context"

	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/lag/golag"
	"github.com/triagebot/triagebot/internal/pipeline"
	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
)

// goEngine puts the Go lag engine behind rerun's port.
type goEngine struct {
	flags []string
	env   []string
}

func (e goEngine) Instrument(ctx context.Context, exec triage.Exec, tree, pkg, pkgDir, out string) (rerun.Instrumentation, error) {
	var in *golag.Instrumentation
	var err error
	proc.Aside(func() { // go/packages starts the go command in a group of its own
		in, err = golag.Instrument(ctx, exec, golag.Spec{Tree: tree, Package: pkg, Dir: pkgDir, Flags: e.flags, Env: e.env, Out: out})
	})
	if err != nil {
		return nil, err
	}
	return goCopy{in}, nil
}

type goCopy struct{ *golag.Instrumentation }

func (c goCopy) Overlay() string              { return c.Instrumentation.Overlay }
func (c goCopy) Sites() []triage.Site         { return c.Instrumentation.Sites }
func (c goCopy) Heal(out []byte) (int, error) { return c.Instrumentation.Heal(out) }

func (c goCopy) Skipped() []string {
	var out []string
	for _, s := range c.Instrumentation.Skipped {
		out = append(out, s.File+": "+s.Why)
	}
	return out
}

// goCapabilities is what the Go engine can move.
func goCapabilities() lag.Capabilities {
	return lag.Capabilities{
		Kinds: []triage.Kind{
			triage.KindDouble, triage.KindReturn, triage.KindCall, triage.KindStart,
			triage.KindWake, triage.KindSignal, triage.KindStep,
		},
		Cleanup: true,
		Yield:   true,
	}
}

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
