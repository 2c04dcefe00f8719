package gotest

import (
	"bytes"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// maxCrash bounds the kept text of a crash: the first goroutines tell why.
const maxCrash = 64 << 10

// crash is the text with which a process ended itself: from "panic: " or
// "fatal error: " on.
type crash struct {
	text []byte
	// after has the tests whose FAIL was printed right before: the testing
	// package prints it before it panics again.
	after []string
	// current is the test whose output it came in.
	current string
}

// crashStart reports whether a line begins a crash.
func crashStart(line []byte) bool {
	if len(line) < 7 || line[0] != 'p' && line[0] != 'f' {
		return false
	}
	return bytes.HasPrefix(line, []byte("panic: ")) || bytes.HasPrefix(line, []byte("fatal error: "))
}

func (c *crash) add(line []byte) {
	if len(c.text)+len(line) < maxCrash {
		c.text = append(append(c.text, line...), '\n')
	}
}

// real reports whether the text has what a Go process prints when it ends, not
// just a line that begins like it.
func (c *crash) real() bool {
	return c != nil && (bytes.Contains(c.text, []byte("\ngoroutine ")) || bytes.Contains(c.text, []byte("\n\trunning tests:\n")))
}

func (c *crash) first() string {
	line, _, _ := bytes.Cut(c.text, []byte{'\n'})
	return string(line)
}

const timeoutPrefix = "panic: test timed out after "

func (c *crash) timedOut() bool { return strings.HasPrefix(c.first(), timeoutPrefix) }

// runningTests are the tests that a timeout lists, leaves only.
func (c *crash) runningTests() []string {
	var out []string
	_, text, found := bytes.Cut(c.text, []byte("\trunning tests:\n"))
	for found {
		var line []byte
		line, text, found = bytes.Cut(text, []byte{'\n'})
		name, ok := bytes.CutPrefix(line, []byte("\t\t"))
		if !ok {
			break
		}
		if i := bytes.LastIndex(name, []byte(" (")); i > 0 {
			name = name[:i]
		}
		out = append(out, string(name))
	}
	return leaves(out)
}

// stack is the frames of the goroutine that crashed: the first one printed.
func (c *crash) stack() []frame {
	i := bytes.Index(c.text, []byte("\ngoroutine "))
	if i < 0 {
		return nil
	}
	_, text, _ := bytes.Cut(c.text[i+1:], []byte{'\n'})
	return parseFrames(text)
}

// stackOf is the last stack in the dump that the test function stands in: that
// of the deepest subtest.
func (c *crash) stackOf(test string) []frame {
	var found []frame
	text := c.text
	for {
		i := bytes.Index(text, []byte("\ngoroutine "))
		if i < 0 {
			return found
		}
		_, text, _ = bytes.Cut(text[i+1:], []byte{'\n'})
		frames := parseFrames(text)
		if _, top := testFunc(frames); top == test {
			found = frames
		}
		text = text[max(0, bytes.Index(text, []byte("\n\n"))):]
	}
}

// message is what the process said, without the remarks of the runtime.
func (c *crash) message() string {
	m := c.first()
	m = strings.TrimPrefix(m, "panic: ")
	for _, mark := range []string{" [recovered]", " [recovered, repanicked]"} {
		m = strings.TrimSuffix(m, mark)
	}
	return m
}

// failure describes the crash of a process of package pkg, without a target.
func (c *crash) failure(pkg string) triage.Failure {
	f := triage.Failure{Outcome: triage.Error, Message: c.message(), Excerpt: excerpt(c.text)}
	if c.timedOut() {
		f.Outcome = triage.Timeout
		f.Signature = triage.Signature{Phase: triage.PhaseTimeout, Message: "test timed out"}
		return f
	}
	f.Signature = triage.Signature{Phase: triage.PhasePanic, Message: Normalise(f.Message)}
	if strings.Contains(f.Message, "unexpected call to os.Exit(0)") {
		f.Signature.Phase = triage.PhaseExit
	}
	if u, ok := userFrame(c.stack(), pkg); ok {
		f.Signature.Func = shortFunc(u.fn)
		f.Location = triage.Location{File: u.file, Line: u.line, Func: shortFunc(u.fn)}
	}
	return f
}

// leaves drops every name that another name of the list is a subtest of.
func leaves(names []string) []string {
	var out []string
	for _, n := range names {
		leaf := true
		for _, m := range names {
			if strings.HasPrefix(m, n+"/") {
				leaf = false
				break
			}
		}
		if leaf {
			out = append(out, n)
		}
	}
	return out
}

// maxExcerpt bounds the output that is shown with a failure, in bytes.
const maxExcerpt = 4 << 10

// excerpt is the part of a text that fits a report: its head and its tail.
func excerpt(text []byte) string {
	s := strings.ToValidUTF8(strings.TrimRight(string(text), "\n"), "\uFFFD")
	if len(s) <= maxExcerpt {
		return s
	}
	return truncate(s, maxExcerpt/2) + "\n...\n" + string(tailLines([]byte(s), maxExcerpt/2))
}
