package classify

import (
	"slices"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

var (
	headRace = triage.Arm{Detector: "race"}
	baseRace = triage.Arm{Side: triage.Base, Detector: "race"}
)

// racing makes a trial of an arm that ends in a race report.
func racing(arm triage.Arm, n int) func(*Case) {
	return func(c *Case) {
		for range n {
			c.Trials = append(c.Trials, triage.Trial{
				Seq:     len(c.Trials) + 1,
				Request: triage.Request{Target: c.Red.Target, Arm: arm, Purpose: triage.Measure},
				Outcome: triage.Error,
				Failure: &triage.Failure{Target: c.Red.Target, Outcome: triage.Error, Signature: triage.Signature{Phase: triage.PhaseRace, Func: "a; b"}},
			})
		}
	}
}

func TestDetectorComesLastAndIsNoVerdict(t *testing.T) {
	withDetector := func(c *Case) { c.Detector = "race" }
	searched := func() *Case {
		return quietly().with(withDetector).tried(lagged("r1"), ".").tried(lagged("r2"), ".").plain(".......", "")
	}
	checkRules(t, []rule{
		{"when all else was quiet: head", searched(), want{step: StepDetect, arms: []triage.Arm{headRace}}},
		{"twice", searched().measured(headRace, "."), want{step: StepDetect, arms: []triage.Arm{headRace}}},
		{"quiet there too: base is not asked", searched().measured(headRace, ".."), inconclusive(triage.ReasonNotReproduced)},
		{"not to be had: once more, then no more", searched().measured(headRace, "ii"), inconclusive(triage.ReasonNotReproduced)},
		{"a race on head: base", searched().with(racing(headRace, 2)), want{step: StepDetect, arms: []triage.Arm{baseRace}}},
		{"a race on head only", searched().with(racing(headRace, 2)).measured(baseRace, ".."), inconclusive(triage.ReasonNotReproduced, triage.ReasonDataRace)},
		{"a race on both", searched().with(racing(headRace, 2)).with(racing(baseRace, 2)), inconclusive(triage.ReasonNotReproduced, triage.ReasonDataRace)},
		{"before the search is over: not yet", quietly().with(withDetector), want{step: StepLadder, rung: "r1"}},
		{"the suite has it already: never", quietly().tried(lagged("r1"), ".").tried(lagged("r2"), ".").plain(".......", ""), inconclusive(triage.ReasonNotReproduced)},
	})
}

func TestRaceOfTheDetectorIsTold(t *testing.T) {
	c := quietly().with(func(c *Case) { c.Detector = "race" }).with(racing(headRace, 2)).with(racing(baseRace, 2))
	e, _ := Judge(DefaultPolicy(), *c)
	if want := "the race detector reports a data race in this test, on head and on base"; !slices.Contains(e.Warnings, want) {
		t.Errorf("warnings are %q, want %q among them", e.Warnings, want)
	}
}

func TestTwoFlakySidesWithTwoMessagesAccuseNobody(t *testing.T) {
	checkRules(t, []rule{
		{"head and base flaky alike, each in its way", scripted().plain("F.F.F.F.F.F.F.F.F.F.", ".o.o.o.o.o.o.o.o.o.o"),
			inconclusive(triage.ReasonSignatureMismatch, triage.ReasonOtherOnBase)},
		{"base quiet but for one other red", scripted().plain("F.FF.FFF.FFFFFF", "o.............."), want{class: triage.IntroducedFlake, origin: triage.OriginHead, reasons: because(triage.ReasonOtherOnBase)}},
		{"head always, base always otherwise", scripted().plain("FFFFFF", "oooooo"), accused_(triage.ReasonOtherOnBase)},
	})
}

func TestNewTestThatPassesAloneIsRunWithItsPackage(t *testing.T) {
	newAlone := func() *Case {
		return scripted().with(withScope).plain("...", "aa")
	}
	checkRules(t, []rule{
		{"the package next", newAlone(), want{step: StepScope, arms: []triage.Arm{headPackage}}},
		{"red there: again", newAlone().measured(headPackage, "F"), want{step: StepScope, arms: []triage.Arm{headPackage}}},
		{"red every time", newAlone().measured(headPackage, "FFFFF"), accused_(triage.ReasonNewTest, triage.ReasonOrder)},
		{"green there: more plain runs", newAlone().measured(headPackage, "."), want{step: StepPlain, arms: []triage.Arm{head}}},
	})
}
