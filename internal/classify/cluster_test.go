package classify

import (
	"fmt"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// failing makes a failure of each signature, tests named in order.
func failing(signatures ...triage.Signature) []triage.Failure {
	var out []triage.Failure
	for i, s := range signatures {
		out = append(out, triage.Failure{Target: triage.Target{Test: fmt.Sprintf("Test%d", i)}, Signature: s})
	}
	return out
}

func TestClusterAboveTheLimit(t *testing.T) {
	groups := Cluster(failing(red, otherRed, red, triage.Signature{}, red, triage.Signature{}, red), 6)
	got := ""
	for _, g := range groups {
		got += fmt.Sprintf("%d+%d ", len(g.Measured), len(g.Others))
	}
	if want := "2+2 1+0 1+0 1+0 "; got != want {
		t.Errorf("groups (measured+others) are %q, want %q: failures without a signature are never the same", got, want)
	}
	if first := groups[0].Measured[0].Target.Test; first != "Test0" {
		t.Errorf("the first representative is %s", first)
	}
}

func TestClusterLeavesFewFailuresAlone(t *testing.T) {
	if got := len(Cluster(failing(red, red, red), 3)); got != 3 {
		t.Errorf("%d groups, want each failure measured", got)
	}
	if got := len(Cluster(nil, 8)); got != 0 {
		t.Errorf("%d groups of nothing", got)
	}
}

func TestShare(t *testing.T) {
	f := failing(red)[0]
	verdict := func(c triage.Class, name string) triage.Verdict {
		return triage.Verdict{Class: c, Target: triage.Target{Test: name}, Reasons: []triage.Reason{triage.ReasonMadeWorse},
			Bound: triage.Bound{Text: "wrong ≤ 1 %"}, Trial: 4}
	}
	agreed := Share([]triage.Verdict{verdict(triage.LikelyRegression, "A"), verdict(triage.LikelyRegression, "B")}, f)
	if agreed.Class != triage.LikelyRegression || agreed.SameAs == nil || agreed.SameAs.Test != "A" || agreed.Target != f.Target {
		t.Errorf("shared verdict is %+v", agreed)
	}
	if n := len(agreed.Reasons); agreed.Reasons[n-1] != triage.ReasonSameSignature {
		t.Errorf("reasons are %v: it must say that it was not measured", agreed.Reasons)
	}
	split := Share([]triage.Verdict{verdict(triage.LikelyRegression, "A"), verdict(triage.PreExistingFlake, "B")}, f)
	if split.Class != triage.Inconclusive || split.Settle == "" {
		t.Errorf("representatives that disagree give %+v", split)
	}
	if none := Share(nil, f); none.Class != triage.Inconclusive || none.Bound.Text == "" {
		t.Errorf("without a representative: %+v", none)
	}
}

func TestClusterKnowsOneCauseInManyTests(t *testing.T) {
	in := func(phase, message, fn string) triage.Signature {
		return triage.Signature{Phase: phase, Message: message, Func: fn}
	}
	for _, c := range []struct {
		name   string
		a, b   triage.Signature
		groups int
	}{
		{"an assertion with a telling message", in("test", "connecting to the ledger: connection refused", "TestA"), in("test", "connecting to the ledger: connection refused", "TestB"), 1},
		{"an assertion that any test could make", in("test", "got N, want N", "TestA"), in("test", "got N, want N", "TestB"), 2},
		{"a panic in one function", in("panic", "nil map", "store.Put"), in("panic", "nil map", "store.Put"), 1},
		{"panics in two functions", in("panic", "assignment to entry in nil map", "store.Put"), in("panic", "assignment to entry in nil map", "cache.Put"), 2},
	} {
		if got := len(Cluster(failing(c.a, c.b), 1)); got != c.groups {
			t.Errorf("%s: %d groups, want %d", c.name, got, c.groups)
		}
	}
}
