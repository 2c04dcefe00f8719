package history

import (
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// sweptOn is the report of a sweep of a commit.
func sweptOn(day int, sha string) triage.Report {
	r := night(day)
	r.Check.Head.SHA, r.Check.Base.SHA = sha, sha
	r.Sweep = &triage.Sweep{Tests: 3, Units: 1, Rungs: []triage.SweepRung{}}
	return r
}

func TestTheLastSweepIsTheNewestOneOfMain(t *testing.T) {
	dirty := sweptOn(9, "dirty")
	dirty.Check.Head.Dirty = true
	for name, c := range map[string]struct {
		rs   []triage.Report
		want string
	}{
		"none":                             {nil, ""},
		"a check is no sweep":              {[]triage.Report{night(3)}, ""},
		"the newest, in whatever order":    {[]triage.Report{sweptOn(2, "b"), sweptOn(5, "c"), sweptOn(1, "a"), night(7)}, "c"},
		"what was uncommitted is not main": {[]triage.Report{sweptOn(2, "b"), dirty}, "b"},
	} {
		if got := read(t, c.rs...).LastSweep(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What a sweep found red is no red run of CI.
func TestTheFindingsOfASweepAreNoRunOfCI(t *testing.T) {
	var sweeps, checks []triage.Report
	for i, name := range []string{"a", "b", "c"} {
		f := triage.Failure{Target: test(name), Outcome: triage.Fail, Signature: hangUp}
		v := triage.Verdict{Target: f.Target, Class: triage.PreExistingFlake, Origin: triage.OriginBase}
		s, n := sweptOn(i, "main"), night(i)
		s.Failures, s.Verdicts = []triage.Failure{f}, []triage.Verdict{v}
		n.Failures, n.Verdicts = s.Failures, s.Verdicts
		sweeps, checks = append(sweeps, s), append(checks, n)
	}
	red := []triage.Failure{{Target: test("a")}}
	if got := read(t, sweeps...).Substrates(red); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if got := read(t, checks...).Substrates(red); len(got) != 1 {
		t.Errorf("three different reds of CI: %+v", got)
	}
}
