package pylag_test

import (
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// Asynchronous tests are told from the tasks of the project whoever runs them.
func TestAsyncFrameworks(t *testing.T) {
	l := newLab(t)
	for _, f := range []struct{ module, prefix string }{
		{"pytest_asyncio", "test_asyncio_"}, {"anyio", "test_anyio_"}, {"unittest", "Unit::test_"},
	} {
		t.Run(f.module, func(t *testing.T) {
			if path, why := lookPython("pytest, " + f.module); path == "" {
				t.Skip(why)
			}
			for _, c := range []struct {
				test, rung string
				red        bool
			}{
				{"race", "worker-10", true}, {"lost", "test-50", true},
				{"correct", "worker-10", false}, {"correct", "test-50", false},
			} {
				tg := l.Target("tests/test_frameworks.py", f.prefix+c.test)
				if f.module == "unittest" || c.red { // a green control, for one framework
					if tr := l.Try(tg, nil); tr.Outcome != triage.Pass {
						t.Errorf("%s without lag: %v %+v", tg.Test, tr.Outcome, tr.Failure)
					}
				}
				tr := l.Try(tg, l.Plan(c.rung))
				if tr.Outcome.Red() != c.red || tr.DecisionCount == 0 {
					t.Errorf("%s on %s: %v after %d delays", tg.Test, c.rung, tr.Outcome, tr.DecisionCount)
				}
			}
		})
	}
}
