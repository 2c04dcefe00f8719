package bench

import (
	"fmt"
	"slices"
	"strings"
)

func scriptsText(all []scriptResult, rounds int) string {
	var b strings.Builder
	b.WriteString("# What the Python and Node lag engines find\n\nWritten by `make bench BENCH=-bench-write`: measured side by side, test by test in turn. Do not edit.\n\n")
	for _, r := range all {
		r.write(&b, rounds)
	}
	return b.String()
}

// counts are the rows that a promise counts, and those of them that were right in some way.
func (r *scriptResult) counts(is func(scriptRow) bool) (n, of int) {
	for _, w := range r.rows {
		if w.c.Later {
			continue
		}
		of++
		if is(w) {
			n++
		}
	}
	return n, of
}

func (r *scriptResult) write(b *strings.Builder, rounds int) {
	fmt.Fprintf(b, "## %s\n\n%s, %s, %d rounds, %.0f minutes. Load average (1, 5, 15 minutes) %s at the start, %s at the end; the run itself adds about 1. The corpus is `%s`.\n\n",
		r.lang.name, machine(), r.began.UTC().Format("2006-01-02 15:04 MST"), rounds, r.took.Minutes(), r.load[0], r.load[1], r.lang.corpus)
	b.WriteString("| what | reach | measured | met |\n|---|---|---|---|\n")
	line := func(what, reach, measured string, ok bool) {
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", what, reach, measured, met(ok))
	}
	red, n := r.counts(func(w scriptRow) bool { return w.ladder.red })
	line("racy tests revealed by the ladder", "all", share(red, n), red == n)
	within, _ := r.counts(func(w scriptRow) bool { return w.ladder.red && w.ladder.runs <= reachRuns })
	line("of them within 3 lagged runs", "80 %", share(within, n), float64(within) >= reachRunShare*float64(n))
	plain, _ := r.counts(func(w scriptRow) bool { return w.plain.red })
	line("plain re-runs in the same time", "≤ a fifth", fmt.Sprintf("%s, so %s", share(plain, n), folds(red, plain)), fold(red, plain) >= reachFold)
	burnt, _ := r.counts(func(w scriptRow) bool { return w.burnt.red })
	line(fmt.Sprintf("re-runs beside %d busy loops in the same time", burners), "", share(burnt, n), true)
	line("correct tests red under any rung", "0", fmt.Sprintf("%d of %d runs (%d tests)", len(r.correctReds), r.correctRuns, r.correctTests), len(r.correctReds) == 0)
	line("honest deadlines called a race or a sleep", "0", fmt.Sprintf("%d of %d reds in %d runs", len(r.calledRace), r.honestReds, r.honestRuns), len(r.calledRace) == 0)
	right, _ := r.counts(func(w scriptRow) bool { return w.c.Right(w.cause) })
	line("causes named right", "90 %", share(right, n), float64(right) >= reachCauses*float64(n))
	wrong, _ := r.counts(func(w scriptRow) bool { return w.c.WrongPlace(w.cause) })
	line("a wrong place named", "0", fmt.Sprintf("%d of %d", wrong, n), wrong == 0)
	for _, c := range r.costs {
		fmt.Fprintf(b, "| %s | %s | %s | |\n", c.what, c.reach, c.measured)
	}
	r.writeRows(b)
	for _, s := range slices.Concat(r.correctReds, r.calledRace) {
		fmt.Fprintf(b, "- %s\n", s)
	}
	b.WriteString("\n")
}

func (r *scriptResult) writeRows(b *strings.Builder) {
	b.WriteString("\nEach row is one round: the ladder until a run is red, then plain re-runs and re-runs beside busy loops for as long; then the cause by the product's own search.\n\n")
	b.WriteString("| racy test | lagged runs | rung | s | plain, same time | runs | burners | runs | cause | right | probes |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	yes := map[bool]string{true: "red", false: "–"}
	for _, w := range r.rows {
		mark := ""
		if w.c.Later {
			mark = " (later)"
		}
		cause, right := "none", "no"
		if w.cause != nil {
			cause = string(w.cause.Kind)
			if len(w.cause.Sites) > 0 {
				cause += " at `" + w.cause.Sites[0].Func + "`"
			}
		}
		if w.c.Right(w.cause) {
			right = "yes"
		}
		fmt.Fprintf(b, "| `%s`%s | %d | %s | %.1f | %s | %d | %s | %d | %s | %s | %d |\n", w.c.Test, mark, w.ladder.runs, w.ladder.rung, w.ladder.wall.Seconds(),
			yes[w.plain.red], w.plain.runs, yes[w.burnt.red], w.burnt.runs, cause, right, w.probes)
	}
	b.WriteString("\n")
}
