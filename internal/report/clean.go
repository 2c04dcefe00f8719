package report

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ansi is a terminal's escape sequence: CSI, OSC with its text, or a two-byte one.
var ansi = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(\x07|\x1b\\\\)|\x1b[ -/]*[0-~]|\u009b[0-?]*[ -/]*[@-~]")

// clean makes a stranger's text harmless for any reader of plain text: UTF-8,
// without terminal sequences, with line feeds as the only line ends, and with
// every character that is not seen (controls, bidirectional overrides, zero
// width) shown as one that is.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	s = ansi.ReplaceAllString(s, "")
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	return strings.Map(visible, s)
}

func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r < 0x20:
		return 0x2400 + r // the control pictures
	case r == 0x7f:
		return 0x2421
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Cs, unicode.Co) || r&0xfffe == 0xfffe:
		return utf8.RuneError
	}
	return r
}

// oneLine is clean text on one line.
func oneLine(s string) string {
	s = strings.TrimRight(clean(s), "\n")
	return strings.NewReplacer("\n", "⏎", "\t", " ").Replace(s)
}

// shorten cuts a line to n runes, in its middle, where names differ least.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n || n < 3 {
		return s
	}
	r := []rune(s)
	tail := (n - 1) / 2
	return string(r[:n-1-tail]) + "…" + string(r[len(r)-tail:])
}

// Caps on a block of text on a page. A command is shown whole or not at all.
const (
	blockLines   = 40
	blockWidth   = 300
	commandWidth = 4000
)

// command is a command line made harmless to paste: one line, nothing unseen.
func command(s string) string {
	s = oneLine(strings.TrimSpace(s))
	if utf8.RuneCountInString(s) > commandWidth {
		return "# too long to be shown; see report.json"
	}
	return s
}

// block is clean text of at most blockLines lines of at most blockWidth runes:
// the first two thirds and the last third of what was there.
func block(s string) []string {
	lines := strings.Split(strings.Trim(clean(s), "\n"), "\n")
	if n := len(lines) - blockLines; n > 0 {
		head := blockLines * 2 / 3
		tail := lines[len(lines)-(blockLines-head)+1:]
		lines = append(append(append([]string{}, lines[:head]...), fmt.Sprintf("… %d lines left out …", n+1)), tail...)
	}
	for i, l := range lines {
		lines[i] = shorten(strings.TrimRight(l, " \t"), blockWidth)
	}
	return lines
}
