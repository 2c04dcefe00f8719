package rerun

import (
	"slices"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

var victim = triage.Target{Suite: "py", Framework: "pytest", Package: "b.py", Test: "test_x"}

// told is the result of a test of a file that began as the n-th.
func told(file, test string, n int, o triage.Outcome, phase string) triage.Result {
	r := triage.Result{Target: victim, Outcome: o, Start: n}
	r.Target.Package, r.Target.Test = file, test
	if o.Red() {
		r.Failure = &triage.Failure{Target: r.Target, Outcome: o, Signature: triage.Signature{Phase: phase, Message: "m"}, Message: "m"}
	}
	return r
}

// inCompany is the trial of the victim that these results make.
func inCompany(req triage.Request, results []triage.Result) triage.Trial {
	req.Target = victim
	t := triage.Trial{Request: req}
	for _, r := range results {
		if r.Target == victim {
			t.Outcome, t.Failure = r.Outcome, r.Failure
		}
	}
	inSuite(&t, results)
	return t
}

func TestWhatARunOfTheSuiteSaysOfOneTest(t *testing.T) {
	other := told("a.py", "test_a", 1, triage.Pass, "")
	suite := triage.Request{Arm: triage.Arm{Scope: triage.InSuite}}
	after := func(with []string, files ...string) triage.Request {
		return triage.Request{Arm: suite.Arm, WithFiles: files, With: with}
	}
	for _, c := range []struct {
		name string
		req  triage.Request
		own  triage.Result
		want triage.Outcome
	}{
		{"it passed", suite, told("b.py", "test_x", 2, triage.Pass, ""), triage.Pass},
		{"it failed", suite, told("b.py", "test_x", 2, triage.Fail, triage.PhaseTest), triage.Fail},
		{"the process ended in it", suite, told("b.py", "test_x", 2, triage.Error, triage.PhasePanic), triage.Error},
		{"the process ended before it", suite, told("b.py", "test_x", 0, triage.Error, triage.PhaseExit), triage.Invalid},
		{"the time was over before it", suite, told("b.py", "test_x", 0, triage.Timeout, triage.PhaseTimeout), triage.Invalid},
		{"another file cannot be loaded", suite, told("b.py", "test_x", 0, triage.Fail, triage.PhaseBuild), triage.Invalid},
		{"a hook of its file broke", suite, told("b.py", "test_x", 0, triage.Fail, triage.PhaseSetup), triage.Fail},
		{"it is not among them", suite, told("b.py", "test_x", 0, triage.Absent, ""), triage.Absent},
		{"after the file that was asked for", after(nil, "a.py"), told("b.py", "test_x", 2, triage.Fail, triage.PhaseTest), triage.Fail},
		{"after another file too", after(nil, "c.py"), told("b.py", "test_x", 2, triage.Fail, triage.PhaseTest), triage.Invalid},
		{"after the test that was asked for", after([]string{"test_a"}, "a.py"), told("b.py", "test_x", 2, triage.Fail, triage.PhaseTest), triage.Fail},
		{"after another test too", after([]string{"test_z"}, "a.py"), told("b.py", "test_x", 2, triage.Fail, triage.PhaseTest), triage.Invalid},
	} {
		got := inCompany(c.req, []triage.Result{other, c.own})
		if got.Outcome != c.want || (got.Failure != nil) != got.Outcome.Red() {
			t.Errorf("%s: %s %+v, want %s", c.name, got.Outcome, got.Failure, c.want)
		}
		if (c.want == triage.Invalid || c.want == triage.Absent) != (got.Note != "") {
			t.Errorf("%s: the note is %q", c.name, got.Note)
		}
	}
	command := triage.Trial{Request: suite, Outcome: triage.Error}
	command.Target.Suite = "py"
	if inSuite(&command, nil); command.Outcome != triage.Error {
		t.Errorf("the suite's own command becomes %s", command.Outcome)
	}
}

func TestWhatRanBeforeATestOfTheSuite(t *testing.T) {
	results := []triage.Result{
		told("c.py", "test_c", 2, triage.Pass, ""), told("a.py", "test_2", 3, triage.Pass, ""), told("a.py", "test_1", 1, triage.Fail, triage.PhaseTest),
		told("d.py", "test_d", 4, triage.Skip, ""), told("b.py", "test_w", 5, triage.Pass, ""),
		told("b.py", "test_x", 6, triage.Fail, triage.PhaseTest), told("e.py", "test_e", 7, triage.Pass, ""),
	}
	suite := triage.Arm{Scope: triage.InSuite}
	for _, c := range []struct {
		name          string
		req           triage.Request
		before, files []string
	}{
		{"in the suite", triage.Request{Arm: suite}, nil, []string{"a.py", "c.py"}},
		{"in its package", triage.Request{Arm: triage.Arm{Scope: triage.InPackage}}, []string{"test_w"}, nil},
		{"after one file", triage.Request{Arm: suite, WithFiles: []string{"a.py"}}, []string{"test_1", "test_2"}, nil},
		{"after two files", triage.Request{Arm: suite, WithFiles: []string{"a.py", "c.py"}}, nil, nil},
		{"after tests of one", triage.Request{Arm: suite, WithFiles: []string{"a.py"}, With: []string{"test_1"}}, nil, nil},
		{"alone", triage.Request{}, nil, nil},
		{"under lag", triage.Request{Arm: triage.Arm{Scope: triage.InSuite, Lag: "x"}}, nil, nil},
	} {
		tr := triage.Trial{Request: c.req}
		tr.Target = victim
		if b, f := before(tr, results), filesBefore(tr, results); !slices.Equal(b, c.before) || !slices.Equal(f, c.files) {
			t.Errorf("%s: tests %v and files %v, want %v and %v", c.name, b, f, c.before, c.files)
		}
	}
}
