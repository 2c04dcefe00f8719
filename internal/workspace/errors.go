package workspace

import (
	"errors"
	"regexp"
	"strings"
)

// Kinds of [Error]; test for them with errors.Is.
var (
	ErrGitMissing      = errors.New("git is missing")
	ErrNotRepository   = errors.New("not a git repository")
	ErrBareRepository  = errors.New("bare repository")
	ErrUnknownRevision = errors.New("unknown revision")
	ErrNoBase          = errors.New("no base")
	ErrBaseUnreachable = errors.New("base not reachable")
	ErrSameRevision    = errors.New("head equals base")
	ErrBusy            = errors.New("another run is in progress")
	ErrDiskFull        = errors.New("disk full")
	ErrForeignDir      = errors.New("directory is not ours")
)

// Error is a mistake or a state of the machine that the user can put right. Its
// text is one line: what is wrong, then how to fix it.
type Error struct {
	// Kind is one of the Err values of this package.
	Kind error
	// Problem and Fix are the two halves of the line.
	Problem, Fix string
}

// Error is the problem and its fix.
func (e *Error) Error() string {
	if e.Fix == "" {
		return e.Problem
	}
	return e.Problem + ": " + e.Fix
}

// Unwrap is the kind.
func (e *Error) Unwrap() error { return e.Kind }

// gitError is a git command that ended badly.
type gitError struct {
	args   []string
	exit   int
	stderr string
}

func (e *gitError) Error() string {
	text := lastLine(e.stderr)
	if text == "" {
		text = "no message"
	}
	return "running git " + scrub(strings.Join(e.args, " ")) + ": " + text
}

// says reports whether git's message has one of the texts. Git runs in the C
// locale, so they are stable.
func (e *gitError) says(texts ...string) bool {
	for _, t := range texts {
		if strings.Contains(e.stderr, t) {
			return true
		}
	}
	return false
}

var credentials = regexp.MustCompile(`://[^/\s@]*@`)

// scrub drops the credentials of URLs.
func scrub(s string) string { return credentials.ReplaceAllString(s, "://") }

// lastLine is git's verdict: what leads up to it is progress and advice. A line
// that says "fatal:" or "error:" is preferred.
func lastLine(stderr string) string {
	last := ""
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ") {
			return scrub(line)
		}
		last = line
	}
	return scrub(last)
}
