package classify

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

func (r rule) check(t *testing.T) {
	t.Helper()
	step := Next(DefaultPolicy(), *r.c)
	if step.Kind != r.want.step {
		t.Fatalf("next step is %v %q, want %v", step.Kind, step.Rung, r.want.step)
	}
	if step.Rung != r.want.rung {
		t.Errorf("rung is %q, want %q", step.Rung, r.want.rung)
	}
	if r.want.arms != nil {
		var arms []triage.Arm
		for _, q := range step.Requests {
			arms = append(arms, q.Arm)
		}
		if d := cmp.Diff(r.want.arms, arms); d != "" {
			t.Errorf("arms (-want +got):\n%s", d)
		}
	}
	_, v := Judge(DefaultPolicy(), *r.c)
	if r.want.step != StepDone {
		if v.Class != triage.Inconclusive {
			t.Errorf("judged %v before the procedure is done", v.Class)
		}
		return
	}
	if v.Class != r.want.class || v.Origin != r.want.origin {
		t.Errorf("verdict is %v of %q (%v, %s), want %v of %q", v.Class, v.Origin, v.Reasons, v.Bound.Text, r.want.class, r.want.origin)
	}
	if !slices.Equal(v.Reasons, r.want.reasons) {
		t.Errorf("reasons are %v, want %v", v.Reasons, r.want.reasons)
	}
	if r.want.trial != 0 && v.Trial != r.want.trial {
		t.Errorf("trial to replay is %d, want %d", v.Trial, r.want.trial)
	}
	if r.want.text != "" && v.Bound.Text != r.want.text {
		t.Errorf("bound is %q, want %q", v.Bound.Text, r.want.text)
	}
	if v.Bound.Text == "" {
		t.Error("the verdict has no bound")
	}
	if (v.Class == triage.Inconclusive) != (v.Settle != "") {
		t.Errorf("%v says %q would settle it", v.Class, v.Settle)
	}
}

func because(r ...triage.Reason) []triage.Reason { return r }

func accused_(why ...triage.Reason) want {
	return want{class: triage.LikelyRegression, origin: triage.OriginHead, reasons: why}
}

func inconclusive(why ...triage.Reason) want { return want{reasons: why} }

func noMessage(c *Case) { c.Red = ci(triage.Signature{}) }
func withRungs(c *Case) { c.Rungs = []string{"r1", "r2"} }
func withScope(c *Case) { c.PackageScope, c.Red.Seed = true, 77 }
func familyOf5(c *Case) { c.Family = 5 }
func explained(c *Case) {
	causes(c)["r1"] = &triage.Cause{Kind: triage.CauseRace, DoseMS: 2}
}
func unexplained(c *Case) { causes(c)["r1"] = nil }

func causes(c *Case) map[string]*triage.Cause {
	if c.Causes == nil {
		c.Causes = map[string]*triage.Cause{}
	}
	return c.Causes
}

func TestPlainRounds(t *testing.T) {
	checkRules(t, []rule{
		{"nothing yet: the original red is not counted", scripted(), want{step: StepPlain, arms: []triage.Arm{head, base}}},
		{"the second round turns the order", scripted().plain("F", "."), want{step: StepPlain, arms: []triage.Arm{base, head}}},
		{"an invalid trial is run again alone", scripted().plain("Fi", ".."), want{step: StepPlain, arms: []triage.Arm{head}}},
		{"three rounds do not accuse", scripted().plain("FFF", "..."), want{step: StepPlain}},
		{"four rounds of separation accuse", scripted().plain("FFFF", "...."),
			want{class: triage.LikelyRegression, origin: triage.OriginHead, trial: 1, text: "wrong ≤ 1 %"}},
		{"in a family of five they do not", scripted().plain("FFFF", "....").with(familyOf5), want{step: StepPlain}},
		{"unless four others are rejected", scripted().plain("FFFF", "....").with(familyOf5).with(func(c *Case) { c.Rejected = 4 }), accused_()},
		{"base fails another way every time", scripted().plain("FFFF", "oooo"), accused_(triage.ReasonOtherOnBase)},
		{"base fails far less", scripted().plain("FFFFFFFFFFFF", "..F......F.."), accused_(triage.ReasonMadeWorse)},
		{"head passed once, base fails far less", scripted().plain("FFF.FFFFFFFFFFFF", "..F............."), accused_(triage.ReasonMadeWorse)},
		{"base never red: head's other reds count too", scripted().plain("FpFp", "...."), accused_()},
		{"head fails steadily, not as CI showed", scripted().plain("pppp", "...."), accused_(triage.ReasonSignatureDiffers)},
		{"neither side fails as CI showed, and both always", scripted().plain("pppp", "oooo"), inconclusive(triage.ReasonEnvironment, triage.ReasonOtherOnBase)},
		{"head fails steadily, not as CI showed, and base at times", scripted().plain("pppppp", "o..o.."), accused_(triage.ReasonOtherOnBase, triage.ReasonSignatureDiffers)},
		{"a data race says so", scripted().with(raced).plain("FFFF", "....").with(raceTrials), accused_(triage.ReasonDataRace)},
		{"timeouts are reds", scripted().plain("TTTT", "...."), accused_(triage.ReasonSignatureDiffers)},
		{"both sides alike, not as CI showed", scripted().plain("ooo", "ooo"), inconclusive(triage.ReasonEnvironment)},
		{"both sides alike, as CI showed", scripted().plain("FFFFF", "FFFFF"),
			want{class: triage.BrokenOnBase, origin: triage.OriginBase, text: "base fails ≥ 55 % of the time at 95 %"}},
		{"four rounds of that are too few", scripted().plain("FFFF", "FFFF"), want{step: StepPlain}},
		{"both always fail, base at times another way", scripted().plain("FFFFF", "FFoFF"), want{step: StepPlain}},
		{"a flake that was there", scripted().plain("F.F..F.F.", ".F.F.F..F"),
			want{class: triage.PreExistingFlake, origin: triage.OriginBase, text: "14–79 % on base at 95 %"}},
		{"a pass on head and a red on base are no excuse yet", scripted().plain("FF.F", "..F."), want{step: StepPlain}},
		{"head that never passed is never excused", scripted().plain("FFFFFFFF", "F.FF.FFF"), want{step: StepPlain}},
		{"a flake with another signature on base is none", scripted().plain("F.F..F.F.", ".o.o.o..o"), want{step: StepPlain}},
		{"nor when head is seldom red", scripted().plain("F......", "o.o.o.o"), want{step: StepPlain}},
		{"base clean but for another failure: mixed", scripted().with(withRungs).plain("F..F.", "o...."), want{step: StepLadder, rung: "r1"}},
		{"a new failure beside the old flake is no excuse", scripted().plain("pp.ppFpp.ppp", ".F....F..F.."), want{step: StepPlain}},
	})
}

func raced(c *Case) { c.Red.Signature.Phase = triage.PhaseRace }

// raceTrials gives every red trial the case's own signature.
func raceTrials(c *Case) {
	for i := range c.Trials {
		if c.Trials[i].Failure != nil {
			c.Trials[i].Failure.Signature = c.Red.Signature
		}
	}
}

func TestNoMessageFromCI(t *testing.T) {
	checkRules(t, []rule{
		{"four rounds of separation accuse", scripted().with(noMessage).plain("FFFF", "...."), accused_()},
		{"base broken another way takes one round more, for choosing the signature", scripted().with(noMessage).plain("FFFF", "oooo"), want{step: StepPlain}},
		{"then accuses", scripted().with(noMessage).plain("FFFFF", "ooooo"), accused_(triage.ReasonOtherOnBase)},
		{"both fail alike: a broken base, or something missing here", scripted().with(noMessage).plain("FFFFF", "FFFFF"), inconclusive(triage.ReasonNoLog)},
		{"both fail alike in set-up", scripted().with(noMessage).plain("FFF", "FFF").with(setupTrials), inconclusive(triage.ReasonEnvironment)},
		{"reds without any message are not the same failure", scripted().with(noMessage).plain("zzzzz", "zzzzz"), want{step: StepPlain}},
		{"head's own failure is not excused by base's other one", scripted().with(noMessage).plain("FF.FF.F..", "oo.oo.F.."), want{step: StepPlain}},
		{"a flake of two failures", scripted().with(noMessage).plain("F..o..F..", ".oF..o..."), want{class: triage.PreExistingFlake, origin: triage.OriginBase}},
		{"a red of base without a message is not quiet", scripted().with(noMessage).with(withRungs).plain("...", "z.."), want{step: StepPlain}},
		{"but they are reds", scripted().with(noMessage).plain("zzzz", "...."), accused_()},
		{"only base shows a failure, which nothing links to the red", scripted().with(noMessage).plain("......", "F..F.."), want{step: StepPlain}},
	})
}

func setupTrials(c *Case) {
	for i := range c.Trials {
		c.Trials[i].Failure.Signature.Phase = triage.PhaseSetup
	}
}

func TestBothFailAlikeInTrialsThatMayNotBeCIs(t *testing.T) {
	unlike := func(c *Case) { c.Unlike = true }
	checkRules(t, []rule{
		{"as CI runs it, main is broken", scripted().plain("FFFFF", "FFFFF"), want{class: triage.BrokenOnBase, origin: triage.OriginBase}},
		{"otherwise what is missing may be what fails", scripted().with(unlike).plain("FFFFF", "FFFFF"), inconclusive(triage.ReasonUnlikeCI)},
		{"with its whole suite too", scripted().with(withSuite).with(unlike).plain("..........", "...").measured(headPackage, "...").
			measured(headSuite, "FFFFF").measured(baseSuite, "FFFFF").with(func(c *Case) { c.Polluted = true }), inconclusive(triage.ReasonUnlikeCI)},
		{"an accusation stands", scripted().with(unlike).plain("FFFF", "...."), accused_()},
		{"so does an old flake", scripted().with(unlike).with(noMessage).plain("F..o..F..", ".oF..o..."), want{class: triage.PreExistingFlake, origin: triage.OriginBase}},
	})
}

func TestTrialsThatSayNothing(t *testing.T) {
	noted := func(note string) func(*Case) {
		return func(c *Case) {
			for i := range c.Trials {
				if !c.Trials[i].Outcome.Counts() {
					c.Trials[i].Note = note
				}
			}
		}
	}
	checkRules(t, []rule{
		{"no such test on head", scripted().plain("aa", ".."), inconclusive(triage.ReasonNoMatch)},
		{"skipped on head", scripted().plain("sss", "..."), inconclusive(triage.ReasonEnvironment)},
		{"skipped on base", scripted().plain("FFF", "sss"), inconclusive(triage.ReasonEnvironment)},
		{"base loads head's files", scripted().plain("FFF", "iii").with(noted("contaminated: base loaded head's x.go")), inconclusive(triage.ReasonContaminated)},
		{"base does not build", scripted().plain("FFF", "iii").with(noted("build failed: x.go:1: syntax error")), inconclusive(triage.ReasonBaseUnbuildable)},
		{"runner crashes", scripted().plain("iii", "..."), inconclusive(triage.ReasonEnvironment)},
		{"two in a row are borne", scripted().plain("FFF", "ii"), want{step: StepPlain}},
		{"unknown outcomes never pass", scripted().plain("???", "..."), inconclusive(triage.ReasonEnvironment)},
		{"invalid trials do not make rounds", scripted().plain("FiFiFiF", "......."), accused_()},
		{"now and then, too often", scripted().plain("iiFiiFiiFii", "..........."), inconclusive(triage.ReasonEnvironment)},
		{"base is unbuildable", scripted().with(func(c *Case) { c.BaseUnbuildable = "x.go:1" }), inconclusive(triage.ReasonBaseUnbuildable)},
		{"head is unbuildable here", scripted().with(func(c *Case) { c.HeadUnbuildable, c.BaseUnbuildable = "x.go:1", "x.go:1" }), inconclusive(triage.ReasonEnvironment)},
	})
}

func TestBuildFailures(t *testing.T) {
	broken := func(c *Case) {
		c.Red.Target.Test, c.Red.Signature.Phase = "", triage.PhaseBuild
		c.HeadUnbuildable, c.BaseUnbuildable = "x.go:1", ""
	}
	checkRules(t, []rule{
		{"are measured like any red", scripted().with(broken), want{step: StepPlain}},
		{"head does not build", scripted().with(broken).plain("FFFF", "....").with(raceTrials), accused_(triage.ReasonBuild)},
		{"neither side builds", scripted().with(broken).plain("FFFFF", "FFFFF").with(raceTrials),
			want{class: triage.BrokenOnBase, origin: triage.OriginBase, reasons: because(triage.ReasonBuild)}},
		{"no lag for a command", scripted().with(withRungs).with(broken).plain("...", "..."), want{step: StepPlain, arms: []triage.Arm{head}}},
		{"a command without an id that stays green", scripted().with(func(c *Case) { c.Red.Target.Test = "" }).plain("..........", "..."),
			inconclusive(triage.ReasonNoTestID, triage.ReasonNotReproduced)},
	})
}

func TestNewTests(t *testing.T) {
	checkRules(t, []rule{
		{"base is not asked a third time", scripted().plain("FF", "aa"), want{step: StepPlain, arms: []triage.Arm{head}}},
		{"always red", scripted().plain("FFFFF", "aa"),
			want{class: triage.LikelyRegression, origin: triage.OriginHead, reasons: because(triage.ReasonNewTest), text: "fails ≥ 55 % of the time at 95 %"}},
		{"three reds are too few", scripted().plain("FFF", "aa"), want{step: StepPlain}},
		{"absent once more changes nothing", scripted().plain("FFFFF", "aaa"), accused_(triage.ReasonNewTest)},
		{"mixed", scripted().plain("F.F", "aa"), want{class: triage.IntroducedFlake, origin: triage.OriginHead, reasons: because(triage.ReasonNewTest)}},
		{"green: the ladder", scripted().with(withRungs).plain("...", "aa"), want{step: StepLadder, rung: "r1", arms: []triage.Arm{lagged("r1")}}},
		{"red under lag: the plan again, on head alone", scripted().with(withRungs).plain("...", "aa").tried(lagged("r1"), "FFF").with(explained),
			want{step: StepConfirm, rung: "r1", arms: []triage.Arm{lagged("r1")}}},
		{"red each time", scripted().with(withRungs).plain("...", "aa").tried(lagged("r1"), "FFF").with(explained).measured(lagged("r1"), "FFF"),
			want{class: triage.LagRevealedRace, origin: triage.OriginHead, reasons: because(triage.ReasonNewTest), trial: 9}},
		{"green for good", scripted().plain("..........", "aa"), inconclusive(triage.ReasonNotReproduced)},
		{"absent once is not absent", scripted().plain("FF", "a."), want{step: StepPlain, arms: []triage.Arm{base}}},
	})
}

// A slip in the command itself is red on both sides, and nobody's excuse.
func TestACommandThatFailsAlikeExcusesNothing(t *testing.T) {
	c := scripted().plain("FFFFFFFF", "FFFFFFFF")
	c.Red.Target.Test, c.Red.Target.Package = "", ""
	for i := range c.Trials {
		c.Trials[i].Target = c.Red.Target
	}
	_, v := Judge(DefaultPolicy(), *c)
	if v.Class != triage.Inconclusive || !slices.Contains(v.Reasons, triage.ReasonEnvironment) || v.NotYours() {
		t.Errorf("verdict %s %v, want inconclusive: environment", v.Class, v.Reasons)
	}
}

func TestAMissingEnvironmentIsToldInItsOwnWords(t *testing.T) {
	for name, c := range map[string]struct{ message, want string }{
		"first line":     {"KeyError: 'APP_REGION'\n  more", `head 3/3 and base 3/3 fail alike, but not the way CI did: here it says "KeyError: 'APP_REGION'"`},
		"a long one":     {strings.Repeat("é", 300), `head 3/3 and base 3/3 fail alike, but not the way CI did: here it says "` + strings.Repeat("é", 200) + `…"`},
		"a hostile one":  {"a\x1b[2J\u202e", `head 3/3 and base 3/3 fail alike, but not the way CI did: here it says "a\x1b[2J\u202e"`},
		"without a word": {"", `head 3/3 and base 3/3 fail alike, but not the way CI did`},
	} {
		s := scripted().plain("ooo", "ooo")
		for i := range s.Trials {
			s.Trials[i].Failure.Message = c.message
		}
		if _, v := Judge(DefaultPolicy(), *s); v.Bound.Text != c.want {
			t.Errorf("%s: %q, want %q", name, v.Bound.Text, c.want)
		}
	}
}
