package jstest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

var (
	reSubtest = regexp.MustCompile(`^( *)# Subtest: (.*)$`)
	rePoint   = regexp.MustCompile(`^( *)(not )?ok \d+(?: - (.*))?$`)
	reYAML    = regexp.MustCompile(`^( *)(\w+): ?(.*)$`)
	// reDirective ends a test point that is no red: it is to be done, or was left out.
	reDirective = regexp.MustCompile(` # (?i:TODO|SKIP)\b.*$`)
	rePlace     = regexp.MustCompile(`^(.*?):\d+:\d+$`)
)

// tapIndent is how much deeper a subtest stands.
const tapIndent = 4

// ReadTAP reads the failures out of the Test Anything Protocol as node:test
// prints it, which is what its CI logs hold up to Node 22. Lines around it, and
// the time stamps of a CI service, are passed over. A parent whose only fault is
// that of its subtests is no failure, nor is a test marked TODO.
//
// The errors are [ErrEmpty] for an empty text, and [ErrKind] where only another
// program's points are red, whose names do not say which test they are.
func ReadTAP(r io.Reader, d Dialect, o Options) ([]triage.Failure, error) {
	t := tapReader{d: d, o: o}
	err := eachLine(r, d, t.line)
	t.close()
	if err == nil && t.foreign && len(t.found.list) == 0 {
		return nil, fmt.Errorf("reading TAP: %w: its writer is not node:test, vitest or mocha: give a JUnit XML report", ErrKind)
	}
	return t.found.finish(err)
}

// finish is done, where the reading itself may have failed.
func (c *collector) finish(err error) ([]triage.Failure, error) {
	if err != nil {
		return c.list, err
	}
	return c.done(nil)
}

// eachLine hands over the lines of a log without colours and time stamps.
func eachLine(r io.Reader, d Dialect, do func(string)) error {
	in := bufio.NewReaderSize(r, 64<<10)
	empty := true
	for {
		line, err := readLine(in)
		if len(line) > 0 || err == nil {
			empty = empty && len(line) == 0
			s := reANSI.ReplaceAllString(string(line[:min(len(line), maxLine)]), "")
			do(strings.TrimRight(reStamp.ReplaceAllString(s, ""), "\r\n"))
		}
		switch {
		case errors.Is(err, io.EOF) && empty:
			return fmt.Errorf("reading %s log: %w", d.Name, ErrEmpty)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading %s log: %w", d.Name, err)
		}
	}
}

// maxDepth bounds the nesting of subtests that is followed.
const maxDepth = 64

type tapReader struct {
	d     Dialect
	o     Options
	found collector
	names []string
	// open is the red test point whose block is read; its keys follow.
	open   []string
	indent int
	keys   map[string]string
	key    string
	// foreign is set by a red point that node:test would not write.
	foreign bool
}

func (t *tapReader) line(s string) {
	if m := reSubtest.FindStringSubmatch(s); m != nil {
		t.close()
		t.enter(len(m[1])/tapIndent, m[2])
		return
	}
	if m := rePoint.FindStringSubmatch(s); m != nil && len(m[1])%tapIndent == 0 {
		t.close()
		if m[2] != "" && !reDirective.MatchString(m[3]) {
			t.enter(len(m[1])/tapIndent, m[3])
			t.open, t.indent, t.keys, t.key = append([]string{}, t.names...), len(m[1])+2, map[string]string{}, ""
		}
		return
	}
	if t.open == nil {
		t.foreign = t.foreign || strings.HasPrefix(s, "not ok ")
		return
	}
	body := strings.TrimLeft(s, " ")
	switch depth := len(s) - len(body); {
	case body == "..." && depth == t.indent:
		t.close()
	case body == "---":
	case depth == t.indent && reYAML.MatchString(s):
		m := reYAML.FindStringSubmatch(s)
		t.key = m[2]
		t.keys[t.key] = ""
		if m[3] != "|-" && m[3] != "|" {
			t.keys[t.key] = unquoted(m[3])
		}
	case t.key != "" && len(t.keys[t.key]) < maxText:
		if len(s) > t.indent+2 {
			body = s[t.indent+2:]
		} else {
			body = ""
		}
		t.keys[t.key] += body + "\n"
	}
}

// enter notes the name of the subtest at a depth.
func (t *tapReader) enter(depth int, name string) {
	if depth > len(t.names) || depth >= maxDepth {
		depth = min(len(t.names), maxDepth-1)
	}
	t.names = append(t.names[:depth], strings.NewReplacer(`\#`, "#", `\\`, `\`).Replace(name))
}

// close ends the open test point.
func (t *tapReader) close() {
	if t.open == nil {
		return
	}
	names, k := t.open, t.keys
	t.open = nil
	if k["failureType"] == "subtestsFailed" || k["failureType"] == "cancelledByParent" {
		return
	}
	file := k["location"]
	if m := rePlace.FindStringSubmatch(file); m != nil {
		file = m[1]
	}
	e := thrown{Name: k["name"], Message: strings.TrimSpace(k["error"])}
	for frame := range strings.Lines(k["stack"]) {
		e.Stack += "\n    at " + strings.TrimSpace(frame)
	}
	t.found.add(t.d.reported(t.o, file, names, e))
}

// reported is the failure of a test, or of a file that could not be run: such a
// file stands for itself, by its path, and its output is not in the report.
func (d Dialect) reported(o Options, file string, names []string, e thrown) triage.Failure {
	if len(names) == 1 && reScript.MatchString(names[0]) && (names[0] == file || strings.HasSuffix(file, "/"+names[0]) || strings.HasSuffix(names[0], "/"+file)) {
		return d.failure(o, d.target(o, o.file(file), ""), triage.PhaseBuild, thrown{})
	}
	if file != "" {
		file = o.file(file)
	}
	return d.failure(o, d.target(o, file, d.ID(names)), triage.PhaseTest, e)
}

// unquoted takes the quotes of a value off.
func unquoted(s string) string {
	if n := len(s); n >= 2 && (s[0] == '\'' || s[0] == '"' || s[0] == '`') && s[n-1] == s[0] {
		return strings.NewReplacer(`\`+s[:1], s[:1], `\n`, "\n", `\\`, `\`).Replace(s[1 : n-1])
	}
	return s
}
