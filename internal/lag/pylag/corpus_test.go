package pylag_test

import (
	"testing"

	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/triage"
)

// Each racy test is red on its rung and, but for chance, green without lag. The
// benchmark measures the whole of it; this is one run each.
func TestRacyTestsAreRevealed(t *testing.T) {
	l := newLab(t)
	plain := 0
	for _, c := range truth(t).Racy {
		tg := l.Target(c.File, c.Test)
		if l.Try(tg, nil).Outcome.Red() {
			plain++
		}
		if c.Rung == "single" {
			green := []triage.Trial{l.Try(tg, l.Plan("worker-100"))}
			found := false
			l.Singles(tg, green, func(_ triage.LagPlan, tr triage.Trial) bool {
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
	if n := len(truth(t).Racy); plain > n/2 { // they are red now and then on a busy machine
		t.Errorf("%d of %d are red without lag", plain, n)
	}
}

// One rung each, in turn; the benchmark has all of them.
func TestCorrectTestsStayGreen(t *testing.T) {
	l := newLab(t)
	names := []string{"doubles", "worker-10", "worker-100", "test-50"}
	for i, c := range truth(t).Correct {
		name := names[i%len(names)]
		if tr := l.Try(l.Target(c.File, c.Test), l.Plan(name)); tr.Outcome != triage.Pass {
			t.Errorf("%s: %v on rung %s: %+v", c.Test, tr.Outcome, name, tr.Failure)
		}
	}
}

// A site id of one run finds the same place in the next: replaying the decisions
// of a red is red again.
func TestARedReplays(t *testing.T) {
	l := newLab(t)
	tg := l.Target("tests/test_flaky.py", "test_p1_attempt_poll")
	first := l.Try(tg, l.Plan("worker-10"))
	if !first.Outcome.Red() {
		t.Fatalf("not red: %v", first.Decisions)
	}
	again := l.Try(tg, &triage.LagPlan{Version: triage.PlanVersion, Name: "replay", Decisions: first.Decisions, BudgetMS: 20_000})
	if !again.SameFailure(first.Failure.Signature) {
		t.Errorf("the replay came to %v %+v, want %+v", again.Outcome, again.Failure, first.Failure.Signature)
	}
}

func TestSitesAreLearntFromTheLog(t *testing.T) {
	l := newLab(t)
	l.Try(l.Target("tests/test_flaky.py", "test_p1_attempt_poll"), l.Plan("doubles"))
	want := triage.Site{
		ID: "shop/core.py:Dispatcher._one:double:1", Kind: triage.KindDouble,
		File: "shop/core.py", Line: 46, Func: "Dispatcher._one", Text: "pane = self.tmux.spawn(job)",
	}
	got, _ := l.Site(want.ID)
	if got.Line == 0 || got.Text != want.Text || got.Func != want.Func || got.File != want.File || got.Kind != want.Kind || got.Test {
		t.Errorf("learnt %+v, want about %+v", got, want)
	}
	if s := lag.SiteOf(want.ID); s.Func != want.Func {
		t.Errorf("the id alone tells %+v", s)
	}
}
