package main

import (
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestVariablesThatARedRunSpeaksOfAreNamed(t *testing.T) {
	environ := []string{"DATABASE_URL=x", "HOME=/h", "DATABASE_URL_2=y", "API_TOKEN=z", "OTHER_THING=1"}
	red := triage.Trial{Outcome: triage.Fail, Output: "a_test.go:3: DATABASE_URL is not set; want API_TOKEN"}
	green := triage.Trial{Outcome: triage.Pass, Output: "OTHER_THING is not set"}
	got := strings.Join(withheld(environ, []string{"HOME=/h"}, []triage.Trial{green, red}), "\n")
	for _, want := range []string{"--pass-env DATABASE_URL", "--pass-env API_TOKEN"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	for _, not := range []string{"OTHER_THING", "DATABASE_URL_2", "HOME"} {
		if strings.Contains(got, not) {
			t.Errorf("%q is in %q", not, got)
		}
	}
}
