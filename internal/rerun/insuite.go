package rerun

import (
	"cmp"
	"slices"

	"github.com/triagebot/triagebot/internal/triage"
)

// inSuite corrects what a run in the suite's company says of a test. The end of the
// whole process, or another file that cannot be loaded, is no failure of a test
// that had not begun; and a run of more files than were asked for, as a project's own
// configuration adds them, says nothing of those.
func inSuite(t *triage.Trial, results []triage.Result) {
	if t.Arm.Scope != triage.InSuite || t.Target.IsCommand() {
		return
	}
	at := slices.IndexFunc(results, func(r triage.Result) bool { return r.Target == t.Target })
	switch {
	case t.Outcome == triage.Absent:
		t.Note = cmp.Or(t.Note, "the whole suite, as it is run here, does not have the test")
	case t.Outcome.Red() && t.Failure != nil && at >= 0 && results[at].Start == 0 && ofProcess(t.Failure.Signature.Phase):
		*t = invalid(*t, "the run of the whole suite ended before the test: "+t.Failure.Message[:min(len(t.Failure.Message), maxWhy)])
		t.Failure = nil
	case t.WithFiles != nil && slices.ContainsFunc(results, func(r triage.Result) bool { return strange(*t, r) }):
		*t = invalid(*t, "other files ran too than those that were asked for")
		t.Failure = nil
	}
}

// ofProcess reports whether a failure of this phase ends a process, whatever test
// it is told of.
func ofProcess(phase string) bool {
	return slices.Contains([]string{triage.PhaseExit, triage.PhaseTimeout, triage.PhasePanic, triage.PhaseBuild}, phase)
}

// strange reports whether a test ran that the request did not ask for.
func strange(t triage.Trial, r triage.Result) bool {
	if r.Outcome == triage.Skip || r.Outcome == triage.Absent || r.Target.Test == "" || r.Target.Package == t.Target.Package {
		return false
	}
	return !slices.Contains(t.WithFiles, r.Target.Package) || t.With != nil && r.Start > 0 && !slices.Contains(t.With, r.Target.Test)
}
