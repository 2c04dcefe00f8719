package rerun

import (
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestSuiteCommandsThatFailForTwoReasonsAreTwoFailures(t *testing.T) {
	sign := func(exit int, output string) triage.Signature {
		r := CommandResult(triage.Target{Suite: "go"}, triage.End{Exit: exit}, []byte(output))
		if r.Failure == nil {
			return triage.Signature{}
		}
		return r.Failure.Signature
	}
	a, b := sign(1, "building\ncache missing\n"), sign(1, "building\nREGRESSION\n")
	if a == b {
		t.Errorf("both are %+v", a)
	}
	if x, y := sign(2, "took 12 ms\n\n"), sign(2, "took 340 ms"); x != y {
		t.Errorf("numbers make two failures of one: %+v and %+v", x, y)
	}
	if s := sign(0, "fine"); !s.IsZero() {
		t.Errorf("a command that ends well has failure %+v", s)
	}
}
