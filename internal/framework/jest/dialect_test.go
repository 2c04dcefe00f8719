package jest

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
		{"one test", jstest.Trial{Reporter: "/r", Cache: "/c", File: "a.test.js", Test: "x", Pattern: "^x$"}, []string{"--ci", "--runInBand", "--coverage=false", "--watchAll=false", "--passWithNoTests", "--reporters=/r", "--cacheDirectory=/c", "--testNamePattern=^x$", "--forceExit", "--runTestsByPath", "a.test.js"}},
		{"the suite around a test", jstest.Trial{Run: triage.RunSpec{Scope: triage.InSuite, Target: triage.Target{Package: "a.test.js"}}, Reporter: "/r", Cache: "/c"}, []string{"--ci", "--runInBand", "--coverage=false", "--watchAll=false", "--passWithNoTests", "--reporters=/r", "--cacheDirectory=/c", "--cache=false"}},
		{"the suite in another order", jstest.Trial{Run: triage.RunSpec{Seed: 7}, Reporter: "/r", Cache: "/c"}, []string{"--ci", "--runInBand", "--coverage=false", "--watchAll=false", "--passWithNoTests", "--reporters=/r", "--cacheDirectory=/c", "--randomize", "--seed=7"}},
	} {
		if d := cmp.Diff(c.want, arguments(c.t)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}
