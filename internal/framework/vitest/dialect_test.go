package vitest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/framework/jstest"
	"github.com/triagebot/triagebot/internal/triage"
)

func TestArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		t    jstest.Trial
		want []string
	}{
		{"one test", jstest.Trial{Reporter: "/r", File: "a.test.ts", Test: "x", Pattern: "^x$"}, []string{"run", "a.test.ts", "--testNamePattern=^x$", "--reporter=/r", "--retry=0", "--bail=0", "--coverage.enabled=false", "--cache=false", "--passWithNoTests"}},
		{"a file in another order", jstest.Trial{Run: triage.RunSpec{Seed: 7}, Reporter: "/r", File: "a.test.ts"}, []string{"run", "a.test.ts", "--reporter=/r", "--retry=0", "--bail=0", "--coverage.enabled=false", "--cache=false", "--passWithNoTests", "--sequence.shuffle", "--sequence.seed=7"}},
	} {
		if d := cmp.Diff(c.want, arguments(c.t)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}
