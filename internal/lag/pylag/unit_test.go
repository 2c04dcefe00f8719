package pylag_test

import (
	"os"
	"os/exec"
	"path/filepath"
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

func TestInstrumentRefusesAPathThatIsNotAbsolute(t *testing.T) {
	if _, err := (pylag.Engine{}).Instrument(t.Context(), nil, "/tree", "p", "", "out"); err == nil {
		t.Error("no error")
	}
}
