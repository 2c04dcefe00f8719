package history

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

var (
	alone = triage.Arm{}
	suite = triage.Arm{Scope: triage.InSuite}
)

func TestThePastOfATest(t *testing.T) {
	var nights []triage.Report
	for day := range 41 {
		marks := "."
		if day == 5 || day == 17 || day == 30 {
			marks = "F"
		}
		nights = append(nights, with(night(day), test("drains"), suite, marks))
	}
	p := read(t, nights...).Past(test("drains"), hangUp)
	if p == nil {
		t.Fatal("nothing is known")
	}
	want := &triage.Past{Scope: triage.InSuite, Runs: 41, Red: 3, Same: 3, Since: nov1, LastRed: nov1.AddDate(0, 0, 30), Reports: 41,
		Older: triage.Half{Red: 2, Runs: 20}, Newer: triage.Half{Red: 1, Runs: 21}, Low: p.Low, High: p.High, P: p.P}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	// R: binom.test(3, 41)$conf.int is 0.01537 to 0.19915; fisher.test of 1/21 against 2/20 has p 0.6063.
	if math.Abs(p.Low-0.01537) > 5e-5 || math.Abs(p.High-0.1992) > 5e-5 || math.Abs(p.P-0.6063) > 5e-4 {
		t.Errorf("interval %v to %v, p %v", p.Low, p.High, p.P)
	}
}

func TestWhatCountsAsARunOfMain(t *testing.T) {
	change := night(0)
	change.Check.Head.SHA = "change"
	dirty := night(0)
	dirty.Check.Head.Dirty = true
	lag := triage.LagPlan{Version: 1, Name: "x", CleanupMS: 1}
	lagged := night(0)
	lagged.Plan.LagPlans = map[string]triage.LagPlan{lag.ID(): lag}
	for name, tc := range map[string]struct {
		r    triage.Report
		runs int // 0: nothing is known
		red  int
	}{
		"a sweep of main":                {with(night(0), test("a"), alone, "..F"), 3, 1},
		"base of a change":               {with(change, test("a"), alone.On(triage.Base), ".F"), 2, 1},
		"head of a change is not main":   {with(change, test("a"), alone, "FFF"), 0, 0},
		"head with uncommitted changes":  {with(dirty, test("a"), alone, "FFF"), 0, 0},
		"under lag":                      {with(lagged, test("a"), triage.Arm{Lag: lag.ID()}, "FFF"), 0, 0},
		"under a detector":               {with(night(0), test("a"), triage.Arm{Detector: "race"}, "FFF"), 0, 0},
		"another test":                   {with(night(0), test("b"), alone, "FFF"), 0, 0},
		"the suite before alone":         {with(with(night(0), test("a"), alone, "FFFF"), test("a"), suite, ".F"), 2, 1},
		"the package before alone":       {with(with(night(0), test("a"), alone, "FFFF"), test("a"), triage.Arm{Scope: triage.InPackage}, "."), 1, 0},
		"reds of any signature are reds": {with(night(0), test("a"), alone, "Foo."), 4, 3},
	} {
		p := read(t, tc.r).Past(test("a"), hangUp)
		switch {
		case tc.runs == 0 && p != nil:
			t.Errorf("%s: %+v", name, p)
		case tc.runs > 0 && (p == nil || p.Runs != tc.runs || p.Red != tc.red):
			t.Errorf("%s: %+v, want %d of %d red", name, p, tc.red, tc.runs)
		}
	}
}

func TestOnlyTheSameFailureIsTheSame(t *testing.T) {
	r := read(t, with(night(0), test("a"), alone, "Foo."))
	for _, tc := range []struct {
		sign triage.Signature
		want int
	}{{hangUp, 1}, {another, 2}, {triage.Signature{Message: "else"}, 0}, {triage.Signature{}, 0}} {
		if p := r.Past(test("a"), tc.sign); p.Same != tc.want || p.Red != 3 {
			t.Errorf("%q: %d of %d reds are the same, want %d", tc.sign.Message, p.Same, p.Red, tc.want)
		}
	}
}

func TestRedsAreCountedBySignature(t *testing.T) {
	r := read(t, with(night(0), test("a"), alone, "Foo."), with(night(1), test("a"), suite, "o."))
	want := []Sign{{another, 3}, {hangUp, 1}}
	if diff := cmp.Diff(want, r.Signatures(test("a"))); diff != "" {
		t.Error(diff)
	}
	if got := r.Signatures(test("b")); got != nil {
		t.Errorf("%v", got)
	}
}

func TestTrends(t *testing.T) {
	for name, tc := range map[string]struct {
		nights       []string
		older, newer triage.Half
		lowP         bool
	}{
		"rising":                          {[]string{"....", "....", "....", "FFFF", "FFFF", "FFF."}, triage.Half{Red: 0, Runs: 12}, triage.Half{Red: 11, Runs: 12}, true},
		"falling":                         {[]string{"FFFF", "FFFF", "....", "...."}, triage.Half{Red: 8, Runs: 8}, triage.Half{Red: 0, Runs: 8}, true},
		"steady":                          {[]string{"F...", "..F.", ".F..", "F..."}, triage.Half{Red: 2, Runs: 8}, triage.Half{Red: 2, Runs: 8}, false},
		"one night has no halves":         {[]string{"F.F."}, triage.Half{}, triage.Half{Red: 2, Runs: 4}, false},
		"a long night stays in one piece": {[]string{".", "F.........", "."}, triage.Half{Red: 0, Runs: 1}, triage.Half{Red: 1, Runs: 11}, false},
	} {
		var rs []triage.Report
		for i := len(tc.nights) - 1; i >= 0; i-- { // the newest first, as sources list them
			rs = append(rs, with(night(i), test("a"), alone, tc.nights[i]))
		}
		p := read(t, rs...).Past(test("a"), hangUp)
		if p.Older != tc.older || p.Newer != tc.newer || (p.P <= 0.05) != tc.lowP {
			t.Errorf("%s: %+v then %+v, p = %v", name, p.Older, p.Newer, p.P)
		}
	}
}

func TestTestsAreOrderedByTheirPast(t *testing.T) {
	r := read(t,
		with(with(with(night(0), test("quiet"), suite, "........"), test("rare"), suite, ".......F"), test("often"), suite, "F.F.F.F."))
	got := r.Order([]triage.Target{test("quiet"), test("new"), test("rare"), test("often"), test("newer")})
	want := []triage.Target{test("often"), test("rare"), test("new"), test("newer"), test("quiet")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	none := (&Record{}).Order(want)
	if diff := cmp.Diff(want, none); diff != "" {
		t.Errorf("without a past the order changes:\n%s", diff)
	}
}

func TestDurationsAreMedians(t *testing.T) {
	timed := night(1)
	timed.Evidence = []triage.Evidence{{Target: test("timed"), Tallies: []triage.Tally{}, DurationMS: 250}}
	r := read(t, with(night(0), test("a"), alone, "....F"), timed)
	if got := r.DurationMS(test("a")); got != 12 {
		t.Errorf("%v ms, want the median of 10 to 14", got)
	}
	if got := r.Durations(); got[test("timed")] != 250 || len(got) != 2 {
		t.Errorf("%v", got)
	}
	if got := r.DurationMS(test("unknown")); got != 0 {
		t.Errorf("%v ms of an unknown test", got)
	}
}

// pull is the check of a pull request whose CI run had one red test.
func pull(day int, name string, class triage.Class) triage.Report {
	r := night(day)
	r.Check.Head.SHA = fmt.Sprint("change", day)
	f := triage.Failure{Target: test(name), Outcome: triage.Fail, Signature: hangUp}
	r.Failures = []triage.Failure{f}
	v := triage.Verdict{Target: f.Target, Class: class, Bound: triage.Bound{Text: "x"}}
	if class == triage.Inconclusive {
		v.Reasons = []triage.Reason{triage.ReasonNotReproduced}
	}
	r.Verdicts = []triage.Verdict{v}
	return r
}

func TestASharedCauseOfTheRedRunsOfCIIsFound(t *testing.T) {
	here := []triage.Failure{{Target: test("e")}}
	none, flake, theirs := triage.Inconclusive, triage.PreExistingFlake, triage.LikelyRegression
	got := read(t, pull(0, "a", none), pull(1, "b", flake), pull(2, "c", none), pull(3, "d", none)).Substrates(here)
	if len(got) != 1 || got[0].Earlier != 4 || !got[0].Arms[0].CI || got[0].Arms[0].Victims != 4 || got[0].Arms[0].Most != 1 || got[0].Signature != hangUp {
		t.Errorf("%+v", got)
	}
	if got := read(t, pull(0, "a", theirs), pull(1, "b", theirs), pull(2, "c", none), pull(3, "d", triage.BrokenOnBase)).Substrates(here); len(got) != 0 {
		t.Errorf("what pull requests broke is taken for a shared cause: %+v", got)
	}
	elsewhere := []triage.Failure{{Target: triage.Target{Package: "src/other.test.ts", Test: "e"}}}
	if got := read(t, pull(0, "a", none), pull(1, "b", none), pull(2, "c", none)).Substrates(elsewhere); len(got) != 0 {
		t.Errorf("told of a place where nothing is red: %+v", got)
	}
	named := pull(2, "c", none)
	named.Check.Source = "test"
	if got := read(t, pull(0, "a", none), pull(1, "b", none), named).Substrates(here); len(got) != 0 {
		t.Errorf("a test that somebody named is taken for a run of CI: %+v", got)
	}
}

func TestASharedCauseOfNightsIsFound(t *testing.T) {
	var nights []triage.Report
	for day, red := range []string{"a", "", "b", "", "c", "d", "", "", ""} {
		r := night(day)
		tr := triage.Trial{Seq: 1, Request: triage.Request{Target: triage.Target{Suite: "web", Framework: "vitest"}, Arm: suite, Purpose: triage.Measure},
			Start: r.Plan.Created, Outcome: triage.Pass, Ran: 12}
		if red != "" {
			tr.Outcome = triage.Fail
			tr.Others = []triage.Result{{Target: test(red), Outcome: triage.Fail, Failure: &triage.Failure{Target: test(red), Outcome: triage.Fail, Signature: hangUp}}}
		}
		r.Trials = []triage.Trial{tr}
		nights = append(nights, r)
	}
	got := read(t, nights...).Substrates([]triage.Failure{{Target: test("a")}})
	want := []triage.SubstrateArm{{Arm: suite.On(triage.Base), Runs: 9, RedRuns: 4, Victims: 4, Most: 1}}
	if len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	if diff := cmp.Diff(want, got[0].Arms); diff != "" {
		t.Error(diff)
	}
}
