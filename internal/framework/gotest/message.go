package gotest

import (
	"bytes"
	"strconv"
	"strings"
)

// message is one call of t.Log, t.Error or t.Fatal as the output shows it. The
// testing package prints the three alike.
type message struct {
	file string
	line int
	// text is the message with its further lines.
	text string
	rank rank
}

// rank orders the messages of one test by how sure it is that they tell of the
// failure and are no log line.
type rank int

const (
	rankAny     rank = iota // a log line of a helper, perhaps
	rankWorded              // words of a failure, but not in a test file
	rankTest                // in a test file
	rankTesting             // the testing package's own complaint
	rankFailure             // words of a failure, in a test file
	rankAssert              // a block of an assertion library
)

// findMessages splits a test's text into messages. minIndent is the indentation
// that a message has at least: 4, or 0 for reports that trim it.
func findMessages(text []byte, minIndent int) []message {
	var out []message
	indent, lines := 0, 0
	var b strings.Builder
	closeLast := func() {
		if n := len(out); n > 0 && lines > 0 {
			out[n-1].text = b.String()
			out[n-1].rank = rankOf(out[n-1])
		}
		b.Reset()
		lines = 0
	}
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		m, at, ok := messageStart(line, minIndent)
		switch deep := indentOf(line); {
		case ok && (lines == 0 || at < 8 || at == indent):
			closeLast()
			out = append(out, m)
			indent = at
			b.WriteString(m.text)
			lines = 1
		case lines > 0 && (len(bytes.TrimSpace(line)) == 0 || deep >= indent+4):
			if b.Len() < 8*maxMessage {
				b.WriteByte('\n')
				b.Write(line)
			}
			lines++
		default:
			closeLast()
		}
	}
	closeLast()
	return out
}

// messageStart recognises "    file_test.go:12: text", also behind a print that
// ended without a newline. at is its indentation.
func messageStart(line []byte, minIndent int) (m message, at int, ok bool) {
	i := bytes.Index(line, []byte(".go:"))
	if i <= 0 {
		return m, 0, false
	}
	start := i
	for start > 0 && fileByte(line[start-1]) {
		start--
	}
	end := i + len(".go:")
	digits := end
	for digits < len(line) && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	if start == i || digits == end || digits >= len(line) || line[digits] != ':' {
		return m, 0, false
	}
	spaces := 0
	for spaces < start && line[start-1-spaces] == ' ' {
		spaces++
	}
	if spaces < minIndent {
		return m, 0, false
	}
	if spaces < start { // behind something else: only with the full indentation
		if spaces < 4 {
			return m, 0, false
		}
		spaces = 4
	}
	n, err := strconv.Atoi(string(line[end:digits]))
	if err != nil {
		return m, 0, false
	}
	text := bytes.TrimPrefix(line[digits+1:], []byte{' '})
	file := string(line[start : i+len(".go")])
	file = file[strings.LastIndexAny(file, `/\`)+1:] // -fullpath
	return message{file: file, line: n, text: string(text)}, spaces, true
}

func fileByte(c byte) bool {
	return c == '/' || c == '\\' || c == '_' || c == '-' || c == '.' || c == '+' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func indentOf(line []byte) int {
	n := 0
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return n
}

// failureWords are what people write into a failure and seldom into a log line.
var failureWords = []string{
	"got", "want", "expect", "fail", "error", "mismatch", "timed out", "timeout", "deadline", "!=",
	"differ", "not ", "n't ", "missing", "never", "unknown", "invalid", "panic", "wrong", "should", "must", "cannot",
	"no such", "nil", "leak", "race",
}

func rankOf(m message) rank {
	test := strings.HasSuffix(m.file, "_test.go")
	switch {
	case strings.Contains(m.text, "Error Trace:") && strings.Contains(m.text, "Error:"):
		return rankAssert
	case m.file == "testing.go":
		return rankTesting
	}
	low := strings.ToLower(m.text)
	for _, w := range failureWords {
		if strings.Contains(low, w) {
			if test {
				return rankFailure
			}
			return rankWorded
		}
	}
	if test {
		return rankTest
	}
	return rankAny
}

// chooseMessage picks the message that stands for the failure.
//
// The output does not tell a log line from an error, so the surest rank wins.
// Within a rank the last message wins: a fatal one is last, and the log lines
// that lead to it are before it. Only among assertion blocks, which are failures
// for certain, the first wins: the later ones are often its consequences.
func chooseMessage(ms []message) (message, bool) {
	if len(ms) == 0 {
		return message{}, false
	}
	best := ms[0]
	for _, m := range ms[1:] {
		if m.rank > best.rank || m.rank == best.rank && m.rank != rankAssert {
			best = m
		}
	}
	return best, true
}

// plain is the message as people read it and the text its signature is made of.
func (m message) plain() string {
	if m.rank == rankAssert {
		return assertText(m.text)
	}
	return strings.TrimSpace(m.text)
}

// assertText is the error and the user's words of a testify block; its trace,
// its test's name and its diff are left out.
func assertText(text string) string {
	var parts []string
	keep := false
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		label, rest, _ := strings.Cut(line, ":")
		switch label {
		case "Error Trace", "Test":
			keep = false
			continue
		case "Error", "Messages":
			keep = true
			line = strings.TrimSpace(rest)
		case "Diff":
			keep = false
		}
		if keep && line != "" {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, "\n")
}
