package classify

import (
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

func stopped(why string) func(*Case) { return func(c *Case) { c.Stopped = why } }

func atMost(trials int) func(*Case) { return func(c *Case) { c.MaxTrials = trials } }

func TestStopped(t *testing.T) {
	checkRules(t, []rule{
		{"nothing measured", scripted().with(stopped(StoppedBudget)), want{reasons: because(triage.ReasonBudgetExhausted), text: "nothing was measured"}},
		{"leaning", scripted().plain("FF", "..").with(stopped(StoppedBudget)),
			want{reasons: because(triage.ReasonLeaningRegression, triage.ReasonBudgetExhausted), text: "wrong ≤ 11 %, needed is 1 %", trial: 1}},
		{"leaning in a family is never rounded up", scripted().with(familyOf5).plain("FFFF", "....").with(stopped(StoppedBudget)),
			want{reasons: because(triage.ReasonLeaningRegression, triage.ReasonBudgetExhausted), text: "wrong ≤ 5 %, needed is 1 %"}},
		{"interrupted while quiet", scripted().plain("..", "..").with(stopped(StoppedInterrupted)),
			want{reasons: because(triage.ReasonInterrupted), text: "≤ 78 % at 95 %"}},
		{"both red so far is no leaning", scripted().plain("FF", "FF").with(stopped(StoppedBudget)), inconclusive(triage.ReasonBudgetExhausted)},
		{"a flake half measured", scripted().plain("F.F", ".F.").with(stopped(StoppedBudget)), inconclusive(triage.ReasonBudgetExhausted)},
		{"a decided case stays decided", scripted().plain("FFFF", "....").with(stopped(StoppedInterrupted)), accused_()},
		{"a beyond-chance flake with the rungs not run on base is not called introduced",
			scripted().with(withRungs).plain("FFF.FFF", ".......").with(stopped(StoppedBudget)), inconclusive(triage.ReasonBudgetExhausted)},
		{"stopped before base ran under the plan", quietly().tried(lagged("r1"), "FFF").with(explained).with(stopped(StoppedBudget)),
			want{reasons: because(triage.ReasonBudgetExhausted), trial: 7}},
		{"stopped in company", scripted().with(withScope).plain("...", "...").measured(headPackage, "FF").measured(basePackage, "..").with(stopped(StoppedBudget)),
			inconclusive(triage.ReasonLeaningRegression, triage.ReasonOrder, triage.ReasonBudgetExhausted)},
		{"the user's cap", scripted().plain("FFF", "...").with(atMost(7)), inconclusive(triage.ReasonLeaningRegression, triage.ReasonBudgetExhausted)},
		{"the cap leaves nothing for a cause", quietly().tried(lagged("r1"), "FFF").with(atMost(9)), inconclusive(triage.ReasonBudgetExhausted)},
		{"a cap that is enough", scripted().plain("FFF", "...").with(atMost(8)), want{step: StepPlain}},
	})
}

func TestExhausted(t *testing.T) {
	repeat := func(pattern string, n int) string {
		out := ""
		for len(out) < n {
			out += pattern
		}
		return out[:n]
	}
	checkRules(t, []rule{
		{"head always red, base nearly", scripted().plain(repeat("F", 20), repeat("FFFF.FFFFF", 20)), inconclusive(triage.ReasonUnstable)},
		{"head always red, base mostly", scripted().plain(repeat("F", 20), repeat("FFF.FFFF.F", 20)),
			want{reasons: because(triage.ReasonLeaningRegression), trial: 1}},
		{"head never passes, base neither, but not alike", scripted().plain(repeat("F", 20), repeat("FFFFo", 20)), inconclusive(triage.ReasonSignatureMismatch)},
		{"close to a decision: ten more rounds", scripted().plain(repeat("F", 20), repeat("FF.FF.FFF.", 20)), want{step: StepPlain}},
	})
}

// Settle tells how many rounds are missing; running just those decides.
func TestLeaningNamesTheRoundsThatDecide(t *testing.T) {
	c := scripted().plain("FF", "..").with(stopped(StoppedBudget))
	_, v := Judge(DefaultPolicy(), *c)
	if want := "2 more rounds like these"; v.Settle != want {
		t.Fatalf("Settle = %q, want %q", v.Settle, want)
	}
	c = scripted().plain("FFFF", "....")
	if _, v := Judge(DefaultPolicy(), *c); v.Class != triage.LikelyRegression {
		t.Errorf("after two more rounds the verdict is %v", v.Class)
	}
}
