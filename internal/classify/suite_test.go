package classify

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

var (
	headSuite = triage.Arm{Scope: triage.InSuite}
	baseSuite = triage.Arm{Side: triage.Base, Scope: triage.InSuite}
)

func withSuite(c *Case) { c.PackageScope, c.SuiteScope, c.Red.Seed = true, true, 77 }

// quietInFile is a case that was green alone and with its file, as often as it takes.
func quietInFile() *Case {
	return scripted().with(withSuite).plain("...", "...").measured(headPackage, ".").plain(".......", "")
}

func TestSuiteScope(t *testing.T) {
	budget := func(c *Case) { c.Stopped = StoppedBudget }
	checkRules(t, []rule{
		{"the package comes first", scripted().with(withSuite).plain("...", "..."), want{step: StepScope}},
		{"then head alone, as ever", scripted().with(withSuite).plain("...", "...").measured(headPackage, "."), want{step: StepPlain, arms: []triage.Arm{head}}},
		{"then one probe of the suite on head", quietInFile(), want{step: StepSuite, arms: []triage.Arm{headSuite}}},
		{"no such run: no probe", quietInFile().with(func(c *Case) { c.SuiteScope = false }), inconclusive(triage.ReasonNotReproduced)},
		{"green there: nothing", quietInFile().measured(headSuite, "."), inconclusive(triage.ReasonNotReproduced)},
		{"red another way: nothing", quietInFile().measured(headSuite, "o"), inconclusive(triage.ReasonNotReproduced)},
		{"a run that says nothing is dear enough", quietInFile().measured(headSuite, "i"), inconclusive(triage.ReasonNotReproduced)},
		{"red: base is run too", quietInFile().measured(headSuite, "F"), want{step: StepSuite, arms: []triage.Arm{baseSuite}}},
		{"they take turns", quietInFile().measured(headSuite, "F").measured(baseSuite, "."), want{step: StepSuite, arms: []triage.Arm{baseSuite, headSuite}}},
		{"head alone fails in company", quietInFile().measured(headSuite, "FFFF").measured(baseSuite, "...."), accused_(triage.ReasonOrder)},
		{"both do", quietInFile().measured(headSuite, "FFFFF").measured(baseSuite, "FFFFF"),
			want{class: triage.BrokenOnBase, origin: triage.OriginBase, reasons: because(triage.ReasonOrder), trial: 15}},
		{"base fails there in another way", quietInFile().measured(headSuite, "FFFFFF").measured(baseSuite, "oooooo"), accused_(triage.ReasonOrder, triage.ReasonOtherOnBase)},
		{"both now and then", quietInFile().measured(headSuite, "F.F..F.F.").measured(baseSuite, ".F.F.F..F"),
			want{class: triage.PreExistingFlake, origin: triage.OriginBase, reasons: because(triage.ReasonOrder)}},
		{"head now and then, base never", quietInFile().measured(headSuite, "FFF.FFF").measured(baseSuite, "......."),
			want{class: triage.IntroducedFlake, origin: triage.OriginHead, reasons: because(triage.ReasonOrder)}},
		{"too rare to tell", quietInFile().measured(headSuite, "F.......").measured(baseSuite, "........"), inconclusive(triage.ReasonUnstable)},
		{"base cannot be run whole", quietInFile().measured(headSuite, "F").measured(baseSuite, "ii"), inconclusive(triage.ReasonEnvironment)},
		{"head is red alone: no probe", scripted().with(withSuite).plain("F..........", "..........."), inconclusive(triage.ReasonUnstable)},
		{"no time for one run of all", quietInFile().with(budget), inconclusive(triage.ReasonNotReproduced, triage.ReasonBudgetExhausted)},
		{"no time for enough", quietInFile().measured(headSuite, "FF").measured(baseSuite, "..").with(budget),
			inconclusive(triage.ReasonLeaningRegression, triage.ReasonOrder, triage.ReasonBudgetExhausted)},
		{"no time for base", quietInFile().measured(headSuite, "F").with(budget),
			want{reasons: because(triage.ReasonBudgetExhausted), text: "with its whole suite head fails 1 of 1 times, base 0 of 0; more runs are needed"}},
		{"a new test", scripted().with(withSuite).plain("..........", "aa").measured(headPackage, "."), want{step: StepSuite, arms: []triage.Arm{headSuite}}},
		{"a new test that fails in company", scripted().with(withSuite).plain("..........", "aa").measured(headPackage, ".").measured(headSuite, "FFFFF"),
			accused_(triage.ReasonNewTest, triage.ReasonOrder)},
	})
	if got := Next(DefaultPolicy(), *quietInFile()).Requests[0].Seed; got != 77 {
		t.Errorf("the suite runs with seed %d, want the red's 77", got)
	}
}

func TestFilesThatRanBeforeAreSearched(t *testing.T) {
	c := quietInFile().measured(headSuite, "FFFF").measured(baseSuite, "....")
	i := slices.IndexFunc(c.Trials, func(t triage.Trial) bool { return t.Arm == headSuite })
	c.Trials[i].BeforeFiles = []string{"a", "b"}
	if step := Next(DefaultPolicy(), *c); step.Kind != StepPolluter {
		t.Fatalf("next is %v, want the search", step.Kind)
	}
	c.Polluted, c.Polluters = true, &triage.Polluters{Files: []string{"a"}}
	if _, v := Judge(DefaultPolicy(), *c); v.Class != triage.LikelyRegression || v.Polluters != c.Polluters {
		t.Errorf("verdict is %v after %v", v.Class, v.Polluters)
	}
}

// suiteRows are planted truths that only the whole suite shows. They are no part
// of docs/simulation.md, whose means weigh its kinds alike.
func suiteRows() []row {
	only := func(head, base float64) world {
		return world{head: behaviour{suite: head}, base: behaviour{suite: base}, ci: red, wholeSuite: true}
	}
	return []row{
		{"regression that needs its suite", isRegression, fixed(only(1, 0))},
		{"the same, CI left no message", isRegression, with(only(1, 0), func(w *world) { w.ci = triage.Signature{} })},
		{"the same, base red there in another way", isRegression, func(*rand.Rand) world {
			w := only(1, 0)
			w.base.other = 0.3
			return w
		}},
		{"the same, 90–100 % in a 20 % flake of the suite", isRegression, func(r *rand.Rand) world { return only(between(r, 0.9, 1), 0.2) }},
		{"order dependent on both", isOnBase, fixed(only(1, 1))},
		{"flake of the suite on both", isFlake, func(r *rand.Rand) world { rate := between(r, 0.05, 0.95); return only(rate, rate) }},
		{"the same, 50 %", isFlake, fixed(only(0.5, 0.5))},
		{"the same, that drifts", isFlake, func(r *rand.Rand) world {
			rate := between(r, 0.1, 0.9)
			w := only(rate, rate)
			w.drift = 1.5
			return w
		}},
		{"a little alone, more in the suite, on both", isFlake, func(r *rand.Rand) world {
			alone, suite := between(r, 0, 0.2), between(r, 0.2, 0.8)
			b := behaviour{rate: alone, lag: alone, scope: alone, suite: suite}
			return world{head: b, base: b, ci: red, wholeSuite: true}
		}},
		{"never red here", isNeither, fixed(only(0, 0))},
	}
}

func TestSimulationOfTheWholeSuite(t *testing.T) {
	all := suiteRows()
	each := max(100, *simChecks/len(all))
	var measured []measuredRow
	for i, r := range all {
		m := simulate(DefaultPolicy(), r, 1000+i, each)
		checkRow(t, m)
		t.Logf("%-50s %d: yours %d, excused %d, inconclusive %d, %.1f trials", r.name, m.n, m.yours, m.notYours, m.verdicts[column{}], float64(m.all)/float64(m.n))
		measured = append(measured, m)
	}
	if m := measured[0]; m.yours != m.n || m.notYours > 0 {
		t.Errorf("%s: found %d of %d, excused %d", m.name, m.yours, m.n, m.notYours)
	}
	if m := measured[4]; m.verdicts[column{triage.BrokenOnBase, triage.OriginBase}] != m.n {
		t.Errorf("%s: %v", m.name, m.verdicts)
	}
}

// TestTheSuiteCostsNothingBeforeItIsNeeded: with the same chances, a case that is
// decided alone, under lag or with its package asks for the very same trials.
func TestTheSuiteCostsNothingBeforeItIsNeeded(t *testing.T) {
	for i, r := range rows() {
		for n := range 20 {
			cases := [2]Case{}
			for k := range cases {
				s := newSimulation(uint64(i), uint64(n))
				w := r.plant(s.random)
				w.wholeSuite = k == 1
				cases[k] = newCase(w)
				s.drive(DefaultPolicy(), w, &cases[k])
			}
			without, with := requests(cases[0]), requests(cases[1])
			_, v := Judge(DefaultPolicy(), cases[0])
			quiet := slices.Contains(v.Reasons, triage.ReasonNotReproduced)
			if !quiet && !cmp.Equal(without, with) {
				t.Fatalf("%s: %d trials become %d", r.name, len(without), len(with))
			}
			if quiet && len(with) != len(without)+1 {
				t.Fatalf("%s: %d trials of a quiet test become %d, want one more", r.name, len(without), len(with))
			}
		}
	}
}

func requests(c Case) []triage.Request {
	var out []triage.Request
	for _, t := range c.Trials {
		out = append(out, t.Request)
	}
	return out
}
