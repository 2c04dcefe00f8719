package gotest

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// Limits on a JUnit report, which may come from anyone.
const (
	maxDepth = 64
	// maxToken bounds one piece of text or one tag, in bytes of the file.
	maxToken = 32 << 20
)

// ReadJUnit finds the failed Go tests in a JUnit XML report as gotestsum and
// go-junit-report (v1 and v2) write it. It reads in a stream; document type
// declarations and entities are refused, and so is text or nesting beyond any
// honest report.
//
// Failures are leaves only, each target once, in the order of the report. A
// report that does not hold what the test printed (go-junit-report often drops
// panics) gives a failure with a zero signature. The error wraps [ErrEmpty],
// [ErrKind] or [ErrTruncated]; with the last the failures so far are returned.
func ReadJUnit(r io.Reader, opt Options) ([]triage.Failure, error) {
	in := &meter{r: r}
	d := xml.NewDecoder(in)
	in.offset = d.InputOffset
	d.CharsetReader = func(label string, input io.Reader) (io.Reader, error) {
		if l := strings.ToLower(label); l == "us-ascii" || l == "ascii" || l == "utf8" {
			return input, nil
		}
		return nil, fmt.Errorf("unsupported encoding %q", label)
	}
	j := &junitReader{opt: opt}
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return j.out.list, j.fault(in, err)
		}
		in.last = d.InputOffset()
		if err := j.token(tok); err != nil {
			return j.out.list, fmt.Errorf("reading JUnit report: %w", err)
		}
	}
	switch {
	case in.n == 0:
		return nil, fmt.Errorf("reading JUnit report: %w", ErrEmpty)
	case !j.root:
		return nil, fmt.Errorf("reading JUnit report: %w: there is no XML element in it", ErrKind)
	}
	return j.out.done(nil)
}

// meter counts the bytes read, and refuses to feed a token without end.
type meter struct {
	r      io.Reader
	n      int64
	last   int64
	offset func() int64
}

func (m *meter) Read(b []byte) (int, error) {
	if m.n-m.last > maxToken {
		return 0, fmt.Errorf("an element or text is longer than %d MB", maxToken>>20)
	}
	n, err := m.r.Read(b)
	m.n += int64(n)
	return n, err
}

// fault turns the decoder's error into what a user can act on.
func (j *junitReader) fault(in *meter, err error) error {
	var syntax *xml.SyntaxError
	switch {
	case in.n == 0:
		return fmt.Errorf("reading JUnit report: %w", ErrEmpty)
	case errors.As(err, &syntax) && strings.Contains(syntax.Msg, "unexpected EOF"):
		return fmt.Errorf("reading JUnit report: %w: line %d is the last", ErrTruncated, syntax.Line)
	case !j.root:
		return fmt.Errorf("reading JUnit report: %w: want XML with testsuites or testsuite: %w", ErrKind, err)
	}
	return fmt.Errorf("reading JUnit report: %w", err)
}

type junitReader struct {
	opt Options
	out collector
	// root is set once an element was seen.
	root  bool
	depth int
	// suites are the names of the open suites.
	suites []*junitSuite
	test   *junitCase
	// field is where text goes: nil for text that says nothing.
	field *block
}

// junitSuite is an open testsuite with the model of its package's process.
type junitSuite struct {
	name   string
	run    *pkgRun
	failed bool
	output block
}

// junitCase is an open testcase.
type junitCase struct {
	class, name string
	// kind is "failure", "error", "skipped" or empty.
	kind    string
	message string
	// ended is set when the report says that the test had a result.
	ended  bool
	text   block
	output block
}

func (j *junitReader) token(tok xml.Token) error {
	switch t := tok.(type) {
	case xml.Directive:
		return errors.New("document type declarations are not allowed")
	case xml.StartElement:
		j.depth++
		if j.depth > maxDepth {
			return fmt.Errorf("elements are nested deeper than %d", maxDepth)
		}
		return j.start(t)
	case xml.EndElement:
		j.depth--
		j.end(t.Name.Local)
	case xml.CharData:
		if j.field != nil {
			addText(j.field, t)
		} else if !j.root && len(strings.TrimSpace(string(t[:min(len(t), 256)]))) > 0 {
			return fmt.Errorf("%w: want XML with testsuites or testsuite, got text", ErrKind)
		}
	}
	return nil
}

// addText adds text line by line.
func addText(b *block, text []byte) {
	for line := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n") {
		b.add([]byte(strings.TrimSuffix(line, "\r")[:min(len(strings.TrimSuffix(line, "\r")), maxLine)]))
	}
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (j *junitReader) start(e xml.StartElement) error {
	name := e.Name.Local
	if !j.root {
		if name != "testsuites" && name != "testsuite" {
			return fmt.Errorf("%w: want testsuites or testsuite, got element %q", ErrKind, truncate(name, 40))
		}
		j.root = true
	}
	j.field = nil
	switch name {
	case "testsuite":
		j.suites = append(j.suites, &junitSuite{name: attr(e, "name"), run: newPkgRun(j.opt, false)})
	case "testcase":
		j.test = &junitCase{class: attr(e, "classname"), name: attr(e, "name")}
	case "failure", "error", "skipped":
		if j.test != nil {
			j.test.kind = name
			j.test.message = attr(e, "message")
			j.field = &j.test.text
		}
	case "system-out", "system-err":
		if j.test != nil {
			j.field = &j.test.output
		} else if n := len(j.suites); n > 0 {
			j.field = &j.suites[n-1].output
		}
	}
	return nil
}

func (j *junitReader) end(name string) {
	j.field = nil
	switch name {
	case "testcase":
		if j.test != nil && len(j.suites) > 0 {
			j.suites[len(j.suites)-1].take(j.test)
		}
		j.test = nil
	case "testsuite":
		n := len(j.suites)
		if n == 0 {
			return
		}
		j.out.add(j.suites[n-1].close()...)
		j.suites = j.suites[:n-1]
	}
}

// importPath picks the package from a suite's and a case's name: the longer one
// where one ends in the other, else the case's.
func importPath(suite, class string) string {
	switch {
	case class == "" || suite == class || strings.HasSuffix(suite, "/"+class):
		return suite
	}
	return class
}

// take adds a test case to the suite's process.
func (s *junitSuite) take(c *junitCase) {
	if s.run.pkg == "" {
		s.run.pkg = importPath(s.name, c.class)
	}
	if vetted, ok := strings.CutPrefix(s.name, "["); ok {
		// go-junit-report v2.1 takes vet's header "# [pkg]" for a package.
		s.run.pkg = strings.TrimSuffix(vetted, "]")
		c.name = "[build failed]"
	}
	if c.kind != "failure" && c.kind != "error" {
		return
	}
	s.failed = true
	text := c.text.bytes()
	text = append(text, c.output.bytes()...)
	switch {
	case c.name == "[build failed]" || c.name == "[setup failed]" || strings.Contains(string(text), " [build failed]\n") || strings.Contains(string(text), " [setup failed]\n"):
		f := buildFailure(s.run.target(""), text, c.name == "[setup failed]")
		s.run.attach(s.run.get(""), f)
	case c.class == "" || c.name == "Failure" || !isTestName(topTest(c.name)):
		s.feed("", text) // the process itself
	default:
		s.feedTest(c, text)
	}
}

// noResult is what go-junit-report v2 says of a test that did not end.
const noResult = "No test result found"

// feedTest adds a red test. One whose text has a start and no result did not end.
func (s *junitSuite) feedTest(c *junitCase, text []byte) {
	has := string(text)
	unfinished := strings.Contains(c.message, noResult) ||
		!c.ended && strings.Contains(has, "=== RUN   "+c.name+"\n") && !strings.Contains(has, "--- FAIL: "+c.name+" (")
	if unfinished {
		s.run.begin(c.name)
	} else {
		s.run.settle(c.name, triage.Fail, 0)
	}
	t := s.run.get(c.name)
	t.minIndent = 0
	t.mute = !c.ended && !strings.Contains(has, "--- FAIL: ")
	s.feed(c.name, text)
}

func (s *junitSuite) feed(test string, text []byte) {
	for line := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n") {
		b := []byte(line)
		if s.frame(test, b) {
			continue
		}
		if _, _, ok := parseSummary(b); ok || line == "FAIL" || line == "PASS" {
			continue
		}
		s.run.print(test, b)
	}
}

// frame takes the lines of the testing package out of a test's text. Test cases
// do not come in the order they ran, so an event tells nothing of a crash that
// another case's text holds.
func (s *junitSuite) frame(test string, line []byte) bool {
	crash, fails := s.run.crash, s.run.fails
	if !s.run.frameLine(line) {
		return false
	}
	if s.run.crash == nil && crash != nil && crash.current != test {
		s.run.crash = crash
	}
	if len(s.run.fails) == 0 {
		s.run.fails = fails[:0]
	}
	return true
}

// close ends the suite.
func (s *junitSuite) close() []triage.Failure {
	if !s.failed {
		return nil
	}
	if !s.output.empty() {
		s.feed("", s.output.bytes())
	}
	s.run.pkg = path.Clean(s.run.pkg)
	return s.run.failures(true)
}
