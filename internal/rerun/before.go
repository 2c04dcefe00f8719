package rerun

import (
	"cmp"
	"slices"

	"github.com/triagebot/triagebot/internal/triage"
)

// maxBefore bounds the tests that are recorded as having run before a target: a
// search among them takes a trial for each halving, but the record has them all.
const maxBefore = 500

// before lists the tests of the target's package that ran before it, for a red
// run of it in their company: those are what a search for the polluter starts from. Of several with one start, as subtests have their
// parent's, the first stands for all. It is nil where there are too many, or
// their order is not known.
func before(t triage.Trial, results []triage.Result) []string {
	if t.Arm.Scope != triage.InPackage || t.With != nil || !t.Arm.Plain() {
		return nil
	}
	at := slices.IndexFunc(results, func(r triage.Result) bool { return r.Target == t.Target })
	if at < 0 || !results[at].Outcome.Red() || results[at].Start == 0 {
		return nil
	}
	var earlier []triage.Result
	for _, r := range results {
		ran := r.Outcome != triage.Skip && r.Outcome != triage.Absent && r.Outcome != triage.Invalid
		if ran && r.Target.Package == t.Target.Package && r.Target.Test != "" && r.Start > 0 && r.Start < results[at].Start {
			earlier = append(earlier, r)
		}
	}
	slices.SortStableFunc(earlier, func(a, b triage.Result) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(len(a.Target.Test), len(b.Target.Test)))
	})
	earlier = slices.CompactFunc(earlier, func(a, b triage.Result) bool { return a.Start == b.Start })
	if len(earlier) > maxBefore {
		return nil
	}
	var names []string
	for _, r := range earlier {
		names = append(names, r.Target.Test)
	}
	return names
}
