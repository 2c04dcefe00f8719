package jstest

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxMessage bounds a normalised message, in bytes.
const maxMessage = 320

// The rewriting rules, in order: a path may hold a number, a time holds digits.
var (
	reUUID = regexp.MustCompile(`(?i)\b[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\b`)
	reTime = regexp.MustCompile(`\b\d{4}[-/]\d{2}[-/]\d{2}(?:[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|(?: ?[+-]\d{2}:?\d{2}))?)?\b|\b\d{2}:\d{2}:\d{2}(?:[.,]\d+)?\b`)
	// reTemp has the temporary roots of Linux, macOS and Windows.
	reTemp = regexp.MustCompile(`(?:/private)?(?:/var/folders|/tmp|/var/tmp|/dev/shm)/[^\s"'` + "`" + `:,;)\]}>]*|[A-Za-z]:\\[^\s"']*\\Temp\\[^\s"':,;)\]}>]*`)
	reLine = regexp.MustCompile(`(\.[cm]?[jt]sx?):\d+(?::\d+)?|\bline \d+\b`)
	reAbs  = regexp.MustCompile(`(?:[A-Za-z]:[\\/]|/)(?:[^\s"'` + "`" + `:,;()\[\]{}<>/\\]+[\\/])+([^\s"'` + "`" + `:,;()\[\]{}<>/\\]+)`)
	rePort = regexp.MustCompile(`((?:\d{1,3}\.){3}\d{1,3}|\[[0-9a-fA-F:]*\]|localhost):\d{2,5}\b`)
	reHex  = regexp.MustCompile(`\b0[xX][0-9a-fA-F]+\b`)
	reHash = regexp.MustCompile(`\b[0-9a-f]{12,}\b`)
	reID   = regexp.MustCompile(`\b(id=|pid |PID |pid=|port )'?\d+'?`)
	reDur  = regexp.MustCompile(`(^|[^\w.])-?\d+(?:\.\d+)?(?:ms|s|us|µs|ns|m|h)\b`)
	reNum  = regexp.MustCompile(`[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?`)
	// reWant ends before a number that the assertion expects; "expected" alone is
	// followed by what was seen.
	reWant = regexp.MustCompile(`(?i)(?:\bwant(?:ed|s)?|\bexpected:|\bstatus|\bstatus code|\bcode|\berrno|\bto (?:be|equal|deeply equal|strictly equal)|\blength(?: of)?)["']?\]? ?[:=(<]* ?$`)
)

// Normalise makes the message of a [triage.Signature] from the line of an error.
//
// Removed, because the same failure shows them differently each time or on each
// tree: the error's class where it says nothing ("AssertionError:", "Error:"),
// terminal colours, line numbers, addresses and long hashes, UUIDs, dates and
// times, durations, temporary paths and the directories of absolute paths, ports
// and process ids. Runs of white space become one space.
//
// As for the other languages, each free-standing number becomes "N", except one
// of at most three digits that the assertion itself names ("to be", "Expected:",
// "status", …): a flake varies in the number that was seen. The result is valid
// UTF-8 and at most 320 bytes.
func Normalise(s string) string {
	if len(s) > 8*maxMessage {
		s = s[:8*maxMessage]
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = squeeze(reANSI.ReplaceAllString(s, ""))
	for _, p := range []string{"AssertionError: ", "builtins.AssertionError: ", "Failed: "} {
		s = strings.TrimPrefix(s, p)
	}
	if strings.ContainsAny(s, `0123456789/\`) {
		s = normalisePlaces(s)
	}
	return truncate(squeeze(s), maxMessage)
}

func normalisePlaces(s string) string {
	s = reUUID.ReplaceAllString(s, "UUID")
	s = reTime.ReplaceAllString(s, "TIME")
	s = reTemp.ReplaceAllString(s, "TMP")
	s = reLine.ReplaceAllString(s, "$1")
	if !strings.Contains(s, "://") {
		s = reAbs.ReplaceAllString(s, "$1")
	}
	s = rePort.ReplaceAllString(s, "$1:PORT")
	s = reHex.ReplaceAllString(s, "ADDR")
	s = reHash.ReplaceAllStringFunc(s, func(h string) string {
		if strings.ContainsAny(h, "0123456789") {
			return "HASH"
		}
		return h
	})
	s = reID.ReplaceAllString(s, "${1}N")
	s = reDur.ReplaceAllString(s, "${1}DUR")
	return numbers(s)
}

// numbers replaces free-standing numbers by the rule of [Normalise].
func numbers(s string) string {
	var b strings.Builder
	last := 0
	for _, m := range reNum.FindAllStringIndex(s, -1) {
		start, end := m[0], m[1]
		if c := s[start]; (c == '-' || c == '+') && start > 0 && wordByte(s[start-1]) {
			start++ // a hyphen inside a word is no sign
		}
		if start > 0 && wordByte(s[start-1]) || end < len(s) && wordByte(s[end]) {
			continue
		}
		if start > 1 && s[start-1] == '.' && wordByte(s[start-2]) {
			continue // an address or a version
		}
		if end+1 < len(s) && s[end] == '.' && wordByte(s[end+1]) {
			continue
		}
		if n := strings.TrimLeft(s[start:end], "-+"); len(n) <= 3 && reWant.MatchString(s[:start]) {
			continue
		}
		b.WriteString(s[last:start])
		b.WriteByte('N')
		last = end
	}
	b.WriteString(s[last:])
	return b.String()
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

// squeeze turns every run of white space into one space.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// truncate cuts s to at most n bytes at a rune.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
