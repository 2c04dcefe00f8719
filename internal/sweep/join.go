package sweep

import (
	"slices"

	"github.com/triagebot/triagebot/internal/triage"
)

// joinSweeps adds what a shard of a sweep did. The shards run side by side: the
// time on the clock is that of the longest.
func joinSweeps(a, b *triage.Sweep) *triage.Sweep {
	if a == nil || b == nil {
		return firstSweep(a, b)
	}
	out := *a
	out.Tests, out.Units, out.Rungs = a.Tests+b.Tests, a.Units+b.Units, slices.Clone(a.Rungs)
	for _, r := range b.Rungs {
		i := slices.IndexFunc(out.Rungs, func(o triage.SweepRung) bool { return o.Name == r.Name && o.Scope == r.Scope })
		if i < 0 {
			out.Rungs = append(out.Rungs, r)
			continue
		}
		o := &out.Rungs[i]
		o.Runs, o.Tests, o.Left, o.Skipped = o.Runs+r.Runs, o.Tests+r.Tests, o.Left+r.Left, o.Skipped+r.Skipped
		o.Leads, o.Short, o.TrialMS = o.Leads+r.Leads, o.Short+r.Short, o.TrialMS+r.TrialMS
		o.WallMS = max(o.WallMS, r.WallMS)
	}
	return &out
}

func firstSweep(a, b *triage.Sweep) *triage.Sweep {
	s := a
	if s == nil {
		s = b
	}
	if s == nil {
		return nil
	}
	out := *s
	out.Rungs = slices.Clone(s.Rungs)
	return &out
}
