package report

import (
	"fmt"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// fixtures are the reports that the goldens are made of. Together they hold
// every class and every reason.
var fixtures = map[string]func() triage.Report{
	"regression":        regression,
	"flake-on-both":     flakeOnBoth,
	"introduced-flake":  introducedFlake,
	"broken-on-base":    brokenOnBase,
	"race-on-base":      raceOnBase,
	"race-from-head":    raceFromHead,
	"three-reds":        threeReds,
	"every-doubt":       everyDoubt,
	"every-refinement":  everyRefinement,
	"cluster":           cluster,
	"hostile":           hostile,
	"interrupted":       interrupted,
	"nothing-red":       nothingRed,
	"base-does-not-run": baseDoesNotRun,
	"shared-cause":      sharedCause,
	"lost-shard":        lostShard,
}

// sharedCause is a check of a change that has nothing to do with its red: other
// tests of the file are red in other runs, here and in the past.
func sharedCause() triage.Report {
	b := newBuilder()
	file := func(test string) triage.Target {
		return triage.Target{Suite: "web", Framework: "vitest", Package: "src/factory.test.ts", Test: test}
	}
	t := b.red(file("factory > drains on close"), "socket hang up", excerpt("drains on close", "socket hang up"))
	b.both(t, plainArm, "..........", "....")
	b.both(t, packageArm, "..F......", "...")
	f := &b.r.Failures[0]
	f.Ledger = true
	f.Past = &triage.Past{Scope: triage.InSuite, Runs: 41, Red: 7, Same: 5, Since: built.AddDate(0, -2, 0), LastRed: built.AddDate(0, 0, -2),
		Low: 0.07, High: 0.32, Older: triage.Half{Red: 1, Runs: 20}, Newer: triage.Half{Red: 6, Runs: 21}, P: 0.0933, Reports: 41}
	b.verdict(t, triage.Inconclusive, triage.Bound{RateHigh: 0.26, Confidence: 0.95, Text: "≤ 26 % at 95 %"}, triage.ReasonNotReproduced)
	victims := []triage.Target{file("factory > closes twice"), file("factory > drains on close"), file("factory > retries | @octocat"), file("factory > tells")}
	hangUp := signature("socket hang up")
	site := triage.Site{ID: "src/hub.ts:Hub.close:call:1", Kind: triage.KindCall, File: "src/hub.ts", Line: 31, Func: "Hub.close"}
	b.r.Substrate = []triage.Substrate{
		{Place: "src/factory.test.ts", Signature: hangUp, Victims: victims, Earlier: 6,
			Arms: []triage.SubstrateArm{{Arm: triage.Arm{Scope: triage.InSuite}, CI: true, Runs: 6, RedRuns: 6, Victims: 4, Most: 2}}},
		{Place: "src/factory.test.ts", Victims: victims, Arms: []triage.SubstrateArm{
			{Arm: packageArm, Runs: 9, RedRuns: 4, Victims: 4, Most: 1},
			{Arm: packageArm.On(triage.Base), Runs: 5, RedRuns: 3, Victims: 3, Most: 1},
			{Arm: plainArm, Runs: 10}}},
		{Place: "src/hub.ts", Site: &site, Victims: victims[:2]},
		{Place: "src/more.ts", Victims: victims[:3], Arms: []triage.SubstrateArm{{Arm: packageArm, Runs: 3, RedRuns: 3, Victims: 3, Most: 1}}},
	}
	return b.done()
}

// lostShard is a report that was joined from two shards of three.
func lostShard() triage.Report {
	r := threeReds()
	r.Plan.Parts = []triage.Part{
		{Shard: triage.Shard{Index: 1, Of: 3, Tests: 5}, Failures: 2, Trials: len(r.Trials) - 4},
		{Shard: triage.Shard{Index: 3, Of: 3, Tests: 5}, Failures: 1, Trials: 4, Stopped: "budget"},
	}
	r.Plan.Stopped = "budget"
	r.Warnings = append(r.Warnings, "shard 2 of 3 is missing: its tests are not in this report")
	return r
}

func regression() triage.Report {
	b := newBuilder()
	addRegression(b, goTest("parse", "TestParse/empty"))
	return b.done()
}

func addRegression(b *builder, t triage.Target) {
	b.red(t, `Parse("") = <nil>, want error`, excerpt(t.Test, `Parse("") = <nil>, want error`))
	b.both(t, plainArm, "FFFFFF", "......")
	b.compare(t, plainArm, 208, 0.0022)
	b.verdict(t, triage.LikelyRegression, wrong(0.01)).Origin = triage.OriginHead
}

func flakeOnBoth() triage.Report {
	b := newBuilder()
	addFlake(b, goTest("reply", "TestDrain/drains an in-flight reply"))
	return b.done()
}

func addFlake(b *builder, t triage.Target) {
	b.red(t, "reply was not drained", excerpt(t.Test, "reply was not drained"))
	b.both(t, plainArm, ".F..F..", "F..F.F.")
	b.compare(t, plainArm, 0.61, 1)
	b.verdict(t, triage.PreExistingFlake, between(0.13, 0.61)).Origin = triage.OriginBase
}

func introducedFlake() triage.Report {
	b := newBuilder()
	t := b.red(goTest("queue", "TestQueueOrder"), "order [2 1], want [1 2]", excerpt("TestQueueOrder", "order [2 1], want [1 2]"))
	b.both(t, plainArm, "F.F..FF.FF", "..........")
	b.both(t, lagArm(b.plan(triage.LagPlan{Name: "doubles, 400 ms", Kinds: []triage.Kind{triage.KindDouble}, MinMS: 400, MaxMS: 400})), "...", "...")
	b.compare(t, plainArm, 61.2, 0.011)
	b.verdict(t, triage.IntroducedFlake, wrong(0.016)).Origin = triage.OriginHead
	return b.done()
}

func brokenOnBase() triage.Report {
	b := newBuilder()
	t := b.red(goTest("clock", "TestLeapYear"), "2026 is a leap year", excerpt("TestLeapYear", "2026 is a leap year"))
	b.both(t, plainArm, "FFF", "FFF")
	b.compare(t, plainArm, 1, 1)
	b.verdict(t, triage.BrokenOnBase, wrong(0.016)).Origin = triage.OriginBase
	return b.done()
}

func raceOnBase() triage.Report {
	b := newBuilder()
	addRace(b, goTest("dispatch", "TestRedeliveryRetries"), triage.OriginBase, "FFF")
	return b.done()
}

func raceFromHead() triage.Report {
	b := newBuilder()
	addRace(b, goTest("dispatch", "TestRegisterOnce"), triage.OriginHead, "......")
	return b.done()
}

func addRace(b *builder, t triage.Target, origin triage.Origin, base string) {
	b.red(t, "session was not registered", excerpt(t.Test, "session was not registered"))
	site := triage.Site{ID: "dispatch/dispatcher.go:(*Dispatcher).handle:return:1", Kind: triage.KindReturn,
		File: "dispatch/dispatcher.go", Line: 88, Func: "(*Dispatcher).handle", Text: "d.registry.Register(s)"}
	attempt := triage.Site{ID: "dispatch/dispatch_test.go:fakeTmux.deliver:double:1", Kind: triage.KindDouble,
		File: "dispatch/dispatch_test.go", Line: 19, Func: "fakeTmux.deliver", Test: true}
	b.r.Plan.Sites = map[string]triage.Site{site.ID: site, attempt.ID: attempt}
	quiet := b.plan(triage.LagPlan{Name: "yield everywhere", Kinds: []triage.Kind{triage.KindStep}, Yield: true})
	red := b.plan(triage.LagPlan{Name: "doubles, 300 ms", Role: triage.RoleWorker, Kinds: []triage.Kind{triage.KindDouble}, MinMS: 300, MaxMS: 300})
	least := b.plan(triage.LagPlan{Name: "1 place, 2 ms", Decisions: []triage.Decision{{Site: site.ID, Hit: 1, MS: 2}}})
	b.r.Plan.Ladders = map[string][]string{"gotest": {quiet, red}}
	b.both(t, plainArm, "............", "....")
	b.trial(t, lagArm(quiet), triage.Ladder, '.')
	found := b.trial(t, lagArm(red), triage.Ladder, 'F')
	found.Decisions, found.DecisionCount = []triage.Decision{{Site: site.ID, Kind: site.Kind, Role: triage.RoleWorker, Hit: 1, MS: 300}}, 1
	found.Leftovers = []triage.Leftover{{Kind: "file", Name: "registry/session-1.json"}}
	b.both(t, lagArm(red), "FFF", base)
	b.compare(t, plainArm, 1, 1)
	v := b.verdict(t, triage.LagRevealedRace, wrong(0.01))
	v.Origin = origin
	v.Cause = &triage.Cause{Kind: triage.CauseRace, Sites: []triage.Site{site}, DoseMS: 2, MarginMS: 1, Plan: least, Red: 5, Runs: 5,
		Attempt: &attempt, Advice: "Wait on what `(*Dispatcher).handle` changes, not on `fakeTmux.deliver`."}
}

func threeReds() triage.Report {
	b := newBuilder()
	addFlake(b, goTest("reply", "TestDrain/drains an in-flight reply"))
	addRace(b, goTest("dispatch", "TestRedeliveryRetries"), triage.OriginBase, "FFF")
	addRegression(b, goTest("parse", "TestParse/empty"))
	return b.done()
}

// everyDoubt has one test for each reason of an inconclusive verdict.
func everyDoubt() triage.Report {
	b := newBuilder()
	for i, w := range reasonTexts {
		if !w.inconclusive {
			continue
		}
		t := goTest("doubt", fmt.Sprintf("TestDoubt%02d", i))
		if w.reason == triage.ReasonNoTestID {
			t.Test = ""
		}
		b.red(t, "want 200, got 503", excerpt(t.Test, "want 200, got 503"))
		head, base := "....................", "...."
		switch w.reason {
		case triage.ReasonLeaningRegression:
			head, base = "FF", ".."
		case triage.ReasonEnvironment, triage.ReasonSignatureMismatch:
			head, base = "ooo", "ooo"
		case triage.ReasonUnlikeCI:
			head, base = "FFFFF", "FFFFF"
		case triage.ReasonNoMatch, triage.ReasonContaminated, triage.ReasonBaseUnbuildable:
			head, base = "---", "---"
		}
		b.both(t, plainArm, head, base)
		bound := triage.Bound{Confidence: 0.95}
		if w.reason == triage.ReasonNotReproduced {
			bound = triage.Bound{RateHigh: 0.14, Confidence: 0.95, Text: "≤ 14 % at 95 %"}
		}
		b.verdict(t, triage.Inconclusive, bound, w.reason).Settle = "Run it with `--budget 30m`, which allows 40 more runs."
	}
	return b.done()
}

// everyRefinement has one test for each reason that refines another class.
func everyRefinement() triage.Report {
	b := newBuilder()
	refined := func(c triage.Class, test, head, base string, bound triage.Bound, reasons ...triage.Reason) triage.Target {
		t := b.red(goTest("refine", test), "got 1, want 2", excerpt(test, "got 1, want 2"))
		b.both(t, plainArm, head, base)
		b.verdict(t, c, bound, reasons...)
		return t
	}
	refined(triage.LikelyRegression, "TestNew", "FFFF", "----", wrong(0.02), triage.ReasonNewTest)
	refined(triage.IntroducedFlake, "TestNewFlaky", "F.F.", "----", wrong(0.02), triage.ReasonNewTest)
	worse := refined(triage.LikelyRegression, "TestWorse", "FFFFFFFFFFFFFF", "..F......F....", wrong(0.005), triage.ReasonMadeWorse)
	b.compare(worse, plainArm, 340, 0.00001)
	refined(triage.LikelyRegression, "TestOther", "FFFFF", "ooooo", wrong(0.01), triage.ReasonOtherOnBase)
	order := refined(triage.LikelyRegression, "TestOrder", "....", "....", wrong(0.01), triage.ReasonOrder)
	b.both(order, packageArm, "FFFFFF", "......")
	race := refined(triage.LikelyRegression, "TestCounter", "FFFFF", ".....", wrong(0.01), triage.ReasonDataRace, triage.ReasonSignatureDiffers)
	b.both(race, triage.Arm{Detector: "race"}, "FFF", "...")
	b.evidence(race).Warnings = []string{"`-race` slows this test 6 times"}
	build := goTest("refine", "")
	b.red(build, "undefined: frobnicate", "# example.com/loop/refine\nrefine/refine.go:12:2: undefined: frobnicate\n")
	b.both(build, plainArm, "FF", "..")
	b.verdict(build, triage.LikelyRegression, wrong(0.06), triage.ReasonBuild)
	b.r.Warnings = []string{"The work tree has uncommitted changes: they were measured too."}
	b.r.Check.Head.Dirty = true
	return b.done()
}

// cluster is one cause that turned 25 tests red.
func cluster() triage.Report {
	b := newBuilder()
	lead := goTest("store", "TestStore/case_00")
	addRegression(b, lead)
	for i := 1; i < 25; i++ {
		t := b.red(goTest("store", fmt.Sprintf("TestStore/case_%02d", i)), `Parse("") = <nil>, want error`, "")
		v := b.verdict(t, triage.LikelyRegression, triage.Bound{}, triage.ReasonSameSignature)
		v.SameAs, v.Origin = &lead, triage.OriginHead
	}
	addFlake(b, goTest("reply", "TestDrain"))
	return b.done()
}

// hostile has every trick that a page must survive.
func hostile() triage.Report {
	b := newBuilder()
	t := goTest("`x`", "Test@octocat|pipe`tick`</code></details><!-- triagebot:evil --> #1 \u202egnp.exe\x1b[31m\x00")
	b.red(t, "fixes #1 @acme/owners", strings.Join([]string{
		"```", "````", "<!-- triagebot:evil -->", "</details>", "@octocat fixes #1 https://evil.example/x.png",
		"\x1b]0;title\x07\x1b[2Jcleared", "::error file=x::y", "![beacon](https://evil.example/b.png)", "\u202ereversed",
		"/triage all", "a\r\nb\rc"}, "\n"))
	b.both(t, plainArm, "FFF", "FFF")
	v := b.verdict(t, triage.BrokenOnBase, triage.Bound{Text: "<img src=x> @octocat | ``` #7"})
	v.Reproduce = "triagebot replay 'a`b'\nrm -rf / \u202e #"
	v.Settle = "See https://evil.example, www.evil.example, GH-12 and `unbalanced @octocat"
	v.Cause = &triage.Cause{Kind: triage.CauseRace, Advice: "Closes #1, [click](javascript:alert(1)) and `<!-- triagebot:evil -->`",
		Sites: []triage.Site{{ID: "a", Kind: triage.KindCall, File: "a|b.go", Line: 1, Func: "f`g", Text: "</details> | `x`"}}}
	b.evidence(t).Warnings = []string{"## heading", "- [ ] task", "<script>alert(1)</script>", "4f1c9a7b2d3e8f60514a7b9c8d2e3f4051627384"}
	b.r.Warnings = []string{"cc @acme/everyone: a & b", "$\\alpha$ *bold* _it_ ~~no~~ ![x](y)"}
	b.r.Check.Head.Ref = "evil`; rm -rf /"
	b.r.Plan.Lag = "auto | @octocat"
	b.r.Tool.Version = "v1 <b>@octocat</b>"
	return b.done()
}

func interrupted() triage.Report {
	b := newBuilder()
	t := b.red(goTest("parse", "TestParse/empty"), "want error", excerpt("TestParse/empty", "want error"))
	b.both(t, plainArm, "FF", "..")
	v := b.verdict(t, triage.Inconclusive, wrong(0.063), triage.ReasonInterrupted, triage.ReasonLeaningRegression)
	v.Settle = "Go on with `triagebot measure --resume`."
	b.r.Plan.Stopped = "interrupted"
	return b.done()
}

func nothingRed() triage.Report { return newBuilder().done() }

func baseDoesNotRun() triage.Report {
	b := newBuilder()
	b.r.Check.Base.Unbuildable = "go: go.mod requires go >= 1.27 (running go 1.26)\nmore"
	t := b.red(goTest("parse", "TestParse"), "want error", "")
	b.run(t, plainArm, "FFF")
	b.verdict(t, triage.Inconclusive, triage.Bound{}, triage.ReasonBaseUnbuildable)
	return b.done()
}
