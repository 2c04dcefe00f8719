package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// Part is one of several reports of the same check: a leg of a matrix, or a shard.
type Part struct {
	// Name tells the parts apart. It is a stranger's text.
	Name   string
	Report triage.Report
	// Problem is set instead of a report that could not be read, in one sentence
	// of ours.
	Problem string
}

// Several renders the reports of one check as one page for a pull request: the
// headline counts all of them, then each has its table and its arguments. One
// readable report without a problem beside it is the page of [Markdown].
func Several(parts []Part, o Options) string {
	if len(parts) == 1 && parts[0].Problem == "" {
		return Markdown(parts[0].Report, o)
	}
	if o.Limit <= 0 {
		o.Limit = CommentLimit
	}
	var all triage.Report
	for _, p := range parts {
		all.Verdicts = append(all.Verdicts, p.Report.Verdicts...)
		all.Failures = append(all.Failures, p.Report.Failures...)
	}
	top := marker(o) + "**" + Headline(all) + "**\n"
	if read := readable(parts); len(read) != 1 {
		top += fmt.Sprintf("\nThat counts %d reports of this check; a test that is red in two of them counts twice.\n", len(read))
	}
	top += problems(parts)
	if len(top) > o.Limit {
		return tiny(marker(o)+"**"+Headline(all)+"**\n", o.Limit)
	}
	return top + eachPart(readable(parts), o, o.Limit-len(top))
}

// marker is the hidden first line.
func marker(o Options) string {
	if m := notMarker.ReplaceAllString(o.Marker, ""); m != "" {
		return "<!-- triagebot:" + m + " -->\n"
	}
	return ""
}

func readable(parts []Part) []Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return p.Problem != "" })
}

// maxProblems is how many of the reports that could not be read are named.
const maxProblems = 5

func problems(parts []Part) string {
	var b strings.Builder
	n := 0
	for _, p := range parts {
		if p.Problem == "" {
			continue
		}
		if n++; n <= maxProblems {
			fmt.Fprintf(&b, "\nThe report %s is not in here: %s.\n", mdCode(p.Name, cellWidth), mdText(shorten(p.Problem, proseWidth)))
		}
	}
	if n > maxProblems {
		fmt.Fprintf(&b, "\n%d more reports are not in here.\n", n-maxProblems)
	}
	return b.String()
}

// leastPart is the room that a report needs to be worth showing: a table of a
// few rows and its footer.
const leastPart = 2000

// eachPart gives each report an equal share of the room that is left, so that
// the last shard is seen as well as the first.
func eachPart(parts []Part, o Options, room int) string {
	const left = "\n%d more reports did not fit in here; the artifacts have them.\n"
	room -= len(left) + 8
	var b strings.Builder
	for i, p := range parts {
		share := max((room-b.Len())/(len(parts)-i), min(leastPart, room-b.Len()))
		text := onePart(p, o, share)
		if text == "" {
			fmt.Fprintf(&b, left, len(parts)-i)
			break
		}
		b.WriteString(text)
	}
	return b.String()
}

// onePart is one report under its name, empty when not even its footer fits.
func onePart(p Part, o Options, room int) string {
	v := newView(p.Report)
	top := "\n### " + mdCode(p.Name, cellWidth) + "\n\n" + v.headline + "\n"
	if v.stopped != "" {
		top += "\n" + v.stopped + "\n"
	}
	footer := mdFooter(v, o)
	if room -= len(top) + len(footer); room < 0 {
		return ""
	}
	table := mdTable(v, room)
	return top + table + mdDetails(v, room-len(table)) + footer
}
