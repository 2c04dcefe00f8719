package gotest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

// TestTrialsOfEveryKind reads our own framing of the lab module's packages.
func TestTrialsOfEveryKind(t *testing.T) {
	for _, c := range []struct {
		file, test string
		outcome    triage.Outcome
		phase      string
		fn         string
	}{
		{"plain.exit1.txt", "TestOK", triage.Pass, "", ""},
		{"plain.exit1.txt", "TestErr", triage.Fail, triage.PhaseTest, "TestErr"},
		{"plain.exit1.txt", "TestSkip", triage.Skip, "", ""},
		{"plain.exit1.txt", "TestGone", triage.Absent, "", ""},
		{"nested.exit1.txt", "TestOuter/bad_one/deep/er", triage.Fail, triage.PhaseTest, "TestOuter"},
		{"nested.exit1.txt", "TestOuter/bad one", triage.Fail, triage.PhaseTest, "TestOuter"},
		{"nested.exit1.txt", "TestOuter/good", triage.Pass, "", ""},
		{"nested.exit1.txt", "TestOuter/gone", triage.Invalid, "", ""},
		{"goexit.exit1.txt", "TestParent/a", triage.Fail, triage.PhaseTest, "TestParent"},
		{"goexit.exit1.txt", "TestParent/b", triage.Invalid, "", ""},
		{"goexit.exit1.txt", "TestNext", triage.Pass, "", ""},
		{"panics.exit2.txt", "TestBefore", triage.Pass, "", ""},
		{"panics.exit2.txt", "TestNil", triage.Error, triage.PhasePanic, "panics.(*T).Get"},
		{"panics.exit2.txt", "TestAfter", triage.Absent, "", ""},
		{"subpanic.exit2.txt", "TestSub/two", triage.Error, triage.PhasePanic, "subpanic.TestSub"},
		{"subpanic.exit2.txt", "TestSub", triage.Error, triage.PhasePanic, "subpanic.TestSub"},
		{"gopanic.exit2.txt", "TestGo", triage.Error, triage.PhasePanic, "gopanic.work"},
		{"mapwrite.exit2.txt", "TestMap", triage.Error, triage.PhasePanic, "mapwrite.TestMap"},
		{"exit0.exit2.txt", "TestExit", triage.Error, triage.PhaseExit, "exit0.TestExit"},
		{"exit3.exit3.txt", "TestExit", triage.Error, triage.PhaseExit, ""},
		{"exit3.exit3.txt", "TestOne", triage.Pass, "", ""},
		{"exit3.exit3.txt", "TestTwo", triage.Absent, "", ""},
		{"exitmain.exit7.txt", "TestOne", triage.Error, triage.PhaseExit, ""},
		{"fataltest.exit1.txt", "TestLogFatal", triage.Error, triage.PhaseExit, ""},
		{"initpanic.exit2.txt", "TestOne", triage.Error, triage.PhasePanic, "initpanic.init"},
		{"kill.exit137.txt", "TestKill", triage.Error, triage.PhaseExit, ""},
		{"deadlock.exit2.txt", "TestDead", triage.Timeout, triage.PhaseTimeout, "TestDead"},
		{"hang.exit2.txt", "TestHang/inner", triage.Timeout, triage.PhaseTimeout, "TestHang"},
		{"hang.exit2.txt", "TestQuick", triage.Pass, "", ""},
		{"race.exit1.txt", "TestRace", triage.Error, triage.PhaseRace, "race.(*C).Inc, race.(*C).Inc"},
		{"race.exit1.txt", "TestFine", triage.Pass, "", ""},
		{"racesub.exit1.txt", "TestOuter/a", triage.Error, triage.PhaseRace, "racesub.(*C).Inc, racesub.(*C).Inc"},
		{"racesub.exit1.txt", "TestOuter/b", triage.Pass, "", ""},
		{"imitate.exit1.txt", "TestLiar", triage.Fail, triage.PhaseTest, "TestLiar"},
		{"imitate.exit1.txt", "TestGhost", triage.Absent, "", ""},
		{"passing.exit0.txt", "TestOK", triage.Pass, "", ""},
		{"example.exit1.txt", "Example_bad", triage.Fail, triage.PhaseTest, "Example_bad"},
		{"example.exit1.txt", "Example_good", triage.Pass, "", ""},
		{"fuzz.exit1.txt", "FuzzX/seed#1", triage.Fail, triage.PhaseTest, "FuzzX"},
		{"fuzz.exit1.txt", "FuzzX/seed#0", triage.Pass, "", ""},
		{"fuzz.exit1.txt", "FuzzX/582528ddfad69eb5", triage.Fail, triage.PhaseTest, "FuzzX"},
		{"nonl.exit1.txt", "TestNoNewlinePass", triage.Pass, "", ""},
		{"nonl.exit1.txt", "", triage.Fail, triage.PhaseTest, "TestNoNewline"},
		{"passing.exit0.txt", "", triage.Pass, "", ""},
		{"initpanic.exit2.txt", "", triage.Error, triage.PhasePanic, "initpanic.init"},
	} {
		t.Run(c.file+" "+c.test, func(t *testing.T) {
			rs := framedResult(t, filepath.Join("testdata", "capture", "framed", c.file), c.test)
			got := rs[0]
			if got.Target.Test != c.test {
				t.Fatalf("first result is of %q, want the target", got.Target.Test)
			}
			var sig triage.Signature
			if got.Failure != nil {
				sig = got.Failure.Signature
			}
			if got.Outcome != c.outcome || sig.Phase != c.phase || sig.Func != c.fn {
				t.Errorf("got %v with phase %q and function %q, want %v, %q, %q", got.Outcome, sig.Phase, sig.Func, c.outcome, c.phase, c.fn)
			}
			if got.Outcome.Red() && (got.Failure == nil || got.Failure.Target != got.Target || got.Failure.Outcome != got.Outcome) {
				t.Errorf("red without a failure of its own: %+v", got.Failure)
			}
		})
	}
}

func TestLocationsAreRelativeToTheRoot(t *testing.T) {
	for file, want := range map[string]triage.Location{
		"plain.exit1.txt":    {File: "plain/x_test.go", Line: 12, Func: "TestErr"},
		"deadlock.exit2.txt": {File: "deadlock/x_test.go", Line: 7, Func: "deadlock.TestDead"},
		"gopanic.exit2.txt":  {File: "gopanic/x_test.go", Line: 7, Func: "gopanic.work"},
	} {
		fs := reds(framedResult(t, filepath.Join("testdata", "capture", "framed", file), "TestNobody"))
		if len(fs) == 0 {
			t.Fatalf("%s: no red", file)
		}
		if d := cmp.Diff(want, fs[0].Location); d != "" {
			t.Errorf("%s (-want +got):\n%s", file, d)
		}
	}
}

// trial reads hand-written output, with ^V for the marker.
func trial(t *testing.T, scope triage.Scope, test string, end triage.End, output string) triage.Result {
	t.Helper()
	spec := triage.RunSpec{
		Tree:     "/t",
		Prepared: triage.Prepared{Dir: "/t/p", Bin: "/x"},
		Scope:    scope,
		Target:   triage.Target{Suite: "go", Framework: Name, Package: "example.com/p", Test: test},
	}
	rs, err := Adapter{}.Results(spec, end, strings.NewReader(strings.ReplaceAll(output, "^V", "\x16")))
	if err != nil {
		t.Fatal(err)
	}
	return rs[0]
}

func TestAPassNeedsItsEventAndACoherentExit(t *testing.T) {
	const run = "^V=== RUN   TestA\n"
	const pass = run + "^V--- PASS: TestA (0.00s)\n^V=== NAME  \n"
	const gone = "panic: late\n\ngoroutine 9 [running]:\nexample.com/p.work()\n\t/t/p/p.go:3 +0x1\ncreated by example.com/p.Start in goroutine 1\n\t/t/p/p.go:2 +0x1\n"
	for name, c := range map[string]struct {
		end    triage.End
		output string
		want   triage.Outcome
		phase  string
	}{
		"pass":                           {triage.End{}, pass + "^VPASS\n", triage.Pass, ""},
		"pass behind a print":            {triage.End{}, run + "print^V--- PASS: TestA (0.00s)\n^VPASS\n", triage.Pass, ""},
		"only printed":                   {triage.End{}, run + "--- PASS: TestA (0.00s)\nPASS\n", triage.Error, triage.PhaseExit},
		"printed, then failed":           {triage.End{Exit: 1}, run + "--- PASS: TestA (0.00s)\n^V--- FAIL: TestA (0.00s)\n^VFAIL\n", triage.Fail, triage.PhaseTest},
		"printed before the first event": {triage.End{}, "=== RUN   TestA\n--- PASS: TestA (0.00s)\n^V=== RUN   TestB\n^V--- PASS: TestB (0.00s)\n^VPASS\n", triage.Absent, ""},
		"pass and fail":                  {triage.End{Exit: 1}, pass + "^V--- FAIL: TestA (0.00s)\n^VFAIL\n", triage.Fail, triage.PhaseTest},
		"no last word, exit 0":           {triage.End{}, pass, triage.Error, triage.PhaseExit},
		"TestMain exits 0 at once":       {triage.End{}, "", triage.Absent, ""},
		"TestMain exits 1 at once":       {triage.End{Exit: 1}, "no database\n", triage.Error, triage.PhaseExit},
		"TestMain exits 1 afterwards":    {triage.End{Exit: 1}, pass + "^VPASS\nleak\n", triage.Error, triage.PhaseExit},
		"exit 0 in the test":             {triage.End{}, run, triage.Error, triage.PhaseExit},
		"exit 5 in the test":             {triage.End{Exit: 5}, run, triage.Error, triage.PhaseExit},
		"nothing to run":                 {triage.End{}, "testing: warning: no tests to run\n^VPASS\n", triage.Absent, ""},
		"panic after the test":           {triage.End{Exit: 2}, pass + gone, triage.Error, triage.PhasePanic},
		"printed panic, then pass":       {triage.End{}, run + gone + "^V--- PASS: TestA (0.00s)\n^VPASS\n", triage.Pass, ""},
		"printed panic, then fail":       {triage.End{Exit: 1}, run + gone + "    a_test.go:3: bad\n^V--- FAIL: TestA (0.00s)\n^VFAIL\n", triage.Fail, triage.PhaseTest},
		"killed by us":                   {triage.End{Exit: -1, Signal: "killed", TimedOut: true}, run, triage.Timeout, triage.PhaseTimeout},
		"killed by us before a test":     {triage.End{Exit: -1, Signal: "killed", TimedOut: true}, "", triage.Timeout, triage.PhaseTimeout},
		"killed by us after the test":    {triage.End{Exit: -1, Signal: "killed", TimedOut: true}, pass + "^VPASS\n", triage.Timeout, triage.PhaseTimeout},
		"killed by another":              {triage.End{Exit: -1, Signal: "SIGKILL"}, run, triage.Error, triage.PhaseExit},
		"deadlock":                       {triage.End{Exit: 2}, run + "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\ntesting.(*T).Run(0x1)\n\t/go/src/testing/testing.go:1 +0x1\n", triage.Error, triage.PhasePanic},
		"race outside of tests":          {triage.End{Exit: 1}, pass + "==================\nWARNING: DATA RACE\nWrite at 0x0c by goroutine 7:\n  example.com/p.b()\n      /t/p/p.go:2 +0x1\n\nPrevious write at 0x0c by goroutine 8:\n  example.com/p.a()\n      /t/p/p.go:1 +0x1\n==================\n^Vtesting: race detected outside of test execution\n^VFAIL\n", triage.Error, triage.PhaseRace},
		"no marker at all is not framed": {triage.End{}, "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\n", triage.Pass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := trial(t, triage.Alone, "TestA", c.end, c.output)
			if got.Outcome != c.want {
				t.Fatalf("outcome %v, want %v (failure %+v)", got.Outcome, c.want, got.Failure)
			}
			if c.phase != "" && got.Failure.Signature.Phase != c.phase {
				t.Errorf("phase %q, want %q", got.Failure.Signature.Phase, c.phase)
			}
		})
	}
}

func TestAnothersRedLeavesAPass(t *testing.T) {
	got := trial(t, triage.InPackage, "TestA", triage.End{Exit: 2},
		"^V=== RUN   TestA\n^V--- PASS: TestA (0.00s)\n^V=== RUN   TestB\npanic: b\n\ngoroutine 9 [running]:\nexample.com/p.TestB.func1()\n\t/t/p/p.go:3 +0x1\n")
	if got.Outcome != triage.Pass {
		t.Errorf("outcome %v, want pass: the panic is TestB's", got.Outcome)
	}
}

func TestNoBinaryIsAbsent(t *testing.T) {
	target := triage.Target{Package: "p", Test: "TestA"}
	rs, err := Adapter{}.Results(triage.RunSpec{Target: target}, triage.End{}, strings.NewReader(""))
	if err != nil || len(rs) != 1 || rs[0].Outcome != triage.Absent || rs[0].Target != target {
		t.Errorf("got %+v, %v, want one absent target", rs, err)
	}
	if c := (Adapter{}).Command(triage.RunSpec{Target: target}); len(c.Argv) != 0 {
		t.Errorf("command %q for a package without a binary", c.Argv)
	}
}
