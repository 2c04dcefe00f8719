package pytest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

// python finds an interpreter that can import pytest, or skips the test.
func python(t *testing.T) string {
	t.Helper()
	path, why := findPython()
	if path == "" {
		t.Skip(why)
	}
	return path
}

var findPython = sync.OnceValues(func() (path, why string) {
	name := os.Getenv("TRIAGEBOT_TEST_PYTHON")
	if name == "" {
		name = "python3"
	}
	out, err := exec.Command(name, "-c", "import sys, pytest; print(sys.executable)").CombinedOutput()
	if err != nil {
		return "", name + " cannot import pytest (TRIAGEBOT_TEST_PYTHON names another interpreter): " + lastLine(out)
	}
	return strings.TrimSpace(string(out)), ""
})

// start is a triage.Exec that starts real processes with a clean environment.
func start(ctx context.Context, c triage.Command) ([]byte, triage.End, error) {
	return startUntil(ctx, c, os.Kill)
}

// startUntil runs a command, which gets the signal when the context ends.
func startUntil(ctx context.Context, c triage.Command, s os.Signal) ([]byte, triage.End, error) {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(s) }
	cmd.Dir = c.Dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir()}, c.Env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, triage.End{}, err
	}
	return out, triage.End{Exit: cmd.ProcessState.ExitCode()}, nil
}

// tree lays files into a new directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// prepare makes a file ready with the interpreter of the tests.
func prepare(t *testing.T, a Adapter, dir, file string) triage.Prepared {
	t.Helper()
	a.Python = python(t)
	p, err := a.Prepare(t.Context(), start, triage.BuildSpec{Tree: dir, Package: file, Out: filepath.Join(t.TempDir(), "out")})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// trial runs one trial and gives its results.
func trial(t *testing.T, a Adapter, spec triage.RunSpec) ([]triage.Result, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, end, err := start(ctx, a.Command(spec))
	if err != nil {
		t.Fatal(err)
	}
	rs, err := a.Results(spec, end, strings.NewReader(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return rs, string(out)
}

// own finds the target's result.
func own(t *testing.T, rs []triage.Result, target triage.Target) triage.Result {
	t.Helper()
	for _, r := range rs {
		if r.Target == target {
			return r
		}
	}
	t.Fatalf("no result for %v in %v", target, rs)
	return triage.Result{}
}

const oddTests = `
import pytest, unittest

ODD = ["a::b", "a - b", "[z]", "x]", "\n", "", "é", "日本", "q\"'", "back\\slash", " lead", "a/b", "$HOME", "-k x", "tab\t", "%s", "a,b", "None"]

@pytest.mark.parametrize("x", ODD)
def test_p(x): pass

class TestOuter:
    class TestInner:
        @pytest.mark.parametrize("x", ODD)
        @pytest.mark.parametrize("y", [1, 2])
        def test_p(self, x, y): pass

    def test_plain(self): pass

class Unit(unittest.TestCase):
    def test_method(self): pass
    def test_sub(self):
        for i in range(3):
            with self.subTest(i=i): pass

@pytest.mark.parametrize("x", [1, 1, 1])
def test_same(x): pass
`

// Every id that pytest collects selects that test and no other.
func TestOddIDsRoundTrip(t *testing.T) {
	dir := tree(t, map[string]string{"tests/test_odd.py": oddTests})
	a := Adapter{}
	file := "tests/test_odd.py"
	p := prepare(t, a, dir, file)
	if p.Failure != nil {
		t.Fatalf("it does not collect: %+v", p.Failure)
	}
	all, _ := trial(t, a, triage.RunSpec{Prepared: p, Tree: dir, Target: triage.Target{Suite: "pytest", Framework: Name, Package: file}, Scope: triage.InPackage})
	var ids []triage.Target
	for _, r := range all {
		if !r.Target.IsCommand() {
			ids = append(ids, r.Target)
		}
	}
	if len(ids) != 18*3+1+2+3 {
		t.Fatalf("the file has %d tests", len(ids))
	}
	var sample []triage.Target // each odd parameter once, in a class at every second
	for i, id := range ids {
		if i < 18 || i == 18*2 || i == 18*3+1 || i == 18*3+2 || i == 18*3+4 {
			sample = append(sample, id)
		}
	}
	// One process for all would hide an id that selects another's test, so each has its own.
	for _, id := range sample {
		t.Run(id.Test, func(t *testing.T) {
			t.Parallel()
			spec := triage.RunSpec{Prepared: p, Tree: dir, Target: id, Scope: triage.Alone}
			rs, out := trial(t, a, spec)
			if len(rs) != 1 || own(t, rs, id).Outcome != triage.Pass {
				t.Errorf("asked for %q, got %+v\n%s", id.Test, rs, out)
			}
		})
	}
}

const outcomes = `
import os, signal, sys, pytest

def test_pass(): print('{"$report_type": "TestReport"}')
def test_fail(): assert 1 + 1 == 3
def test_error(): raise ValueError("bad thing 17")
def test_skip(): pytest.skip("why")
@pytest.mark.xfail
def test_xfail(): assert False
@pytest.mark.xfail(strict=True)
def test_xpass(): pass

@pytest.fixture
def broken(): raise OSError("no database")
def test_setup(broken): pass

@pytest.fixture
def late():
    yield
    raise OSError("cannot close")
def test_teardown(late): pass

def test_exit(): os._exit(7)
def test_kill(): os.kill(os.getpid(), signal.SIGKILL)
def test_sys_exit(): sys.exit(0)
def test_session_exit(): pytest.exit("enough")
def test_segfault():
    import ctypes
    ctypes.string_at(0)
def test_tmp(tmp_path): (tmp_path / "left").write_text("x")
`

func TestOutcomesOfOneTest(t *testing.T) {
	dir := tree(t, map[string]string{"test_o.py": outcomes})
	a := Adapter{}
	p := prepare(t, a, dir, "test_o.py")
	for _, c := range []struct {
		test    string
		outcome triage.Outcome
		sig     triage.Signature
	}{
		{"test_pass", triage.Pass, triage.Signature{}},
		{"test_fail", triage.Fail, triage.Signature{Phase: "test", Message: "assert (N + N) == N", Func: "test_fail"}},
		{"test_error", triage.Fail, triage.Signature{Phase: "test", Message: "ValueError: bad thing N", Func: "test_error"}},
		{"test_skip", triage.Skip, triage.Signature{}},
		{"test_xfail", triage.Skip, triage.Signature{}},
		{"test_xpass", triage.Fail, triage.Signature{Phase: "test", Message: "[XPASS(strict)]", Func: "test_xpass"}},
		{"test_setup", triage.Error, triage.Signature{Phase: "setup", Message: "OSError: no database", Func: "test_setup"}},
		{"test_teardown", triage.Error, triage.Signature{Phase: "setup", Message: "OSError: cannot close", Func: "test_teardown"}},
		{"test_exit", triage.Error, triage.Signature{Phase: "exit", Message: exitMessage, Func: "test_exit"}},
		{"test_kill", triage.Error, triage.Signature{Phase: "exit", Message: exitMessage, Func: "test_kill"}},
		{"test_sys_exit", triage.Fail, triage.Signature{Phase: "test", Message: "SystemExit: N", Func: "test_sys_exit"}},
		{"test_session_exit", triage.Error, triage.Signature{Phase: "exit", Message: exitMessage, Func: "test_session_exit"}},
		{"test_segfault", triage.Error, triage.Signature{Phase: "panic", Message: "Fatal Python error: Segmentation fault", Func: "test_segfault"}},
		{"test_not_there", triage.Absent, triage.Signature{}},
		{"test_tmp", triage.Pass, triage.Signature{}},
	} {
		t.Run(c.test, func(t *testing.T) {
			t.Parallel()
			target := triage.Target{Suite: "pytest", Framework: Name, Package: "test_o.py", Test: c.test}
			rs, out := trial(t, a, triage.RunSpec{Prepared: p, Tree: dir, Target: target})
			got := own(t, rs, target)
			if got.Outcome != c.outcome {
				t.Fatalf("outcome %v, want %v\n%s", got.Outcome, c.outcome, out)
			}
			if got.Failure != nil && got.Failure.Signature != c.sig || (got.Failure == nil) != (c.sig == triage.Signature{}) {
				t.Errorf("failure %+v, want signature %+v\n%s", got.Failure, c.sig, out)
			}
		})
	}
}

func TestNothingIsWrittenIntoTheTree(t *testing.T) {
	dir := tree(t, map[string]string{
		"pytest.ini":    "[pytest]\naddopts = --junitxml=report.xml --ff\n",
		"shop/core.py":  "X = 1\n",
		"tests/test.py": "", "tests/test_a.py": "from shop.core import X\ndef test_a(tmp_path, cache): cache.set('a/b', 1); assert X\n",
		"conftest.py": "",
	})
	before := list(t, dir)
	a := Adapter{}
	p := prepare(t, a, dir, "tests/test_a.py")
	target := triage.Target{Suite: "pytest", Framework: Name, Package: "tests/test_a.py", Test: "test_a"}
	rs, out := trial(t, a, triage.RunSpec{Prepared: p, Tree: dir, Target: target})
	if own(t, rs, target).Outcome != triage.Pass {
		t.Fatalf("%+v\n%s", rs, out)
	}
	if after := list(t, dir); after != before {
		t.Errorf("before %s\nafter  %s", before, after)
	}
}

func list(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		names = append(names, strings.TrimPrefix(path, dir))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(names)
	return string(b)
}
