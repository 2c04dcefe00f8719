package report

import (
	"fmt"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// rungs lists the lag plans that were tried on head while looking for one that
// turns the test red.
func rungs(r triage.Report, target triage.Target) []prose {
	type tried struct{ red, other, runs int }
	got := map[string]*tried{}
	var order []string
	for _, t := range r.Trials {
		if t.Target != target || t.Purpose != triage.Ladder || t.Arm.Lag == "" {
			continue
		}
		x := got[t.Arm.Lag]
		if x == nil {
			x = &tried{}
			got[t.Arm.Lag] = x
			order = append(order, t.Arm.Lag)
		}
		x.runs++
		switch {
		case t.SameFailure(referenceOf(r, target)):
			x.red++
		case t.Outcome.Red():
			x.other++
		}
	}
	var out []prose
	for i, id := range order {
		if i == maxRungs {
			return append(out, say(fmt.Sprintf("… and %d more.", len(order)-i)))
		}
		x := got[id]
		end := fmt.Sprintf(": %d of %d red", x.red, x.runs)
		if x.other > 0 {
			end += fmt.Sprintf(", %d in another way", x.other)
		}
		out = append(out, say(planWords(r.Plan.LagPlans[id], id), end))
	}
	return out
}

// maxRungs is how many lag plans of one test are listed.
const maxRungs = 12

func referenceOf(r triage.Report, target triage.Target) triage.Signature {
	for _, e := range r.Evidence {
		if e.Target == target {
			return e.Reference
		}
	}
	return triage.Signature{}
}

// maxLeftovers is how many files and processes of one test are listed.
const maxLeftovers = 5

func leftovers(r triage.Report, target triage.Target) []prose {
	seen := map[triage.Leftover]bool{}
	var out []prose
	for _, t := range r.Trials {
		if t.Target != target {
			continue
		}
		for _, l := range t.Leftovers {
			if seen[l] || len(seen) == maxLeftovers {
				continue
			}
			seen[l] = true
			out = append(out, say("A "+l.Kind+" outlived the test: ", name(l.Name)))
		}
	}
	return out
}

// maxLagNotes is how many lines of the lag runtime are shown of one test.
const maxLagNotes = 3

// lagNotes tells what the lag runtime said that it cannot delay, each once.
func lagNotes(r triage.Report, target triage.Target) []prose {
	seen := map[string]bool{}
	var out []prose
	for _, t := range r.Trials {
		if t.Target != target {
			continue
		}
		for _, s := range t.LagNotes {
			if !seen[s] && len(out) < maxLagNotes {
				seen[s] = true
				out = append(out, say("The lag runtime said: ", name(s)))
			}
		}
	}
	return out
}

// failureSection shows the failure: as CI showed it, else as the trial to
// replay did.
func failureSection(r triage.Report, w row) []section {
	f, title := w.failure, "The failure"
	if r.Check.Source == "report" || r.Check.Source == "log" {
		title = "The failure in CI"
	}
	if f.Excerpt == "" && f.Message == "" {
		for _, t := range r.Trials {
			if t.Failure != nil && t.Target == w.verdict.Target && (t.Seq == w.verdict.Trial || w.verdict.Trial == 0) {
				f, title = *t.Failure, fmt.Sprintf("The failure in trial %d", t.Seq)
				break
			}
		}
	}
	text := f.Excerpt
	if text == "" {
		text = f.Message
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	s := section{title: title, block: text}
	if f.Location.File != "" {
		s.lines = []prose{say("At ", name(place(f.Location.File, f.Location.Line, f.Location.Func)), ".")}
	}
	return []section{s}
}

// footer says what the check cost and how to find it again.
func footer(r triage.Report) []prose {
	c := r.Cost
	cost := fmt.Sprintf("%d %s and %d %s in %s", c.Trials, plural(c.Trials, "run", "runs"),
		c.Builds, plural(c.Builds, "build", "builds"), duration(c.WallMS))
	out := []prose{say("head ", revName(r.Check.Head), ", base ", revName(r.Check.Base), ".")}
	if r.Sweep != nil {
		out = sweepFooter(r)
	}
	out = append(out, say(cost, ", lag ", name(orElse(r.Plan.Lag, "off")), fmt.Sprintf(", seed %d.", r.Plan.Seed)))
	for _, rev := range []struct {
		side string
		rev  triage.Rev
	}{{"Head", r.Check.Head}, {"Base", r.Check.Base}} {
		if rev.rev.Unbuildable != "" {
			out = append(out, say(rev.side+" could not be run: ", quote(firstLine(rev.rev.Unbuildable))))
		}
	}
	for i, s := range r.Warnings {
		if i == maxWarnings {
			out = append(out, say(fmt.Sprintf("… and %d more warnings.", len(r.Warnings)-i)))
			break
		}
		out = append(out, say("Warning: ", quote(s)))
	}
	tool := strings.TrimSpace(orElse(r.Tool.Name, "triagebot") + " " + r.Tool.Version)
	return append(out, say(name(tool), " on ", name(r.Tool.Platform), fmt.Sprintf(", %d cores.", r.Tool.Cores)))
}

// maxWarnings is how many warnings of a check are listed.
const maxWarnings = 10

func revName(r triage.Rev) prose {
	sha := r.SHA
	if len(sha) > 12 {
		sha = sha[:runeStart(sha, 12)]
	}
	p := say(name(orElse(sha, "unknown")))
	if r.Ref != "" && !strings.HasPrefix(r.SHA, r.Ref) {
		p = append(p, say(" (", name(r.Ref), ")")...)
	}
	if r.Dirty {
		p = append(p, say(" with uncommitted changes")...)
	}
	return p
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
