package nodelag_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/framework/jest"
	"github.com/triagebot/triagebot/internal/framework/mocha"
	"github.com/triagebot/triagebot/internal/framework/nodetest"
	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/triage"
)

// racy are the corpus's racy tests: the rung that shows each, and what its cause
// may be called.
var racy = []struct {
	file, test, rung string
	kinds            []triage.CauseKind
	// funcs are the functions that may lead the cause.
	funcs []string
}{
	{"flaky-v1", "flaky > v1 attempt then outcome (waitFor wrong fact)", "worker-10", raceOrSleep, []string{"Registry.register", "Dispatcher.run", "<module>"}},
	{"flaky-v2", "flaky > v2 fixed sleep", "worker-100", sleep, []string{"<module>"}},
	{"flaky-v3", "flaky > v3 unawaited promise, placement vs reaper", "worker-10", race, []string{"Registry.register", "Placement.record"}},
	{"flaky-v4", "flaky > v4 writer after close", "worker-100", raceOrSleep, []string{"Journal.flush", "<module>"}},
	{"flaky-v5", "flaky > v5 two terminal outcomes", "single", race, []string{"Store.owner", "Lease.renew"}},
	{"flaky-v6", "flaky > v6 lost event", "test-50", race, []string{"<module>", "sleep"}},
	{"flaky-v7", "flaky > v7 fake timers with a real promise", "worker-100", raceOrSleep, []string{"Poller.tick", "<module>"}},
	{"flaky-v8", "flaky > v8 deadline vs start", "worker-100", raceOrBudget, []string{"Deadline.run"}},
	{"flaky-v9", "flaky > v9 debounce margin", "worker-100", sleep, []string{"<module>"}},
}

var (
	race         = []triage.CauseKind{triage.CauseRace}
	sleep        = []triage.CauseKind{triage.CauseFixedSleep}
	raceOrSleep  = []triage.CauseKind{triage.CauseRace, triage.CauseFixedSleep}
	raceOrBudget = []triage.CauseKind{triage.CauseRace, triage.CauseTimeBudget}
)

// correct are the repaired variants, and code whose order the language fixes;
// honest have a real deadline.
var (
	correct = [][2]string{
		{"correct-v1", "correct > v1 waitFor the outcome"}, {"correct-v2", "correct > v2 idle()"}, {"correct-v3", "correct > v3 awaited placement"},
		{"correct-v4", "correct > v4 close waits"}, {"correct-v5", "correct > v5 safe lease"}, {"correct-v6", "correct > v6 subscribe first"},
		{"correct-v7", "correct > v7 fake timers, outcome waited"}, {"correct-v8", "correct > v8 long deadline"}, {"correct-v9", "correct > v9 fake debounce"},
		{"correct-m1", "correct > m1 pure microtasks"}, {"correct-m2", "correct > m2 fake clock backoff"}, {"correct-m3", "correct > m3 negative sleep"},
	}
	honest = [][2]string{{"honest-h1", "honest > h1 timeout 300"}, {"honest-h2", "honest > h2 race with timeout"}}
)

// singles runs the rung "one site at a time" after these green trials.
func (l *lab) singles(t triage.Target, green []triage.Trial, visit func(triage.LagPlan, triage.Trial) bool) {
	var seen []triage.Decision
	for _, tr := range green {
		seen = append(seen, tr.Decisions...)
	}
	for _, p := range lag.Singles(seen, 0) {
		if !visit(p, l.run(t, &p)) {
			return
		}
	}
}

// reveal climbs the ladder until the test is red, and tells how many lagged runs
// that took.
func (l *lab) reveal(t triage.Target, plans []triage.LagPlan) (plan triage.LagPlan, red triage.Trial, runs int) {
	var green []triage.Trial
	for i, p := range plans {
		if i > 0 && plans[i-1].Name == "yield" { // where the pipeline puts this rung
			l.singles(t, green, func(p triage.LagPlan, tr triage.Trial) bool {
				runs++
				plan, red = p, tr
				return !tr.Outcome.Red()
			})
			if red.Outcome.Red() {
				return plan, red, runs
			}
		}
		tr := l.run(t, &p)
		runs++
		if tr.Outcome.Red() {
			return p, tr, runs
		}
		green = append(green, tr)
	}
	return triage.LagPlan{}, triage.Trial{}, runs
}

func rung(t *testing.T, name string) *triage.LagPlan {
	t.Helper()
	plans := rungs(t)
	i := slices.IndexFunc(plans, func(p triage.LagPlan) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("the ladder has no rung %q", name)
	}
	return &plans[i]
}

// every reports whether the whole corpus is to be run, which takes minutes: each
// test is a process of vitest. Else every third test is.
func every(i int) bool { return os.Getenv("TRIAGEBOT_TEST_ALL") != "" || i%3 == 0 }

// Each racy test is red on its rung. The table in docs/decisions/0007 has the
// whole of it; this is one run each.
func TestRacyTestsAreRevealed(t *testing.T) {
	l := newLab(t)
	for i, c := range racy {
		if !every(i) {
			continue
		}
		tg := target(c.file, c.test)
		if c.rung == "single" {
			found := false
			l.singles(tg, []triage.Trial{l.run(tg, rung(t, "yield"))}, func(_ triage.LagPlan, tr triage.Trial) bool {
				found = tr.Outcome.Red()
				return !found
			})
			if !found {
				t.Errorf("%s: no single site turns it red", c.test)
			}
			continue
		}
		if tr := l.run(tg, rung(t, c.rung)); !tr.Outcome.Red() {
			t.Errorf("%s: %v on rung %s, decisions %v", c.test, tr.Outcome, c.rung, tr.Decisions)
		}
	}
}

// One rung each, in turn; the measurement has all of them.
func TestCorrectTestsStayGreen(t *testing.T) {
	l := newLab(t)
	names := []string{"worker-10", "worker-100", "test-50", "all-400"}
	for i, c := range correct {
		if !every(i) {
			continue
		}
		name := names[i%len(names)]
		if tr := l.run(target(c[0], c[1]), rung(t, name)); tr.Outcome != triage.Pass {
			t.Errorf("%s: %v on rung %s: %+v", c[1], tr.Outcome, name, tr.Failure)
		}
	}
}

// A site id of one run finds the same place in the next: replaying the decisions
// of a red is red again, in each of vitest's pools.
func TestARedReplaysInEveryPool(t *testing.T) {
	for _, pool := range []string{"forks", "threads", "vmThreads"} {
		t.Run(pool, func(t *testing.T) {
			l := newLab(t, "--pool="+pool)
			tg := target(racy[0].file, racy[0].test)
			first := l.run(tg, rung(t, "worker-10"))
			if !first.Outcome.Red() {
				t.Fatalf("not red: %v", first.Decisions)
			}
			again := l.run(tg, &triage.LagPlan{Version: triage.PlanVersion, Name: "replay", Decisions: first.Decisions, BudgetMS: 20_000})
			if !again.SameFailure(first.Failure.Signature) {
				t.Errorf("the replay came to %v %+v, want %+v", again.Outcome, again.Failure, first.Failure.Signature)
			}
		})
	}
}

// The same preload serves every runner: CommonJS and ES modules, with and without
// a virtual machine's context.
func TestEveryRunnerIsLagged(t *testing.T) {
	for _, c := range []struct {
		framework, file string
		a               adapter
	}{
		{jest.Name, "jest.test.js", jest.Adapter{}},
		{mocha.Name, "mocha.cjs", mocha.Adapter{}},
		{mocha.Name, "mocha.mjs", mocha.Adapter{}},
		{nodetest.Name, "node.mjs", nodetest.Adapter{}},
	} {
		t.Run(c.framework+" "+c.file, func(t *testing.T) {
			l := newLabOf(t, "runners", c.a)
			if err := os.WriteFile(filepath.Join(l.tree, "package.json"), []byte("{}"), 0o644); err != nil {
				t.Fatal(err)
			}
			tg := triage.Target{Suite: c.framework, Framework: c.framework, Package: "test/" + c.file, Test: "registers"}
			tr := l.run(tg, rung(t, "worker-10"))
			if tr.Outcome != triage.Fail || len(tr.Decisions) == 0 {
				t.Errorf("%v, decisions %v", tr.Outcome, tr.Decisions)
			}
			for id, s := range l.sites {
				if s.Line == 0 || !strings.HasPrefix(id, "src/registry.") {
					t.Errorf("site %+v", s)
				}
			}
		})
	}
}

func TestSitesAreLearntFromTheLog(t *testing.T) {
	l := newLab(t)
	l.run(target(racy[0].file, racy[0].test), rung(t, "worker-10"))
	want := triage.Site{
		ID: "src/core.ts:Registry.register:wake:1", Kind: triage.KindWake, File: "src/core.ts", Line: 10,
		Func: "Registry.register", Text: "await new Promise<void>((r) => setImmediate(r))",
	}
	if got := l.sites[want.ID]; got != want {
		t.Errorf("learnt %+v, want %+v", got, want)
	}
	if s := lag.SiteOf(want.ID); s.Func != want.Func {
		t.Errorf("the id alone tells %+v", s)
	}
}
