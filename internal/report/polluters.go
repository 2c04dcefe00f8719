package report

import (
	"fmt"
	"slices"

	"github.com/triagebot/triagebot/internal/triage"
)

// maxPolluters bounds the tests or files that are named.
const maxPolluters = 5

// failsAfter is what a test fails after, and why that is not known of one which
// fails in its whole suite only.
func failsAfter(r triage.Report, w row) []prose {
	if p := w.verdict.Polluters; p != nil {
		return polluters(*p)
	}
	suite := w.evidence.Tally(triage.Arm{Scope: triage.InSuite})
	if suite.Same == 0 || !slices.Contains(w.verdict.Reasons, triage.ReasonOrder) {
		return nil
	}
	for _, t := range r.Trials {
		if t.Target == w.verdict.Target && len(t.BeforeFiles) > 0 {
			return nil // it was looked for, or the time was over before
		}
	}
	return []prose{say("No file is known to run before it in its process, so none can be named. Where each file has a process or a context of its own, something outside of them is what they share; else it is what a file does as it is loaded.")}
}

// polluters names the tests, or the files, after which the target fails.
func polluters(p triage.Polluters) []prose {
	if len(p.Tests)+len(p.Files) == 0 {
		return []prose{say(fmt.Sprintf("No %s can be named: run again after nothing but those that had run before it (%d), in the same order, it failed %d of %d times.", unit(p), p.Of, p.Red, p.Runs))}
	}
	all, where, other := p.Tests, "", fmt.Sprintf("no other of the %d that do in its package", p.Of)
	if p.InSuite {
		other = fmt.Sprintf("no other of the %d files that do in its suite", p.Of)
		if len(p.Tests) > 0 {
			where = " of "
		} else {
			all = p.Files
		}
	}
	names := make([]prose, 0, maxPolluters)
	for _, t := range all[:min(len(all), maxPolluters)] {
		names = append(names, say(name(t)))
	}
	line := say("It fails when ", list(names))
	if more := len(all) - len(names); more > 0 {
		line = append(line, say(fmt.Sprintf(" and %d more", more))...)
	}
	if where != "" {
		line = append(line, say(where, name(p.Files[0]))...)
	}
	verb := " runs"
	if len(all) > 1 {
		verb = " run"
	}
	if p.InSuite && p.Of == 1 { // there is no other
		other = "that is the only file that does in its suite"
	}
	line = append(line, say(fmt.Sprintf("%s before it in the same process, and %s (%d of %d runs).", verb, other, p.Red, p.Runs))...)
	if len(all) > 1 {
		return []prose{line, say("No half of these is enough by itself.")}
	}
	return []prose{line}
}

// unit is what a search was for.
func unit(p triage.Polluters) string {
	if p.InSuite {
		return "file"
	}
	return "test"
}
