package report

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// The colours of a terminal page, by what they say.
const (
	ansiBold  = "1"
	ansiDim   = "2"
	ansiYours = "31" // red: this pull request
	ansiOther = "32" // green: not this pull request
	ansiOpen  = "33" // yellow: could not tell
	ansiTitle = "36"
)

// minWidth is the narrowest page; on a narrower terminal the lines wrap.
const minWidth = 40

// Terminal writes a page for a terminal of o.Width columns: the headline, one
// block per test, and what it cost. Without o.Color it holds no control
// character but the line feed.
func Terminal(w io.Writer, r triage.Report, o Options) error {
	if o.Width <= 0 {
		o.Width = 80
	}
	t := terminal{width: max(o.Width, minWidth), color: o.Color}
	v := newView(r)
	t.paragraph("", ansiBold, v.headline)
	if v.stopped != "" {
		t.paragraph("", ansiOpen, v.stopped)
	}
	for _, p := range v.shared {
		t.line("")
		t.line(t.style(ansiTitle, sharedTitle))
		t.paragraph("  ", "", oneLine(p.String()))
	}
	t.table(v)
	for _, row := range v.rows {
		t.row(row)
	}
	t.line("")
	for _, l := range v.footer {
		t.paragraph("", ansiDim, oneLine(l.String()))
	}
	if o.ReportPath != "" {
		t.line(t.style(ansiDim, "The whole record: "+oneLine(o.ReportPath)))
	}
	if _, err := io.WriteString(w, t.b.String()); err != nil {
		return fmt.Errorf("writing report: %w", err)
	}
	return nil
}

type terminal struct {
	b     strings.Builder
	width int
	color bool
}

// runnerCommand is what an Actions runner obeys when a step prints it: "::" at
// the start of a line, spaces and colours before it not counted, or "##[" anywhere.
var runnerCommand = regexp.MustCompile(`^((?:\s|\x1b\[[0-9]+m)*:)(:)|(#)(#\[)`)

func (t *terminal) line(s string) {
	s = runnerCommand.ReplaceAllString(strings.TrimRight(s, " "), "${1}${3}"+zeroWidth+"${2}${4}")
	t.b.WriteString(s + "\n")
}

func (t *terminal) style(code, s string) string {
	if !t.color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// paragraph wraps a text under an indent, in one style; none when it is empty.
func (t *terminal) paragraph(indent, style, s string) {
	for _, l := range wrap(s, t.width-columns(indent)) {
		if style != "" {
			l = t.style(style, l)
		}
		t.line(indent + l)
	}
}

// table has one line a test when the width allows it; the blocks below have the
// same numbers otherwise.
func (t *terminal) table(v view) {
	lines := make([][]string, 0, len(v.rows)+1)
	lines = append(lines, append([]string{""}, v.columns()...))
	for _, w := range v.rows {
		cells := []string{oneLine(w.title), w.head.dots(), w.base.dots()}
		if v.lag {
			cells = append(cells, w.lagHead.dots(), w.lagBase.dots())
		}
		lines = append(lines, cells)
	}
	widths := make([]int, len(lines[0]))
	total := 0
	for i := range widths {
		for _, l := range lines {
			widths[i] = max(widths[i], columns(l[i]))
		}
		total += widths[i] + 2
	}
	if over := total - t.width; over > 0 {
		widths[0] -= over
	}
	if widths[0] < 12 || len(v.rows) == 0 {
		return
	}
	t.line("")
	for i, l := range lines {
		s := pad(fit(l[0], widths[0]), widths[0])
		if i > 0 {
			s = t.style(verdictColor(v.rows[i-1].verdict), s)
		}
		for j, c := range l[1:] {
			s += "  " + pad(c, widths[j+1])
		}
		t.line(s)
	}
	t.paragraph("", ansiDim, v.legend())
}

func verdictColor(v triage.Verdict) string {
	switch {
	case v.Yours():
		return ansiYours
	case v.Class == triage.Inconclusive:
		return ansiOpen
	}
	return ansiOther
}

func (t *terminal) row(w row) {
	label := w.label
	if w.bound != "" {
		label += " (" + oneLine(w.bound) + ")"
	}
	t.line("")
	t.line(t.style(ansiBold, oneLine(w.title)))
	t.paragraph("  ", verdictColor(w.verdict), label)
	if n := len(w.same); n > 0 {
		t.line(fmt.Sprintf("  and %d more with the same signature", n))
	}
	for _, s := range w.sections {
		t.section(s)
	}
}

func (t *terminal) section(s section) {
	t.line("  " + t.style(ansiTitle, s.title))
	for _, l := range s.lines {
		t.paragraph("    ", "", oneLine(l.String()))
	}
	if s.block != "" {
		for _, l := range block(s.block) {
			t.line("    " + t.style(ansiDim, strings.ReplaceAll(l, "\t", "    ")))
		}
	}
	if s.command != "" { // never wrapped: it is to be copied
		t.line("    " + s.command)
	}
}
