package classify

import "github.com/triagebot/triagebot/internal/triage"

// detect runs the test under the race detector when all else was quiet: first
// on head, and on base when head showed a race. What it finds is told and is no
// verdict, for a race report is not the failure that was red. ok is false when
// there is nothing more to run.
func (v *view) detect(plain pair) (d decision, ok bool) {
	if v.c.Detector == "" || v.c.Red.Target.IsCommand() || plain.base.absent(v.p) {
		return decision{}, false
	}
	p := v.detected()
	for _, a := range []*arm{p.head, p.base} {
		if a.N() < v.p.DetectRuns && !v.void(a) {
			return run(Step{Kind: StepDetect, Requests: []triage.Request{v.request(a.Arm, triage.Measure)}}), true
		}
		if !reportsRace(a) {
			break
		}
	}
	return decision{}, false
}

// detected are the arms under the detector.
func (v *view) detected() pair {
	a := triage.Arm{Detector: v.c.Detector}
	return pair{v.arm(a), v.arm(a.On(triage.Base))}
}

// reportsRace reports whether a trial of the arm ended in a race report.
func reportsRace(a *arm) bool {
	for _, t := range a.counted {
		if t.Outcome.Red() && signature(t).Phase == triage.PhaseRace {
			return true
		}
	}
	return false
}

// raceWarning tells what the detector saw.
func (v *view) raceWarning() string {
	if v.c.Detector == "" {
		return ""
	}
	p := v.detected()
	switch {
	case reportsRace(p.head) && reportsRace(p.base):
		return "the race detector reports a data race in this test, on head and on base"
	case reportsRace(p.head):
		return "the race detector reports a data race in this test, on head only"
	}
	return ""
}
