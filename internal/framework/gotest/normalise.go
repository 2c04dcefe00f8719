package gotest

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMessage bounds a normalised message, in bytes.
const maxMessage = 320

// The rewriting rules, in order: a path may hold a number, a time holds digits.
var (
	reUUID = regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	reTime = regexp.MustCompile(`\b\d{4}[-/]\d{2}[-/]\d{2}(?:[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|(?: ?[+-]\d{2}:?\d{2}))?(?: [A-Z]{3,4})?)?(?: m=[+-][\d.]+)?|\b\d{2}:\d{2}:\d{2}(?:[.,]\d+)?\b`)
	// reTemp has the temporary roots of Linux, macOS and Windows.
	reTemp = regexp.MustCompile(`(?:/private)?(?:/var/folders|/tmp|/var/tmp|/dev/shm)/[^\s"'` + "`" + `:,;)\]}>]*|[A-Za-z]:\\[^\s"']*\\Temp\\[^\s"':,;)\]}>]*`)
	reLine = regexp.MustCompile(`(\.(?:go|s|c|h|cc|proto|y)):\d+(?::\d+)?`)
	reAbs  = regexp.MustCompile(`(^|[\s"'` + "`" + `(=:,\[{<>])(?:[A-Za-z]:[\\/]|/)(?:[^\s"'` + "`" + `:,;()\[\]{}<>/\\]+[\\/])+([^\s"'` + "`" + `:,;()\[\]{}<>/\\]+)`)
	reURL  = regexp.MustCompile(`(\w+://)`)
	reIP   = regexp.MustCompile(`\b(?:\d{1,3}\.){3}\d{1,3}\b`)
	rePort = regexp.MustCompile(`(\bIP|\[[0-9a-fA-F:]*\]|localhost):\d{2,5}\b`)
	reHex  = regexp.MustCompile(`\b0[xX][0-9a-fA-F]+\b`)
	reHash = regexp.MustCompile(`\b[0-9a-f]{12,}\b`)
	reDur  = regexp.MustCompile(`(?:^|[^\w.])-?(?:\d+(?:\.\d+)?(?:h|ms|m|s|µs|us|ns))+\b`)
	reGo   = regexp.MustCompile(`\b(goroutine|pid|PID|tid|port|thread)([ =:]+)\d+`)
	reNum  = regexp.MustCompile(`[-+]?\d+(?:\.\d+)*(?:[eE][-+]?\d+)?`)
	// reWant is what stands before a number that the assertion itself names.
	reWant = regexp.MustCompile(`(?i)(?:\bwant(?:ed|s)?|\bexpect(?:ed|s)?|\bstatus|\bstatus code|\bcode|\berrno)["']?[ :=(<]*$`)
)

// Normalise makes the message of a [triage.Signature] from what was printed.
//
// Removed, because the same failure shows them differently each time or on
// each tree: line numbers, hexadecimal addresses and long hashes, UUIDs, dates
// and times, durations, temporary paths and the directories of absolute paths,
// IPv4 addresses, ports, goroutine and process ids. Runs of white space become one space.
//
// Numbers need a rule of their own. Flaky failures vary in the number that was
// seen ("got 3 calls", "got 2 calls"), hardly ever in the one that was wanted.
// Taking two failures for different by a number leaves a flake unexcused with
// no second guard, while taking them for equal is still guarded by the rates
// (a head that fails much more often is "made worse"). So each free-standing
// number becomes "N", except one of at most three digits right after "want",
// "expected", "status", "code" or "errno": that one is the assertion's own.
// Digits that are part of a word ("utf8", "item2") stay.
//
// The result is valid UTF-8 and at most 320 bytes.
func Normalise(s string) string {
	if len(s) > 8*maxMessage {
		s = s[:8*maxMessage]
	}
	s = squeeze(strings.ToValidUTF8(s, "\uFFFD"))
	if strings.ContainsAny(s, "0123456789") || strings.ContainsAny(s, `/\`) {
		s = normalisePlaces(s)
	}
	s = squeeze(s)
	return truncate(s, maxMessage)
}

// rule is one rewriting of [Normalise]. need are bytes of which a text that it
// applies to has at least one: most texts have none, and expressions are slow.
type rule struct {
	need  string
	apply func(string) string
}

func replace(re *regexp.Regexp, with string) func(string) string {
	return func(s string) string { return re.ReplaceAllString(s, with) }
}

var rules = []rule{
	{"-", replace(reUUID, "UUID")},
	{":-/", replace(reTime, "TIME")},
	{`/\`, replace(reTemp, "TMP")},
	{":", replace(reLine, "$1")},
	{`/\`, basePaths},
	{".", replace(reIP, "IP")},
	{":", replace(rePort, "$1:PORT")},
	{"xX", replace(reHex, "ADDR")},
	{"0123456789", hashes},
	{"hms", durations},
	{"gpPt", replace(reGo, "$1${2}N")},
	{"0123456789", numbers},
}

func normalisePlaces(s string) string {
	for _, r := range rules {
		if strings.ContainsAny(s, r.need) {
			s = r.apply(s)
		}
	}
	return s
}

// hashes replaces long words of hexadecimal digits that hold a decimal one.
func hashes(s string) string {
	return reHash.ReplaceAllStringFunc(s, func(h string) string {
		if strings.ContainsAny(h, "0123456789") {
			return "HASH"
		}
		return h
	})
}

// durations replaces what time.Duration prints, but keeps the byte before it.
func durations(s string) string {
	return reDur.ReplaceAllStringFunc(s, func(d string) string {
		r, n := utf8.DecodeRuneInString(d)
		if unicode.IsDigit(r) || r == '-' {
			return "DUR"
		}
		return d[:n] + "DUR"
	})
}

// basePaths cuts absolute paths to their last element, but leaves the paths of
// URLs alone: those are content.
func basePaths(s string) string {
	if !reURL.MatchString(s) {
		return reAbs.ReplaceAllString(s, "$1$2")
	}
	words := strings.Split(s, " ")
	for i, w := range words {
		if !strings.Contains(w, "://") {
			words[i] = reAbs.ReplaceAllString(w, "$1$2")
		}
	}
	return strings.Join(words, " ")
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
		if start > 0 && (wordByte(s[start-1])) || end < len(s) && wordByte(s[end]) {
			continue
		}
		if start > 1 && s[start-1] == '.' && wordByte(s[start-2]) {
			continue // the tail of a word: v1.2
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

// squeeze turns every run of white space, the no-break space of cmp.Diff
// included, into one space.
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
