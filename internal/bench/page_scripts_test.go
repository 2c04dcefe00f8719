package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/lag/lagtest"
	"github.com/triagebot/triagebot/internal/triage"
)

func scriptsText(all []scriptResult, rounds int) string {
	var b strings.Builder
	b.WriteString("# What the Python and Node lag engines find\n\nWritten by `make bench-scripts BENCH=-bench-write`: measured side by side, test by test in turn. Do not edit. What a trial costs has [a page of its own](benchmarks-costs.md).\n\n")
	for _, r := range all {
		r.write(&b, rounds)
	}
	return b.String()
}

// counts are the rows that keep takes, and those of them that are so.
func (r *scriptResult) counts(keep, is func(scriptRow) bool) (n, of int) {
	for _, w := range r.rows {
		if !keep(w) {
			continue
		}
		of++
		if is(w) {
			n++
		}
	}
	return n, of
}

// The rows that a promise counts, and all of them.
func firstRows(w scriptRow) bool { return !w.c.Later }
func allRows(scriptRow) bool     { return true }

// againMedian is the median over the counted tests of the share of runs under the
// revealing plan that are red.
func (r *scriptResult) againMedian() (share float64, tests int) {
	red, of := map[string]float64{}, map[string]float64{}
	for _, w := range r.rows {
		if firstRows(w) {
			red[w.c.File+w.c.Test] += float64(w.again)
			of[w.c.File+w.c.Test] += float64(w.againOf)
		}
	}
	var shares []float64
	for test, n := range of {
		shares = append(shares, red[test]/max(1, n))
	}
	return median(shares), len(shares)
}

func (r *scriptResult) write(b *strings.Builder, rounds int) {
	fmt.Fprintf(b, "## %s\n\n%s, %d rounds, %s, %.0f minutes. Load average (1, 5, 15 minutes) %s at the start, %s at the end; the run itself adds about 1. The corpus is `%s`.\n\n",
		r.lang.name, machine(), rounds, r.began.UTC().Format("2006-01-02 15:04 MST"), r.took.Minutes(), r.load[0], r.load[1], r.lang.corpus)
	b.WriteString("| what | reach | measured | met |\n|---|---|---|---|\n")
	var gaps strings.Builder
	line := func(what, reach, measured string, ok bool) {
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", what, reach, measured, met(ok))
		if why := r.lang.gaps[what]; !ok && why != "" {
			fmt.Fprintf(&gaps, "- *%s*: %s\n", what, why)
		}
	}
	if wants("reveal") {
		r.revealLines(b, line, rounds)
	}
	if wants("false") {
		line("correct tests red under any rung", "0", fmt.Sprintf("%d of %d runs (%d tests)", len(r.correctReds), r.correctRuns, r.correctTests), len(r.correctReds) == 0)
		line("honest deadlines called a race or a sleep", "0", fmt.Sprintf("%d of %d searches, in %d runs of the ladder", len(r.calledRace), r.honestReds, r.honestRuns), len(r.calledRace) == 0)
	}
	if wants("causes") {
		r.causeLines(line)
	}
	if gaps.Len() > 0 {
		fmt.Fprintf(b, "\nWhy the reaches that are not met are not, as far as it was looked into (the rows below tell which tests it is):\n\n%s", gaps.String())
	}
	b.WriteString("\nA run \"under the revealing plan\" has no search in it: the first plan that was red is run again. The published 74 % is of other programs and of random delays, so it is a mark and not a comparison.\n")
	r.writeRows(b)
	for _, s := range slices.Concat(r.correctReds, r.calledRace) {
		fmt.Fprintf(b, "- %s\n", s)
	}
	if wants("false") {
		fmt.Fprintf(b, "An honest deadline climbs the ladder as in a check, behind its deadline from the first red on. What the searches said of the reds: %v.\n\n", said(r.honestSaid))
	}
}

func said(kinds map[string]int) string {
	var parts []string
	for _, k := range slices.Sorted(keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, kinds[k]))
	}
	return strings.Join(parts, ", ")
}

func (r *scriptResult) revealLines(b *strings.Builder, line promise, rounds int) {
	red, n := r.counts(firstRows, func(w scriptRow) bool { return w.ladder.red })
	line("racy tests revealed by the ladder", "all", fmt.Sprintf("%s (%d tests × %d rounds)", share(red, n), n/rounds, rounds), red == n)
	if later, all := r.counts(allRows, func(w scriptRow) bool { return w.ladder.red }); all > n {
		line("the same, with the later ones", "all", share(later, all), later == all)
	}
	within, _ := r.counts(firstRows, func(w scriptRow) bool { return w.ladder.red && w.ladder.runs <= reachRuns })
	line(withinRuns, "80 %", share(within, n), float64(within) >= reachRunShare*float64(n))
	again, tests := r.againMedian()
	what, got := "a run under the revealing plan is red, median of the tests", fmt.Sprintf("%.0f %% (%d tests, N = %d runs each)", 100*again, tests, againRuns*rounds)
	if r.lang.again > 0 {
		line(what, fmt.Sprintf("> %.0f %%", 100*r.lang.again), got, again > r.lang.again)
	} else {
		fmt.Fprintf(b, "| %s | – | %s | – |\n", what, got)
	}
	plain, _ := r.counts(firstRows, func(w scriptRow) bool { return w.plain.red })
	line("plain re-runs in the same time", "≤ a fifth", fmt.Sprintf("%s, so %s", share(plain, n), folds(red, plain)), fold(red, plain) >= reachFold)
	burnt, _ := r.counts(firstRows, func(w scriptRow) bool { return w.burnt.red })
	fmt.Fprintf(b, "| re-runs beside %d busy loops in the same time | – | %s, so %s | – |\n", burners, share(burnt, n), folds(red, burnt))
}

func (r *scriptResult) causeLines(line promise) {
	for _, s := range []struct {
		name string
		keep func(scriptRow) bool
	}{{causesRight, firstRows}, {causesRight + ", with the later ones", allRows}} {
		right, n := r.counts(s.keep, func(w scriptRow) bool { return w.c.Right(w.said.Cause) })
		if n > 0 {
			line(s.name, "≥ 90 %", share(right, n), float64(right) >= reachCauses*float64(n))
		}
	}
	wrong, n := r.counts(allRows, func(w scriptRow) bool { return w.c.WrongPlace(w.said.Cause) })
	line(wrongPlace, "0", fmt.Sprintf("%d of %d (all tests)", wrong, n), wrong == 0)
}

func (r *scriptResult) writeRows(b *strings.Builder) {
	if len(r.rows) == 0 {
		b.WriteString("\n")
		return
	}
	fmt.Fprintf(b, "\nEach row is one round: the test without lag; the ladder until a run is red; then (but for the later tests) plain re-runs and re-runs beside busy loops for as long, and %d runs more under the plan that was red (\"again\"); then the cause by the product's own search, which confirms the red first and climbs on where it does not hold. A cause is right when its kind and the function of its first place stand in `truth.json` beside the corpus.\n\n", againRuns)
	b.WriteString("| racy test | without lag | lagged runs | rung | s | again | plain, same time | runs | burners | runs | cause | from | right | probes | note |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, w := range r.rows {
		w.write(b)
	}
	b.WriteString("\n")
}

func (w scriptRow) write(b *strings.Builder) {
	yes := map[bool]string{true: "red", false: "–"}
	mark, again, rung := "", "", w.ladder.rung
	if w.c.Later {
		mark = " (later)"
	}
	if w.againOf > 0 {
		again = fmt.Sprintf("%d/%d", w.again, w.againOf)
	}
	if !w.ladder.red {
		rung = "none"
	}
	cause, right, note := "none", "no", ""
	if c := w.said.Cause; c != nil {
		cause, note = string(c.Kind), c.Note
		if len(c.Sites) > 0 {
			cause += " at `" + c.Sites[0].Func + "`"
		}
	}
	if w.c.Right(w.said.Cause) {
		right = "yes"
	}
	plain, burnt := "|", "|"
	if w.againOf > 0 {
		plain, burnt = fmt.Sprintf("%s | %d", yes[w.plain.red], w.plain.runs), fmt.Sprintf("%s | %d", yes[w.burnt.red], w.burnt.runs)
	}
	fmt.Fprintf(b, "| `%s`%s | %d/%d | %d | %s | %.1f | %s | %s | %s | %s | %s | %s | %d | %s |\n", w.c.Test, mark, w.control.Red, w.control.Runs, w.ladder.runs, rung,
		w.ladder.wall.Seconds(), again, plain, burnt, cause, w.said.Rung, right, w.said.Probes, note)
}

func TestAgainMedian(t *testing.T) {
	row := func(name string, again int, later bool) scriptRow {
		return scriptRow{c: lagtest.Racy{Test: name, Later: later}, again: again, againOf: 10}
	}
	r := scriptResult{rows: []scriptRow{row("a", 10, false), row("b", 2, false), row("b", 4, false), row("c", 8, false), row("d", 0, true)}}
	if got, n := r.againMedian(); got != 0.8 || n != 3 {
		t.Errorf("the median is %v of %d tests, want 0.8 of 3: rounds of a test belong together, later tests do not count", got, n)
	}
}

func TestScriptsTextJudgesEachReach(t *testing.T) {
	c := lagtest.Racy{Test: "t", Kinds: []triage.CauseKind{triage.CauseRace}, Funcs: []string{"F"}}
	good := scriptRow{c: c, ladder: search{red: true, runs: 1}, again: 8, againOf: 10,
		said: lagtest.Said{Cause: &triage.Cause{Kind: triage.CauseRace, Sites: []triage.Site{{Func: "F"}}}}}
	bad := scriptRow{c: c, again: 7, againOf: 10, said: lagtest.Said{Cause: &triage.Cause{Kind: triage.CauseRace, Sites: []triage.Site{{Func: "G"}}}}}
	for _, w := range []struct {
		row  scriptRow
		want []string
	}{
		{good, []string{"racy tests revealed by the ladder | all | 1 of 1 = 100 % (1 tests × 1 rounds) | yes", "> 74 % | 80 % (1 tests, N = 10 runs each) | yes", "a wrong place named | 0 | 0 of 1 (all tests) | yes"}},
		{bad, []string{"racy tests revealed by the ladder | all | 0 of 1 = 0 % (1 tests × 1 rounds) | **no**", "> 74 % | 70 % (1 tests, N = 10 runs each) | **no**", "a wrong place named | 0 | 1 of 1 (all tests) | **no**"}},
	} {
		r := scriptResult{lang: scriptLang{name: "Node", again: reachAgain}, rows: []scriptRow{w.row}}
		text := scriptsText([]scriptResult{r}, 1)
		for _, want := range w.want {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
}
