package jstest

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

var (
	reMochaPoint = regexp.MustCompile(`^(not )?ok \d+ (.*)$`)
	reMochaTotal = regexp.MustCompile(`^# (?:tests|pass|fail) \d+$`)
	reMochaPlan  = regexp.MustCompile(`^1\.\.(\d+)$`)
	// reMochaHooked is a hook that broke, behind the titles of its describes.
	reMochaHooked = regexp.MustCompile(`(?:^| )"(?:before|after)(?: all| each)" hook(?: for ".*"|: .*| in ".*")?$`)
)

// ReadMochaTAP reads the failures out of what mocha's reporter "tap" writes, of
// version 12 or 13 of the protocol. The file is the one that the stack shows. mocha
// leaves every "#" out of a title there, so such a test is not found again by its name.
//
// The errors are [ErrEmpty], and [ErrTruncated] with the failures that are complete.
func ReadMochaTAP(r io.Reader, d Dialect, o Options) ([]triage.Failure, error) {
	m := mochaTAP{d: d, o: o, planned: -1}
	if err := eachLine(r, d, m.line); err != nil {
		return m.found.list, err
	}
	if m.planned != m.points {
		return m.found.list, fmt.Errorf("reading %s TAP: %w", d.Name, ErrTruncated)
	}
	return m.found.done(nil)
}

type mochaTAP struct {
	d     Dialect
	o     Options
	found collector
	// title is that of the red point whose text is read, if open is set.
	title string
	open  bool
	text  []string
	size  int
	// points is how many there were, planned how many mocha says at the end.
	points, planned int
}

func (m *mochaTAP) line(s string) {
	if p := reMochaPoint.FindStringSubmatch(s); p != nil {
		m.close()
		m.points++
		m.title, m.open = p[2], p[1] != ""
		return
	}
	if p := reMochaPlan.FindStringSubmatch(s); p != nil {
		m.close()
		m.planned, _ = strconv.Atoi(p[1])
		return
	}
	if reMochaTotal.MatchString(s) {
		m.close()
		return
	}
	inside, indented := strings.CutPrefix(s, "  ")
	switch {
	case !m.open || m.size > maxText:
	case indented || s == "":
		m.text = append(m.text, inside)
		m.size += len(s) + 1
	case len(m.text) == 0: // a line break in the title
		m.title += "\n" + s
		m.size += len(s) + 1
	}
}

func (m *mochaTAP) close() {
	if !m.open {
		return
	}
	text := m.text
	m.open, m.text, m.size = false, nil, 0
	var e mochaEr
	if len(text) > 0 && text[0] == "---" {
		e.Message, e.Stack = blocks(text[1:])
	} else {
		e.Message, e.Stack = halves(text)
	}
	file := testFrame(e.Message + "\n" + e.Stack)
	if f := reMochaFile.FindStringSubmatch(strings.TrimSpace(e.Message)); f != nil {
		file = f[1]
	}
	if file != "" {
		file = m.o.file(file)
	}
	test, phase := m.title, triage.PhaseTest
	if reMochaHooked.MatchString(m.title) {
		test, phase = "", triage.PhaseSetup
	}
	m.found.add(m.d.failure(m.o, m.d.target(m.o, file, test), phase, e.thrown()))
}

// blocks are the two texts of version 13.
func blocks(lines []string) (message, stack string) {
	in := &message
	for _, line := range lines {
		switch line {
		case "  message: |-":
			in = &message
		case "  stack: |-":
			in = &stack
		case "...":
		default:
			*in += strings.TrimPrefix(line, "    ") + "\n"
		}
	}
	return strings.TrimSuffix(message, "\n"), strings.TrimSuffix(stack, "\n")
}

// halves are the two texts of version 12, where nothing stands between: the stack
// says the message once more, behind the class of the error.
func halves(lines []string) (message, stack string) {
	at := len(lines)
	for i := 1; i < len(lines); i++ {
		if class := reStackName.FindString(lines[i]); class != "" && strings.TrimPrefix(lines[i], class) == lines[0] {
			at = i
			break
		}
	}
	return strings.Join(lines[:at], "\n"), strings.Join(lines[at:], "\n")
}
