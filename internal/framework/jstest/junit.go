package jstest

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// testcase is one test of a JUnit report.
type testcase struct {
	Name     string  `xml:"name,attr"`
	Class    string  `xml:"classname,attr"`
	File     string  `xml:"file,attr"`
	Failures []fault `xml:"failure"`
	Errors   []fault `xml:"error"`
}

type fault struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// ReadJUnit reads the failures of a JUnit XML report of vitest, jest-junit,
// mocha-junit-reporter or node:test. It reads as a stream.
//
// The test's name is the id as these reporters write it by default. The file is
// the test case's own, or its suite's, or its class name when that is a path;
// without any the target has no package.
//
// The errors are [ErrEmpty], [ErrKind] for XML of another kind, and
// [ErrTruncated] for XML that breaks off; the failures before that are returned
// with it.
func ReadJUnit(r io.Reader, d Dialect, o Options) ([]triage.Failure, error) {
	var found collector
	return found.done(readJUnit(xml.NewDecoder(r), d, o, &found))
}

func readJUnit(in *xml.Decoder, d Dialect, o Options, found *collector) error {
	root := ""
	depth := 0
	var suites []xml.StartElement
	for {
		tok, err := in.Token()
		if err != nil {
			return junitEnd(err, root, depth)
		}
		switch el := tok.(type) {
		case xml.StartElement:
			name := el.Name.Local
			if root == "" {
				if root = name; name != "testsuites" && name != "testsuite" {
					return fmt.Errorf("reading JUnit report: root element %q: %w", truncate(name, 40), ErrKind)
				}
			}
			switch name {
			case "testcase":
				var c testcase
				if err := in.DecodeElement(&c, &el); err != nil {
					return junitEnd(err, root, depth+1)
				}
				addCase(d, o, found, suites, c)
				continue
			case "testsuite":
				suites = append(suites, el)
			}
			depth++
		case xml.EndElement:
			depth--
			if el.Name.Local == "testsuite" && len(suites) > 0 {
				suites = suites[:len(suites)-1]
			}
		}
	}
}

// junitEnd tells why reading stopped.
func junitEnd(err error, root string, depth int) error {
	var syntax *xml.SyntaxError
	switch {
	case root == "" && errors.Is(err, io.EOF):
		return fmt.Errorf("reading JUnit report: %w", ErrEmpty)
	case errors.Is(err, io.EOF) && depth == 0:
		return nil
	case errors.Is(err, io.EOF), errors.As(err, &syntax) && strings.Contains(syntax.Msg, "unexpected EOF"):
		return fmt.Errorf("reading JUnit report: %w", ErrTruncated)
	case root == "":
		return fmt.Errorf("reading JUnit report: %w: %w", ErrKind, err)
	}
	return fmt.Errorf("reading JUnit report: %w", err)
}

func addCase(d Dialect, o Options, found *collector, suites []xml.StartElement, c testcase) {
	faults := append(c.Failures, c.Errors...)
	if len(faults) == 0 {
		return
	}
	if d.Package == "jest" { // jest-junit puts a space before a test that is in no describe
		c.Name = strings.TrimPrefix(c.Name, " ")
	}
	names := []string{c.Name}
	if d.Package == "" { // node:test nests its suites and names each by one level
		names = names[:0]
		for _, s := range suites {
			names = append(names, quotesBack(attr(s, "name")))
		}
		names = append(names, quotesBack(c.Name))
	}
	file := caseFile(suites, c)
	if file == "" && d.Package == "" { // Node 20 names no file
		file = testFrame(faults[0].Text)
	}
	if file == "" {
		file = testFile(o, faults[0].Text)
	}
	t, phase := d.target(o, o.file(file), d.ID(names)), triage.PhaseTest
	if c.Name == file { // vitest's way to tell of a file that cannot be imported
		t.Test, phase = "", triage.PhaseBuild
	}
	found.add(d.failure(o, t, phase, faults[0].thrown()))
}

// reCause is the error behind the one that node:test wraps around it.
var reCause = regexp.MustCompile(`(?m)^ *(?:\[cause\]|cause): (\w*Error)(?: \[\w+\])?: ([^\n]*(?:\n[^\n]*){0,40})`)

// reFirstFrame is where the stack of an error begins, however deep it is indented.
var reFirstFrame = regexp.MustCompile(`\n\s+at `)

func (f fault) thrown() thrown {
	text := strings.TrimSpace(f.Text)
	if text == "" {
		return thrown{Message: f.Message}
	}
	if m := reCause.FindStringSubmatch(text); m != nil {
		message := m[2]
		if i := reFirstFrame.FindStringIndex(message); i != nil {
			message = message[:i[0]]
		}
		return thrown{Name: m[1], Message: message, Stack: text}
	}
	if strings.HasPrefix(text, "[") { // an error of node:test's own, as its inspector shows it
		return thrown{Message: f.Message, Stack: text}
	}
	return thrown{Message: text, Stack: text}
}

// quotesBack takes back what Node 20 escapes twice: quotation marks, nothing else.
func quotesBack(name string) string { return strings.ReplaceAll(name, "&quot;", `"`) }

// testFrame is the file that a stack of node:test says the test's own function
// is in, empty when no frame shows it: an error may come from the runner alone.
func testFrame(stack string) string {
	found := ""
	for line := range strings.Lines(stack) {
		m := reFrame.FindStringSubmatch(strings.TrimSuffix(strings.TrimRight(line, "\r\n"), " {"))
		if m == nil || strings.Contains(m[1], "node_modules/") {
			continue
		}
		if strings.Contains(line, " TestContext.") || strings.Contains(line, " SuiteContext.") {
			return m[1]
		}
		found = m[1] // the outermost is the nearest to the test
	}
	return found
}

// reNamedTest is a file that is called a test, reHelper one that may only help tests.
var (
	reNamedTest = regexp.MustCompile(`[._-](?:test|spec)\.[cm]?[jt]sx?$`)
	reHelper    = regexp.MustCompile(`(?:^|/)(?:helpers?|utils?|fixtures?|support|setup|mocks?|__mocks__)(?:/|[.-])`)
)

// testFile is the test file that a stack came from: the outermost of its frames in one
// that is called so, else the only one of a folder of tests. jest-junit names no file
// by default.
func testFile(o Options, stack string) string {
	named, others := "", map[string]string{}
	for line := range strings.Lines(stack) {
		m := reFrame.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil || strings.Contains(m[1], "node_modules/") {
			continue
		}
		file := o.file(m[1])
		switch {
		case !reTestFile.MatchString(file) || o.Exists == nil || !o.Exists(file):
		case reNamedTest.MatchString(file):
			named = m[1]
		case !reHelper.MatchString(file):
			others[file] = m[1]
		}
	}
	if named == "" && len(others) == 1 {
		for _, only := range others {
			return only
		}
	}
	return named
}

// caseFile is the file of a test case, empty when no attribute has it.
func caseFile(suites []xml.StartElement, c testcase) string {
	found := []string{c.File}
	for i := len(suites) - 1; i >= 0; i-- {
		found = append(found, attr(suites[i], "file"), attr(suites[i], "filepath"))
	}
	found = append(found, c.Class)
	for i := len(suites) - 1; i >= 0; i-- {
		found = append(found, attr(suites[i], "name"))
	}
	for _, f := range found {
		if reScript.MatchString(f) {
			return f
		}
	}
	return ""
}

func attr(el xml.StartElement, name string) string {
	for _, a := range el.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
