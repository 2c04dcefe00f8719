package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

//go:embed page.css
var pageCSS string

//go:embed page.html
var pageHTML string

// page escapes every string for its place; the functions return plain values.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"line":  oneLine,
	"lines": func(s string) string { return strings.Join(block(s), "\n") },
	"prose": joined,
	"ms":    duration,
	"arm":   func(p pageRow, a triage.Arm) string { return armWords(p.report, a).String() },
}).Parse(pageHTML))

// HTML writes one self-contained page: every test with its argument, its arms
// run by run, the intervals and all its trials. It loads nothing, holds no
// script, and its content policy allows its own style sheet and nothing else.
func HTML(w io.Writer, r triage.Report) error {
	v := newView(r)
	sum := sha256.Sum256([]byte(pageCSS))
	data := struct {
		Headline, Stopped, Legend, Title string
		Policy                           string
		CSS                              template.CSS
		Rows                             []pageRow
		Shared, Footer                   []prose
		SharedTitle                      string
	}{
		Headline: v.headline, Stopped: v.stopped, Legend: v.legend(), Title: r.Check.Repo,
		Policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'",
		CSS:    template.CSS(pageCSS), // our own file
		Footer: v.footer, Shared: v.shared, SharedTitle: sharedTitle,
	}
	for i, w := range v.rows {
		data.Rows = append(data.Rows, newPageRow(r, w, i+1))
	}
	var b bytes.Buffer // nothing is written of a page that cannot be finished
	if err := page.Execute(&b, data); err != nil {
		return fmt.Errorf("rendering report: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing report: %w", err)
	}
	return nil
}

// A pageRow is one test on the HTML page.
type pageRow struct {
	row
	report   triage.Report
	Number   int
	Title    string
	Label    string
	Bound    string
	Kind     string // class attribute: yours, other or open
	Same     []string
	Sections []pageSection
	Strips   []strip
	Bars     []bar
	Trials   []triage.Trial
	Hidden   int // trials that are not listed
}

type pageSection struct {
	Title   string
	Lines   []prose
	Block   string
	Command string
}

// A strip is the outcomes of one arm, in order.
type strip struct {
	Name  string
	Side  string
	Marks []mark
	Count string
}

type mark struct{ Kind, Text string }

// A bar is an interval on a scale from Min to Max, in user units of its drawing.
type bar struct {
	Name, Text       string
	From, Width, Dot float64
	Zero             float64
	HasDot           bool
}

// barWidth is the width of an interval's drawing in user units.
const barWidth = 200.0

// maxTrialRows is how many trials of one test are listed.
const maxTrialRows = 400

func newPageRow(r triage.Report, w row, number int) pageRow {
	p := pageRow{row: w, report: r, Number: number, Title: w.title, Label: w.label, Bound: w.bound, Same: w.same, Kind: "other"}
	switch {
	case w.verdict.Yours():
		p.Kind = "yours"
	case w.verdict.Class == triage.Inconclusive:
		p.Kind = "open"
	}
	for _, s := range w.sections {
		p.Sections = append(p.Sections, pageSection{s.title, s.lines, s.block, s.command})
	}
	for _, t := range w.evidence.Tallies {
		p.Strips = append(p.Strips, newStrip(armWords(r, t.Arm).String(), t))
	}
	p.Bars = bars(w)
	for _, t := range r.Trials {
		if t.Target != w.verdict.Target {
			continue
		}
		if len(p.Trials) == maxTrialRows {
			p.Hidden++
			continue
		}
		p.Trials = append(p.Trials, t)
	}
	return p
}

func newStrip(name string, t triage.Tally) strip {
	s := strip{Name: name, Side: t.Arm.Side.String(), Count: strings.TrimSpace(ran(t))}
	for _, c := range t.Sequence {
		switch c {
		case 'F':
			s.Marks = append(s.Marks, mark{"same", "●"})
		case 'o':
			s.Marks = append(s.Marks, mark{"otherwise", "◍"})
		case '.':
			s.Marks = append(s.Marks, mark{"pass", "○"})
		default:
			s.Marks = append(s.Marks, mark{"none", "–"})
		}
	}
	return s
}

// bars are the intervals that the evidence holds: of the failure rate, from 0
// to 1, and of the difference between head and base, from -1 to 1.
func bars(w row) []bar {
	var out []bar
	if b := w.verdict.Bound; b.RateHigh > 0 {
		out = append(out, bar{Name: "failure rate", Text: percent(b.RateLow) + " to " + percent(b.RateHigh),
			From: barWidth * b.RateLow, Width: barWidth * (b.RateHigh - b.RateLow)})
	}
	for _, c := range w.evidence.Comparisons {
		name := "head minus base"
		if c.Head.Lag != "" {
			name += ", delayed"
		}
		scale := func(x float64) float64 { return barWidth * (x + 1) / 2 }
		out = append(out, bar{Name: name, Text: fmt.Sprintf("%+.2f (%+.2f to %+.2f)", c.Difference, c.Low, c.High),
			From: scale(c.Low), Width: scale(c.High) - scale(c.Low), Dot: scale(c.Difference), HasDot: true, Zero: barWidth / 2})
	}
	if c := w.verdict.Cause; c != nil && c.DoseMS > 0 {
		from := decades(c.MarginMS)
		out = append(out, bar{Name: "least delay that fails (1 ms to 1 s)", Text: duration(c.DoseMS),
			From: from, Width: max(0, decades(c.DoseMS)-from), Dot: decades(c.DoseMS), HasDot: true})
	}
	return out
}

// decades places a delay on a logarithmic scale from 1 ms to 1 s. What a delay
// passed at and what it failed at are often a factor apart, not a sum.
func decades(ms float64) float64 {
	return barWidth / 3 * math.Log10(min(max(ms, 1), 1000))
}

// Text and Code make spans readable to the template.
func (s span) Text() string { return oneLine(s.text) }

// Code reports whether the span is a name of code.
func (s span) Code() bool { return s.code }
