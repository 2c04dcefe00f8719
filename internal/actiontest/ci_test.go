package actiontest

import (
	"strings"
	"testing"
)

// What is not in .ci/run is not in CI, and a CI that lost a step stays green.
func TestCIRunsEverything(t *testing.T) {
	var steps []string
	for _, line := range strings.Split(string(readFile(t, ".ci/run")), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			steps = append(steps, line)
		}
	}
	for _, want := range []string{
		"set -euo pipefail", "make lint", "make -s test TESTFLAGS=-json | go run .ci/skips.go",
		"make truth SAMPLES=1", "make lint-actions", "make act", "make container",
	} {
		found := false
		for _, s := range steps {
			found = found || s == want || strings.HasPrefix(s, want+" ")
		}
		if !found {
			t.Errorf(".ci/run has no line %q; it has\n%s", want, strings.Join(steps, "\n"))
		}
	}
}
