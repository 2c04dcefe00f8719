package jstest

import (
	"io"
	"regexp"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

var (
	reGroup  = regexp.MustCompile(`^( *)▶ (.+?)(?: \([\d.]+ms\))?$`)
	reCross  = regexp.MustCompile(`^( *)✖ (.+) (\([\d.]+ms\))(.*)$`)
	reTestAt = regexp.MustCompile(`^test at (.+):\d+:\d+$`)
	// reInspected is the class of an error whose name was changed, as it is shown.
	reInspected = regexp.MustCompile(`^(\w+) \[\w+\]: `)
	reFailing   = regexp.MustCompile(`^✖ failing tests:$`)
)

// specReader reads what node:test's "spec" reporter prints: a tree of marks, then
// a list of the failing tests with their places.
type specReader struct {
	d     Dialect
	o     Options
	found collector
	names []string
	// paths are the names of a red test from the outermost on, by its own name
	// and its time, which the list of the failing tests repeats.
	paths   map[string][]string
	failing bool
	file    string
	open    []string
	text    strings.Builder
}

func (s *specReader) line(line string) {
	if reFailing.MatchString(line) {
		s.failing = true
		return
	}
	if !s.failing {
		s.tree(line)
		return
	}
	if m := reTestAt.FindStringSubmatch(line); m != nil {
		s.close()
		s.file = m[1]
		return
	}
	if m := reCross.FindStringSubmatch(line); m != nil && m[1] == "" && s.file != "" && s.open == nil {
		if !reDirective.MatchString(m[4]) {
			s.open = s.paths[m[2]+m[3]]
			if s.open == nil {
				s.open = []string{m[2]}
			}
		}
		return
	}
	if s.open != nil && s.text.Len() < maxText {
		s.text.WriteString(strings.TrimPrefix(line, "  "))
		s.text.WriteByte('\n')
	}
}

// tree reads a line of the marks. A group begins before its tests; it is marked
// once more behind them when one of them is red.
func (s *specReader) tree(line string) {
	if m := reGroup.FindStringSubmatch(line); m != nil {
		s.enter(len(m[1])/2, m[2])
		return
	}
	m := reCross.FindStringSubmatch(line)
	if m == nil || len(s.paths) >= maxReds {
		return
	}
	depth := min(len(m[1])/2, len(s.names))
	if depth < len(s.names) && s.names[depth] == m[2] {
		return // the group itself
	}
	s.paths[m[2]+m[3]] = append(append([]string{}, s.names[:depth]...), m[2])
}

func (s *specReader) enter(depth int, name string) {
	depth = min(depth, len(s.names), maxDepth-1)
	s.names = append(s.names[:depth], name)
}

func (s *specReader) close() {
	if s.open != nil {
		text := reInspected.ReplaceAllString(strings.TrimSpace(s.text.String()), "$1: ")
		s.found.add(s.d.reported(s.o, s.file, s.open, thrown{Message: unquoted(text)}))
	}
	s.open, s.file = nil, ""
	s.text.Reset()
}

// ReadNodeLog reads the log of a run of node:test, which holds its protocol or
// its tree of marks; each is read as far as it is there.
//
// The error is [ErrEmpty] for an empty text.
func ReadNodeLog(r io.Reader, d Dialect, o Options) ([]triage.Failure, error) {
	t, s := tapReader{d: d, o: o}, specReader{d: d, o: o, paths: map[string][]string{}}
	err := eachLine(r, d, func(line string) { t.line(line); s.line(line) })
	t.close()
	s.close()
	for _, f := range s.found.list {
		t.found.add(f)
	}
	return t.found.finish(err)
}
