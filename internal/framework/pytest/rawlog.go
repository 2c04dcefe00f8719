package pytest

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// maxLogLine is how much of one line of a log is looked at.
const maxLogLine = 16 << 10

// ReadLog reads the failures out of the raw log of a job: the short summary
// tells which tests failed, the tracebacks above it how. Time stamps and colours
// of CI services are taken off. A log without a pytest session has no failures.
//
// A summary line that pytest has cut short (it fits a terminal's width) and that
// no traceback completes gives a failure with a zero signature.
func ReadLog(r io.Reader, o Options) ([]triage.Failure, error) {
	l := newLogReader(o, nil)
	err := l.read(r)
	return l.found.done(err)
}

// Sections of pytest's output.
const (
	inProgress = iota
	inErrors
	inFailures
	inSummary
)

// logReader reads the sessions of a log, one after the other.
type logReader struct {
	o       Options
	found   collector
	section int
	// title and body are the traceback being read.
	title string
	body  block
	// blocks are the tracebacks of the session by their title, each a queue.
	blocks map[string][]crash
	titles []string
	// summary are the lines of the short summary that tell of a red test.
	summary []summaryLine
	// passed, when not nil, is told of the tests that passed.
	passed func(triage.Target)
	seed   int64
	fatal  *block
	inner  block
	// root is pytest's rootdir, hang what a time limit of a plugin ended.
	root string
	hang *hang
}

// summaryLine is "FAILED tests/test_a.py::test_b - assert 1 == 2".
type summaryLine struct {
	word string
	rest string
}

func newLogReader(o Options, passed func(triage.Target)) *logReader {
	return &logReader{o: o, blocks: map[string][]crash{}, passed: passed}
}

func (l *logReader) read(r io.Reader) error {
	in := bufio.NewReaderSize(r, maxLogLine)
	seen := false
	for {
		line, err := in.ReadSlice('\n')
		seen = seen || len(bytes.TrimSpace(line)) > 0
		if len(line) > 0 {
			l.line(clean(line))
		}
		for errors.Is(err, bufio.ErrBufferFull) { // the rest of a long line
			_, err = in.ReadSlice('\n')
		}
		switch {
		case errors.Is(err, io.EOF):
			l.flush()
			if !seen {
				return fmt.Errorf("reading log: %w", ErrEmpty)
			}
			return nil
		case err != nil:
			l.flush()
			return fmt.Errorf("reading log: %w", err)
		}
	}
}

// clean takes a service's columns and time stamp, colours and the end off a line.
func clean(line []byte) []byte {
	line = unstamp(bytes.TrimRight(line, "\r\n"))
	if bytes.IndexByte(line, 0x1b) >= 0 {
		line = reANSI.ReplaceAll(line, nil)
	}
	return line
}

// unstamp takes off what services put before a line: two columns, as "gh run
// view --log" prints them, and a time stamp.
func unstamp(line []byte) []byte {
	rest := line
	if bytes.IndexByte(rest[:min(len(rest), 200)], '\t') > 0 {
		if cols := bytes.SplitN(rest, []byte{'\t'}, 3); len(cols) == 3 {
			rest = cols[2]
		}
	}
	rest = bytes.TrimPrefix(rest, []byte("\uFEFF"))
	const form = "2006-01-02T15:04:05"
	if len(rest) <= len(form) {
		return line
	}
	for i := range len(form) {
		digit := form[i] >= '0' && form[i] <= '9'
		if c := rest[i]; digit && (c < '0' || c > '9') || !digit && c != form[i] {
			return line
		}
	}
	i := len(form)
	for i < len(rest) && bytes.IndexByte([]byte(".0123456789:+-"), rest[i]) >= 0 {
		i++
	}
	if i < len(rest) && rest[i] == 'Z' {
		i++
	}
	return bytes.TrimPrefix(rest[i:], []byte{' '})
}

// The lines that part pytest's output.
var (
	reSection = regexp.MustCompile(`^=+ (.+?) =+$`)
	reTitle   = regexp.MustCompile(`^_+ (.*[^_ ].*) _+$`)
	reEnd     = regexp.MustCompile(`^(?:.* )?in \d+(?:\.\d+)?s\b`)
	reSeed    = regexp.MustCompile(`^(?:Using --randomly-seed=|Using --random-order-seed=)(\d+)`)
	reWord    = regexp.MustCompile(`^(FAILED|ERROR|PASSED|SUBFAILED(?:\[.*?\])?(?: ?\(.*?\))?|SUBFAIL) (.+)$`)
)

const (
	fatalMark    = "Fatal Python error: "
	internalMark = "INTERNALERROR>"
)

func (l *logReader) line(line []byte) {
	if len(line) == 0 {
		l.body.addIf(l.title, line)
		return
	}
	switch {
	case line[0] == '=' && l.header(line):
		return
	case line[0] == '_' && (l.section == inErrors || l.section == inFailures):
		if m := reTitle.FindSubmatch(line); m != nil {
			l.closeBlock()
			l.title = string(m[1])
			return
		}
	case line[0] == 'U':
		if m := reSeed.FindSubmatch(line); m != nil {
			l.seed, _ = strconv.ParseInt(string(m[1]), 10, 64)
		}
	case line[0] == 'F' && bytes.HasPrefix(line, []byte(fatalMark)):
		l.fatal = &block{}
	case line[0] == 'I' && bytes.HasPrefix(line, []byte(internalMark)):
		l.inner.add(bytes.TrimPrefix(bytes.TrimPrefix(line, []byte(internalMark)), []byte{' '}))
	}
	l.noteHang(line)
	if l.fatal != nil && len(l.fatal.text) < maxText {
		l.fatal.add(line)
	}
	switch l.section {
	case inErrors, inFailures:
		l.body.addIf(l.title, line)
	case inSummary:
		l.summarise(line)
	}
}

// addIf adds a line when there is a traceback that it belongs to.
func (b *block) addIf(title string, line []byte) {
	if title != "" {
		b.add(line)
	}
}

// header handles a line between "=" signs and reports whether it was one.
func (l *logReader) header(line []byte) bool {
	m := reSection.FindSubmatch(line)
	if m == nil {
		return false
	}
	switch name := string(m[1]); {
	case name == "test session starts":
		l.flush()
	case name == "ERRORS":
		l.closeBlock()
		l.section = inErrors
	case name == "FAILURES":
		l.closeBlock()
		l.section = inFailures
	case name == "short test summary info":
		l.closeBlock()
		l.section = inSummary
	case reEnd.MatchString(name):
		l.flush()
	case name == "PASSES", name == "XFAILURES", name == "XPASSES", strings.HasPrefix(name, "warnings summary"), strings.HasPrefix(name, "slowest"):
		l.closeBlock()
		l.section = inProgress
	default: // a line of a test's own output
		return false
	}
	return true
}

// closeBlock ends the traceback being read.
func (l *logReader) closeBlock() {
	if l.title != "" && len(l.titles) < maxReds {
		c := readTraceback(l.body.text)
		c.text = excerpt(c.text)
		l.blocks[l.title] = append(l.blocks[l.title], c)
		l.titles = append(l.titles, l.title)
	}
	l.title = ""
	l.body.text = l.body.text[:0]
}

func (l *logReader) summarise(line []byte) {
	m := reWord.FindSubmatch(line)
	if m == nil {
		return
	}
	if string(m[1]) == "PASSED" {
		if l.passed != nil {
			l.passed(ParseID(string(m[2]), l.o))
		}
		return
	}
	if len(l.summary) < maxReds {
		l.summary = append(l.summary, summaryLine{string(m[1]), string(m[2])})
	}
}

// flush ends a session: it makes failures of what was gathered.
func (l *logReader) flush() {
	l.closeBlock()
	// A test that failed and then broke in its tear-down has a line of each; its
	// own failure counts. With -rA the errors are printed first.
	slices.SortStableFunc(l.summary, func(a, b summaryLine) int {
		return cmp.Compare(strings.Index(a.word, "ERROR"), strings.Index(b.word, "ERROR"))
	})
	for _, s := range l.summary {
		l.add(l.fromSummary(s))
	}
	if len(l.summary) == 0 { // no summary: -rN, or killed while it printed
		for _, title := range l.titles {
			if f, ok := l.fromBlock(title); ok {
				l.add(f)
			}
		}
	}
	l.broken()
	clear(l.blocks)
	l.titles, l.summary, l.section, l.seed, l.fatal, l.root, l.hang = nil, nil, inProgress, 0, nil, "", nil
	l.inner.text = nil
}

func (l *logReader) add(f triage.Failure) {
	f.Seed = l.seed
	l.found.add(f)
}

// broken tells of a process that ended itself, which no test is red for.
func (l *logReader) broken() {
	t := triage.Target{Suite: l.o.suite(), Framework: Name}
	if l.hang != nil && len(l.summary) == 0 {
		if f, ok := l.hung(); ok {
			l.add(f)
			return
		}
	}
	switch {
	case l.fatal != nil:
		c := crash{phase: triage.PhasePanic, text: string(l.fatal.text)}
		c.message, _, _ = strings.Cut(c.text, "\n")
		l.add(l.o.failure(t, c))
	case len(l.inner.text) > 0:
		c := readTraceback(l.inner.text)
		c.phase, c.file = triage.PhaseSetup, ""
		l.add(l.o.failure(t, c))
	}
}
