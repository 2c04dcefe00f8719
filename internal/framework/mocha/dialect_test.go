package mocha

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
		{"one test", jstest.Trial{Run: triage.RunSpec{Seed: 7}, Reporter: "/r", File: "a.js", Test: "x", Pattern: "^x$"}, []string{"a.js", "--exit", "--reporter", "/r", "--retries", "0", "--no-parallel", "--no-bail", "--no-watch", "--grep", "^x$"}},
	} {
		if d := cmp.Diff(c.want, arguments(c.t)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}
