package pytest

import (
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// polluting are files of which the first leaves what the last does not expect.
var polluting = map[string]string{
	"shared.py":       "last = []\n",
	"conftest.py":     "",
	"tests/test_a.py": "import shared\ndef test_one(): pass\ndef test_two(): shared.last.append(1)\n",
	"tests/test_b.py": "def test_b(): pass\n",
	"tests/test_c.py": "import shared\ndef test_other(): pass\ndef test_x(): assert not shared.last\n",
}

func TestFilesBeforeATest(t *testing.T) {
	dir := tree(t, polluting)
	a := Adapter{}
	target := triage.Target{Suite: "pytest", Framework: Name, Package: "tests/test_c.py", Test: "test_x"}
	p := prepare(t, a, dir, target.Package)
	for _, c := range []struct {
		name        string
		files, with []string
		want        triage.Outcome
		ran         string
	}{
		{"the whole suite", nil, nil, triage.Fail, "test_one test_two test_b test_other test_x"},
		{"after the file that leaves something", []string{"tests/test_a.py"}, nil, triage.Fail, "test_one test_two test_x"},
		{"after another", []string{"tests/test_b.py"}, nil, triage.Pass, "test_b test_x"},
		{"in another order", []string{"tests/test_b.py", "tests/test_a.py"}, nil, triage.Fail, "test_b test_one test_two test_x"},
		{"after the test", []string{"tests/test_a.py"}, []string{"test_two"}, triage.Fail, "test_two test_x"},
		{"after the other test", []string{"tests/test_a.py"}, []string{"test_one"}, triage.Pass, "test_one test_x"},
	} {
		rs, out := trial(t, a, triage.RunSpec{Prepared: p, Tree: dir, Target: target, Scope: triage.InSuite, WithFiles: c.files, With: c.with})
		var names []string
		for _, r := range rs {
			names = append(names, r.Target.Test)
		}
		if got := own(t, rs, target); got.Outcome != c.want || strings.Join(names, " ") != c.ran {
			t.Errorf("%s: %s after %s, want %s after %s\n%s", c.name, got.Outcome, names, c.want, c.ran, out)
		}
	}
}

func TestTheSuiteAroundATestIsWhatItsCommandChooses(t *testing.T) {
	a := Adapter{Chosen: []string{"tests/unit", "-k", "fast"}}
	spec := triage.RunSpec{Prepared: triage.Prepared{Bin: "py", Env: []string{envFence + "=f"}}, Scope: triage.InSuite, Target: triage.Target{Package: "c.py", Test: "x"}}
	if got := strings.Join(a.Command(spec).Argv, " "); !strings.HasSuffix(got, " tests/unit -k fast") {
		t.Errorf("the command is %s", got)
	}
	spec.Target = triage.Target{}
	if got := strings.Join(a.Command(spec).Argv, " "); strings.Contains(got, "tests/unit") {
		t.Errorf("without a test the command is %s", got)
	}
}

func TestFilesAreNamedInTheDirectoryOfTheRun(t *testing.T) {
	a := Adapter{Dir: "svc", SuiteCommand: []string{"make", "test"}}
	c := a.Command(triage.RunSpec{
		Prepared: triage.Prepared{Bin: "py", Env: []string{envFence + "=f"}}, Scope: triage.InSuite,
		Target: triage.Target{Package: "svc/c.py", Test: "x"}, WithFiles: []string{"svc/a.py", "svc/b.py"},
	})
	if got := strings.Join(c.Argv, " "); !strings.HasPrefix(got, "py -m pytest ") || !strings.HasSuffix(got, " a.py b.py c.py::x") {
		t.Errorf("the command is %s", got)
	}
	if lookup(c.Env, envOrdered) != "1" {
		t.Errorf("a plugin may change the order: %v", c.Env)
	}
}
