package rerun

import (
	"fmt"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestSuiteCommandsThatFailForTwoReasonsAreTwoFailures(t *testing.T) {
	sign := func(exit int, output string) triage.Signature {
		r := CommandResult(triage.Target{Suite: "go"}, triage.End{Exit: exit}, "/trees/head", []byte(output))
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
	refused := "ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --%s\n  inifile: /trees/head/pytest.ini\n"
	if x := sign(4, fmt.Sprintf(refused, "a")); x.Message != "exit 4: pytest: error: unrecognized arguments: --a" {
		t.Errorf("the error is not what it ends with: %+v", x)
	}
	if x := sign(4, "ERROR: /trees/head/pytest.ini:1: bad\n"); x.Message != "exit 4: ERROR: pytest.ini:N: bad" {
		t.Errorf("the path of the tree is in %+v", x)
	}
	if s := sign(0, "fine"); !s.IsZero() {
		t.Errorf("a command that ends well has failure %+v", s)
	}
}
