package pytest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// has skips the test unless the tests' Python has a plugin of pytest.
func has(t *testing.T, module string) {
	t.Helper()
	if out, err := exec.Command(python(t), "-c", "import "+module).CombinedOutput(); err != nil {
		t.Skipf("the tests' Python has no %s (testdata/requirements.txt): %s", module, lastLine(out))
	}
}

// alone runs one test of a tree and gives its result and the output.
func alone(t *testing.T, dir, test string, seed int64) (triage.Result, string) {
	t.Helper()
	a := Adapter{}
	p := prepare(t, a, dir, "test_n.py")
	if p.Failure != nil {
		t.Fatalf("%+v\n%s", p.Failure, p.Output)
	}
	target := triage.Target{Suite: "pytest", Framework: Name, Package: "test_n.py", Test: test}
	rs, out := trial(t, a, triage.RunSpec{Prepared: p, Tree: dir, Target: target, Seed: seed})
	return own(t, rs, target), out
}

func TestRetriesAreOff(t *testing.T) {
	has(t, "pytest_rerunfailures")
	dir := tree(t, map[string]string{
		"pytest.ini": "[pytest]\naddopts = --reruns 3\n",
		"test_n.py": `
import pytest
runs = []
def test_twice():
    runs.append(1)
    assert len(runs) > 1
@pytest.mark.flaky(reruns=3)
def test_marked(): test_twice()
`})
	for _, test := range []string{"test_twice", "test_marked"} {
		if r, out := alone(t, dir, test, 0); r.Outcome != triage.Fail {
			t.Errorf("%s: %v\n%s", test, r.Outcome, out)
		}
	}
}

func TestWorkersOfXdistAreOff(t *testing.T) {
	has(t, "xdist")
	dir := tree(t, map[string]string{
		"pytest.ini": "[pytest]\naddopts = -n 2 --dist loadfile\n",
		"test_n.py":  "import os\ndef test_worker(): assert 'PYTEST_XDIST_WORKER' not in os.environ\n",
	})
	if r, out := alone(t, dir, "test_worker", 0); r.Outcome != triage.Pass {
		t.Errorf("%v\n%s", r.Outcome, out)
	}
}

func TestCoverageIsOff(t *testing.T) {
	has(t, "pytest_cov")
	dir := tree(t, map[string]string{
		"pytest.ini": "[pytest]\naddopts = --cov=. --cov-fail-under=100\n",
		"test_n.py":  "def test_a(): pass\ndef never(): pass\n",
	})
	if r, out := alone(t, dir, "test_a", 0); r.Outcome != triage.Pass {
		t.Errorf("%v\n%s", r.Outcome, out)
	}
	if _, err := os.Stat(filepath.Join(dir, ".coverage")); err == nil {
		t.Error("coverage was written into the tree")
	}
}

func TestTimeoutOfAPluginHasTheTimeoutSignature(t *testing.T) {
	has(t, "pytest_timeout")
	for _, method := range []string{"signal", "thread"} { // thread ends the process
		dir := tree(t, map[string]string{"test_n.py": "import pytest, time\n@pytest.mark.timeout(0.2, method='" + method + "')\ndef test_slow(): time.sleep(30)\n"})
		r, out := alone(t, dir, "test_slow", 0)
		want := triage.Signature{Phase: triage.PhaseTimeout, Message: timeoutMessage, Func: "test_slow"}
		if r.Outcome != triage.Timeout || r.Failure.Signature != want {
			t.Errorf("%s: %+v\n%s", method, r, out)
		}
	}
}

func TestFilesOfAnotherCopyMakeTheTrialInvalid(t *testing.T) {
	files := map[string]string{"src/shop/__init__.py": "", "src/shop/core.py": "X = 1\n", "test_n.py": "from shop.core import X\ndef test_a(): assert X\n"}
	head, base := tree(t, files), tree(t, files)
	a := Adapter{Env: []string{"PYTHONPATH=" + filepath.Join(head, "src")}} // as an editable install of head does
	target := triage.Target{Suite: "pytest", Framework: Name, Package: "test_n.py", Test: "test_a"}
	for _, c := range []struct {
		dir  string
		want triage.Outcome
	}{{head, triage.Pass}, {base, triage.Invalid}} {
		p := prepare(t, a, c.dir, "test_n.py")
		rs, out := trial(t, a, triage.RunSpec{Prepared: p, Tree: c.dir, Target: target})
		r := own(t, rs, target)
		if r.Outcome != c.want || (r.Note != "") != (c.want == triage.Invalid) {
			t.Errorf("%+v, want %v\n%s", r, c.want, out)
		}
		if c.want == triage.Invalid && !strings.Contains(r.Note, filepath.Join(head, "src/shop/")) {
			t.Errorf("the note does not name the file: %s", r.Note)
		}
	}
}

func TestAPytestInsideATestTellsNothing(t *testing.T) {
	dir := tree(t, map[string]string{
		"conftest.py": "pytest_plugins = ['pytester']\n",
		"test_n.py": `
import os, subprocess, sys
INNER = "def test_inside(): assert 0\n"
def test_in_process(pytester):
    pytester.makepyfile(INNER)
    pytester.runpytest_inprocess("-p", "zztriagebot").assert_outcomes(failed=1)
def test_in_child(tmp_path):
    (tmp_path / "test_i.py").write_text(INNER)
    assert subprocess.call([sys.executable, "-m", "pytest", "-p", "zztriagebot", str(tmp_path)]) == 1
    assert "TRIAGEBOT_PYTEST_FENCE" not in os.environ
`})
	a := Adapter{}
	p := prepare(t, a, dir, "test_n.py")
	rs, out := trial(t, a, triage.RunSpec{Prepared: p, Tree: dir, Scope: triage.InPackage, Target: triage.Target{Package: "test_n.py"}})
	for _, r := range rs {
		if r.Outcome != triage.Pass || strings.Contains(r.Target.Test, "inside") {
			t.Errorf("%+v\n%s", r, out)
		}
	}
}

func TestTheSuitesOwnCommand(t *testing.T) {
	dir := tree(t, map[string]string{
		"run.sh":        "cd \"$1\" && exec \"$2\" -m pytest sub\n",
		"sub/test_n.py": "def test_a(): pass\ndef test_b(): assert 0, 'words'\n",
	})
	a := Adapter{SuiteCommand: []string{"sh", "run.sh", dir, python(t)}}
	target := triage.Target{Suite: "pytest", Framework: Name, Package: "sub/test_n.py", Test: "test_b"}
	prepared := prepare(t, a, dir, "")
	for name, p := range map[string]triage.Prepared{"prepared": prepared, "bare": {Dir: dir}} {
		rs, out := trial(t, a, triage.RunSpec{Prepared: p, Tree: dir, Scope: triage.InSuite, Target: target})
		r := own(t, rs, target)
		if r.Outcome != triage.Fail || r.Failure.Signature.Message != "words" {
			t.Errorf("%s: %+v\n%s", name, r, out)
		}
		target2 := target
		target2.Test = "test_a"
		if r := own(t, rs, target2); r.Outcome != triage.Pass {
			t.Errorf("%s: %+v\n%s", name, r, out)
		}
	}
}
