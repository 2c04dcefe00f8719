package jstest

import (
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// What Promise.any throws says the same whatever failed, so that it must not make
// two failures one.
func TestAnAggregateErrorSaysNothingByItself(t *testing.T) {
	for _, c := range []struct {
		text, want string
	}{
		{"AggregateError: All promises were rejected\n    at a.test.js:3:1", ""},
		{"AggregateError:", ""},
		{"AggregateError", ""},
		{"AggregateError [ECONNREFUSED]: connect failed", "AggregateError [ECONNREFUSED]: connect failed"},
		{"AggregateError: no mirror answers", "AggregateError: no mirror answers"},
	} {
		f := Dialect{}.failure(Options{}, triage.Target{Test: "a"}, triage.PhaseTest, thrown{Stack: c.text, Message: c.text})
		if f.Signature.Message != c.want || f.Signature.Phase != triage.PhaseTest {
			t.Errorf("%q has the signature %+v, want %q", c.text, f.Signature, c.want)
		}
	}
}
