package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// A view is a report made ready for a page: chosen, ordered and put into words,
// but not escaped.
type view struct {
	report   triage.Report
	headline string
	stopped  string
	shared   []prose
	rows     []row
	// lag and order say whether any row has such arms.
	lag, order bool
	footer     []prose
}

// A row is one test.
type row struct {
	verdict  triage.Verdict
	evidence triage.Evidence
	failure  triage.Failure
	// title names the test, with its package where the name alone is not unique.
	title string
	// label is the verdict in a few words, bound its error bound or rate.
	label, bound string
	head, base   cell
	// lagHead and lagBase are of the one lag plan that says most; lagDose is its delay.
	lagHead, lagBase cell
	lagDose          string
	// orderHead and orderBase are in the company of the package, or of the whole
	// suite where that was run.
	orderHead, orderBase cell
	// same are the tests that share this verdict without a run of their own.
	same []string
	// sections are the argument.
	sections []section
}

// A section is one titled part of the argument for a verdict.
type section struct {
	title string
	lines []prose
	// block is text to be shown as it is; command is a command line.
	block, command string
}

// A cell is one arm of one test.
type cell struct {
	tally triage.Tally
	shown bool
}

func newView(r triage.Report) view {
	v := view{report: r, headline: Headline(r), stopped: stopped(r.Plan), footer: footer(r)}
	v.shared = shared(r)
	titles := titlesOf(r)
	for _, verdict := range r.Verdicts {
		w := newRow(r, verdict, titles)
		v.lag = v.lag || w.lagHead.shown || w.lagBase.shown
		v.order = v.order || w.orderHead.shown || w.orderBase.shown
		v.rows = append(v.rows, w)
	}
	v.sort()
	v.collapse()
	return v
}

// company names the column of the runs in company.
func (v view) company() string {
	if slices.ContainsFunc(v.rows, func(w row) bool { return w.orderHead.tally.Arm.Scope == triage.InSuite }) {
		return "with its package or suite"
	}
	return "with its package"
}

func (v *view) sort() {
	by := rank
	if v.report.Sweep != nil {
		by = func(v triage.Verdict) int { return int(findingOf(v)) }
	}
	slices.SortStableFunc(v.rows, func(a, b row) int { return cmp.Compare(by(a.verdict), by(b.verdict)) })
}

// rank puts what needs a person first.
func rank(v triage.Verdict) int {
	switch {
	case v.Class == triage.LikelyRegression:
		return 0
	case v.Yours():
		return 1
	case v.Class == triage.Inconclusive:
		return 2
	}
	return 3
}

// maxRows is the number of tests up to which each has its own row. Above it the
// tests that share a verdict are counted under the one that was measured.
const maxRows = 20

func (v *view) collapse() {
	if len(v.rows) <= maxRows {
		return
	}
	type group struct {
		of     triage.Target
		class  triage.Class
		origin triage.Origin
	}
	lead := map[group]int{} // row of the first of a group
	var kept []row
	add := func(w row, of triage.Target) {
		g := group{of, w.verdict.Class, w.verdict.Origin}
		if i, ok := lead[g]; ok {
			kept[i].same = append(kept[i].same, w.title)
			return
		}
		lead[g] = len(kept)
		kept = append(kept, w)
	}
	for _, w := range v.rows {
		if w.verdict.SameAs == nil {
			add(w, w.verdict.Target)
		}
	}
	for _, w := range v.rows {
		if w.verdict.SameAs != nil {
			add(w, *w.verdict.SameAs)
		}
	}
	v.rows = kept
	v.sort()
}

func newRow(r triage.Report, v triage.Verdict, titles map[triage.Target]string) row {
	w := row{
		verdict: v, title: titles[v.Target],
		label: ClassLabel(v.Class, v.Origin), bound: bound(v.Bound),
		evidence: evidenceOf(r, v), failure: failureOf(r, v.Target),
	}
	if v.Class == triage.Inconclusive && len(v.Reasons) > 0 {
		w.label += ": " + ReasonLabel(doubt(v.Reasons))
	}
	w.head = w.cell(triage.Arm{})
	w.base = w.cell(triage.Arm{Side: triage.Base})
	company := triage.Arm{Scope: triage.InPackage}
	if t := w.evidence.Tally(triage.Arm{Scope: triage.InSuite}); t.N() > 0 {
		company.Scope = triage.InSuite
	}
	w.orderHead, w.orderBase = w.cell(company), w.cell(company.On(triage.Base))
	if lag, ok := w.bestLag(); ok {
		w.lagHead, w.lagBase = w.cell(lag.On(triage.Head)), w.cell(lag.On(triage.Base))
		w.lagDose = dose(r.Plan.LagPlans[lag.Lag])
	}
	if r.Sweep != nil {
		w.label = findingLabel(v)
		w.head, w.base, w.lagHead, w.lagBase, w.lagDose, w.orderHead, w.orderBase = cell{}, cell{}, cell{}, cell{}, "", cell{}, cell{}
		w.sweepCells(r)
	}
	if w.failure.Ledger {
		w.label += ", on the ledger"
	}
	w.sections = argument(r, w, titles)
	return w
}

// doubt is the reason that says why nothing can be said.
func doubt(reasons []triage.Reason) triage.Reason {
	for _, r := range reasons {
		if wordsOfReason(r).inconclusive {
			return r
		}
	}
	return reasons[0]
}

func (w row) cell(a triage.Arm) cell {
	t := w.evidence.Tally(a)
	return cell{t, len(t.Sequence) > 0}
}

// bestLag is the lag arm that the verdict stands on: most reds like the
// reference on either side, then most trials.
func (w row) bestLag() (triage.Arm, bool) {
	var best triage.Arm
	score, found := -1, false
	for _, t := range w.evidence.Tallies {
		if t.Arm.Lag == "" {
			continue
		}
		other := w.evidence.Tally(t.Arm.On(1 - t.Arm.Side))
		s := 1000*(t.Same+other.Same) + t.N() + other.N()
		if s > score {
			best, score, found = t.Arm, s, true
		}
	}
	return best, found
}

func dose(p triage.LagPlan) string {
	switch {
	case p.MaxMS == 0:
		return ""
	case p.MinMS == p.MaxMS || p.MinMS == 0:
		return duration(p.MaxMS)
	}
	return duration(p.MinMS) + "–" + duration(p.MaxMS)
}

func bound(b triage.Bound) string {
	switch {
	case b.Text != "":
		return b.Text
	case b.RateHigh > 0:
		return percent(b.RateLow) + "–" + percent(b.RateHigh)
	case b.Wrong > 0:
		return "wrong ≤ " + percent(b.Wrong)
	}
	return ""
}

func evidenceOf(r triage.Report, v triage.Verdict) triage.Evidence {
	for _, e := range r.Evidence {
		if e.Target == v.Target {
			return e
		}
	}
	return triage.Evidence{Target: v.Target}
}

func failureOf(r triage.Report, t triage.Target) triage.Failure {
	for _, f := range r.Failures {
		if f.Target == t {
			return f
		}
	}
	return triage.Failure{Target: t}
}

// titlesOf names each target as shortly as stays unique: the test, else with
// the last part of its package, else in full.
func titlesOf(r triage.Report) map[triage.Target]string {
	all := map[triage.Target]bool{}
	for _, v := range r.Verdicts {
		all[v.Target] = true
	}
	forms := []func(triage.Target) string{shortTitle, packageTitle, triage.Target.String,
		func(t triage.Target) string { return strings.TrimSpace(t.Suite + " " + t.String()) }}
	out := map[triage.Target]string{}
	for _, form := range forms {
		used := map[string]int{}
		for t := range all {
			used[form(t)]++
		}
		for t := range all {
			if _, named := out[t]; !named && used[form(t)] == 1 {
				out[t] = form(t)
			}
		}
	}
	for t := range all {
		if _, named := out[t]; !named {
			out[t] = fmt.Sprintf("%s %s %s", t.Suite, t.Framework, t)
		}
	}
	return out
}

func shortTitle(t triage.Target) string {
	switch {
	case t.Test != "":
		return t.Test
	case t.Package != "":
		return t.Package
	}
	return "the command"
}

func packageTitle(t triage.Target) string {
	if t.Test == "" {
		return t.Package
	}
	return path.Base(t.Package) + " " + t.Test
}

// dotsShown caps the dots of a cell, so that a table fits on a phone.
const dotsShown = 12

// dots shows the first outcomes of an arm in their order and the count of reds
// like the reference.
func (c cell) dots() string {
	if !c.shown {
		return ""
	}
	var b strings.Builder
	marks := strings.NewReplacer("F", "●", "o", "◍", ".", "○", "-", "–")
	seq := c.tally.Sequence
	if len(seq) > dotsShown {
		b.WriteString(marks.Replace(seq[:dotsShown]) + "…")
	} else {
		b.WriteString(marks.Replace(seq))
	}
	if n := c.tally.N(); n > 0 {
		fmt.Fprintf(&b, " %d/%d", c.tally.Same, n)
	}
	return b.String()
}

// legend explains the marks that the rows use.
func (v view) legend() string {
	var other, rest bool
	for _, w := range v.rows {
		for _, t := range w.evidence.Tallies {
			other = other || t.Other > 0
			rest = rest || len(t.Sequence) > t.N()
		}
	}
	s := "● failed in the same way, ○ passed"
	if other {
		s += ", ◍ failed in another way"
	}
	if rest {
		s += ", – does not count"
	}
	s += "; one mark a run, in order."
	if v.report.Sweep != nil {
		return s
	}
	return s + " The failure that led here is not counted."
}

// stopped says what keeps the report from being whole.
func stopped(p triage.Plan) string {
	s := endedEarly(p.Stopped)
	if len(p.Parts) == 0 || len(p.Parts) >= p.Parts[0].Of {
		return s
	}
	of := p.Parts[0].Of
	missing := of - len(p.Parts)
	return strings.TrimSpace(fmt.Sprintf("%d of %d shards %s missing: this report does not tell of their tests. %s",
		missing, of, plural(missing, "is", "are"), s))
}

func endedEarly(why string) string {
	switch why {
	case "":
		return ""
	case "interrupted":
		return "Measuring was interrupted: this is what was known by then."
	case "budget":
		return "The time budget was used up: this is what was known by then."
	}
	return "Measuring ended early: this is what was known by then."
}
