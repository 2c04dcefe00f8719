package pylag_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/lag/pylag"
)

// unitRun starts a Python program of testdata/unit with the embedded runtime, as
// it is laid down for a trial.
func unitRun(t *testing.T, args ...string) (string, error) {
	t.Helper()
	python, why := lookPython("unittest")
	if python == "" {
		t.Skip(why)
	}
	out := filepath.Join(t.TempDir(), "runtime")
	if _, err := (pylag.Engine{}).Instrument(t.Context(), nil, "", "", "", out); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, args...)
	cmd.Dir = filepath.Join("testdata", "unit")
	cmd.Env = append(os.Environ(), "TRIAGEBOT_LAG_RUNTIME="+out, "PYTHONDONTWRITEBYTECODE=1")
	b, err := cmd.CombinedOutput()
	return string(b), err
}

// The runtime's own unit tests, in its own language.
func TestRuntimeInPython(t *testing.T) {
	if out, err := unitRun(t, "test_runtime.py"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// perCall measures a call on a worker thread, in nanoseconds.
func perCall(t *testing.T, mode string) float64 {
	t.Helper()
	out, err := unitRun(t, "overhead.py", mode)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ns, err := strconv.ParseFloat(strings.TrimSpace(out), 64)
	if err != nil {
		t.Fatal(err)
	}
	return ns
}

// A call of a project function on a worker costs little; the bound is three
// times the goal of 1,500 ns, because the tests share their machine.
func TestOverheadOfOneCall(t *testing.T) {
	off, idle, on := perCall(t, "off"), perCall(t, "idle"), perCall(t, "on")
	t.Logf("a call on a worker: off %.0f ns, idle %.0f ns, on %.0f ns", off, idle, on)
	if on-off > 4500 {
		t.Errorf("on it costs %.0f ns more", on-off)
	}
}

func TestInstrumentRefusesAPathThatIsNotAbsolute(t *testing.T) {
	if _, err := (pylag.Engine{}).Instrument(t.Context(), nil, "/tree", "p", "", "out"); err == nil {
		t.Error("no error")
	}
}
