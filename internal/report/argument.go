package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/triagebot/triagebot/internal/triage"
)

// argument puts the reasons for a verdict into words and numbers.
func argument(r triage.Report, w row, titles map[triage.Target]string) []section {
	v := w.verdict
	why := []prose{say(ClassText(v.Class, v.Origin))}
	for _, reason := range v.Reasons {
		why = append(why, say(ReasonText(reason)))
	}
	if r.Sweep != nil {
		why = sweepWhy(v)
	}
	if v.SameAs != nil {
		why = append(why, say("That test is ", name(titles[*v.SameAs]), "."))
	}
	if w.failure.Ledger {
		why = append(why, say(onLedgerOf(r)))
	}
	out := []section{{title: "Why", lines: append(why, counts(r, w)...)}}
	add := func(title string, lines ...prose) {
		if len(lines) > 0 {
			out = append(out, section{title: title, lines: lines})
		}
	}
	add("How sure", howSure(w)...)
	if v.Cause != nil {
		add("Cause", cause(*v.Cause)...)
		if v.Cause.Advice != "" {
			add("What to do", sentence(quote(v.Cause.Advice)))
		}
	}
	add("Fails after", failsAfter(r, w)...)
	if v.Settle != "" {
		add("What would settle it", sentence(quote(v.Settle)))
	}
	if w.failure.Past != nil {
		add("History", past(*w.failure.Past)...)
	}
	add("Delays tried", rungs(r, v.Target)...)
	add("Left behind", leftovers(r, v.Target)...)
	var warnings []prose
	if reach := failureOf(r, v.Target).Reach; reach != nil && reach.Changed > 0 {
		warnings = append(warnings, reachText(*reach))
	}
	for _, s := range w.evidence.Warnings {
		warnings = append(warnings, sentence(quote(s)))
	}
	warnings = append(warnings, lagNotes(r, v.Target)...)
	add("Mind", warnings...)
	if v.Reproduce != "" {
		out = append(out, section{title: "Reproduce", command: command(v.Reproduce)})
	}
	return append(out, failureSection(r, w)...)
}

// list joins names by commas.
func list(names []prose) prose {
	var out prose
	for i, n := range names {
		if i > 0 {
			out = append(out, say(", ")...)
		}
		out = append(out, n...)
	}
	return out
}

// reachText says what the changed files have to do with the test. It is a hint
// for the reader, and says so where it could be taken for an excuse.
func reachText(r triage.Reach) prose {
	switch {
	case r.Loaded == r.Changed && r.Changed == 1:
		return say("The one file that the change touches is in a folder that the test is built from: ", name(r.First), ".")
	case r.Loaded > 0:
		return say(fmt.Sprintf("The test is built from folders with %d of the %d files that the change touches, for example ", r.Loaded, r.Changed), name(r.First), ".")
	case r.Changed == 1:
		return say("The one file that the change touches is in no folder that the test is built from; that is a hint, no proof.")
	}
	return say(fmt.Sprintf("None of the %d files that the change touches is in a folder that the test is built from; that is a hint, no proof.", r.Changed))
}

// counts says in a sentence each what the arms measured.
func counts(r triage.Report, w row) []prose {
	var out []prose
	for _, t := range w.evidence.Tallies {
		if t.Arm.Side == triage.Base && len(w.evidence.Tally(t.Arm.On(triage.Head)).Sequence) > 0 {
			continue // told with its head arm
		}
		head, base := w.evidence.Tally(t.Arm.On(triage.Head)), w.evidence.Tally(t.Arm.On(triage.Base))
		var parts []string
		for _, side := range []triage.Tally{head, base} {
			if len(side.Sequence) > 0 {
				parts = append(parts, ran(side))
			}
		}
		out = append(out, say(capital(armWords(r, t.Arm)), ": ", strings.Join(parts, "; "), "."))
	}
	return out
}

// ran is "failed 6 of 6 times on head".
func ran(t triage.Tally) string {
	var s string
	switch n := t.N(); {
	case n == 0:
		s = fmt.Sprintf("no run counts on %s", t.Arm.Side)
	case t.Red() == 0:
		s = fmt.Sprintf("passed %d of %d times on %s", t.Pass, n, t.Arm.Side)
	case t.Same == 0:
		s = fmt.Sprintf("failed in another way %d of %d times on %s", t.Other, n, t.Arm.Side)
	default:
		s = fmt.Sprintf("failed %d of %d times on %s", t.Same, n, t.Arm.Side)
		if t.Other > 0 {
			s += fmt.Sprintf(", and %d times in another way", t.Other)
		}
	}
	var rest []string
	for _, x := range []struct {
		n    int
		what string
	}{{t.Skip, "skipped"}, {t.Absent, "without the test"}, {t.Invalid, "not valid"}, {t.Unknown, "unclear"}} {
		if x.n > 0 {
			rest = append(rest, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	if len(rest) > 0 {
		s += " (" + strings.Join(rest, ", ") + ")"
	}
	return s
}

func armWords(r triage.Report, a triage.Arm) prose {
	s := scopeWords(a.Scope)
	p := say(s)
	if a.Detector != "" {
		p = say(s, " under the ", name(a.Detector), " detector")
	}
	if a.Lag != "" {
		p = append(p, say(", delayed (", planWords(r.Plan.LagPlans[a.Lag], a.Lag), ")")...)
	}
	return p
}

func planWords(p triage.LagPlan, id string) prose {
	if p.Name == "" {
		return say("plan ", name(id))
	}
	return quote(p.Name)
}

// capital begins a sentence.
func capital(p prose) prose {
	if len(p) == 0 || p[0].code {
		return p
	}
	r, n := utf8.DecodeRuneInString(p[0].text)
	if r == utf8.RuneError {
		return p
	}
	first := span{string(unicode.ToUpper(r)) + p[0].text[n:], false}
	return append(prose{first}, p[1:]...)
}

// sentence begins and ends prose as a sentence.
func sentence(p prose) prose {
	p = capital(p)
	if s := strings.TrimSpace(p.String()); s == "" || strings.ContainsAny(s[len(s)-1:], ".!?:") {
		return p
	}
	return append(p, say(".")...)
}

func howSure(w row) []prose {
	var out []prose
	b := w.verdict.Bound
	switch text := bound(b); {
	case text == "":
	case b.RateHigh > 0 && !strings.Contains(text, "fail"):
		out = append(out, sentence(say("Rate of failure: ", quote(text))))
	default:
		out = append(out, sentence(quote(text)))
	}
	for _, c := range w.evidence.Comparisons {
		what := "head against base"
		if c.Head.Lag != "" {
			what += " under delay"
		}
		if c.Head.Scope != triage.Alone {
			what += ", " + c.Head.Scope.String()
		}
		out = append(out, say(fmt.Sprintf("%s: rates differ by %+.2f (%+.2f to %+.2f), e = %s, p %s adjusted, Fisher's exact p %s.",
			strings.ToUpper(what[:1])+what[1:], c.Difference, c.Low, c.High, evalue(c.E), pvalue(c.AdjustedP), pvalue(c.FisherP))))
	}
	return out
}

func cause(c triage.Cause) []prose {
	out := []prose{causeSentence(c)}
	if c.MarginMS > 0 {
		out = append(out, say("The longest delay that still passed was ", duration(c.MarginMS), "."))
	}
	for i, s := range c.Sites {
		if i > 0 && i < maxSites {
			out = append(out, say(joint(c), siteName(s), "."))
		}
		if s.Text != "" && i < maxSites {
			out = append(out, say(name(fmt.Sprintf("%d: %s", s.Line, s.Text))))
		}
	}
	if n := len(c.Sites) - maxSites; n > 0 {
		out = append(out, say(fmt.Sprintf("… and %d more places.", n)))
	}
	if c.Attempt != nil && !isClock(*c.Attempt) {
		out = append(out, say("The test waits for ", siteName(*c.Attempt), ", which comes before."))
	}
	if c.Note != "" {
		out = append(out, sentence(quote(c.Note)))
	}
	return out
}

// joint says how a further place belongs to the first.
func joint(c triage.Cause) string {
	switch {
	case isClock(c.Sites[0]):
		return "The late step: "
	case c.AnyOf:
		return "The same when this one alone is late: "
	}
	return "Late together with "
}

// isClock tells the sleep or deadline that leads a cause from a late place.
func isClock(s triage.Site) bool { return s.Kind == triage.KindTimeout || s.Kind == triage.KindSleep }

// maxSites is how many places of a cause are shown.
const maxSites = 4

func causeSentence(c triage.Cause) prose {
	runs := "."
	if c.Runs > 0 {
		runs = fmt.Sprintf(" (%d of %d runs).", c.Red, c.Runs)
	}
	if len(c.Sites) == 0 {
		switch c.Kind {
		case triage.CauseSlowMachine:
			return say("It fails when the machine is slow or has fewer processors, and for no single delay", runs)
		case triage.CauseLateWriter:
			return say("Something wrote into the test's temporary directory after the test had ended", runs)
		}
		return say("It fails under delay, but no single place could be made answerable", runs)
	}
	site, late := siteName(c.Sites[0]), "late"
	if c.DoseMS > 0 {
		late = duration(c.DoseMS) + " late or more"
	}
	switch c.Kind {
	case triage.CauseRace:
		return say("It fails whenever ", site, " is ", late, runs)
	case triage.CauseFixedSleep:
		return say("The test sleeps a fixed time at ", site, " instead of waiting; a step that is ", late, " makes it fail", runs)
	case triage.CauseTimeBudget:
		if !isClock(c.Sites[0]) {
			return say("Some wait runs out when ", site, " is ", late, runs)
		}
		return say("The time budget at ", site, " is too short once a step is ", late, runs)
	case triage.CauseLateWriter:
		return say(site, " writes into the test's temporary directory after the test has ended", runs)
	case triage.CauseSlowMachine:
		return say("It fails when the machine is slow; ", site, " is where it shows", runs)
	}
	return say("Delay at ", site, " is part of it, but the picture is not steady", runs)
}
