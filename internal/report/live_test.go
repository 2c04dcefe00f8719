package report

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A page of Markdown is read here the way GitHub reads it, as far as it matters
// for safety: fences first, then code, then what is left as prose.

var (
	fenceOpen = regexp.MustCompile("^(`{3,})[a-z]*$")
	// GitHub makes nothing live within a code element; its text may hold no tag.
	codeElement = regexp.MustCompile(`<code>[^<]*</code>`)
	allowed     = regexp.MustCompile(`</?(details|summary|sub|code)>|<br>`)
	liveThing   = map[string]*regexp.Regexp{
		"mention":       regexp.MustCompile(`@[A-Za-z0-9]`),
		"reference":     regexp.MustCompile(`(?i)#[0-9]|gh-[0-9]`),
		"address":       regexp.MustCompile(`(?i)://|www\.`),
		"HTML":          regexp.MustCompile(`<[A-Za-z/!?]`),
		"link or image": regexp.MustCompile(`\]\(|!\[`),
		"commit":        regexp.MustCompile(`(?i)[0-9a-f]{7,}`),
	}
	nested = regexp.MustCompile(`^- (\s|[-+*>] |[0-9]+[.)] |#)`)
	entity = regexp.MustCompile(`&#?[a-z0-9]+;`)
)

// unsafe says what is wrong with a page; empty when nothing is.
func unsafe(page, marker string) string {
	if !utf8.ValidString(page) {
		return "not UTF-8"
	}
	for _, r := range page {
		if r != '\n' && r != '\u200b' && !unicode.IsPrint(r) && !unicode.IsSpace(r) && r != utf8.RuneError && !unicode.Is(unicode.Co, r) {
			if unicode.In(r, unicode.Cc, unicode.Cf) {
				return fmt.Sprintf("unseen character %U", r)
			}
		}
	}
	if marker != "" {
		var ok bool
		if page, ok = strings.CutPrefix(page, marker+"\n"); !ok && page != "" {
			return "the marker is not first"
		}
	}
	if strings.Contains(page, "<!--") {
		return "an HTML comment"
	}
	prose, bad := outsideFences(page)
	if bad != "" {
		return bad
	}
	depth := 0
	for n, line := range strings.Split(prose, "\n") {
		if bad := unsafeLine(line, &depth); bad != "" {
			return fmt.Sprintf("line %d: %s", n+1, bad)
		}
	}
	if depth != 0 {
		return fmt.Sprintf("%d details are open at the end", depth)
	}
	return ""
}

func outsideFences(page string) (prose, bad string) {
	var out []string
	fence := ""
	for _, line := range strings.Split(page, "\n") {
		switch m := fenceOpen.FindStringSubmatch(line); {
		case fence == "" && m != nil:
			fence = m[1]
		case fence == "":
			out = append(out, line)
		case len(line) >= len(fence) && strings.Trim(line, "`") == "":
			fence = ""
		}
		if fence != "" && (strings.HasPrefix(strings.TrimSpace(line), "/") || strings.HasPrefix(strings.TrimSpace(line), "@")) {
			if r, _ := utf8.DecodeRuneInString(strings.TrimSpace(line)[1:]); r < 0x80 && unicode.IsLetter(r) {
				return "", "a line that is an order to a bot"
			}
		}
	}
	if fence != "" {
		return "", "a fence is open at the end"
	}
	return strings.Join(out, "\n"), ""
}

func unsafeLine(line string, depth *int) string {
	if nested.MatchString(line) {
		return fmt.Sprintf("a list or block within a list, %q", line)
	}
	if strings.HasPrefix(line, "|") {
		// a pipe ends a cell even within code, unless it is escaped
		if cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); cells != 5 && cells != 7 && cells != 8 && cells != 6 {
			return fmt.Sprintf("a row of %d pipes", cells)
		}
	}
	rest, bad := outsideCode(line)
	if bad != "" {
		return bad
	}
	*depth += strings.Count(rest, "<details>") - strings.Count(rest, "</details>")
	if *depth < 0 || *depth > 1 || strings.Count(rest, "<summary>") != strings.Count(rest, "</summary>") {
		return fmt.Sprintf("details or summary out of balance in %q", line)
	}
	rest = codeElement.ReplaceAllString(rest, " ")
	rest = allowed.ReplaceAllString(rest, "")
	rest = entity.ReplaceAllString(rest, "&")
	for what, re := range liveThing {
		if m := re.FindString(rest); m != "" {
			return fmt.Sprintf("a live %s, %q in %q", what, m, rest)
		}
	}
	return ""
}

// outsideCode drops the code spans and the escaped characters of a line.
func outsideCode(line string) (rest, bad string) {
	var out strings.Builder
	for i := 0; i < len(line); {
		switch {
		case line[i] == '\\' && i+1 < len(line):
			i += 2
			out.WriteByte(' ')
		case line[i] == '`':
			n := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
			end := closing(line[i+n:], n)
			if end < 0 {
				return "", fmt.Sprintf("a code span is open in %q", line)
			}
			i += n + end + n
			out.WriteByte(' ')
		default:
			out.WriteByte(line[i])
			i++
		}
	}
	return out.String(), ""
}

// closing finds a run of exactly n backticks.
func closing(s string, n int) int {
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		j := i
		for j < len(s) && s[j] == '`' {
			j++
		}
		if j-i == n {
			return i
		}
		i = j
	}
	return -1
}
