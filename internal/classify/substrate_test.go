package classify

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

// fileTest is a test of a file, as frameworks with files name them.
func fileTest(file, test string) triage.Target {
	return triage.Target{Suite: "web", Framework: "vitest", Package: file, Test: test}
}

const factory = "src/factory.test.ts"

var inSuite = triage.Arm{Scope: triage.InSuite}

// suiteRuns are trials of the whole suite; each word lists the red tests of the
// factory's file, "-" for a green run.
func suiteRuns(arm triage.Arm, runs ...string) []triage.Trial {
	var out []triage.Trial
	for _, run := range runs {
		t := triage.Trial{Request: triage.Request{Target: fileTest("", ""), Arm: arm, Purpose: triage.Measure}, Outcome: triage.Pass}
		for _, c := range run {
			if c == '-' {
				continue
			}
			t.Outcome = triage.Fail
			target := fileTest(factory, string(c))
			t.Others = append(t.Others, triage.Result{Target: target, Outcome: triage.Fail,
				Failure: &triage.Failure{Target: target, Signature: triage.Signature{Phase: triage.PhaseTest, Message: "socket hang up", Func: string(c)}}})
		}
		out = append(out, t)
	}
	return out
}

func TestDifferentVictimsInDifferentRunsAreOneFinding(t *testing.T) {
	for name, tc := range map[string]struct {
		runs []string
		want string // victims runs red-runs most
	}{
		"never the same twice":                    {[]string{"a", "-", "b", "-", "-", "c", "-", "d", "-"}, "abcd 9 4 1"},
		"one of them twice":                       {[]string{"a", "b", "a", "c"}, "abc 4 4 2"},
		"two are what two flaky tests look like":  {[]string{"a", "b", "-", "-", "a"}, ""},
		"one steady test is no substrate":         {[]string{"a", "a", "a", "a"}, ""},
		"one steady test beside others is left":   {[]string{"xa", "x", "xb", "xc"}, "abc 4 3 1"},
		"one steady test does not make the third": {[]string{"xa", "x", "xb", "x"}, ""},
		"one bad run says nothing of where":       {[]string{"-", "abcd", "-"}, ""},
		"a bad run and another":                   {[]string{"abc", "-", "d"}, "abcd 3 2 1"},
		"nothing is red":                          {[]string{"-", "-"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, s := range Substrates(Companies(suiteRuns(inSuite, tc.runs...)), nil) {
				for _, v := range s.Victims {
					got += v.Test
				}
				a := s.Arms[0]
				got += fmt.Sprintf(" %d %d %d", a.Runs, a.RedRuns, a.Most)
				if s.Place != factory || s.Signature.Message != "socket hang up" || s.Signature.Func != "" || a.Victims != len(s.Victims) {
					t.Errorf("%+v", s)
				}
			}
			if got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestArmsOfASubstrateAreNotPooled(t *testing.T) {
	onBase, lagged := inSuite.On(triage.Base), triage.Arm{Scope: triage.InSuite, Lag: "doubles"}
	spread := append(suiteRuns(inSuite, "a", "-"), append(suiteRuns(onBase, "b", "-"), suiteRuns(lagged, "c", "d")...)...)
	if got := Substrates(Companies(spread), nil); len(got) != 0 {
		t.Errorf("victims of three arms were added up: %+v", got)
	}
	trials := append(suiteRuns(inSuite, "a", "-", "b", "c"), suiteRuns(onBase, "a", "b", "d", "e")...)
	for range 5 {
		trials = append(trials, triage.Trial{Request: triage.Request{Target: fileTest(factory, "a"), Purpose: triage.Measure}, Outcome: triage.Pass})
	}
	got := Substrates(Companies(trials), nil)
	want := []triage.SubstrateArm{
		{Arm: onBase, Runs: 4, RedRuns: 4, Victims: 4, Most: 1},
		{Arm: inSuite, Runs: 4, RedRuns: 3, Victims: 3, Most: 1},
		{Arm: triage.Arm{}, Runs: 5},
	}
	if len(got) != 1 {
		t.Fatalf("%d findings, want 1", len(got))
	}
	if diff := cmp.Diff(want, got[0].Arms); diff != "" {
		t.Errorf("arms (-want +got):\n%s", diff)
	}
}

func TestWhatCountsAsARunOfSeveralTests(t *testing.T) {
	pkg := triage.Arm{Scope: triage.InPackage}
	run := func(target triage.Target, arm triage.Arm, o triage.Outcome, others ...string) triage.Trial {
		tr := triage.Trial{Request: triage.Request{Target: target, Arm: arm, Purpose: triage.Measure}, Outcome: o}
		for _, name := range others {
			tr.Others = append(tr.Others, triage.Result{Target: fileTest(factory, name), Outcome: triage.Fail})
		}
		return tr
	}
	for name, tc := range map[string]struct {
		trial triage.Trial
		red   []string
		none  bool
	}{
		"the target and its neighbours":   {trial: run(fileTest(factory, "a"), pkg, triage.Fail, "b"), red: []string{"a", "b"}},
		"neighbours of a green target":    {trial: run(fileTest(factory, "a"), pkg, triage.Pass, "b"), red: []string{"b"}},
		"alone it has none":               {trial: run(fileTest(factory, "a"), triage.Arm{}, triage.Fail, "b"), red: []string{"a"}},
		"a parent is red for its subtest": {trial: run(fileTest(factory, "a"), pkg, triage.Fail, "a/x", "ab"), red: []string{"a/x", "ab"}},
		"a trial that says nothing":       {trial: run(fileTest(factory, "a"), pkg, triage.Invalid), none: true},
		"under a detector":                {trial: run(fileTest(factory, "a"), triage.Arm{Detector: "race"}, triage.Fail), none: true},
		"the command itself is no victim": {trial: run(fileTest(factory, ""), pkg, triage.Error, "a"), red: []string{"a"}},
		"absent itself, with a neighbour": {trial: run(fileTest(factory, "z"), pkg, triage.Absent, "a"), red: []string{"a"}},
		"a search for a cause is no trial": {trial: func() triage.Trial {
			x := run(fileTest(factory, "a"), pkg, triage.Fail)
			x.Purpose = triage.Explain
			return x
		}(), none: true},
	} {
		got := Companies([]triage.Trial{tc.trial})
		if tc.none != (len(got) == 0) {
			t.Errorf("%s: %d runs", name, len(got))
			continue
		}
		var red []string
		for _, c := range got {
			for _, f := range c.Red {
				red = append(red, f.Target.Test)
			}
		}
		if diff := cmp.Diff(tc.red, red); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestASiteThatSeveralCausesNameLeads(t *testing.T) {
	late := triage.Site{ID: "hub.go:close:call:1", File: "src/hub.ts", Func: "close"}
	other := triage.Site{ID: "pool.go:get:call:1", File: "src/pool.ts", Func: "get"}
	verdict := func(target triage.Target, any bool, sites ...triage.Site) triage.Verdict {
		return triage.Verdict{Target: target, Cause: &triage.Cause{Kind: triage.CauseRace, Sites: sites, AnyOf: any}}
	}
	a, b, c := fileTest(factory, "a"), fileTest(factory, "b"), fileTest("src/pool.test.ts", "c")
	shared := verdict(fileTest(factory, "d"), false, late)
	shared.SameAs = &a
	for name, tc := range map[string]struct {
		verdicts []triage.Verdict
		place    string
		victims  []triage.Target
	}{
		"two tests of one file":        {[]triage.Verdict{verdict(b, false, late), verdict(a, false, late, other)}, factory, []triage.Target{a, b}},
		"of two files":                 {[]triage.Verdict{verdict(a, false, late), verdict(c, false, late)}, "src/hub.ts", []triage.Target{a, c}},
		"one of several places each":   {[]triage.Verdict{verdict(a, true, other, late), verdict(b, false, late)}, factory, []triage.Target{a, b}},
		"a second place does not lead": {[]triage.Verdict{verdict(a, false, other, late), verdict(b, false, late)}, "", nil},
		"one test alone":               {[]triage.Verdict{verdict(a, false, late)}, "", nil},
		"a borrowed cause":             {[]triage.Verdict{verdict(a, false, late), shared}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := Substrates(nil, tc.verdicts)
			if tc.place == "" {
				if len(got) != 0 {
					t.Errorf("%+v", got)
				}
				return
			}
			if len(got) != 1 || got[0].Place != tc.place || got[0].Site == nil || got[0].Site.ID != late.ID {
				t.Fatalf("%+v", got)
			}
			if diff := cmp.Diff(tc.victims, got[0].Victims); diff != "" {
				t.Error(diff)
			}
		})
	}
	got := Substrates(Companies(suiteRuns(inSuite, "x", "y", "z")), []triage.Verdict{verdict(a, false, late), verdict(b, false, late)})
	if len(got) != 1 || len(got[0].Victims) != 5 || len(got[0].Arms) != 1 || got[0].Site == nil {
		t.Errorf("the site and the runs of one place are not one finding: %+v", got)
	}
}

// TestAPlantedSharedCauseIsFound plants one cause under twenty tests that turns
// a random one of them red in six runs of ten, and against it one and two flaky
// tests, which are not to be taken for one cause.
func TestAPlantedSharedCauseIsFound(t *testing.T) {
	const checks, runs = 2000, 10
	r := rand.New(rand.NewPCG(5, 6))
	found := func(red func() string) int {
		n := 0
		for range checks {
			var words []string
			for range runs {
				words = append(words, red())
			}
			n += min(1, len(Substrates(Companies(suiteRuns(inSuite, words...)), nil)))
		}
		return n
	}
	one := func(rate float64, name string) string {
		if r.Float64() < rate {
			return name
		}
		return ""
	}
	shared := found(func() string { return one(0.6, string(rune('a'+r.IntN(20)))) })
	flake := found(func() string { return one(0.3, "a") })
	two := found(func() string { return one(0.3, "a") + one(0.3, "b") })
	if shared < checks*95/100 || flake > 0 || two > 0 {
		t.Errorf("of %d: shared cause found %d times, one flaky test taken for one %d, two %d", checks, shared, flake, two)
	}
}
