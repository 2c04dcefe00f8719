package report

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The escapes of a comment on a pull request. GitHub makes references of
// "@name", "#1" and "GH-1", links of "www." and "://", and pages of markup; it
// leaves code alone. Names therefore are code, and prose is broken up with
// zero-width spaces, which are added after cleaning took the stranger's away.

const zeroWidth = "\u200b"

// mdClean is clean text that cannot hold an HTML comment either: a comment is
// how our own pages are found again.
func mdClean(s string) string {
	return strings.ReplaceAll(clean(s), "<!--", "<!"+zeroWidth+"--")
}

// mdCode is a string as inline code of at most n runes. Text with characters
// that end a code span or a table cell, or look like HTML to a careless reader, is
// written in entities.
func mdCode(s string, n int) string {
	s = shorten(strings.NewReplacer("\n", "⏎", "\t", " ").Replace(strings.TrimRight(mdClean(s), "\n")), n)
	switch {
	case strings.TrimSpace(s) == "":
		return "`(empty)`"
	case strings.ContainsAny(s, "`|\\<>") || strings.HasPrefix(s, " ") || strings.HasSuffix(s, " "):
		return "<code>" + entities(s) + "</code>"
	}
	return "`" + s + "`"
}

// entities writes every character that could mean something, to Markdown or to
// HTML, as an entity.
func entities(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= utf8.RuneSelf || r == ' ' || isWord(r):
			b.WriteRune(r)
		case r == '@':
			b.WriteString("&#64;" + zeroWidth)
		default:
			fmt.Fprintf(&b, "&#%d;", r)
		}
	}
	return b.String()
}

func isWord(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

var (
	issueNumber = regexp.MustCompile(`(?i)(gh-)(\d)`)
	webAddress  = regexp.MustCompile(`(?i)(www)\.`)
	commitID    = regexp.MustCompile(`(?i)[0-9a-f]{7,}`)
	// markup is what a backslash makes harmless. Angle brackets and ampersands
	// become entities, which HTML blocks understand as well.
	markup = strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "{", "\\{", "}", "\\}",
		"[", "\\[", "]", "\\]", "|", "\\|", "~", "\\~", "!", "\\!", "$", "\\$", "^", "\\^",
		"<", "&lt;", ">", "&gt;", "&", "&amp;", "#", "\\#"+zeroWidth, "@", "@"+zeroWidth, "://", ":"+zeroWidth+"//", "\n", " ", "\t", " ")
)

// mdText is a string as prose: no markup, link, mention, reference or command.
// It never begins a line, so marks that count only there are left alone.
func mdText(s string) string {
	s = markup.Replace(clean(s))
	s = issueNumber.ReplaceAllString(s, "${1}"+zeroWidth+"${2}")
	s = webAddress.ReplaceAllString(s, "${1}"+zeroWidth+".")
	return commitID.ReplaceAllStringFunc(s, func(id string) string {
		var b strings.Builder
		for ; len(id) > 6; id = id[6:] { // a commit is known by seven digits or more
			b.WriteString(id[:6] + zeroWidth)
		}
		return b.String() + id
	})
}

// listMark is what would begin a list or a rule at the start of a line.
var listMark = regexp.MustCompile(`^([-+=]|[0-9]+[.)])`)

// mdProse renders prose on one line.
func mdProse(p prose) string {
	var b strings.Builder
	left := proseWidth
	p = joined(p)
	for _, s := range p {
		if left <= 0 {
			b.WriteString(" …")
			break
		}
		left -= utf8.RuneCountInString(s.text)
		if s.code {
			b.WriteString(mdCode(s.text, codeWidth))
		} else {
			b.WriteString(mdText(shorten(s.text, proseWidth)))
		}
	}
	line := strings.TrimLeft(b.String(), " ") // an indent would make it a code block
	if listMark.MatchString(line) {
		return zeroWidth + line
	}
	return line
}

// joined makes one span of texts that stand side by side: "www" and "." become
// a link only together.
func joined(p prose) prose {
	var out prose
	for _, s := range p {
		if n := len(out); n > 0 && !s.code && !out[n-1].code {
			out[n-1].text += s.text
		} else {
			out = append(out, s)
		}
	}
	return out
}

// Caps on one line of prose and on one name in it, in runes.
const (
	proseWidth = 1200
	codeWidth  = 200
)

var (
	backticks = regexp.MustCompile("`+")
	// order is a line that another bot could take for a command to itself: bots
	// read the text of a comment, not the page.
	order = regexp.MustCompile(`(?m)^([ \t]*)([/@][A-Za-z])`)
)

// mdFence is clean text shown as it is, within a fence longer than any it holds.
// runnerOrder begins a line that an Actions runner would carry out if the page
// were printed into a log.
var runnerOrder = regexp.MustCompile(`(?m)^([ \t]*)(::|##\[)`)

func mdFence(body, language string) string {
	body = strings.ReplaceAll(body, "<!--", "<!"+zeroWidth+"--")
	body = order.ReplaceAllString(body, "${1}"+zeroWidth+"${2}")
	body = runnerOrder.ReplaceAllString(body, "${1}"+zeroWidth+"${2}")
	fence := "```"
	for _, run := range backticks.FindAllString(body, -1) {
		if len(run) >= len(fence) {
			fence = strings.Repeat("`", len(run)+1)
		}
	}
	return fence + language + "\n" + body + "\n" + fence + "\n"
}
