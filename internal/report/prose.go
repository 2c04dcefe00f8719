package report

import (
	"fmt"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// Prose is text for people with names of code in it. Each renderer escapes both
// for its own page.
type prose []span

type span struct {
	text string
	code bool
}

// A name is a string from the report that is shown as code.
type name string

// say makes prose of its parts: a name is code, a text is taken as it is.
func say(parts ...any) prose {
	var p prose
	for _, x := range parts {
		switch v := x.(type) {
		case name:
			p = append(p, span{string(v), true})
		case prose:
			p = append(p, v...)
		default:
			p = append(p, span{fmt.Sprint(v), false})
		}
	}
	return p
}

// quote makes prose of a sentence from the report in which names stand between
// backticks. Unpaired ones are text.
func quote(s string) prose {
	parts := strings.Split(s, "`")
	if len(parts)%2 == 0 {
		return say(s)
	}
	var p prose
	for i, x := range parts {
		if x != "" {
			p = append(p, span{x, i%2 == 1})
		}
	}
	return p
}

// String is the prose without any marks.
func (p prose) String() string {
	var b strings.Builder
	for _, s := range p {
		b.WriteString(s.text)
	}
	return b.String()
}

// siteName is a place as people look it up: file, line and function; its id
// where nothing else is known.
func siteName(s triage.Site) name {
	if s.File == "" {
		return name(s.ID)
	}
	return name(place(s.File, s.Line, s.Func))
}

func place(file string, line int, fn string) string {
	p := file
	if line > 0 {
		p = fmt.Sprintf("%s:%d", file, line)
	}
	return strings.TrimSpace(p + " " + fn)
}

// percent is a probability for people: never rounded to a certainty.
func percent(p float64) string {
	switch {
	case p <= 0:
		return "0 %"
	case p < 0.001:
		return "< 0.1 %"
	case p < 0.0995:
		return trimZero(fmt.Sprintf("%.1f", 100*p)) + " %"
	case p > 0.995 && p < 1:
		return "> 99 %"
	}
	return fmt.Sprintf("%.0f %%", 100*p)
}

func trimZero(s string) string { return strings.TrimSuffix(s, ".0") }

// duration is a time in milliseconds for people.
func duration(ms float64) string {
	switch {
	case ms < 10:
		return trimZero(fmt.Sprintf("%.1f", ms)) + " ms"
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	case ms < 100_000:
		return trimZero(fmt.Sprintf("%.1f", ms/1000)) + " s"
	}
	return fmt.Sprintf("%.0f min", ms/60_000)
}

// pvalue is a probability of a test statistic as statisticians write it.
func pvalue(p float64) string {
	if p < 0.0001 {
		return "< 0.0001"
	}
	return fmt.Sprintf("= %.2g", p)
}

// evalue is an e-value: as many digits as people compare.
func evalue(e float64) string {
	if e >= 100 && e < 1e6 {
		return fmt.Sprintf("%.0f", e)
	}
	return fmt.Sprintf("%.2g", e)
}
