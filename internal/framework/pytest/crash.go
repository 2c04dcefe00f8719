package pytest

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// crash is how one phase of one test broke, whatever told of it.
type crash struct {
	phase string
	// message is the exception as pytest prints it; its first line counts.
	message string
	// cut is set when the message is known to be shortened.
	cut  bool
	file string
	line int
	// text is the traceback.
	text string
	// group is the exception group that a text showed which is shortened by now.
	group group
}

// Limits on the text kept of a failure, in bytes.
const (
	maxExcerpt = 4 << 10
	// maxText bounds the traceback that is looked at: its end has the message.
	maxText = 32 << 10
)

// reTimeout is how pytest-timeout reports, in its old and its new words.
var reTimeout = regexp.MustCompile(`^(?:Failed: )?Timeout \(?>`)

// timeoutMessage is the signature's message of every timeout: what hangs where differs from run to run.
const timeoutMessage = "test timed out"

// failure builds the failure of a target from its crash.
func (o Options) failure(t triage.Target, c crash) triage.Failure {
	first, _, _ := strings.Cut(strings.TrimSpace(c.message), "\n")
	f := triage.Failure{
		Target: t, Outcome: triage.Error, Message: truncate(strings.ToValidUTF8(c.message, "\uFFFD"), 2<<10),
		Excerpt: excerpt(c.text),
	}
	if c.phase == triage.PhaseTest {
		f.Outcome = triage.Fail
	}
	if c.file == "" {
		c.file = t.Package
	}
	if c.file != "" {
		f.Location = triage.Location{File: c.file, Line: c.line, Func: testFunc(t.Test)}
	}
	g, grouped := c.exceptions()
	switch {
	case reTimeout.MatchString(first), c.phase == triage.PhaseTimeout:
		f.Outcome = triage.Timeout
		f.Signature = triage.Signature{Phase: triage.PhaseTimeout, Message: timeoutMessage, Func: testFunc(t.Test)}
	case grouped:
		if message := g.message(); message != "" {
			f.Signature = triage.Signature{Phase: c.phase, Message: message, Func: testFunc(t.Test)}
		}
	case first != "" && !c.cut:
		f.Signature = triage.Signature{Phase: c.phase, Message: Normalise(first), Func: testFunc(t.Test)}
	}
	return f
}

// The lines of a traceback that tell something.
var (
	reFrame = regexp.MustCompile(`^\s+File ".*", line \d+`)
	rePlace = regexp.MustCompile(`^(\S.*?\.\w+):(\d+):(?: (.*))?$`)
	// reRule parts a traceback from captured output and from remarks of plugins.
	// A long path leaves its rule one dash a side.
	reRule = regexp.MustCompile(`^-{2,} .* -{2,}$|^- generated .* -$`)
)

// readTraceback finds the exception and its place in what pytest prints of a
// failure, in any of its styles: the last group of "E" lines and the last
// "file:line:"; in native style the first line without indentation below the
// last frame.
func readTraceback(text []byte) crash {
	var c crash
	var bare string // the first line without indentation below the last frame
	group, below := false, true
	lines := 0
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			continue
		}
		if line[0] == '-' && reRule.Match(line) {
			break
		}
		lines++
		if line[0] == 'E' && (len(line) == 1 || line[1] == ' ') {
			m := strings.TrimSpace(string(line[1:]))
			if !group {
				c.message, group = m, true
			} else if len(c.message) < 4*maxMessage {
				c.message += "\n" + m
			}
			continue
		}
		group = false
		if m := rePlace.FindSubmatch(line); m != nil {
			c.file = string(m[1])
			c.line, _ = strconv.Atoi(string(m[2]))
			if c.message == "" && lines == 1 && len(m[3]) > 0 { // --tb=line
				bare, below = string(m[3]), false
			}
			continue
		}
		switch {
		case reFrame.Match(line):
			below = true
		case below && line[0] != ' ' && line[0] != '>' && line[0] != '_' && !bytes.HasPrefix(line, []byte("Traceback (most")):
			bare, below = string(line), false
		}
	}
	c.text = string(text)
	if c.message == "" {
		c.message = strings.TrimSpace(bare)
	}
	if c.message == "" {
		c.group = readGroup(c.text)
		c.message = c.group.name
	}
	return c
}

// excerpt is the part of a text that fits a report: its head and its tail.
func excerpt(text string) string {
	s := strings.ToValidUTF8(strings.TrimRight(text, "\n"), "\uFFFD")
	if len(s) <= maxExcerpt {
		return s
	}
	tail := s[len(s)-maxExcerpt/2:]
	if i := strings.IndexByte(tail, '\n'); i >= 0 {
		tail = tail[i+1:]
	}
	return truncate(s, maxExcerpt/2) + "\n...\n" + strings.ToValidUTF8(tail, "")
}

// block is the bounded text of one failure: its end.
type block struct {
	text []byte
}

func (b *block) add(line []byte) {
	line = line[max(0, len(line)-maxText):]
	if len(b.text)+len(line) > 2*maxText {
		b.text = append(b.text[:0], b.text[max(0, len(b.text)-maxText):]...)
	}
	b.text = append(append(b.text, line...), '\n')
}
