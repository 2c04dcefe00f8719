package bench

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/framework/pytest"
	"github.com/triagebot/triagebot/internal/framework/vitest"
	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/lag/lagtest"
	"github.com/triagebot/triagebot/internal/triage"
)

const (
	scriptsPage = "../../docs/benchmarks-scripts.md"
	// scriptRounds and goRounds are the rounds of a page unless -bench-rounds says
	// otherwise: a process of pytest or vitest takes a hundred times a Go test's.
	scriptRounds = 1
	// againRuns is how often a test is run under the plan that was first red, to
	// tell how often one lagged run shows it.
	againRuns = 10
	// scriptControls are the runs without lag of each test.
	scriptControls = 5
)

// scriptLang is one of the languages that are measured on this page.
type scriptLang struct {
	name, framework, corpus string
	lab                     func(t testing.TB) *lagtest.Lab
	// again is the reach for the share of runs that the revealing plan turns red,
	// 0 where nothing was promised.
	again float64
	// cost is what an instrumented process pays, in its own words.
	cost func(t testing.TB) []costRow
	// bare makes the command by which a person runs one test.
	bare func(t testing.TB) bareCommand
	// gaps say why a reach is missed when it is; each was looked into.
	gaps map[string]string
}

// truth is what is known of the tests of its corpus.
func (s scriptLang) truth(t testing.TB) lagtest.Truth {
	t.Helper()
	known, err := lagtest.ReadTruth(filepath.Join("..", "..", filepath.Dir(s.corpus), "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	return known
}

var scriptLangs = []scriptLang{
	{"Python", pytest.Name, "internal/lag/pylag/testdata/corpus", pythonLab, 0, pythonCost, barePytest, nil},
	{"Node", vitest.Name, "internal/lag/nodelag/testdata/corpus", nodeLab, reachAgain, nodeCost, bareVitest, nodeGaps},
}

var nodeGaps = map[string]string{
	causesRight: "\"v5 two terminal outcomes\" is red by itself on a busy machine (column \"without lag\"), and of a test that is red in more than 2 of 5 such runs nothing is claimed.",
}

// scriptRow is one round of one racy test, looked at in every way.
type scriptRow struct {
	c                    lagtest.Racy
	ladder, plain, burnt search
	// again of againOf runs under the plan that was first red were red.
	again, againOf int
	control        lag.Control
	said           lagtest.Said
}

// scriptResult is what was measured of one language.
type scriptResult struct {
	lang                      scriptLang
	rows                      []scriptRow
	correctTests, correctRuns int
	correctReds               []string
	honestRuns, honestReds    int
	honestSaid                map[string]int
	calledRace                []string
	began                     time.Time
	took                      time.Duration
	load                      [2]string
}

// TestBenchScripts measures the promises of Python and Node, language by language.
// One of them alone: -run TestBenchScripts/Node, which writes no page.
func TestBenchScripts(t *testing.T) {
	if !*table {
		t.Skip("run with -bench-table to measure")
	}
	refuseParts(t)
	n := roundsOr(scriptRounds)
	var all []scriptResult
	for _, lang := range scriptLangs {
		t.Run(lang.name, func(t *testing.T) { all = append(all, measureLang(t, lang, n)) })
	}
	if t.Failed() {
		return
	}
	text := scriptsText(all, n)
	fmt.Println(text)
	if len(all) < len(scriptLangs) && *write {
		t.Fatalf("%s is not written: %d of its %d languages were measured", scriptsPage, len(all), len(scriptLangs))
	}
	writePage(t, scriptsPage, text)
}

func measureLang(t *testing.T, lang scriptLang, rounds int) scriptResult {
	r := scriptResult{lang: lang, honestSaid: map[string]int{}, began: time.Now()}
	r.load[0] = load()
	l := lang.lab(t)
	known := lang.truth(t)
	known.Racy = chosen(known.Racy, func(c lagtest.Racy) string { return c.Test })
	known.Correct = chosen(known.Correct, func(c lagtest.Named) string { return c.Test })
	known.Honest = chosen(known.Honest, func(c lagtest.Named) string { return c.Test })
	for round := range rounds {
		progress := fmt.Sprintf("%s, round %d of %d", lang.name, round+1, rounds)
		if wants("reveal") || wants("causes") {
			r.measureRacy(l, known.Racy, progress)
		}
		if wants("false") {
			r.measureFalse(l, known, progress)
		}
	}
	r.took, r.load[1] = time.Since(r.began), load()
	return r
}

// measureRacy goes test by test, so that a change of the machine's load meets all
// ways of looking alike.
func (r *scriptResult) measureRacy(l *lagtest.Lab, racy []lagtest.Racy, progress string) {
	for i, c := range racy {
		t := l.Target(c.File, c.Test)
		l.Try(t, l.Plan("yield")) // what is prepared once is not timed
		row := scriptRow{c: c, control: controlOf(l, t)}
		climb := l.Climb(t)
		began := time.Now()
		plan, red, ok := climb.Next()
		row.ladder = search{red: ok, runs: climb.Runs, wall: time.Since(began), rung: plan.Name}
		if wants("reveal") && !c.Later { // the promises count the first ones
			r.reveal(l, t, &row, plan)
		}
		if wants("causes") && ok {
			row.said = climb.Explain(plan, red, row.control)
		}
		r.rows = append(r.rows, row)
		say(fmt.Sprintf("%s, test %d of %d: %s: %s", progress, i+1, len(racy), c.Test, row.short()))
	}
}

// reveal looks at the test in the other ways: plainly and beside busy loops for as
// long as the ladder took, and again under the plan that was red.
func (r *scriptResult) reveal(l *lagtest.Lab, t triage.Target, row *scriptRow, plan triage.LagPlan) {
	row.plain = plainly(l, t, row.ladder.wall)
	stop := burn(l.T)
	row.burnt = plainly(l, t, row.ladder.wall)
	stop()
	for range againRuns {
		if row.ladder.red && l.Try(t, &plan).Outcome.Red() {
			row.again++
		}
	}
	row.againOf = againRuns
}

// short is a row for who watches.
func (w scriptRow) short() string {
	s := fmt.Sprintf("red %v after %d lagged runs (%s), again %d of %d", w.ladder.red, w.ladder.runs, w.ladder.rung, w.again, w.againOf)
	if c := w.said.Cause; c != nil {
		s += fmt.Sprintf("; cause %s, right %v, %d probes", c.Kind, w.c.Right(c), w.said.Probes)
		for _, site := range c.Sites {
			s += " " + site.ID
		}
		s += " " + c.Note
	}
	return s
}

// plainly re-runs a test without lag until it is red, and for so long at most.
func plainly(l *lagtest.Lab, t triage.Target, within time.Duration) search {
	var s search
	for began := time.Now(); !s.red && time.Since(began) < within; s.wall = time.Since(began) {
		s.red = l.Try(t, nil).Outcome.Red()
		s.runs++
	}
	return s
}

func (r *scriptResult) measureFalse(l *lagtest.Lab, known lagtest.Truth, progress string) {
	r.correctTests = len(known.Correct)
	for i, c := range known.Correct {
		t := l.Target(c.File, c.Test)
		for i := range l.Plans {
			r.correctRuns++
			if tr := l.Try(t, &l.Plans[i]); tr.Outcome.Red() {
				r.correctReds = append(r.correctReds, fmt.Sprintf("%s under %s: %s", c.Test, l.Plans[i].Name, tr.Failure.Message))
			}
		}
		say(fmt.Sprintf("%s, correct test %d of %d: %d of %d runs red", progress, i+1, len(known.Correct), len(r.correctReds), r.correctRuns))
	}
	for _, c := range known.Honest {
		r.measureHonest(l, l.Target(c.File, c.Test))
		say(fmt.Sprintf("%s, honest deadline %s: so far %d of %d runs red, said %v", progress, c.Test, r.honestReds, r.honestRuns, r.honestSaid))
	}
}

// measureHonest climbs as a check does with a test whose deadline is meant: from
// the first red on, the deadlines are out of the way.
func (r *scriptResult) measureHonest(l *lagtest.Lab, t triage.Target) {
	control := controlOf(l, t)
	climb := l.Climb(t)
	if plan, red, ok := climb.Next(); ok {
		for _, cause := range climb.Explain(plan, red, control).All {
			r.honestReds++
			r.honestSaid[string(cause.Kind)]++
			if calledRace(cause) {
				r.calledRace = append(r.calledRace, fmt.Sprintf("%s: %s by plan %s", t.Test, cause.Kind, cause.Plan))
			}
		}
	}
	r.honestRuns += climb.Runs
}

// controlOf runs a test without lag, so often that the search does without runs
// of its own.
func controlOf(l *lagtest.Lab, t triage.Target) lag.Control {
	var c lag.Control
	for range scriptControls {
		if l.Try(t, nil).Outcome.Red() {
			c.Red++
		}
		c.Runs++
	}
	return c
}
