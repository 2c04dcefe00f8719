package pytest

import (
	"context"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestSurveyAsksTheInterpreterOfTheTree(t *testing.T) {
	told := `{"version": "3.13.1", "implementation": "CPython", "free": true, "packages": {"uvloop": "0.21.0"}}`
	exec := func(_ context.Context, c triage.Command) ([]byte, triage.End, error) {
		if c.Argv[len(c.Argv)-1] == "uvloop" && c.Argv[0] == "/py" {
			return []byte("a warning\n" + told + "\n"), triage.End{}, nil
		}
		return []byte(good), triage.End{}, nil
	}
	s, err := Adapter{}.Survey(t.Context(), exec, t.TempDir(), "trio", "uvloop")
	if err != nil || s.Python != "/py" || s.Version != "3.13.1" || s.Pytest != "9.2.0" || !s.FreeThreaded || s.Packages["uvloop"] != "0.21.0" {
		t.Errorf("%+v, %v", s, err)
	}
	told = "Segmentation fault"
	if _, err := (Adapter{}).Survey(t.Context(), exec, t.TempDir(), "trio", "uvloop"); err == nil || !strings.Contains(err.Error(), told) {
		t.Errorf("error %v, want what it printed", err)
	}
}

func TestSurveyOfARealInterpreter(t *testing.T) {
	s, err := Adapter{Python: python(t)}.Survey(t.Context(), start, t.TempDir(), "pytest", "no-such-distribution")
	if err != nil || !strings.HasPrefix(s.Version, "3.") || s.Packages["pytest"] != s.Pytest || len(s.Packages) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}
