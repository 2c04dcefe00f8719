package sweep

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

func TestASweepSortsWhatItFinds(t *testing.T) {
	w := newWorld(
		planted{target: goTest("hub", "TestFine")},
		planted{target: goTest("hub", "TestRace"), under: []string{"doubles"}, cause: triage.CauseRace},
		planted{target: goTest("hub", "TestSleep"), under: []string{"doubles"}, cause: triage.CauseFixedSleep},
		planted{target: goTest("hub", "TestDeadline"), under: []string{"doubles"}, cause: triage.CauseTimeBudget},
		planted{target: goTest("hub", "TestOdd"), under: []string{"doubles"}, cause: triage.CauseUnstable},
		planted{target: goTest("text", "TestChaos"), under: []string{"doubles"}, cause: triage.CauseRace, chaos: true},
		planted{target: goTest("text", "TestOnceOnly"), under: []string{"doubles, many tests"}, cause: triage.CauseRace},
		planted{target: goTest("text", "TestBroken"), rate: 1},
		planted{target: goTest("text", "TestFlaky"), rate: 0.5},
		planted{target: goTest("text", "TestAmongOthers"), rate: 1, company: true},
		planted{target: goTest("late", "TestDeep"), under: []string{"worker-10"}, cause: triage.CauseRace},
		planted{target: goTest("late", "TestIdle"), idle: true},
	)
	// A rung over many tests has another name: this one is red there and never alone.
	w.tests[6].under = []string{"doubles, many tests"}
	r := w.sweep(t, w.input())
	got := map[string]string{}
	for _, p := range w.tests {
		got[p.target.Test] = verdict(r, p.target.Test)
	}
	want := map[string]string{
		"TestFine": "", "TestIdle": "",
		"TestRace": "lag-revealed-race", "TestSleep": "lag-revealed-race", "TestDeep": "lag-revealed-race",
		"TestDeadline": "inconclusive lag-artefact",
		"TestOdd":      "inconclusive unstable", "TestChaos": "inconclusive unstable",
		"TestOnceOnly": "inconclusive not-reproduced",
		"TestBroken":   "broken-on-base", "TestFlaky": "pre-existing-flake",
		"TestAmongOthers": "broken-on-base order-dependent",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if r.Sweep.Tests != len(w.tests) || r.Sweep.Units != 3 || r.Plan.Stopped != "" {
		t.Errorf("%+v, stopped %q", r.Sweep, r.Plan.Stopped)
	}
	if report.SweepClean(r) || report.SweepFindings(r) != 6 {
		t.Errorf("%d findings", report.SweepFindings(r))
	}
}

// One red in company says as little of the company as it does of a flake.
func TestATestThatFailedOnceInCompanyIsNotSaidToDependOnIt(t *testing.T) {
	w := newWorld(planted{target: goTest("text", "TestAmongOthers"), rate: 1, company: true}, planted{target: goTest("text", "TestFine")})
	in := w.input()
	in.Explain, in.Controls, in.Report.Plan.BudgetMS = nil, 1, 1000
	if got := verdict(w.sweep(t, in), "TestAmongOthers"); got != "inconclusive budget-exhausted" {
		t.Errorf("red once in its package, green alone: %s", got)
	}
}

// Each arm is counted by itself, and the search for a lead is no measurement.
func TestALeadIsMeasuredInFreshRuns(t *testing.T) {
	w := newWorld(planted{target: goTest("hub", "TestRace"), under: []string{"worker-10"}, cause: triage.CauseRace},
		planted{target: goTest("hub", "TestFine")})
	in := w.input()
	in.Units = []Unit{{Target: triage.Target{Suite: "go", Framework: "gotest"}, Scope: triage.InSuite}}
	r := w.sweep(t, in)
	i := slices.IndexFunc(r.Evidence, func(e triage.Evidence) bool { return e.Target.Test == "TestRace" })
	got := map[string]int{}
	for _, x := range r.Evidence[i].Tallies {
		got[x.Arm.Scope.String()+" "+strings.Split(r.Plan.LagPlans[x.Arm.Lag].Name, ",")[0]] += x.N()
	}
	if diff := cmp.Diff(map[string]int{"suite ": 2, "suite doubles": 1, "suite worker-10": 1, "alone ": 5, "alone worker-10": 5}, got); diff != "" {
		t.Error(diff)
	}
	v := r.Verdicts[0]
	if red := r.Trials[v.Trial-1]; red.Arm.Scope != triage.Alone || !red.Outcome.Red() || red.Arm.Lag == "" {
		t.Errorf("the verdict names trial %+v", red.Request)
	}
	if v.Bound.RateLow < 0.5 || v.Origin != triage.OriginBase {
		t.Errorf("%+v", v)
	}
}

func TestWithoutLagOnlyTheControlIsRun(t *testing.T) {
	w := newWorld(planted{target: goTest("hub", "TestRace"), under: []string{"doubles"}, cause: triage.CauseRace}, planted{target: goTest("hub", "TestBroken"), rate: 1})
	in := w.input()
	in.Explain = nil
	r := w.sweep(t, in)
	if len(r.Verdicts) != 1 || verdict(r, "TestBroken") != "broken-on-base" || len(r.Sweep.Rungs) != 1 {
		t.Errorf("%+v, rungs %+v", r.Verdicts, r.Sweep.Rungs)
	}
}

// One cause under many tests: another test is red each time, and none alone.
func TestASharedCauseIsFoundInTenRuns(t *testing.T) {
	var tests []planted
	for _, name := range []string{"TestA", "TestB", "TestC", "TestD", "TestE", "TestF"} {
		tests = append(tests, planted{target: goTest("hub", name)})
	}
	found := 0
	const tries = 50
	for seed := range uint64(tries) {
		w := newWorld(tests...)
		w.substrate = tests[0].target.Package
		w.rand = rand.New(rand.NewPCG(seed, 3))
		in := w.input()
		in.Explain = nil
		r := w.sweep(t, in)
		runs := 0
		for _, x := range w.trials {
			if x.Arm.Scope != triage.Alone {
				runs++
			}
		}
		if runs > 10 {
			t.Fatalf("%d runs of the suite", runs)
		}
		if len(r.Substrate) == 1 && len(r.Substrate[0].Victims) >= 3 && r.Substrate[0].Arms[0].Arm.Scope == triage.InPackage {
			found++
		}
	}
	t.Logf("found in %d of %d sweeps", found, tries)
	if found < tries*9/10 {
		t.Errorf("found in %d of %d sweeps", found, tries)
	}
}

func TestAShortBudgetStillTellsOfLeads(t *testing.T) {
	for after := range 40 {
		w := newWorld(planted{target: goTest("hub", "TestRace"), under: []string{"doubles"}, cause: triage.CauseRace}, planted{target: goTest("hub", "TestFine")})
		w.after, w.end = after+1, ErrBudget
		r := w.sweep(t, w.input())
		want := "budget"
		if v := verdict(r, "TestRace"); v == "lag-revealed-race" {
			want = ""
		} else if after >= 3 && v != "inconclusive budget-exhausted" || after < 2 && v != "" {
			t.Errorf("after %d trials: %q", after+1, v)
		}
		if r.Plan.Stopped != want || report.SweepClean(r) {
			t.Errorf("after %d trials: stopped %q, want %q", after+1, r.Plan.Stopped, want)
		}
	}
}

// A sweep that is interrupted anywhere and resumed ends as one that was not.
func TestAResumedSweepEndsAlike(t *testing.T) {
	tests := []planted{
		{target: goTest("hub", "TestRace"), under: []string{"doubles"}, cause: triage.CauseRace}, {target: goTest("hub", "TestBroken"), rate: 1},
		{target: goTest("text", "TestDeep"), under: []string{"worker-10"}, cause: triage.CauseRace}, {target: goTest("text", "TestFine")},
	}
	whole := newWorld(tests...)
	want := whole.sweep(t, whole.input())
	for _, after := range []int{1, 4, 9, 17, 25} {
		w := newWorld(tests...)
		w.after, w.end = after, ErrInterrupted
		results := map[int][]triage.Result{}
		in := w.input()
		in.Record = func(x triage.Trial, rs []triage.Result) error { results[x.Seq] = rs; return nil }
		first := w.sweep(t, in)
		if first.Plan.Stopped != "interrupted" || len(first.Trials) != after {
			t.Fatalf("%d trials, stopped %q", len(first.Trials), first.Plan.Stopped)
		}
		again := newWorld(tests...)
		again.began = day.Add(time.Duration(after) * time.Second)
		got, err := Sweep(t.Context(), again.input(), &Recorded{Trials: first.Trials, Results: results, Sites: first.Plan.Sites, Next: again})
		if err != nil {
			t.Fatal(err)
		}
		for i := range got.Sweep.Rungs {
			got.Sweep.Rungs[i].WallMS = want.Sweep.Rungs[i].WallMS
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("after %d trials: %s", after, diff)
		}
		if len(again.trials) != len(want.Trials)-after {
			t.Errorf("after %d trials: %d were run again", after, len(again.trials)+after-len(want.Trials))
		}
	}
}

func TestWhatTheRunnerCannotDoEndsTheSweepWithAReport(t *testing.T) {
	w := newWorld(planted{target: goTest("hub", "TestBroken"), rate: 1})
	w.after, w.end = 3, errors.New("no space left on device")
	r, err := Sweep(context.Background(), w.input(), w)
	if err == nil || err.Error() != "sweeping: no space left on device" || len(r.Trials) != 3 || r.Plan.Stopped != "interrupted" {
		t.Errorf("%v, %d trials, stopped %q", err, len(r.Trials), r.Plan.Stopped)
	}
}

// On a night on which everything is red in the same way not every test is run alone.
func TestAFloodOfRedsIsNotRunOneByOne(t *testing.T) {
	var tests []planted
	for i := range 60 {
		tests = append(tests, planted{target: goTest("hub", "Test"+strings.Repeat("x", i+1)), rate: 1})
	}
	w := newWorld(tests...)
	r := w.sweep(t, w.input())
	alone := map[triage.Target]bool{}
	for _, x := range w.trials {
		if x.Arm.Scope == triage.Alone {
			alone[x.Target] = true
		}
	}
	if len(r.Verdicts) != 60 || len(alone) != 1 {
		t.Errorf("%d verdicts, %d tests run alone", len(r.Verdicts), len(alone))
	}
	for _, v := range r.Verdicts {
		if v.Class != triage.BrokenOnBase {
			t.Fatalf("%+v", v)
		}
	}
}

func TestAnInnerTestStandsForTheOneAroundIt(t *testing.T) {
	w := newWorld(
		planted{target: goTest("hub", "TestTable"), under: []string{"doubles"}, cause: triage.CauseRace},
		planted{target: goTest("hub", "TestTable/late"), under: []string{"doubles"}, cause: triage.CauseRace},
		planted{target: goTest("hub", "TestTable/fine")},
	)
	r := w.sweep(t, w.input())
	if len(r.Verdicts) != 1 || r.Verdicts[0].Target.Test != "TestTable/late" {
		t.Errorf("%+v", r.Verdicts)
	}
}

func TestTestsAreTriedInTheOrderOfWhatIsKnown(t *testing.T) {
	w := newWorld(planted{target: goTest("a", "TestA")}, planted{target: goTest("b", "TestB")}, planted{target: goTest("c", "TestC")}, planted{target: goTest("c", "TestIdle"), idle: true})
	in := w.input()
	in.Changed = func(x triage.Target) bool { return x.Test == "TestB" }
	in.Order = func(ts []triage.Target) []triage.Target {
		out := slices.Clone(ts)
		slices.Reverse(out)
		return out
	}
	w.sweep(t, in)
	var got []string
	for _, x := range w.trials {
		if x.Arm.Scope == triage.Alone {
			got = append(got, x.Target.Test)
		}
	}
	want := []string{"TestB", "TestIdle", "TestC", "TestA", "TestB", "TestIdle", "TestC", "TestA"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestARungForManyTestsTakesNoLongerThanTheyDo(t *testing.T) {
	p := ladderOf["gotest"][0]
	p.MaxMS, p.CleanupMS = 400, 200
	for _, c := range []struct {
		name    string
		scope   triage.Scope
		plain   float64
		perTest bool
		want    float64
		hits    int
	}{
		{"a short package", triage.InPackage, 20, false, leastWideMS, 3},
		{"a long package", triage.InPackage, 60_000, false, 60_000, 30},
		{"a suite", triage.InSuite, 28_000, true, 28_000, 1},
		{"a short suite", triage.InSuite, 900, true, leastSuiteMS, 1},
	} {
		got := widen(p, c.scope, c.plain, c.perTest)
		if got.BudgetMS != c.want || got.Hits != c.hits || got.CleanupMS != 0 || got.PerTest != c.perTest || got.ID() == p.ID() {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// The search for a cause learns the clocks that a stretch reached from green trials.
func TestTheSearchForACauseSeesItsTrialsWhole(t *testing.T) {
	whole := triage.Trial{Outcome: triage.Pass, Stretched: []string{"a:f:sleep:1"}, Decisions: []triage.Decision{{Site: site, Hit: 1}}, Output: "ok"}
	for purpose, kept := range map[triage.Purpose]bool{triage.Explain: true, triage.Measure: true, triage.Ladder: false} {
		x := whole
		x.Purpose = purpose
		slim(&x)
		if (len(x.Stretched) == 1 && len(x.Decisions) == 1 && x.Output != "") != kept {
			t.Errorf("%s: %+v", purpose, x)
		}
	}
}
