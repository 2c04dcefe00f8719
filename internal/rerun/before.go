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
// run of it in their company: those are what a search for the polluter starts from.
// Of several with one start, as subtests have their parent's, the first stands for
// all. After one other file they are that file's. It is nil where there are too
// many, or their order is not known.
func before(t triage.Trial, results []triage.Result) []string {
	pkg := t.Target.Package
	switch {
	case t.With != nil:
		return nil
	case t.Arm.Scope == triage.InPackage:
	case t.Arm.Scope == triage.InSuite && len(t.WithFiles) == 1:
		pkg = t.WithFiles[0]
	default:
		return nil
	}
	earlier := slices.DeleteFunc(ranBefore(t, results), func(r triage.Result) bool { return r.Target.Package != pkg })
	if len(earlier) > maxBefore {
		return nil
	}
	var names []string
	for _, r := range earlier {
		names = append(names, r.Target.Test)
	}
	return names
}

// filesBefore lists the other files of the suite of which a test ran before the
// target, in the order of their first ones, for a red run of all.
func filesBefore(t triage.Trial, results []triage.Result) []string {
	if t.Arm.Scope != triage.InSuite || t.WithFiles != nil {
		return nil
	}
	var files []string
	for _, r := range ranBefore(t, results) {
		if f := r.Target.Package; f != t.Target.Package && !slices.Contains(files, f) {
			files = append(files, f)
		}
	}
	if len(files) > maxBefore {
		return nil
	}
	return files
}

// ranBefore are the tests that ran before the target in a plain run in which it was
// red, in their order; of several with one start the first.
func ranBefore(t triage.Trial, results []triage.Result) []triage.Result {
	at := slices.IndexFunc(results, func(r triage.Result) bool { return r.Target == t.Target })
	if !t.Arm.Plain() || at < 0 || !results[at].Outcome.Red() || results[at].Start == 0 {
		return nil
	}
	var earlier []triage.Result
	for _, r := range results {
		ran := r.Outcome != triage.Skip && r.Outcome != triage.Absent && r.Outcome != triage.Invalid
		if ran && r.Target.Test != "" && r.Start > 0 && r.Start < results[at].Start {
			earlier = append(earlier, r)
		}
	}
	slices.SortStableFunc(earlier, func(a, b triage.Result) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(len(a.Target.Test), len(b.Target.Test)))
	})
	return slices.CompactFunc(earlier, func(a, b triage.Result) bool { return a.Start == b.Start })
}
