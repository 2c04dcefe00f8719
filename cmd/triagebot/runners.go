package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"github.com/triagebot/triagebot/internal/beside"
	"github.com/triagebot/triagebot/internal/pipeline"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
)

// runners carry out the trials of a check: each suite has a runner of its own,
// made when its first trial is asked for.
type runners struct {
	s    *session
	p    *progress
	lag  bool
	made map[string]*rerun.Runner
}

var _ pipeline.Runner = (*runners)(nil)

func (s *session) runners(lagged bool, p *progress) *runners {
	return &runners{s: s, p: p, lag: lagged, made: map[string]*rerun.Runner{}}
}

// Run carries out one trial by the runner of its suite.
func (r *runners) Run(ctx context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, error) {
	run, err := r.of(ctx, req.Target)
	if err != nil {
		return triage.Trial{}, err
	}
	if req.Arm.Scope == triage.InSuite { // a whole suite is not held to the time of one test
		t, _, err := run.RunAll(ctx, req, plan, max(r.s.cfg.Budget, r.s.cfg.TrialTimeout))
		return t, err
	}
	return run.Run(ctx, req, plan)
}

func (r *runners) of(ctx context.Context, t triage.Target) (*rerun.Runner, error) {
	if run, ok := r.made[t.Suite]; ok {
		return run, nil
	}
	su := r.s.of(t)
	if su == nil {
		return nil, fmt.Errorf("running %s: there is no suite %q", t, t.Suite)
	}
	if err := r.s.ready(ctx, su); err != nil {
		return nil, err
	}
	run, err := r.s.runner(su, r.lag, r.p)
	if err == nil {
		r.made[t.Suite] = run
	}
	return run, err
}

// Site finds a site by its id.
func (r *runners) Site(id string) (triage.Site, bool) {
	for _, run := range r.made {
		if s, ok := run.Site(id); ok {
			return s, true
		}
	}
	return triage.Site{}, false
}

// Stats is what all of them used.
func (r *runners) Stats() rerun.Stats {
	var all rerun.Stats
	for _, run := range r.made {
		s := run.Stats()
		all.Builds += s.Builds
		all.BuildMS += s.BuildMS
	}
	return all
}

// Skipped says which files no lag can be put into, and why.
func (r *runners) Skipped() []string {
	var all []string
	for _, su := range r.s.suites {
		if run, ok := r.made[su.Name]; ok {
			all = append(all, run.Skipped()...)
		}
	}
	return all
}

// Close removes what they built.
func (r *runners) Close() error {
	var errs []error
	for _, run := range r.made {
		errs = append(errs, run.Close())
	}
	return errors.Join(errs...)
}

// runner makes what carries out trials of one suite on the session's trees.
func (s *session) runner(su *suite, lagged bool, p *progress) (*rerun.Runner, error) {
	cfg := rerun.Config{
		Adapter: su.lang.adapter(),
		Trees:   map[triage.Side]string{},
		Dir:     filepath.Join(s.dir, "run-"+fileName(su.Name)),
		Env:     su.env,
		Timeout: s.cfg.TrialTimeout,
		Command: su.Command, CommandDir: s.commandBelow(su),
		Building: func(side triage.Side, pkg string, lagged bool) {
			what := "building"
			if lagged {
				what = "building, instrumented for lag,"
			}
			p.Say("%s %s on %s", what, pkg, side)
		},
	}
	if len(cfg.Command) == 0 {
		cfg.Command = su.lang.plain()
	}
	for _, side := range []triage.Side{triage.Head, triage.Base} {
		if t := s.ws.Tree(side); t.Unbuildable == "" {
			cfg.Trees[side] = t.Dir
		}
	}
	if lagged {
		cfg.Engine = su.lang.engine(s, su)
	}
	if s.beside == nil {
		s.beside = beside.New()
	}
	cfg.Beside = s.beside.Note
	return rerun.New(cfg)
}

// commandBelow is where the suite's own command runs, below the root of a tree:
// where it was typed, or the suite's directory.
func (s *session) commandBelow(su *suite) string {
	if su.typed {
		return s.ws.Prefix()
	}
	return path.Clean(su.Suite.Dir)
}

// commandDir is that on head.
func (s *session) commandDir(su *suite) string {
	return filepath.Join(s.ws.Tree(triage.Head).Dir, filepath.FromSlash(s.commandBelow(su)))
}
