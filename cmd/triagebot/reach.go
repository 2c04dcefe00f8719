package main

import (
	"context"
	"slices"
	"time"

	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/triage"
)

// reachOfPackages bounds the packages that are asked what they load: a hint is
// not worth more than a second or two.
const (
	reachOfPackages = 8
	reachTimeout    = 30 * time.Second
)

// addReach notes for each failing test how many of the changed files it can have
// loaded. What cannot be told is left out.
func (s *session) addReach(ctx context.Context, failures []triage.Failure) {
	known := map[string]*triage.Reach{}
	for i, f := range failures {
		pkg := f.Target.Package
		if _, ok := known[pkg]; !ok && pkg != "" && len(known) < reachOfPackages {
			known[pkg] = s.of(f.Target).lang.reach(ctx, s, pkg)
		}
		failures[i].Reach = known[pkg]
	}
}

// quick runs a short question to a tool under the clean environment.
func (s *session) quick(ctx context.Context, c triage.Command) ([]byte, triage.End, error) {
	res, err := proc.Run(ctx, proc.Spec{Dir: c.Dir, Argv: c.Argv, Env: slices.Concat(s.suites[0].env, c.Env), Timeout: reachTimeout})
	if err != nil {
		return nil, triage.End{}, err
	}
	return res.Output, triage.End{Exit: res.Exit, Signal: res.Signal, TimedOut: res.TimedOut}, ctx.Err()
}
