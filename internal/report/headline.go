package report

import (
	"fmt"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// A count splits the verdicts of a report by what people ask of them.
type count struct {
	total   int
	broke   int // this pull request: fails now
	flaky   int // this pull request: fails sometimes, or when late
	before  int // not this pull request
	unknown int
	leaning int // of unknown: leans to this pull request
	shared  int // not run: takes the verdict of another test
}

func countOf(verdicts []triage.Verdict) count {
	c := count{total: len(verdicts)}
	for _, v := range verdicts {
		switch {
		case v.Class == triage.LikelyRegression:
			c.broke++
		case v.Yours():
			c.flaky++
		case v.Class == triage.LagRevealedRace && v.Origin != triage.OriginBase, v.Class == triage.Inconclusive:
			c.unknown++
			if hasReason(v, triage.ReasonLeaningRegression) {
				c.leaning++
			}
		default:
			c.before++
		}
		if v.SameAs != nil {
			c.shared++
		}
	}
	return c
}

func hasReason(v triage.Verdict, r triage.Reason) bool {
	for _, x := range v.Reasons {
		if x == r {
			return true
		}
	}
	return false
}

// Headline is what people need first: how many of the reds are this pull
// request, how many are not, and of how many that could not be told. It is
// plain text of one to four sentences and holds no string of the report.
func Headline(r triage.Report) string {
	if r.Sweep != nil {
		return sweepHeadline(r)
	}
	c := countOf(r.Verdicts)
	if c.total == 0 {
		return noVerdicts(len(r.Failures))
	}
	var s []string
	if c.before > 0 {
		s = append(s, notYours(c))
	}
	if c.broke+c.flaky > 0 {
		s = append(s, yours(c))
	}
	if c.unknown > 0 {
		s = append(s, unknown(c))
	}
	if c.shared > 0 {
		s = append(s, fmt.Sprintf("%d of them %s not run: %s the same failure as one that was.",
			c.shared, plural(c.shared, "was", "were"), plural(c.shared, "it has", "each has")))
	}
	return strings.Join(s, " ")
}

func noVerdicts(failures int) string {
	if failures == 0 {
		return "No failing test was found."
	}
	return fmt.Sprintf("Nothing can be said yet of %s.", tests(failures, "red "))
}

func notYours(c count) string {
	switch {
	case c.total == 1:
		return "The red test is not this pull request."
	case c.before == c.total && c.total == 2:
		return "Neither of the 2 red tests is this pull request."
	case c.before == c.total:
		return fmt.Sprintf("None of the %d red tests is this pull request.", c.total)
	}
	return fmt.Sprintf("%d of %d red tests %s not this pull request.", c.before, c.total, plural(c.before, "is", "are"))
}

func yours(c count) string {
	var did []string
	if c.broke > 0 {
		did = append(did, "broke "+tests(c.broke, ""))
	}
	if c.flaky > 0 {
		did = append(did, "made "+tests(c.flaky, "")+" flaky")
	}
	who := "This pull request "
	if c.before > 0 { // the sentence before has named it
		who = "It "
	}
	return who + strings.Join(did, " and ") + "."
}

func unknown(c count) string {
	switch {
	case c.total == 1 && c.leaning == 1:
		return "Could not tell for sure, but the red test leans to this pull request."
	case c.total == 1:
		return "Could not tell whether the red test is this pull request."
	}
	s := fmt.Sprintf("Could not tell for %d of %d", c.unknown, c.total)
	if c.unknown == c.total {
		s = fmt.Sprintf("Could not tell for any of the %d red tests", c.total)
	}
	if c.leaning > 0 {
		s += fmt.Sprintf(" (%d %s to this pull request)", c.leaning, plural(c.leaning, "leans", "lean"))
	}
	return s + "."
}

func tests(n int, adjective string) string {
	return fmt.Sprintf("%d %s%s", n, adjective, plural(n, "test", "tests"))
}

// plural picks the form for n.
func plural(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}
