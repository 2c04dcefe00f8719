package rerun

import (
	"context"
	"maps"
	"path/filepath"

	"github.com/triagebot/triagebot/internal/triage"
)

// Prepare makes everything ready that the trials of a request need, without
// running one. What does not build shows in the trials.
func (r *Runner) Prepare(ctx context.Context, req triage.Request, plan *triage.LagPlan) error {
	if r.cfg.Trees[req.Arm.Side] == "" {
		return nil
	}
	_, err := r.prepare(ctx, family{side: req.Arm.Side, pkg: req.Target.Package, lagged: instrumented(plan), detector: req.Arm.Detector, suite: isSuite(req)}, false)
	return err
}

// Lane is a runner that may run beside this one: it shares what was prepared until
// now and has rooms of its own, which go with this runner's. Trials of lanes load
// each other: they are of another experiment than quiet ones, and never tallied
// with them.
func (r *Runner) Lane(name string) (*Runner, error) {
	cfg := r.cfg
	cfg.Beside = nil // it would be told of the other lanes
	cfg.Dir = filepath.Join(r.cfg.Dir, "lane-"+name)
	l, err := New(cfg)
	if err != nil {
		return nil, err
	}
	l.families, l.sites = maps.Clone(r.families), maps.Clone(r.sites)
	return l, nil
}

// Load starts n busy loops beside whatever runs; stop ends them.
func Load(ctx context.Context, n int) (stop func(), err error) {
	return burn(ctx, &triage.LagPlan{Burners: n})
}
