package jstest

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// Limits on the text kept of a failure, in bytes.
const (
	maxExcerpt = 4 << 10
	maxText    = 32 << 10
)

// thrown is an error as a report or a record has it.
type thrown struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Stack   string `json:"stack"`
}

const (
	timeoutMessage = "test timed out"
	exitMessage    = "process ended early"
)

var (
	// reTimeout is how vitest, jest, mocha and node:test say that a test took too
	// long; vitest 3's JSON report has only the name of its stack.
	reTimeout = regexp.MustCompile(`^(?:thrown: ")?(?:(?:Test|Hook) timed out in \d|Exceeded timeout of \d|Timeout of \d+ ?ms exceeded|test timed out after \d|STACK_TRACE_ERROR$)`)
	// reClass are the names of errors that say nothing, in front of a message.
	reClass = regexp.MustCompile(`^(?:AssertionError|JestAssertionError|Error)(?: \[[A-Z_]+\])?: `)
	reFrame = regexp.MustCompile(`^\s+(?:at|❯) (?:.*[( ])?((?:file://|/|[A-Za-z]:[\\/])[^()\n]*?|[\w./@-]+\.[cm]?[jt]sx?):(\d+):\d+\)?$`)
	reANSI  = regexp.MustCompile(`(?:\x1b|#x1B)\[[0-9;]*[A-Za-z]`)
	// reAggregate is what every Promise.any that fails says, whatever was in it.
	reAggregate = regexp.MustCompile(`^AggregateError:?(?: All promises were rejected)?$`)
	// reVague is a first line that says nothing of what was expected.
	reVague = regexp.MustCompile(`:$|^expect\(|^assert\.\w+\(`)
)

// failure builds the failure of a target.
func (d Dialect) failure(o Options, t triage.Target, phase string, e thrown) triage.Failure {
	text := reANSI.ReplaceAllString(bounded(e.text()), "")
	message := text
	for _, frame := range []string{"\n    at ", "\n ❯ "} {
		if i := strings.Index(message, frame); i >= 0 {
			message = message[:i]
		}
	}
	line := firstLine(message)
	f := triage.Failure{
		Target: t, Outcome: triage.Error, Message: truncate(strings.TrimSpace(message), 2<<10),
		Excerpt: excerpt(text), Location: d.location(o, t, text, e.Stack),
	}
	if phase == triage.PhaseTest {
		f.Outcome = triage.Fail
	}
	f.Signature = triage.Signature{Phase: phase, Message: Normalise(o.rootless(line)), Func: truncate(t.Test, maxMessage)}
	if reTimeout.MatchString(line) {
		f.Outcome = triage.Timeout
		f.Signature.Phase, f.Signature.Message = triage.PhaseTimeout, timeoutMessage
	}
	switch {
	case line == "":
		f.Signature = triage.Signature{}
	case reAggregate.MatchString(line):
		f.Signature.Message = "" // it excuses nothing
	}
	return f
}

// rootless takes the tree's own place out of a line, which may be a temporary
// directory; what is left is an absolute path, as a report of CI has it.
func (o Options) rootless(line string) string {
	if o.Root == "" {
		return line
	}
	return strings.ReplaceAll(line, strings.TrimSuffix(o.Root, "/")+"/", "/tree/")
}

// text is the error as one text: name, message, stack.
func (e thrown) text() string {
	m := e.Message
	if e.Name != "" && e.Name != "thrown" && !strings.HasPrefix(m, e.Name) {
		m = e.Name + ": " + m
	}
	if i := strings.Index(e.Stack, "\n    at "); i >= 0 && !strings.Contains(m, "\n    at ") {
		m += e.Stack[i:]
	}
	return m
}

// firstLine is the line that tells failures apart: the first, and what was
// expected where the first does not say it.
func firstLine(message string) string {
	first := ""
	for line := range strings.Lines(message) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case first == "":
			first = reClass.ReplaceAllString(line, "")
			if !reVague.MatchString(first) {
				return first
			}
		case strings.HasPrefix(first, "expect(") && !strings.HasPrefix(line, "Expected"):
		case strings.HasPrefix(line, "+ actual"), strings.HasPrefix(line, "+ "), line == "...": // the seen side of a difference
		default:
			return first + " " + line
		}
	}
	return first
}

// location is the first frame of the stack that stands in the tree, else the test's file.
func (d Dialect) location(o Options, t triage.Target, texts ...string) triage.Location {
	l := triage.Location{File: t.Package}
	if t.Test != "" {
		l.Func = truncate(t.Test, maxMessage)
	}
	for _, text := range texts {
		for line := range strings.Lines(text) {
			m := reFrame.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
			if m == nil || strings.Contains(m[1], "node_modules") || strings.Contains(m[1], "node:") {
				continue
			}
			if file := o.file(m[1]); file == t.Package {
				l.Line, _ = strconv.Atoi(m[2])
				return l
			}
		}
	}
	return l
}

func bounded(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// excerpt is the part of a text that fits a report: its head and its tail.
func excerpt(text string) string {
	s := strings.TrimRight(text, "\n")
	if len(s) <= maxExcerpt {
		return s
	}
	return truncate(s, maxExcerpt/2) + "\n...\n" + strings.ToValidUTF8(s[len(s)-maxExcerpt/2:], "")
}
