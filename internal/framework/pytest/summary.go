package pytest

import (
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// fromSummary joins a line of the summary to its traceback.
func (l *logReader) fromSummary(s summaryLine) triage.Failure {
	id, message := l.splitSummary(s)
	t := ParseID(id, l.o)
	phase := triage.PhaseTest
	titles := []string{l.titleOf(t.Test)}
	switch {
	case s.word == "ERROR" && t.Test == "":
		phase = triage.PhaseBuild
		titles = []string{"ERROR collecting " + id}
	case s.word == "ERROR":
		phase = triage.PhaseSetup
		titles = []string{"ERROR at setup of " + titles[0], "ERROR at teardown of " + titles[0]}
	case strings.HasPrefix(s.word, "SUB"):
		titles = []string{titles[0] + " " + strings.TrimPrefix(strings.TrimPrefix(s.word, "SUBFAILED"), "SUBFAIL"), titles[0]}
	}
	c := crash{message: message, cut: strings.HasSuffix(message, "...") || message == ""}
	for _, title := range titles {
		if queue := l.blocks[title]; len(queue) > 0 {
			l.blocks[title] = queue[1:]
			c = queue[0]
			break
		}
	}
	c.phase = phase
	if c.message == "" && message != "" {
		c.message = message
	}
	if c.file = l.o.place(c.file); c.file == "" {
		c.file = t.Package
	}
	return l.o.failure(t, c)
}

// titleOf is the title that pytest gives a test's traceback: classes by dots,
// parameters as they are.
func (l *logReader) titleOf(test string) string {
	name, params := splitParams(test)
	return strings.ReplaceAll(name, "::", ".") + params
}

// splitSummary parts the node id from the message. Either may hold " - ", so a
// part whose traceback is there wins, then one with balanced brackets.
func (l *logReader) splitSummary(s summaryLine) (id, message string) {
	type cut struct{ id, message string }
	cuts := []cut{}
	for i := 0; i < len(s.rest); {
		j := strings.Index(s.rest[i:], " - ")
		if j < 0 {
			break
		}
		i += j
		cuts = append(cuts, cut{s.rest[:i], s.rest[i+3:]})
		i++
	}
	cuts = append(cuts, cut{s.rest, ""})
	for _, c := range cuts {
		_, test := splitID(c.id)
		title := l.titleOf(test)
		for _, t := range []string{title, "ERROR at setup of " + title, "ERROR at teardown of " + title} {
			if test != "" && len(l.blocks[t]) > 0 {
				return c.id, c.message
			}
		}
	}
	for _, c := range cuts {
		if !strings.Contains(c.id, "[") || strings.HasSuffix(c.id, "]") {
			return c.id, c.message
		}
	}
	return s.rest, ""
}

// fromBlock makes a failure of a traceback alone: its place tells the file.
func (l *logReader) fromBlock(title string) (triage.Failure, bool) {
	queue := l.blocks[title]
	if len(queue) == 0 {
		return triage.Failure{}, false
	}
	c := queue[0]
	l.blocks[title] = queue[1:]
	c.phase = triage.PhaseTest
	name := title
	for _, p := range []string{"ERROR at setup of ", "ERROR at teardown of "} {
		if rest, ok := strings.CutPrefix(name, p); ok {
			name, c.phase = rest, triage.PhaseSetup
		}
	}
	c.file = l.o.place(c.file)
	if file, ok := strings.CutPrefix(name, "ERROR collecting "); ok {
		c.phase = triage.PhaseBuild
		return l.o.failure(l.o.target(file, ""), c), true
	}
	file := firstPlace(c.text)
	if file == "" {
		return triage.Failure{}, false
	}
	plain, params := splitParams(name)
	return l.o.failure(l.o.target(file, strings.ReplaceAll(plain, ".", "::")+params), c), true
}

// firstPlace is the first file of a traceback: the test's own.
func firstPlace(text string) string {
	for line := range strings.Lines(text) {
		if m := rePlace.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			return m[1]
		}
	}
	return ""
}
