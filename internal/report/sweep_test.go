package report

import (
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// sweepOf is the report of a sweep with these verdicts, one a test.
func sweepOf(vs ...triage.Verdict) triage.Report {
	r := triage.Report{
		Schema: triage.Schema, Check: triage.Check{Repo: "acme/loop", Head: triage.Rev{SHA: "4f1c9a7b0000"}, Base: triage.Rev{SHA: "4f1c9a7b0000"}},
		Sweep: &triage.Sweep{Tests: 91, Units: 1, Since: "a90d1e2f0000", Rungs: []triage.SweepRung{
			{Name: "control", Scope: triage.InSuite, Runs: 2, Tests: 91, WallMS: 56_000},
			{Name: "doubles", Lag: "p", Scope: triage.InSuite, Runs: 1, Tests: 91, WallMS: 46_000, Leads: 3, Short: 1},
			{Name: "doubles", Lag: "p", Scope: triage.InPackage, Runs: 4, Tests: 91, WallMS: 60_000},
			{Name: "worker-10", Lag: "q", Scope: triage.Alone, Runs: 30, Tests: 30, Left: 61, WallMS: 90_000},
		}},
	}
	for i, v := range vs {
		v.Target = triage.Target{Suite: "go", Framework: "gotest", Package: "example.com/app", Test: "Test" + strings.Repeat("A", i+1)}
		r.Verdicts = append(r.Verdicts, v)
		alone, lagged := triage.Arm{}, triage.Arm{Lag: "p"}
		inSuite, laggedInSuite := triage.Arm{Scope: triage.InSuite}, triage.Arm{Scope: triage.InSuite, Lag: "w"}
		r.Evidence = append(r.Evidence, triage.Evidence{Target: v.Target, Tallies: []triage.Tally{
			{Arm: inSuite, Pass: 2, Sequence: ".."}, {Arm: laggedInSuite, Same: 1, Sequence: "F"},
			{Arm: lagged, Same: 5, Sequence: "FFFFF"}, {Arm: alone, Pass: 5, Sequence: "....."},
		}})
	}
	r.Plan.LagPlans = map[string]triage.LagPlan{"p": {Name: "doubles", MinMS: 400, MaxMS: 400}}
	return r
}

var (
	aRace     = triage.Verdict{Class: triage.LagRevealedRace, Origin: triage.OriginBase, Cause: &triage.Cause{Kind: triage.CauseRace}}
	aSleep    = triage.Verdict{Class: triage.LagRevealedRace, Origin: triage.OriginBase, Cause: &triage.Cause{Kind: triage.CauseFixedSleep}}
	aFlake    = triage.Verdict{Class: triage.PreExistingFlake, Origin: triage.OriginBase}
	aBreak    = triage.Verdict{Class: triage.BrokenOnBase, Origin: triage.OriginBase, Reasons: []triage.Reason{triage.ReasonOrder}}
	aLead     = triage.Verdict{Reasons: []triage.Reason{triage.ReasonNotReproduced}}
	aConfirm  = triage.Verdict{Reasons: []triage.Reason{triage.ReasonUnstable}, Cause: &triage.Cause{Kind: triage.CauseUnstable}}
	aDeadline = triage.Verdict{Reasons: []triage.Reason{triage.ReasonLagArtefact}, Cause: &triage.Cause{Kind: triage.CauseTimeBudget}}
)

func TestTheHeadlineOfASweepCountsFindingsApartFromLeads(t *testing.T) {
	for _, c := range []struct {
		vs    []triage.Verdict
		want  string
		found int
		clean bool
	}{
		{nil, "Nothing found in 91 tests.", 0, true},
		{[]triage.Verdict{aDeadline}, "Nothing found in 91 tests. 1 honest deadline was missed under lag, which is no finding.", 0, true},
		{[]triage.Verdict{aLead, aConfirm}, "Nothing found in 91 tests. 2 leads are open.", 0, false},
		{[]triage.Verdict{aRace, aSleep, aFlake, aBreak, aLead, aDeadline, aDeadline},
			"Found in 91 tests: 2 races, 1 flaky test, 1 broken test. 1 lead is open. 2 honest deadlines were missed under lag, which is no finding.", 4, false},
	} {
		r := sweepOf(c.vs...)
		if got := Headline(r); got != c.want || SweepFindings(r) != c.found || SweepClean(r) != c.clean {
			t.Errorf("%q, %d findings, clean %v\nwant %q", got, SweepFindings(r), SweepClean(r), c.want)
		}
	}
}

func TestASweepThatIsNotWholeIsNotClean(t *testing.T) {
	for name, change := range map[string]func(*triage.Report){
		"cut short":     func(r *triage.Report) { r.Plan.Stopped = "budget" },
		"without tests": func(r *triage.Report) { r.Sweep.Tests = 0 },
		"a lost shard":  func(r *triage.Report) { r.Plan.Parts = []triage.Part{{Shard: triage.Shard{Index: 1, Of: 2}}} },
		"no sweep":      func(r *triage.Report) { r.Sweep = nil },
	} {
		r := sweepOf()
		change(&r)
		if SweepClean(r) {
			t.Errorf("%s: it is called clean", name)
		}
	}
}

func TestTheTableOfASweepHasItsOwnColumnsAndWords(t *testing.T) {
	page := Markdown(sweepOf(aDeadline, aLead, aRace, aSleep, aConfirm, aBreak), Options{})
	for _, want := range []string{
		"| test | verdict | alone | in the suite | alone + lag | in the suite + lag |",
		"| `TestAAA` | race | ○○○○○ 0/5 | ○○ 0/2 | ●●●●● 5/5 at 400 ms | ● 1/1 |",
		"race: a fixed sleep", "a lead, not confirmed: did not fail again", "a lead, confirmed alone, but no single cause", "honest deadline, no finding",
		"fails only in the company of other tests", "Swept `4f1c9a7b0000`. What changed since `a90d1e2f0000` was looked at first.",
		"91 tests in 2 processes of the suite's 1 in 56 s.", "3 red, the delays of 1 were used up before the end.",
		"91 tests, file by file in 60 s.", "30 tests, each alone in 90 s, 61 not reached in the time.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "pull request") {
		t.Errorf("the page speaks of a pull request:\n%s", page)
	}
	if at := strings.Index(page, "`TestAAA` | race"); at > strings.Index(page, "`TestA` | honest") {
		t.Error("what needs nobody comes first")
	}
}

func TestTheEvidenceOfACleanSweepIsItsSteps(t *testing.T) {
	text := SweepEvidence(sweepOf())
	if !strings.HasPrefix(text, "**Nothing found in 91 tests.**\n") || strings.Count(text, "\n- ") != 5 {
		t.Errorf("%s", text)
	}
	if SweepEvidence(triage.Report{}) != "" {
		t.Error("a report without a sweep has evidence of one")
	}
}
