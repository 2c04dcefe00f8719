package main

import (
	"context"

	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/lag/golag"
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
