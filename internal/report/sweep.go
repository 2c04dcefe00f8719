package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// A finding is what a red test of a sweep comes to, for people. There is no pull
// request that it could be held against.
type finding int

const (
	foundRace finding = iota
	foundFlake
	foundBroken
	openLead
	honestDeadline
)

// findingOf sorts a verdict of a sweep.
func findingOf(v triage.Verdict) finding {
	switch {
	case v.Class == triage.LagRevealedRace:
		return foundRace
	case v.Class == triage.PreExistingFlake:
		return foundFlake
	case v.Class == triage.BrokenOnBase:
		return foundBroken
	case hasReason(v, triage.ReasonLagArtefact):
		return honestDeadline
	}
	return openLead
}

var findingLabels = [...]string{"race", "flaky", "broken", "a lead, not confirmed", "honest deadline, no finding"}

var findingTexts = [...]string{
	"The test has a race: when one step of the program is late it fails, and without the delay it does not.",
	"The test is flaky: without any delay it sometimes fails.",
	"The test fails every time, without any delay.",
	"The test was red once, but it is not shown that a delay makes it so: take it for a hint.",
	"Delays made the test miss a deadline of its own. That shows how much time the deadline leaves; it is no finding.",
}

// findingLabel is what the table says of a test; the reason says what a lead wants.
func findingLabel(v triage.Verdict) string {
	f := findingOf(v)
	label := findingLabels[f]
	switch {
	case f == foundRace && v.Cause != nil && v.Cause.Kind == triage.CauseFixedSleep:
		return "race: a fixed sleep"
	case f == foundRace && v.Cause != nil && v.Cause.Kind == triage.CauseLateWriter:
		return "race: a late writer"
	case f == openLead && v.Cause != nil:
		return "a lead, confirmed alone, but no single cause"
	case f == openLead && len(v.Reasons) > 0:
		label += ": " + ReasonLabel(doubt(v.Reasons))
	}
	return label
}

// sweepWhy is the first section of the argument.
func sweepWhy(v triage.Verdict) []prose {
	why := []prose{say(findingTexts[findingOf(v)])}
	if findingOf(v) == openLead && v.Cause != nil {
		why = []prose{say("Delays make the test fail and without them it passes, but no single place could be made answerable: it may be a race, or a deadline that they add up against.")}
	}
	for _, reason := range v.Reasons {
		if w := wordsOfReason(reason); !w.inconclusive {
			why = append(why, say(w.text))
		}
	}
	return why
}

// onLedgerOf is what is said of a test on the ledger.
func onLedgerOf(r triage.Report) string {
	if r.Sweep == nil {
		return onLedger
	}
	return "It is on the ledger of known reds; it is measured and judged all the same."
}

// sweepHeadline is what people need first of a sweep. It holds no string of the report.
func sweepHeadline(r triage.Report) string {
	var n [len(findingLabels)]int
	for _, v := range r.Verdicts {
		n[findingOf(v)]++
	}
	var found []string
	for _, x := range []struct {
		f         finding
		one, more string
	}{{foundRace, "race", "races"}, {foundFlake, "flaky test", "flaky tests"}, {foundBroken, "broken test", "broken tests"}} {
		if n[x.f] > 0 {
			found = append(found, fmt.Sprintf("%d %s", n[x.f], plural(n[x.f], x.one, x.more)))
		}
	}
	s := fmt.Sprintf("Nothing found in %s.", tests(r.Sweep.Tests, ""))
	if len(found) > 0 {
		s = fmt.Sprintf("Found in %s: %s.", tests(r.Sweep.Tests, ""), strings.Join(found, ", "))
	}
	if k := n[openLead]; k > 0 {
		s += fmt.Sprintf(" %d %s open.", k, plural(k, "lead is", "leads are"))
	}
	if k := n[honestDeadline]; k > 0 {
		s += fmt.Sprintf(" %d honest %s missed under lag, which is no finding.", k, plural(k, "deadline was", "deadlines were"))
	}
	return s
}

// sweepCells puts a sweep's arms into the columns: alone in those of head, in the
// company of the suite in those of base.
func (w *row) sweepCells(r triage.Report) {
	best := -1
	for _, t := range w.evidence.Tallies {
		c := cell{t, len(t.Sequence) > 0}
		switch {
		case t.Arm == (triage.Arm{}):
			w.head = c
		case t.Arm.Scope == triage.Alone && 1000*t.Same+t.N() > best:
			best = 1000*t.Same + t.N()
			w.lagHead, w.lagDose = c, dose(r.Plan.LagPlans[t.Arm.Lag])
		case t.Arm.Scope != triage.Alone && t.Arm.Lag == "":
			w.base = c
		case t.Arm.Scope != triage.Alone && w.lagBase.tally.Red() <= t.Red():
			w.lagBase = c
		}
	}
}

// columns are the heads of the table behind the first two.
func (v view) columns() []string {
	names := []string{"head", "base", "head + lag", "base + lag"}
	if v.report.Sweep != nil {
		names = []string{"alone", "in the suite", "alone + lag", "in the suite + lag"}
	}
	if !v.lag {
		names = names[:2]
	}
	return names
}

// sweepFooter tells what was run, one line a step.
func sweepFooter(r triage.Report) []prose {
	out := []prose{say("Swept ", revName(r.Check.Head), ".")}
	if s := r.Sweep.Since; s != "" {
		out[0] = append(out[0], say(" What changed since ", revName(triage.Rev{SHA: s}), " was looked at first.")...)
	}
	for _, g := range r.Sweep.Rungs {
		out = append(out, rungProse(r, g))
	}
	return out
}

func rungProse(r triage.Report, g triage.SweepRung) prose {
	p := say(name(g.Name), ": ")
	switch g.Scope {
	case triage.Alone:
		p = append(p, say(fmt.Sprintf("%s, each alone", tests(g.Tests, "")))...)
	case triage.InPackage:
		p = append(p, say(fmt.Sprintf("%s, file by file", tests(g.Tests, "")))...)
	default:
		p = append(p, say(fmt.Sprintf("%s in %d %s of the suite's %d", tests(g.Tests, ""), g.Runs, plural(g.Runs, "process", "processes"), r.Sweep.Units))...)
	}
	p = append(p, say(" in ", duration(g.WallMS))...)
	for _, x := range []struct {
		n    int
		text string
	}{{g.Leads, "%d red"}, {g.Skipped, "%d with nothing to delay, or told already"}, {g.Left, "%d not reached in the time"}, {g.Short, "the delays of %d were used up before the end"}} {
		if x.n > 0 && (x.text != "%d red" || g.Lag != "") {
			p = append(p, say(", ", fmt.Sprintf(x.text, x.n))...)
		}
	}
	return append(p, say(".")...)
}

// SweepClean reports whether a sweep says that nothing is wrong: it ran to the end
// of its cheap steps, found nothing, and left no lead open.
func SweepClean(r triage.Report) bool {
	return r.Sweep != nil && r.Sweep.Tests > 0 && r.Plan.Stopped == "" && stopped(r.Plan) == "" &&
		!slices.ContainsFunc(r.Verdicts, func(v triage.Verdict) bool { return findingOf(v) != honestDeadline })
}

// SweepFindings counts the races, flaky and broken tests of a sweep. Leads that are
// not confirmed and honest deadlines are none.
func SweepFindings(r triage.Report) int {
	n := 0
	for _, v := range r.Verdicts {
		if f := findingOf(v); f != openLead && f != honestDeadline {
			n++
		}
	}
	return n
}

// SweepEvidence is what a tracking issue is closed with: how much was run, and how
// rare a failure can still be.
func SweepEvidence(r triage.Report) string {
	if r.Sweep == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("**" + sweepHeadline(r) + "**\n\n")
	for _, p := range sweepFooter(r) {
		b.WriteString("- " + mdProse(p) + "\n")
	}
	return b.String()
}
