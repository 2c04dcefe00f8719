package report

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/triagebot/triagebot/internal/triage"
)

// CommentLimit is the size of a comment that GitHub accepts; it refuses longer
// ones and does not shorten them. The unit is characters there and bytes here,
// so that a comment is never too long.
const CommentLimit = 65536

// Options of the pages.
type Options struct {
	// Limit is the size of a Markdown page in bytes, 0 for [CommentLimit].
	Limit int
	// Marker is written as a hidden comment into the first line of a Markdown
	// page, so that the page is found again. Only letters, digits and "._:/-" are kept.
	Marker string
	// ReportPath is where report.json can be found, for the reader.
	ReportPath string
	// Forgeable is set when the code under test could have written the report
	// itself, as on a pull request from a fork.
	Forgeable bool
	// Width is the number of columns of a terminal, 0 for 80.
	Width int
	// Color allows colours on a terminal.
	Color bool
}

var notMarker = regexp.MustCompile(`[^A-Za-z0-9._:/-]|--+`)

// Markdown renders the page for a pull request: the headline, one table, and a
// folded argument for each test. What does not fit into the limit is left out
// from the end, whole sections at a time, and said.
func Markdown(r triage.Report, o Options) string {
	v := newView(r)
	if o.Limit <= 0 {
		o.Limit = CommentLimit
	}
	var top string
	if m := notMarker.ReplaceAllString(o.Marker, ""); m != "" {
		top = "<!-- triagebot:" + m + " -->\n"
	}
	top += "**" + v.headline + "**\n"
	if v.stopped != "" {
		top += "\n" + v.stopped + "\n"
	}
	for _, p := range v.shared {
		top += "\n**" + sharedTitle + ".** " + mdProse(p) + "\n"
	}
	footer := mdFooter(v, o)
	room := o.Limit - len(top) - len(footer)
	if room < 0 {
		return tiny(top, o.Limit)
	}
	table := mdTable(v, room)
	return top + table + mdDetails(v, room-len(table)) + footer
}

// tiny is the page for a limit that does not even hold the footer.
func tiny(top string, limit int) string {
	if len(top) <= limit {
		return top
	}
	return ""
}

// mdTable is the table with as many rows as fit, and a last row that counts the
// rest; nothing when not even the first fits.
func mdTable(v view, room int) string {
	if len(v.rows) == 0 {
		return ""
	}
	head := append([]string{"test", "verdict"}, v.columns()...)
	if v.order {
		head = append(head, v.company())
	}
	b := "\n" + mdRow(head) + "|" + strings.Repeat("---|", len(head)) + "\n"
	legend := "\n" + v.legend() + "\n"
	room -= len(b) + len(legend)
	for i, w := range v.rows {
		row := mdRow(v.cells(w))
		more := moreRow(len(v.rows)-i, len(head))
		if i == maxTable || len(row)+len(more) > room && (i < len(v.rows)-1 || len(row) > room) {
			if i == 0 {
				return ""
			}
			return b + more + legend
		}
		b += row
		room -= len(row)
	}
	return b + legend
}

// maxTable caps the rows, so that a long table leaves room for arguments.
const maxTable = 60

func moreRow(n, columns int) string {
	cells := make([]string, columns)
	cells[0] = fmt.Sprintf("… and %s", tests(n, "more "))
	return mdRow(cells)
}

func mdRow(cells []string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

func (v view) cells(w row) []string {
	title := mdCode(w.title, cellWidth)
	if n := len(w.same); n > 0 {
		title += fmt.Sprintf("<br>… and %d with the same signature", n)
	}
	label := w.label
	if w.verdict.Yours() {
		label = "**" + label + "**"
	}
	if w.bound != "" && utf8.RuneCountInString(w.bound) <= boundWidth {
		label += " (" + mdText(w.bound) + ")"
	}
	if w.verdict.SameAs != nil {
		label += ", same signature"
	}
	cells := []string{title, label, w.head.dots(), w.base.dots()}
	if v.lag {
		lagged := w.lagHead.dots()
		if lagged != "" && w.lagDose != "" {
			lagged += " at " + w.lagDose
		}
		cells = append(cells, lagged, w.lagBase.dots())
	}
	if v.order {
		cells = append(cells, twoSides(w.orderHead, w.orderBase, "<br>"))
	}
	return cells
}

// Caps on a cell of the table, in runes. A name is shortened; a bound that is
// longer stands in the argument only.
const (
	cellWidth  = 60
	boundWidth = 40
)

func twoSides(head, base cell, between string) string {
	var s []string
	if head.shown {
		s = append(s, "head "+head.dots())
	}
	if base.shown {
		s = append(s, "base "+base.dots())
	}
	return strings.Join(s, between)
}

// mdDetails is the folded argument of as many tests as fit.
func mdDetails(v view, room int) string {
	const left = "\nThe arguments for %d more are left out here; report.json has them.\n"
	var b strings.Builder
	reserve := len(left) + 8
	for i, w := range v.rows {
		d := "\n" + mdArgument(w)
		last := i == len(v.rows)-1
		if b.Len()+len(d) > room-reserve && (!last || b.Len()+len(d) > room) {
			if note := fmt.Sprintf(left, len(v.rows)-i); b.Len()+len(note) <= room {
				b.WriteString(note)
			}
			break
		}
		b.WriteString(d)
	}
	return b.String()
}

// mdArgument is one folded section. Its summary is HTML, where only entities
// are safe.
func mdArgument(w row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<details><summary><code>%s</code>: %s</summary>\n\n",
		entities(shorten(oneLine(w.title), codeWidth)), w.label)
	for _, s := range w.sections {
		b.WriteString(mdSection(s))
	}
	if len(w.same) > 0 {
		b.WriteString(mdSection(section{title: "Same signature", lines: []prose{sameList(w.same)}}))
	}
	b.WriteString("</details>\n")
	return b.String()
}

// maxSame is how many tests of a cluster are named.
const maxSame = 30

func sameList(same []string) prose {
	var p prose
	for i, s := range same {
		if i > 0 {
			p = append(p, say(", ")...)
		}
		if i == maxSame {
			return append(p, say(fmt.Sprintf("and %d more", len(same)-i))...)
		}
		p = append(p, say(name(shorten(oneLine(s), cellWidth)))...)
	}
	return p
}

func mdSection(s section) string {
	var b strings.Builder
	switch {
	case len(s.lines) == 1:
		fmt.Fprintf(&b, "**%s.** %s\n\n", s.title, mdProse(s.lines[0]))
	default:
		fmt.Fprintf(&b, "**%s**\n\n", s.title)
		for _, l := range s.lines {
			b.WriteString("- " + mdProse(l) + "\n")
		}
		if len(s.lines) > 0 {
			b.WriteString("\n")
		}
	}
	if s.block != "" {
		b.WriteString(mdFence(strings.Join(block(s.block), "\n"), "") + "\n")
	}
	if s.command != "" {
		b.WriteString(mdFence(s.command, "sh") + "\n")
	}
	return b.String()
}

func mdFooter(v view, o Options) string {
	var b strings.Builder
	b.WriteString("\n---\n")
	if o.Forgeable {
		b.WriteString("This comes from a fork, whose code could have written it: take it as advice.<br>\n")
	}
	lines := v.footer
	if o.ReportPath != "" {
		lines = append(lines, say("The whole record: ", name(o.ReportPath), "."))
	}
	for i, l := range lines {
		end := "<br>\n"
		if i == len(lines)-1 {
			end = "\n"
		}
		b.WriteString("<sub>" + mdProse(l) + "</sub>" + end)
	}
	return b.String()
}
