package rerun

import (
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

// The run of a whole package tells of each of its tests; the next run of one test
// does not.
func TestARunOfManyTestsTellsOfEach(t *testing.T) {
	b := newBench(t, nil)
	req := request(triage.Head, "odd", "")
	req.Arm.Scope = triage.InPackage
	var trial triage.Trial
	got := map[string]triage.Outcome{}
	limit := 2 * time.Second
	for ; limit < 4*time.Minute; limit *= 4 { // a busy machine needs longer to come as far as the test that hangs
		var results []triage.Result
		var err error
		if trial, results, err = b.RunAll(t.Context(), req, nil, limit); err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			got[r.Target.Test] = r.Outcome
		}
		if got["TestHang"] != triage.Unknown {
			break
		}
	}
	if got["TestPass"] != triage.Pass || got["TestFail"] != triage.Fail || !got["TestHang"].Red() || !trial.Outcome.Red() {
		t.Errorf("%v, %s", got, describe(trial))
	}
	if took := time.Duration(trial.DurationMS) * time.Millisecond; took > limit+time.Minute {
		t.Errorf("it took %v, with a cap of its own of %v", took, limit)
	}
}

// A suite's own command has no tests; in the scope of the suite it is the adapter's
// run of everything.
func TestTheScopeTellsTheCommandOfASuiteFromARunOfAllOfIt(t *testing.T) {
	r := triage.Request{Target: triage.Target{Suite: "pytest", Framework: "pytest"}}
	if !isSuite(r) {
		t.Error("the command of a suite is not taken for one")
	}
	r.Arm.Scope = triage.InSuite
	if isSuite(r) {
		t.Error("a run of everything is taken for the suite's command")
	}
}
