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
	trial, results, err := b.RunAll(t.Context(), req, nil, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]triage.Outcome{}
	for _, r := range results {
		got[r.Target.Test] = r.Outcome
	}
	if got["TestPass"] != triage.Pass || got["TestFail"] != triage.Fail || !got["TestHang"].Red() || !trial.Outcome.Red() {
		t.Errorf("%v, %s", got, describe(trial))
	}
	if trial.DurationMS > 60_000 {
		t.Errorf("it took %.0f ms, with a cap of its own of 5 s", trial.DurationMS)
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
