package bench

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/lag/golag"
	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/triage"
)

// pick finds tests of the corpus by "package.Name".
func pick(t testing.TB, names ...string) []corpusTest {
	t.Helper()
	found := only(corpus(t), func(c corpusTest) bool { return slices.Contains(names, c.String()) })
	if len(found) != len(names) {
		t.Fatalf("of %v the corpus has %v", names, found)
	}
	return found
}

func TestTheCorpusIsWhatThePromiseCounts(t *testing.T) {
	all := corpus(t)
	n := func(keep func(corpusTest) bool) int { return len(only(all, keep)) }
	if got := n(corpusTest.counted); got != 16 {
		t.Errorf("%d racy tests count, want 16", got)
	}
	if r, c, h := n(func(c corpusTest) bool { return c.is(racy) }), n(func(c corpusTest) bool { return c.is(correct) }), n(func(c corpusTest) bool { return c.is(honest) }); r != 19 || c != 19 || h != 2 {
		t.Errorf("%d racy, %d correct, %d honest tests", r, c, h)
	}
}

func TestTheTruthTableSpeaksOfTheCorpus(t *testing.T) {
	rows := truths(t)
	racyTests := only(corpus(t), func(c corpusTest) bool { return c.is(racy) })
	if len(rows) != len(racyTests) {
		t.Errorf("%d rows for %d racy tests", len(rows), len(racyTests))
	}
	for _, c := range racyTests {
		if r, ok := rows[c.String()]; !ok || r.Why == "" || len(r.Kinds) == 0 || len(r.Sites) == 0 {
			t.Errorf("%s has no whole row", c)
		}
	}
	tree, err := filepath.Abs(corpusDir)
	if err != nil {
		t.Fatal(err)
	}
	var in *golag.Instrumentation
	proc.Aside(func() {
		in, err = golag.Instrument(t.Context(), nil, golag.Spec{Tree: tree, Package: "./...", Out: t.TempDir()})
	})
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]bool{}
	for _, s := range in.Sites {
		places[line(s)] = true
	}
	for _, r := range rows {
		for _, s := range r.Sites {
			if !places[s] {
				t.Errorf("%s: the engine has no site at %s", r.Test, s)
			}
		}
	}
}

func TestJudgeHoldsEverySiteAgainstTheTruth(t *testing.T) {
	at := func(n int) triage.Site { return triage.Site{File: "a.go", Line: n} }
	r := truth{Kinds: []triage.CauseKind{triage.CauseRace}, Sites: []string{"a.go:1", "a.go:2"}}
	for want, c := range map[grade]triage.Cause{
		right:     {Kind: triage.CauseRace, Sites: []triage.Site{at(2), at(1)}},
		wrongKind: {Kind: triage.CauseTimeBudget, Sites: []triage.Site{at(1)}},
		wrongSite: {Kind: triage.CauseRace, Sites: []triage.Site{at(1), at(3)}},
		unstable:  {Kind: triage.CauseUnstable},
	} {
		if got := r.judge(&c); got != want {
			t.Errorf("%+v is graded %q, want %q", c, got, want)
		}
	}
}

// TestFacts are the facts of the benchmark that load does not change. One lab
// serves them all, so that each package is built once.
func TestFacts(t *testing.T) {
	l := newLab(t)
	t.Run("the ladder reveals within three runs", l.factReveal)
	t.Run("correct tests are green", l.factCorrect)
	t.Run("no wrong cause is named", l.factCause)
	t.Run("an honest deadline is no race", l.factHonest)
}

// climbs is how often the ladder is climbed before a test counts as not revealed.
// Beside four busy jobs one climb in twenty takes a rung too many.
const climbs = 3

func withinReach(s search) bool { return s.red && s.runs <= reachRuns }

func (l *lab) factReveal(t *testing.T) {
	for _, c := range pick(t, "dispatch.RacyPollAttempt", "order.RacyCancelled", "mirror.RacyMockHasKey") {
		l.build(t, c)
		var tries []search // a busy machine can hold the test up for longer than a rung does the worker
		for len(tries) < climbs && !slices.ContainsFunc(tries, withinReach) {
			tries = append(tries, l.climbToRed(t, c))
		}
		if !slices.ContainsFunc(tries, withinReach) {
			t.Errorf("%s: no climb was red after at most %d lagged runs: %+v", c, reachRuns, tries)
		}
	}
}

func (l *lab) factCorrect(t *testing.T) {
	for _, c := range pick(t, "dispatch.OkJoin", "sleepy.OkNegative") {
		l.build(t, c)
		for _, rung := range []string{"worker-10", "test-50", "yield", "random-1"} {
			if tr := l.try(t, c, l.plan(t, rung)); tr.Outcome != triage.Pass {
				t.Errorf("%s is %s under %s:\n%s", c, tr.Outcome, rung, tr.Output)
			}
		}
	}
}

func (l *lab) factCause(t *testing.T) {
	rows := truths(t)
	for _, c := range pick(t, "dispatch.RacyPollAttempt", "sleepy.RacySleep20ms") {
		e := l.nameCause(t, c, rows[c.String()])
		t.Log(e)
		if e.grade == wrongSite || e.trials > lag.DefaultTrials {
			t.Error(e)
		}
	}
}

func (l *lab) factHonest(t *testing.T) {
	for _, c := range pick(t, "honest.HonestTimeout200") {
		l.build(t, c)
		p := l.plan(t, "doubles")
		tr := l.try(t, c, p)
		if !tr.Outcome.Red() {
			t.Fatalf("%s: a delay of 400 ms does not exceed 200 ms", c)
		}
		if cause := l.explain(t, c, hit{p, tr}, lag.Control{Runs: controls}).Cause; calledRace(cause) {
			t.Errorf("%s is called %s at %v: %s", c, cause.Kind, cause.Sites, cause.Note)
		}
	}
}
