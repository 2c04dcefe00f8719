package jstest

import (
	"io"
	"regexp"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

var (
	reMochaFailing = regexp.MustCompile(`^  \d+ failing$`)
	reMochaEntry   = regexp.MustCompile(`^  \d+\) (.*)$`)
	// reMochaHook is a hook that broke; it is no test.
	reMochaHook = regexp.MustCompile(`^"(?:before|after)(?: all| each)?" hook(?: for "(.*)")?`)
	// reMochaFile is the file in the message of a test that took too long.
	reMochaFile = regexp.MustCompile(`\((\S+\.[cm]?[jt]sx?)\)$`)
)

// ReadMochaLog reads the failures out of what mocha's "spec" reporter and those
// like it print below "N failing": the titles, one to a line, and the error. The
// file is the one that the stack shows.
//
// The error is [ErrEmpty] for an empty text.
func ReadMochaLog(r io.Reader, d Dialect, o Options) ([]triage.Failure, error) {
	m := mochaReader{d: d, o: o}
	err := eachLine(r, d, m.line)
	m.close()
	return m.found.finish(err)
}

type mochaReader struct {
	d       Dialect
	o       Options
	found   collector
	failing bool
	// titles are those of the entry that is read; titled is set behind the last.
	titles []string
	titled bool
	text   strings.Builder
}

func (m *mochaReader) line(s string) {
	if reMochaFailing.MatchString(s) {
		m.close()
		m.failing = true
		return
	}
	if !m.failing {
		return
	}
	if e := reMochaEntry.FindStringSubmatch(s); e != nil {
		m.close()
		m.title(e[1])
		return
	}
	switch {
	case m.titles == nil:
	case !m.titled:
		m.title(strings.TrimSpace(s))
	case m.text.Len() < maxText:
		m.text.WriteString(strings.TrimPrefix(strings.TrimPrefix(s, "     "), " "))
		m.text.WriteByte('\n')
	}
}

// title is one of an entry's; the last one ends with a colon.
func (m *mochaReader) title(s string) {
	s, m.titled = strings.CutSuffix(s, ":")
	m.titles = append(m.titles, s)
}

func (m *mochaReader) close() {
	if m.titles == nil {
		return
	}
	titles := m.titles
	text := strings.TrimSpace(m.text.String())
	m.titles, m.titled = nil, false
	m.text.Reset()
	// The frames stand at the message's own depth; a stack has them deeper.
	message, stack, _ := strings.Cut(text, "\nat ")
	if stack != "" {
		stack = "\n    at " + strings.ReplaceAll(stack, "\nat ", "\n    at ")
	}
	file := testFrame(stack)
	if f := reMochaFile.FindStringSubmatch(strings.TrimSpace(message)); file == "" && f != nil {
		file = f[1]
	}
	if file != "" {
		file = m.o.file(file)
	}
	test := m.d.ID(titles)
	phase := triage.PhaseTest
	if reMochaHook.MatchString(titles[len(titles)-1]) {
		test, phase = "", triage.PhaseSetup
	}
	m.found.add(m.d.failure(m.o, m.d.target(m.o, file, test), phase, thrown{Message: message, Stack: stack}))
}
