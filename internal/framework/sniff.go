package framework

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/triage"
)

// Kind is the kind of a report file.
type Kind int

const (
	// Log: text that a terminal or a CI job showed. The zero value, because
	// anything can be read as text.
	Log Kind = iota
	// TestJSON: the events of go test -json.
	TestJSON
	// JUnit: JUnit XML.
	JUnit
)

// String is the kind as people know it.
func (k Kind) String() string {
	switch k {
	case TestJSON:
		return "go test -json"
	case JUnit:
		return "JUnit XML"
	}
	return "log"
}

// sniffBytes is how much of a file is looked at.
const sniffBytes = 64 << 10

// Sniff tells the kind of a report by its beginning, and returns a reader that
// still has all of it. JSON events may stand behind lines of the go command
// ("go: downloading …"); XML may stand behind a byte order mark and comments.
func Sniff(r io.Reader) (Kind, io.Reader, error) {
	b := bufio.NewReaderSize(r, sniffBytes)
	head, err := b.Peek(sniffBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return Log, b, fmt.Errorf("reading report: %w", err)
	}
	return sniff(head), b, nil
}

func sniff(head []byte) Kind {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	trimmed := bytes.TrimLeft(head, " \t\r\n")
	if bytes.HasPrefix(trimmed, []byte("<?xml")) || bytes.HasPrefix(trimmed, []byte("<testsuite")) ||
		bytes.HasPrefix(trimmed, []byte("<!--")) && bytes.Contains(trimmed, []byte("<testsuite")) {
		return JUnit
	}
	for line := range bytes.Lines(head) {
		if bytes.HasPrefix(line, []byte(`{"`)) && bytes.Contains(line, []byte(`"Action":"`)) {
			return TestJSON
		}
		if bytes.HasPrefix(line, []byte("=== RUN ")) || bytes.HasPrefix(line, []byte("--- FAIL: ")) || bytes.HasPrefix(line, []byte("ok  \t")) {
			return Log
		}
	}
	return Log
}

// ReadReport finds the failed tests in a report of any kind that is known.
func ReadReport(r io.Reader, opt gotest.Options) (Kind, []triage.Failure, error) {
	k, r, err := Sniff(r)
	if err != nil {
		return k, nil, err
	}
	read := gotest.ReadLog
	switch k {
	case TestJSON:
		read = gotest.ReadJSON
	case JUnit:
		read = gotest.ReadJUnit
	}
	fs, err := read(r, opt)
	return k, fs, err
}
