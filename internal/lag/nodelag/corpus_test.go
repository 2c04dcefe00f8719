package nodelag_test

import (
	"os"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/framework/jest"
	"github.com/triagebot/triagebot/internal/framework/mocha"
	"github.com/triagebot/triagebot/internal/framework/nodetest"
	"github.com/triagebot/triagebot/internal/framework/vitest"
	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
)

// every reports whether the whole corpus is to be run, which takes minutes: each
// test is a process of vitest. Else every third test is.
func every(i int) bool { return os.Getenv("TRIAGEBOT_TEST_ALL") != "" || i%3 == 0 }

// Each racy test is red on its rung. The table in docs/decisions/0007 has the
// whole of it; this is one run each.
func TestRacyTestsAreRevealed(t *testing.T) {
	l := newLab(t)
	for i, c := range truth(t).Racy {
		if !every(i) {
			continue
		}
		tg := l.Target(c.File, c.Test)
		if c.Rung == "single" {
			found := false
			l.Singles(tg, []triage.Trial{l.Try(tg, l.Plan("yield"))}, func(_ triage.LagPlan, tr triage.Trial) bool {
				found = tr.Outcome.Red()
				return !found
			})
			if !found {
				t.Errorf("%s: no single site turns it red", c.Test)
			}
			continue
		}
		if tr := l.Try(tg, l.Plan(c.Rung)); !tr.Outcome.Red() {
			t.Errorf("%s: %v on rung %s, decisions %v", c.Test, tr.Outcome, c.Rung, tr.Decisions)
		}
	}
}

// One rung each, in turn; the measurement has all of them.
func TestCorrectTestsStayGreen(t *testing.T) {
	l := newLab(t)
	names := []string{"worker-10", "worker-100", "test-50", "all-400"}
	for i, c := range truth(t).Correct {
		if !every(i) {
			continue
		}
		name := names[i%len(names)]
		if tr := l.Try(l.Target(c.File, c.Test), l.Plan(name)); tr.Outcome != triage.Pass {
			t.Errorf("%s: %v on rung %s: %+v", c.Test, tr.Outcome, name, tr.Failure)
		}
	}
}

// A site id of one run finds the same place in the next: replaying the decisions
// of a red is red again. Each pool of vitest 3 and 4 has the lag; of the replays
// half are made, in turn, unless all is asked for.
func TestARedReplaysInEveryPool(t *testing.T) {
	racy := truth(t).Racy[0]
	all := os.Getenv("TRIAGEBOT_TEST_ALL") != ""
	for i, release := range []string{"vitest", "vitest-4"} {
		for j, pool := range []string{"forks", "threads", "vmThreads", "vmForks"} {
			t.Run(release+" "+pool, func(t *testing.T) {
				l := newLabWith(t, released(t, release), vitest.Name, "corpus", vitest.Adapter{Args: []string{"--pool=" + pool}})
				tg := l.Target(racy.File, racy.Test)
				first := l.Try(tg, l.Plan("worker-10"))
				if first.Outcome != triage.Fail || len(first.Decisions) == 0 {
					t.Fatalf("%v, decisions %v, %+v", first.Outcome, first.Decisions, first.Failure)
				}
				if !all && (i+j)%2 != 0 {
					return
				}
				again := l.Try(tg, &triage.LagPlan{Version: triage.PlanVersion, Name: "replay", Decisions: first.Decisions, BudgetMS: 20_000})
				if !again.SameFailure(first.Failure.Signature) {
					t.Errorf("the replay came to %v %+v, want %+v", again.Outcome, again.Failure, first.Failure.Signature)
				}
			})
		}
	}
}

// The same preload serves every runner: CommonJS and ES modules, with and without
// a virtual machine's context.
func TestEveryRunnerIsLagged(t *testing.T) {
	for _, c := range []struct {
		framework, file string
		a               rerun.Adapter
	}{
		{jest.Name, "jest.test.js", jest.Adapter{}},
		{mocha.Name, "mocha.cjs", mocha.Adapter{}},
		{mocha.Name, "mocha.mjs", mocha.Adapter{}},
		{nodetest.Name, "node.mjs", nodetest.Adapter{}},
	} {
		t.Run(c.framework+" "+c.file, func(t *testing.T) {
			l := newLabOf(t, c.framework, "runners", c.a)
			tg := l.Target("test/"+c.file, "registers")
			tr := l.Try(tg, l.Plan("worker-10"))
			if tr.Outcome != triage.Fail || len(tr.Decisions) == 0 {
				t.Errorf("%v, decisions %v", tr.Outcome, tr.Decisions)
			}
			for _, d := range tr.Decisions {
				if s, ok := l.Site(d.Site); !ok || s.Line == 0 || !strings.HasPrefix(d.Site, "src/registry.") {
					t.Errorf("site %s is %+v", d.Site, s)
				}
			}
		})
	}
}

func TestSitesAreLearntFromTheLog(t *testing.T) {
	l := newLab(t)
	waits := truth(t).Correct[0] // it ends only when the place was passed
	l.Try(l.Target(waits.File, waits.Test), l.Plan("worker-10"))
	want := triage.Site{
		ID: "src/core.ts:Registry.register:wake:1", Kind: triage.KindWake, File: "src/core.ts", Line: 10,
		Func: "Registry.register", Text: "await new Promise<void>((r) => setImmediate(r))",
	}
	if got, _ := l.Site(want.ID); got != want {
		t.Errorf("learnt %+v, want %+v", got, want)
	}
	if s := lag.SiteOf(want.ID); s.Func != want.Func {
		t.Errorf("the id alone tells %+v", s)
	}
}
