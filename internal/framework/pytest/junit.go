package pytest

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// ReadJUnit reads the failures of a JUnit XML report that pytest wrote
// (--junitxml), in each of its families. It reads as a stream; the texts kept
// are bounded.
//
// The errors are [ErrEmpty], [ErrKind] for XML of another kind, and
// [ErrTruncated] for XML that breaks off; the failures before that are returned
// with it.
func ReadJUnit(r io.Reader, o Options) ([]triage.Failure, error) {
	j := junitReader{o: o, in: xml.NewDecoder(r)}
	err := j.read()
	return j.found.done(err)
}

type junitReader struct {
	o     Options
	in    *xml.Decoder
	found collector
}

func (j *junitReader) read() error {
	root := ""
	depth := 0
	for {
		tok, err := j.in.Token()
		if err != nil {
			return j.end(err, root, depth)
		}
		switch el := tok.(type) {
		case xml.StartElement:
			name := el.Name.Local
			if root == "" {
				if root = name; name != "testsuites" && name != "testsuite" {
					return fmt.Errorf("reading JUnit report: root element %q: %w", truncate(name, 40), ErrKind)
				}
			}
			depth++
			if name == "testcase" {
				if err := j.testcase(el); err != nil {
					return j.end(err, root, depth)
				}
				depth--
			}
		case xml.EndElement:
			depth--
		}
	}
}

// end tells why reading stopped.
func (j *junitReader) end(err error, root string, depth int) error {
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

// testcase reads one test up to its end. Of several failures the first counts:
// a failing subtest comes before its test, a test before its tear-down.
func (j *junitReader) testcase(start xml.StartElement) error {
	for {
		tok, err := j.in.Token()
		if err != nil {
			return err
		}
		switch el := tok.(type) {
		case xml.StartElement:
			if name := el.Name.Local; name != "failure" && name != "error" {
				if err := j.in.Skip(); err != nil {
					return err
				}
				continue
			}
			text, err := j.text()
			if err != nil {
				return err
			}
			j.add(start, el, text)
		case xml.EndElement:
			return nil
		}
	}
}

// text is the bounded character data of the element just begun.
func (j *junitReader) text() (string, error) {
	var b block
	for depth := 1; depth > 0; {
		tok, err := j.in.Token()
		if err != nil {
			return "", err
		}
		switch el := tok.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		case xml.CharData:
			b.add(el)
		}
	}
	return reANSI.ReplaceAllString(string(b.text), ""), nil
}

func (j *junitReader) add(test, el xml.StartElement, text string) {
	t := j.o.fromClassname(attr(test, "classname"), attr(test, "name"))
	if file := attr(test, "file"); file != "" { // junit_family=xunit1
		t = j.withFile(file, test)
	}
	c := readTraceback([]byte(text))
	c.phase = triage.PhaseTest
	message := attr(el, "message")
	switch {
	case t.Test == "":
		c.phase = triage.PhaseBuild
	case el.Name.Local == "error":
		c.phase = triage.PhaseSetup
		message = quoted(message)
		fallthrough
	default:
		if message != "" {
			c.message = reANSI.ReplaceAllString(message, "")
		}
	}
	c.file = j.o.place(c.file)
	if c.file == "" {
		c.file = t.Package
		if n, err := strconv.Atoi(attr(test, "line")); err == nil {
			c.line = n + 1
		}
	}
	j.found.add(j.o.failure(t, c))
}

// withFile uses the file that an older report names.
func (j *junitReader) withFile(file string, test xml.StartElement) triage.Target {
	module := strings.ReplaceAll(strings.TrimSuffix(file, ".py"), "/", ".")
	classes := strings.TrimPrefix(strings.TrimPrefix(attr(test, "classname"), module), ".")
	if attr(test, "classname") == "" {
		return j.o.target(file, "")
	}
	var parts []string
	if classes != "" {
		parts = strings.Split(classes, ".")
	}
	return j.o.target(file, joinTest(parts, attr(test, "name")))
}

// quoted is what stands in the quotes of `failed on setup with "OSError: x"`.
func quoted(message string) string {
	if !strings.HasPrefix(message, "failed on ") {
		return "" // older versions have no exception there
	}
	_, after, ok := strings.Cut(message, ` with "`)
	if !ok {
		return ""
	}
	return strings.TrimSuffix(after, `"`)
}

// place is a file of a traceback relative to the tree when it lies in it.
func (o Options) place(file string) string {
	if file == "" || strings.HasPrefix(file, "/") || strings.Contains(file, `:\`) {
		return file
	}
	return o.file(strings.ReplaceAll(file, `\`, "/"))
}

func attr(el xml.StartElement, name string) string {
	for _, a := range el.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
