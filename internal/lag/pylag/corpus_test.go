package pylag_test

import (
	"slices"
	"testing"

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
	{"test_flaky.py", "test_p1_attempt_poll", "doubles", race, []string{"Dispatcher._one", "Registry.register"}},
	{"test_flaky.py", "test_p1b_attempt_event_eventlog", "doubles", raceOrSleep, []string{"Dispatcher._one", "Registry.register", "Deduper.discard", "EventLog.emit", "test_p1b_attempt_event_eventlog"}},
	{"test_flaky.py", "test_p1c_mock_resubmit", "doubles", race, []string{"Dispatcher._one", "Registry.register", "Deduper.discard"}},
	{"test_flaky.py", "test_p2_fixed_sleep", "doubles", sleep, []string{"test_p2_fixed_sleep"}},
	{"test_flaky.py", "test_p3_lost_event", "test-50", race, []string{"test_p3_lost_event", "Bus.subscribe", "Sessions.create"}},
	{"test_flaky.py", "test_p4_writer_after_close", "worker-100", raceOrSleep, []string{"test_p4_writer_after_close", "Journal._w", "Journal._flush"}},
	{"test_flaky.py", "test_p5_two_outcomes", "single", race, []string{"Lease._renew", "Store.owner"}},
	{"test_flaky.py", "test_p9_deadline_vs_start", "worker-100", raceOrBudget, []string{"Deadline._run", "Deadline._prep"}},
	{"test_flaky.py", "test_p10_done_callback", "worker-100", raceOrSleep, []string{"test_p10_done_callback", "test_p10_done_callback.<locals>.<lambda>", "Pool._on_done", "Stats.inc"}},
	{"test_flaky.py", "test_p12_attr_after_callback", "doubles", raceOrSleep, []string{"test_p12_attr_after_callback", "Machine._go"}},
	{"test_flaky.py", "test_p12b_attr_after_list_append", "worker-10", race, []string{"Machine._go"}},
	{"test_flaky.py", "test_a1_attempt_event", "worker-10", race, []string{"ARegistry.register", "ADispatcher._run"}},
	{"test_flaky.py", "test_a2_fixed_sleep", "worker-100", sleep, []string{"test_a2_fixed_sleep.<locals>.go"}},
	{"test_flaky.py", "test_a3_unawaited_reaper", "worker-10", race, []string{"Placement._record"}},
	{"test_flaky.py", "test_a4_threadsafe_note", "worker-10", raceOrSleep, []string{"test_a4_threadsafe_note.<locals>.go", "Offload._work"}},
	{"test_flaky.py", "test_a5_lost_event", "test-50", race, []string{"Feed.subscribe", "test_a5_lost_event.<locals>.go"}},
	{"test_more.py", "test_timer_fixed_sleep", "worker-100", sleep, []string{"test_timer_fixed_sleep"}},
	{"test_more.py", "test_child_attempt", "worker-100", raceOrSleep, []string{"test_child_attempt", "publish", "write"}},
	{"test_more.py", "test_fork_attempt", "worker-100", raceOrSleep, []string{"test_fork_attempt", "publish", "write"}},
	{"test_more.py", "test_executor_fixed_sleep", "worker-100", sleep, []string{"test_executor_fixed_sleep.<locals>.go"}},
	{"test_more.py", "test_lost_notify", "test-50", race, []string{"test_lost_notify", "Gate.connect", "Gate.open_later"}},
	{"test_more.py", "test_order_of_two", "single", race, []string{"Pair._first"}},
}

var (
	race         = []triage.CauseKind{triage.CauseRace}
	sleep        = []triage.CauseKind{triage.CauseFixedSleep}
	raceOrSleep  = []triage.CauseKind{triage.CauseRace, triage.CauseFixedSleep}
	raceOrBudget = []triage.CauseKind{triage.CauseRace, triage.CauseTimeBudget}
)

// correct are the repaired variants; honest have a real deadline.
var (
	correctMore = []string{"test_timer_ok", "test_child_ok", "test_fork_ok", "test_executor_ok", "test_lost_notify_ok", "test_order_of_two_ok"}
	correct     = []string{
		"test_p1_attempt_poll", "test_p1b_attempt_event_eventlog", "test_p1c_mock_resubmit", "test_p2_fixed_sleep",
		"test_p3_lost_event", "test_p4_writer_after_close", "test_p5_two_outcomes", "test_p10_done_callback",
		"test_p9_deadline_vs_start", "test_p12_attr_after_callback", "test_p12b_attr_after_list_append",
		"test_fixed_sleep_negative", "test_a1_attempt_event", "test_a2_fixed_sleep", "test_a3_unawaited_reaper",
		"test_a4_threadsafe_note", "test_a5_lost_event", "test_a6_cancel_midway",
	}
	honest = []string{"test_h1_chain_timeout", "test_h2_watchdog", "test_h3_wait_for", "test_h4_until_short"}
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
		if p.Name == "slow-machine" {
			continue
		}
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

// Each racy test is red on its rung and, but for chance, green without lag. The
// table in docs/decisions/0006 has the whole of it; this is one run each.
func TestRacyTestsAreRevealed(t *testing.T) {
	l := newLab(t)
	plain := 0
	for _, c := range racy {
		tg := target(c.file, c.test)
		if l.run(tg, nil).Outcome.Red() {
			plain++
		}
		if c.rung == "single" {
			green := []triage.Trial{l.run(tg, rung(t, "worker-100"))}
			found := false
			l.singles(tg, green, func(_ triage.LagPlan, tr triage.Trial) bool {
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
	if plain > 4 { // they are red now and then on a busy machine
		t.Errorf("%d of %d are red without lag", plain, len(racy))
	}
}

func TestCorrectTestsStayGreen(t *testing.T) {
	l := newLab(t)
	for i, test := range append(slices.Clone(correct), correctMore...) {
		file := "test_correct.py"
		if i >= len(correct) {
			file = "test_more.py"
		}
		names := []string{"doubles", "worker-10", "worker-100", "test-50"}
		if testing.Short() {
			names = names[i%4 : i%4+1]
		}
		for _, name := range names {
			if tr := l.run(target(file, test), rung(t, name)); tr.Outcome != triage.Pass {
				t.Errorf("%s: %v on rung %s: %+v", test, tr.Outcome, name, tr.Failure)
			}
		}
	}
}

// A site id of one run finds the same place in the next: replaying the decisions
// of a red is red again.
func TestARedReplays(t *testing.T) {
	l := newLab(t)
	tg := target("test_flaky.py", "test_p1_attempt_poll")
	first := l.run(tg, rung(t, "worker-10"))
	if !first.Outcome.Red() {
		t.Fatalf("not red: %v", first.Decisions)
	}
	again := l.run(tg, &triage.LagPlan{Version: triage.PlanVersion, Name: "replay", Decisions: first.Decisions, BudgetMS: 20_000})
	if !again.SameFailure(first.Failure.Signature) {
		t.Errorf("the replay came to %v %+v, want %+v", again.Outcome, again.Failure, first.Failure.Signature)
	}
}

func TestSitesAreLearntFromTheLog(t *testing.T) {
	l := newLab(t)
	l.run(target("test_flaky.py", "test_p1_attempt_poll"), rung(t, "doubles"))
	want := triage.Site{
		ID: "shop/core.py:Dispatcher._one:double:1", Kind: triage.KindDouble,
		File: "shop/core.py", Line: 46, Func: "Dispatcher._one", Text: "pane = self.tmux.spawn(job)",
	}
	got := l.sites[want.ID]
	if got.Line == 0 || got.Text != want.Text || got.Func != want.Func || got.File != want.File || got.Kind != want.Kind || got.Test {
		t.Errorf("learnt %+v, want about %+v", got, want)
	}
	if s := lag.SiteOf(want.ID); s.Func != want.Func {
		t.Errorf("the id alone tells %+v", s)
	}
}
