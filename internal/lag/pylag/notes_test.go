package pylag_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the runtime cannot delay comes into the trial, which the report is made from.
func TestATrialTellsWhatTheRuntimeSaid(t *testing.T) {
	l := labOf(t, treeOf(t, map[string]string{"test_n.py": `import sys, types
def test_plain(): pass
def test_loop(): sys.modules["uvloop"] = types.ModuleType("uvloop")
`}))
	const uvloop = "uvloop is loaded: tasks on its loops are not delayed"
	plan := l.Plan("worker-10")
	for test, want := range map[string]bool{"test_plain": false, "test_loop": true} {
		if got := l.Try(l.Target("test_n.py", test), plan); slices.Contains(got.LagNotes, uvloop) != want {
			t.Errorf("%s: %q\n%s", test, got.LagNotes, got.Output)
		}
	}
	if got := l.Try(l.Target("test_n.py", "test_loop"), nil); !cmp.Equal(got.LagNotes, []string(nil)) {
		t.Errorf("without lag: %q", got.LagNotes)
	}
}
