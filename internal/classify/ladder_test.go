package classify

import (
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// quietly is a red that passes alone on both sides, with two rungs.
func quietly() *Case { return scripted().with(withRungs).plain("...", "...") }

func deadline(doseMS float64) func(*Case) {
	return func(c *Case) {
		causes(c)["r1"] = &triage.Cause{Kind: triage.CauseTimeBudget, DoseMS: doseMS, MarginMS: doseMS - 10}
	}
}

func TestLadder(t *testing.T) {
	hit := func() *Case { return quietly().tried(lagged("r1"), "FFF") }
	undecided := func() *Case {
		return hit().with(explained).measured(lagged("r1"), "F.F..F.F..").measured(laggedBase("r1"), "..........")
	}
	second := func(kind triage.CauseKind) func(*Case) {
		return func(c *Case) { causes(c)["r2"] = &triage.Cause{Kind: kind, DoseMS: 200, MarginMS: 190} }
	}
	unstable := func(c *Case) { causes(c)["r1"] = &triage.Cause{Kind: triage.CauseUnstable} }
	undelayed := func(c *Case) { causes(c)["r1"] = &triage.Cause{Kind: triage.CauseUnstable, Undelayed: true} }
	confirm := want{step: StepConfirm, rung: "r1", arms: []triage.Arm{lagged("r1"), laggedBase("r1")}}
	checkRules(t, []rule{
		{"green alone: the first rung on head", quietly(), want{step: StepLadder, rung: "r1", arms: []triage.Arm{lagged("r1")}}},
		{"green: the next", quietly().tried(lagged("r1"), "."), want{step: StepLadder, rung: "r2"}},
		{"red another way: the next", quietly().tried(lagged("r1"), "o"), want{step: StepLadder, rung: "r2"}},
		{"red its own way: again", quietly().tried(lagged("r1"), "F"), want{step: StepLadder, rung: "r1", arms: []triage.Arm{lagged("r1")}}},
		{"not each time: the next", quietly().tried(lagged("r1"), "F."), want{step: StepLadder, rung: "r2"}},
		{"three times: the cause", hit(), want{step: StepExplain, rung: "r1"}},
		{"then the same plan on both sides", hit().with(explained), confirm},
		{"without a cause plain runs of head speak first", hit().with(unexplained), want{step: StepPlain, arms: []triage.Arm{head}}},
		{"and when they stay green, both sides", hit().with(unexplained).plain(".......", ""), confirm},
		{"a head that fails plainly has no race without a cause",
			scripted().with(withRungs).plain("....F....F", "..........").tried(lagged("r1"), "FFF").tried(laggedBase("r1"), ".").with(unexplained).
				measured(lagged("r1"), "FFFF").measured(laggedBase("r1"), "...."), want{step: StepLadder, rung: "r2"}},
		{"one red of them, and it was no lag", hit().with(unexplained).plain("F", ""), want{step: StepPlain}},
		{"the tries are not counted", hit().with(explained).measured(lagged("r1"), "F").measured(laggedBase("r1"), "F"), want{step: StepConfirm, rung: "r1"}},
		{"base red under the plan", hit().with(explained).measured(lagged("r1"), "FF").measured(laggedBase("r1"), "FF"),
			want{class: triage.LagRevealedRace, origin: triage.OriginBase, trial: 10}},
		{"base clean under the plan", hit().with(explained).measured(lagged("r1"), "FFFF").measured(laggedBase("r1"), "...."),
			want{class: triage.LagRevealedRace, origin: triage.OriginHead, text: "wrong ≤ 1 %"}},
		{"base clean, too few", hit().with(explained).measured(lagged("r1"), "FFF").measured(laggedBase("r1"), "..."), want{step: StepConfirm, rung: "r1"}},
		{"base red another way puts it nowhere", hit().with(explained).measured(lagged("r1"), "FFFF").measured(laggedBase("r1"), "oooo"), want{step: StepConfirm, rung: "r1"}},
		{"one red of base in many puts it nowhere", hit().with(explained).measured(lagged("r1"), "FFFFFF").measured(laggedBase("r1"), "F....."), want{step: StepConfirm, rung: "r1"}},
		{"nor do two", hit().with(explained).measured(lagged("r1"), "FFFFFF").measured(laggedBase("r1"), "F....F"), want{step: StepConfirm, rung: "r1"}},
		{"undecided: the search goes on", hit().with(explained).measured(lagged("r1"), "F.F..F.F..").measured(laggedBase("r1"), ".........."), want{step: StepLadder, rung: "r2"}},
		{"the next is explained and measured for itself", undecided().tried(lagged("r2"), "FFF"), want{step: StepExplain, rung: "r2"}},
		{"and then its own cause counts", undecided().tried(lagged("r2"), "FFF").with(second(triage.CauseRace)), want{step: StepConfirm, rung: "r2"}},
		{"a cause that is unstable does not end the ladder", hit().with(unstable), want{step: StepLadder, rung: "r2"}},
		{"one that took no delay is none of lag's", hit().with(undelayed).tried(lagged("r2"), ".").plain(".......", ""), inconclusive(triage.ReasonUnstable, triage.ReasonNotReproduced)},
		{"and a later rung may have a cause", hit().with(unstable).tried(lagged("r2"), "FFF"), want{step: StepExplain, rung: "r2"}},
		{"which is what is told", hit().with(unstable).tried(lagged("r2"), "FFF").with(second(triage.CauseRace)).measured(lagged("r2"), "FF").measured(laggedBase("r2"), "FF"),
			want{class: triage.LagRevealedRace, origin: triage.OriginBase, trial: 13}},
		{"without one plain runs of head speak", hit().with(unstable).tried(lagged("r2"), "."), want{step: StepPlain, arms: []triage.Arm{head}}},
		{"and when they stay green the unstable rung", hit().with(unstable).tried(lagged("r2"), ".").plain(".......", ""), confirm},
		{"before an honest deadline", hit().with(unstable).tried(lagged("r2"), "FFF").with(second(triage.CauseTimeBudget)).plain(".......", ""), confirm},
		{"an honest deadline does not end the ladder", hit().with(deadline(200)), want{step: StepLadder, rung: "r2"}},
		{"nor does it hide a race of a later rung", hit().with(deadline(200)).tried(lagged("r2"), "FFF").with(second(triage.CauseRace)).
			measured(lagged("r2"), "FF").measured(laggedBase("r2"), "FF"), want{class: triage.LagRevealedRace, origin: triage.OriginBase}},
		{"a deadline that could not be named", hit().with(func(c *Case) { causes(c)["r1"] = &triage.Cause{Kind: triage.CauseUnstable, Deadline: true} }).tried(lagged("r2"), "."),
			want{reasons: because(triage.ReasonLagArtefact), text: "green once the timeouts are longer"}},
		{"nothing but honest deadlines", hit().with(deadline(200)).tried(lagged("r2"), "FFF").with(second(triage.CauseTimeBudget)), inconclusive(triage.ReasonLagArtefact)},
		{"an honest deadline and nothing else", hit().with(deadline(200)).tried(lagged("r2"), "."),
			want{reasons: because(triage.ReasonLagArtefact), trial: 7, text: "a time budget holds up to 190 ms of delay and breaks at 200 ms"}},
		{"a deadline that a hiccup breaks, the way CI saw it", hit().with(deadline(15)), confirm},
		{"a deadline that a hiccup breaks, CI's way not known", hit().with(noMessage).with(deadline(15)).tried(lagged("r2"), "."), inconclusive(triage.ReasonLagArtefact)},
		{"nothing: some more runs of head", quietly().tried(lagged("r1"), ".").tried(lagged("r2"), "."), want{step: StepPlain, arms: []triage.Arm{head}}},
		{"nothing at all", quietly().tried(lagged("r1"), ".").tried(lagged("r2"), ".").plain(".......", ""),
			want{reasons: because(triage.ReasonNotReproduced), text: "≤ 26 % at 95 %"}},
		{"nothing but another failure", quietly().tried(lagged("r1"), "o").tried(lagged("r2"), ".").plain(".......", ""),
			inconclusive(triage.ReasonNotReproduced, triage.ReasonSignatureMismatch)},
		{"nothing steady", quietly().tried(lagged("r1"), "F.").tried(lagged("r2"), ".").plain(".......", ""),
			inconclusive(triage.ReasonUnstable, triage.ReasonNotReproduced)},
		{"a rung that cannot run: the next", quietly().tried(lagged("r1"), "ii"), want{step: StepLadder, rung: "r2"}},
		{"no rung can run: lag is given up", quietly().tried(lagged("r1"), "ii").tried(lagged("r2"), "ii"), want{step: StepPlain}},
		{"no lag for a data race", quietly().with(raced), want{step: StepPlain}},
	})
}

func TestLadderWithoutAKnownSignature(t *testing.T) {
	checkRules(t, []rule{
		{"one stable red will do", quietly().with(noMessage).tried(lagged("r1"), "ooo"), want{step: StepExplain, rung: "r1"}},
		{"an unstable one will not", quietly().with(noMessage).tried(lagged("r1"), "Fo"), want{step: StepLadder, rung: "r2"}},
		{"nor does it spoil the next rung", quietly().with(noMessage).tried(lagged("r1"), "Fo").tried(lagged("r2"), "ppp"), want{step: StepExplain, rung: "r2"}},
		{"base must fail the same way", quietly().with(noMessage).tried(lagged("r1"), "ooo").with(explained).
			measured(lagged("r1"), "oo").measured(laggedBase("r1"), "FF"), want{step: StepConfirm, rung: "r1"}},
	})
}

func TestMixedHead(t *testing.T) {
	mixedHead := func() *Case { return scripted().with(withRungs).plain("F..F.", ".....") }
	checkRules(t, []rule{
		{"five rounds come first", scripted().with(withRungs).plain("F..F", "...."), want{step: StepPlain}},
		{"then the rungs on both sides", scripted().with(withRungs).plain("F....", "....."), want{step: StepLadder, rung: "r1", arms: []triage.Arm{lagged("r1"), laggedBase("r1")}}},
		{"reds under lag of a head that fails anyway mean nothing", mixedHead().tried(lagged("r1"), "FFF").tried(laggedBase("r1"), "."), want{step: StepLadder, rung: "r2"}},
		{"unless base is red too", mixedHead().tried(lagged("r1"), "FFF").tried(laggedBase("r1"), "F"), want{step: StepExplain, rung: "r1"}},
		{"head seldom red alone, always under lag", scripted().with(withRungs).plain("F....", ".....").tried(lagged("r1"), "FFF").tried(laggedBase("r1"), "."), want{step: StepExplain, rung: "r1"}},
		{"two reds of base under the plan are not enough here", scripted().with(withRungs).plain("F....", ".....").tried(lagged("r1"), "FFF").tried(laggedBase("r1"), "F").with(explained).
			measured(lagged("r1"), "FF").measured(laggedBase("r1"), "FF"), want{step: StepConfirm, rung: "r1"}},
		{"as red as head is", scripted().with(withRungs).plain("F....", ".....").tried(lagged("r1"), "FFF").tried(laggedBase("r1"), "F").with(explained).
			measured(lagged("r1"), "FFFFFF").measured(laggedBase("r1"), "FFFFFF"), want{step: StepPlain}},
		{"and plainly no worse to the end", scripted().with(withRungs).plain("F..................", "...................").tried(lagged("r1"), "FFF").tried(laggedBase("r1"), "F").with(explained).
			measured(lagged("r1"), "FFFFFF").measured(laggedBase("r1"), "FFFFFF"), want{class: triage.LagRevealedRace, origin: triage.OriginBase}},
		{"plainly red on both sides once the cause is known: a race still", scripted().with(withRungs).plain("...", "...").tried(lagged("r1"), "FFF").with(explained).
			measured(lagged("r1"), "FFFFFF").measured(laggedBase("r1"), "FFFFFF").plain(".F.......", "..F......"), want{class: triage.LagRevealedRace, origin: triage.OriginBase}},
		{"a flake where base is green under the plan", scripted().with(withRungs).plain("...", "...").tried(lagged("r1"), "FFF").with(explained).
			measured(lagged("r1"), "FF").measured(laggedBase("r1"), "..").plain(".F.......", "..F......"), want{class: triage.PreExistingFlake, origin: triage.OriginBase}},
		{"made worse by head", scripted().with(withRungs).plain("F.FF.FFF.FF.", "............").tried(lagged("r1"), "FFF").tried(laggedBase("r1"), "F").with(explained).
			measured(lagged("r1"), "FFFFFF").measured(laggedBase("r1"), "FFFFFF"), accused_(triage.ReasonMadeWorse)},
		{"beyond chance: base under every rung", scripted().with(withRungs).plain("FFF.FFF", "......."), want{step: StepLadder, rung: "r1", arms: []triage.Arm{laggedBase("r1")}}},
		{"all clean: introduced", scripted().with(withRungs).plain("FFF.FFF", ".......").tried(laggedBase("r1"), ".").tried(laggedBase("r2"), "."),
			want{class: triage.IntroducedFlake, origin: triage.OriginHead, trial: 1}},
		{"base red under lag: head made it far worse", scripted().with(withRungs).plain("FFF.FFF", ".......").tried(laggedBase("r1"), ".").tried(laggedBase("r2"), "F"), accused_(triage.ReasonMadeWorse)},
		{"without lag the rounds alone speak", scripted().plain("FFF.FFF", "......."), want{class: triage.IntroducedFlake, origin: triage.OriginHead}},
		{"too rare to tell", scripted().plain("F.........", ".........."), inconclusive(triage.ReasonUnstable)},
		{"frequent enough to go on", scripted().plain("F.F..F.F..", ".........."), want{step: StepPlain}},
	})
}

func TestPackageScope(t *testing.T) {
	alone := func() *Case { return scripted().with(withScope).plain("...", "...") }
	checkRules(t, []rule{
		{"one probe on head", alone(), want{step: StepScope, arms: []triage.Arm{headPackage}}},
		{"green there: nothing", alone().measured(headPackage, "."), want{step: StepPlain}},
		{"red another way: nothing", alone().measured(headPackage, "o"), want{step: StepPlain}},
		{"red: base is filled up", alone().measured(headPackage, "F"), want{step: StepScope, arms: []triage.Arm{basePackage}}},
		{"head alone fails in company", alone().measured(headPackage, "FFFF").measured(basePackage, "...."), accused_(triage.ReasonOrder)},
		{"both do", alone().measured(headPackage, "FFFFF").measured(basePackage, "FFFFF"),
			want{class: triage.BrokenOnBase, origin: triage.OriginBase, reasons: because(triage.ReasonOrder), trial: 7}},
		{"no such run: no probe", alone().with(func(c *Case) { c.PackageScope = false }), want{step: StepPlain}},
		{"head is red alone: no probe", scripted().with(withScope).plain("F....", "....."), want{step: StepPlain}},
		{"after four rungs", alone().with(func(c *Case) { c.Rungs = simRungs }).tried(lagged("double"), ".").tried(lagged("worker10"), ".").
			tried(lagged("worker100"), ".").tried(lagged("test-side"), "."), want{step: StepScope}},
		{"then the other rungs", alone().with(func(c *Case) { c.Rungs = simRungs }).tried(lagged("double"), ".").tried(lagged("worker10"), ".").
			tried(lagged("worker100"), ".").tried(lagged("test-side"), ".").measured(headPackage, "."), want{step: StepLadder, rung: "yield"}},
	})
	step := Next(DefaultPolicy(), *alone())
	if got := step.Requests[0].Seed; got != 77 {
		t.Errorf("the package runs with seed %d, want the red's 77", got)
	}
	if got := Next(DefaultPolicy(), *scripted().with(withScope)).Requests[0].Seed; got != 0 {
		t.Errorf("alone the test runs with seed %d, want none", got)
	}
}
