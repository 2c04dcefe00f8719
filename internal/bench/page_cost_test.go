package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// gradesOf counts the grades of the searches that keep takes.
func (r *results) gradesOf(keep func(explained) bool) (map[grade]int, int) {
	n, total := map[grade]int{}, 0
	for _, e := range r.causes {
		if keep(e) {
			n[e.grade]++
			total++
		}
	}
	return n, total
}

func (r *results) causePromises(line promise) {
	g, n := r.gradesOf(func(e explained) bool { return e.test.counted() })
	asked := n - g[plainlyRed]
	line(causesRight, "≥ 90 %", fmt.Sprintf("%s of the reds that need lag (%d more are mostly red without it and are left unstable); right place with another kind %d, unstable %d", share(g[right], asked), g[plainlyRed], g[wrongKind], g[unstable]),
		float64(g[right]) >= reachCauses*float64(asked))
	all, total := r.gradesOf(func(explained) bool { return true })
	line(wrongPlace, "never", fmt.Sprintf("%d of %d (all 19 tests)", all[wrongSite], total), all[wrongSite] == 0)
	most := 0
	var trials []float64
	for _, e := range r.causes {
		most = max(most, e.trials)
		if e.trials > 0 {
			trials = append(trials, float64(e.trials))
		}
	}
	line("runs a cause", "≤ 40", fmt.Sprintf("median %g, most %d (N = %d)", median(trials), most, len(trials)), most <= reachProbes)
}

func (r *results) writeCauses(b *strings.Builder) {
	rows := map[corpusTest][]explained{}
	var tests []corpusTest
	for _, e := range r.causes {
		if rows[e.test] == nil {
			tests = append(tests, e.test)
		}
		rows[e.test] = append(rows[e.test], e)
	}
	b.WriteString("## Causes\n\nEach racy test goes up the ladder to the first rung that is red three times in three, as in a check; then `lag.Explain` names the cause. What may be said of each test, and why, is in `internal/bench/testdata/causes.json`; every site that is named counts, not only the first.\n\n")
	b.WriteString("| racy test | grade | said, last round | rung | runs, median | s, with the climb | note |\n|---|---|---|---|---|---|---|\n")
	for _, c := range tests {
		es := rows[c]
		last := es[len(es)-1]
		said := string(last.kind)
		if len(last.sites) > 0 {
			said += " at " + strings.Join(last.sites, ", ")
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %g | %.1f | %s |\n", c, grades(es), said, last.rung,
			median(collect(es, func(e explained) float64 { return float64(e.trials) })), median(collect(es, func(e explained) float64 { return e.wallMS / 1000 })), last.note)
	}
	b.WriteString("\n")
}

// grades are the grades of a test's rounds, the same ones together.
func grades(es []explained) string {
	var out []string
	for _, g := range []grade{right, wrongKind, wrongSite, unstable, plainlyRed} {
		n := 0
		for _, e := range es {
			if e.grade == g {
				n++
			}
		}
		switch {
		case n == len(es):
			return string(g)
		case n > 0:
			out = append(out, fmt.Sprintf("%s %d", g, n))
		}
	}
	return strings.Join(out, ", ")
}

func (r *results) costPromises(line promise) {
	var over, gaps, extra []float64
	for _, p := range r.pairs {
		over = append(over, p.overheads()...)
		extra = append(extra, p.extras()...)
	}
	for _, b := range r.builds {
		gaps = append(gaps, b.gap...)
	}
	n := len(over)
	line(fmt.Sprintf("%d plain trials against as many runs of the bare binary", checkTrials), "≤ 1.05 × + 0.3 s",
		fmt.Sprintf("1.05 × + %.2f s in the median, + %.2f s at most (N = %d)", median(extra)/1000, slices.Max(append(extra, 0))/1000, len(extra)), median(extra) <= reachFixedMS)
	line("a trial beside the binary's own time", "≤ 10 ms", fmt.Sprintf("median %.1f ms (N = %d)", median(over), n), median(over) <= reachTrialMS)
	line("from the end of the build to the first trial", "≤ 1 s", fmt.Sprintf("median %.1f ms, most %.1f ms (N = %d)", median(gaps), slices.Max(append(gaps, 0)), len(gaps)), slices.Max(append(gaps, 0)) <= reachGapMS)
}

func (r *results) writeCost(b *strings.Builder) {
	fmt.Fprintf(b, "## A trial beside the bare binary\n\nIn turn, %d times each. A trial has a directory, a clean environment and a process group of its own, is swept, and its output is read.\n\n", pairs)
	b.WriteString("| test | bare ms, median | trial ms, median | overhead ms, median of the pairs | 90th percentile | all trials over all bare runs |\n|---|---|---|---|---|---|\n")
	for _, p := range r.pairs {
		bare, trial := p.sums()
		over := slices.Sorted(slices.Values(p.overheads()))
		fmt.Fprintf(b, "| `%s` | %.2f | %.2f | %.2f | %.2f | %.3f × |\n", p.test, median(p.bare), median(p.trial), median(over), over[len(over)*9/10], trial/bare)
	}
	b.WriteString("\n## Builds with a warm cache\n\nOf one side: finding the package, and `go test -c`. For lag the package's sources are loaded, rewritten and built as well. Medians in ms; a check builds each once a side.\n\n| package | plain | for lag | for lag over plain | N |\n|---|---|---|---|---|\n")
	for _, w := range r.builds {
		fmt.Fprintf(b, "| `%s` | %.0f | %.0f | %.2f × | %d |\n", w.pkg, median(w.plain), median(w.lagged), median(w.lagged)/median(w.plain), len(w.plain))
	}
	b.WriteString("\n")
}

func (r *results) checkPromises(line promise) {
	var walls, peaks []float64
	most, slowest := 0.0, ""
	for _, c := range r.checks {
		wall := median(c.each(func(c check) float64 { return c.wall.Seconds() }))
		walls = append(walls, wall)
		if wall > most {
			most, slowest = wall, c.name
		}
		peaks = append(peaks, c.each(func(c check) float64 { return c.peakMB })...)
	}
	var extra []float64
	wrong, runs := 0, 0
	for _, c := range r.checks {
		for _, run := range c.runs {
			if runs++; len(run.wrong) > 0 {
				wrong++
			}
			if run.plain() {
				extra = append(extra, run.extra())
			}
		}
	}
	line(checkExtra, "≤ 1.05 × + 0.3 s", fmt.Sprintf("1.05 × + %.2f s in the median (N = %d)", median(extra)/1000, len(extra)), median(extra) <= reachFixedMS)
	line("verdicts of these samples as expected", "all", share(runs-wrong, runs), wrong == 0)
	line("one red fast test to its verdict", "≤ 15 s", fmt.Sprintf("median of %d samples %.1f s; the slowest is %s with %.1f s", len(walls), median(walls), slowest, most), median(walls) <= reachVerdictS)
	line("memory of triagebot itself", "≤ 60 MB", fmt.Sprintf("median %.0f MiB, most %.0f MiB (N = %d)", median(peaks), slices.Max(append(peaks, 0)), len(peaks)), slices.Max(append(peaks, 0)) <= reachMemoryMB)
}

func (r *results) writeChecks(b *strings.Builder) {
	fmt.Fprintf(b, "## Whole checks\n\n`triagebot measure` as a process on sample repositories with one red test, all arms, the caches warmed by a run before. Medians of %d runs; \"own\" is what is neither a build nor a test's own time, \"set-up\" the time until the first build begins (both trees, configuration, Go), \"end\" the time after the last trial (the report, the removal of the trees).\n\n", r.rounds)
	b.WriteString("| sample | verdict | s | set-up s | builds s | trials | trials s | own s | end s | own ms a trial, without set-up and end | MiB |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, c := range r.checks {
		m := func(f func(check) float64) float64 { return median(c.each(f)) }
		cost := func(f func(triage.Cost) float64) float64 {
			return m(func(c check) float64 { return f(c.report.Cost) })
		}
		trials := cost(func(c triage.Cost) float64 { return float64(c.Trials) })
		setUp, own, after := m(func(c check) float64 { return seconds(c.setUp) }), m(check.own)/1000, m(func(c check) float64 { return seconds(c.after) })
		fmt.Fprintf(b, "| %s | %s | %.1f | %.2f | %.2f | %g | %.2f | %.2f | %.2f | %.1f | %.0f |\n", c.name, c.said,
			m(func(c check) float64 { return seconds(c.wall) }), setUp, cost(func(c triage.Cost) float64 { return c.BuildMS / 1000 }),
			trials, cost(func(c triage.Cost) float64 { return c.TrialMS / 1000 }), own, after, 1000*(own-setUp-after)/max(1, trials), m(func(c check) float64 { return c.peakMB }))
	}
	b.WriteString("\n")
}
