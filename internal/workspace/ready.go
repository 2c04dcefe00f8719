package workspace

import (
	"context"

	"github.com/triagebot/triagebot/internal/triage"
)

// SetUp runs commands in each tree after Open, for callers that learn them from
// a tree. It does what Options.Setup does: a failure makes that side
// unbuildable and is no error. A nil env is a clean one.
func (w *Workspace) SetUp(ctx context.Context, commands [][]string, env []string) error {
	w.opt.Setup, w.opt.Env = commands, env
	return w.setUp(ctx)
}

// GiveUp makes a side unbuildable: nothing can be run on it, for this reason.
func (w *Workspace) GiveUp(side triage.Side, why string) {
	t := &w.trees[side]
	t.Unbuildable, t.Rev.Unbuildable = why, why
	w.warn("nothing can be run on %s: %s", side, why)
}
