package framework

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/framework/jest"
	"github.com/triagebot/triagebot/internal/framework/mocha"
	"github.com/triagebot/triagebot/internal/framework/nodetest"
	"github.com/triagebot/triagebot/internal/framework/pytest"
	"github.com/triagebot/triagebot/internal/framework/vitest"
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
	// ReportLog: the lines of pytest-reportlog.
	ReportLog
	// ScriptJSON: the JSON report of vitest, jest or mocha.
	ScriptJSON
	// TAP: the Test Anything Protocol.
	TAP
)

// String is the kind as people know it.
func (k Kind) String() string {
	switch k {
	case TestJSON:
		return "go test -json"
	case JUnit:
		return "JUnit XML"
	case ReportLog:
		return "pytest's report log"
	case ScriptJSON:
		return "a JSON report"
	case TAP:
		return "TAP"
	}
	return "log"
}

// sniffBytes is how much of a file is looked at.
const sniffBytes = 64 << 10

// Sniff tells the kind of a report by its beginning, and the framework that
// wrote it where that is to be seen, else "". The reader it returns still has all
// of the report. JSON events may stand behind lines of the go command
// ("go: downloading …"); XML may stand behind a byte order mark and comments.
func Sniff(r io.Reader) (Kind, string, io.Reader, error) {
	b := bufio.NewReaderSize(r, sniffBytes)
	head, err := b.Peek(sniffBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return Log, "", b, fmt.Errorf("reading report: %w", err)
	}
	k, by := sniff(head)
	return k, by, b, nil
}

func sniff(head []byte) (Kind, string) {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	trimmed := bytes.TrimLeft(head, " \t\r\n")
	if bytes.HasPrefix(trimmed, []byte("<?xml")) || bytes.HasPrefix(trimmed, []byte("<testsuite")) ||
		bytes.HasPrefix(trimmed, []byte("<!--")) && bytes.Contains(trimmed, []byte("<testsuite")) {
		return JUnit, writerOf(trimmed)
	}
	if bytes.HasPrefix(trimmed, []byte(`{"pytest_version"`)) || bytes.HasPrefix(trimmed, []byte("{")) && bytes.Contains(trimmed, []byte(`"$report_type"`)) {
		return ReportLog, pytest.Name
	}
	if by := tapWriter(trimmed); by != "" || bytes.HasPrefix(trimmed, []byte("TAP version 1")) {
		return TAP, by
	}
	for line := range bytes.Lines(head) {
		if bytes.HasPrefix(line, []byte(`{"`)) && bytes.Contains(line, []byte(`"Action":"`)) {
			return TestJSON, gotest.Name
		}
		if bytes.HasPrefix(line, []byte("=== RUN ")) || bytes.HasPrefix(line, []byte("--- FAIL: ")) || bytes.HasPrefix(line, []byte("ok  \t")) {
			return Log, gotest.Name
		}
	}
	if bytes.HasPrefix(trimmed, []byte("{")) {
		return sniffJSON(trimmed)
	}
	return Log, ""
}

// sniffJSON knows one JSON document. Those of vitest and jest are alike.
func sniffJSON(head []byte) (Kind, string) {
	switch {
	case bytes.Contains(head, []byte(`"numTotalTests"`)), bytes.Contains(head, []byte(`"assertionResults"`)):
		return ScriptJSON, ""
	case bytes.Contains(head, []byte(`"stats"`)) && bytes.Contains(head, []byte(`"suites"`)):
		return ScriptJSON, mocha.Name
	}
	return Log, ""
}

// How the points of TAP look, by their writer. mocha writes no dash and no version,
// unless it is told to; others without a dash have names in comments between.
var (
	reVitestPoints = regexp.MustCompile(`(?m)^ *(?:not )?ok \d+ - .* # time=[\d.]+ms(?: \{)?\r?$|^ *error:\r?\n +name: "`)
	reNodePoints   = regexp.MustCompile(`(?m)^ *# Subtest: |^ *duration_ms: [\d.]+\r?$`)
	reMochaPoints  = regexp.MustCompile(`^(?:TAP version 13\r?\n)?(?:not )?ok 1 [^-\s]`)
	reComment      = regexp.MustCompile(`(?m)^# `)
	reMochaTotals  = regexp.MustCompile(`(?m)^# (?:tests|pass|fail) \d`)
)

// tapWriter is the framework whose TAP this is, "" when it does not show.
func tapWriter(head []byte) string {
	version := bytes.HasPrefix(head, []byte("TAP version 1"))
	switch {
	case version && reNodePoints.Match(head):
		return nodetest.Name
	case version && reVitestPoints.Match(head):
		return vitest.Name
	case reMochaPoints.Match(head) && len(reComment.FindAll(head, -1)) == len(reMochaTotals.FindAll(head, -1)):
		return mocha.Name
	}
	return ""
}

// marks are what the writers of JUnit XML put at its beginning.
var marks = []struct{ mark, framework string }{
	{`<testsuite name="pytest"`, pytest.Name},
	{`name="pytest tests"`, pytest.Name},
	{`name="vitest tests"`, vitest.Name},
	{`name="jest tests"`, jest.Name},
	{`name="Mocha Tests"`, mocha.Name},
	{`<property name="go.version"`, gotest.Name},
	{`classname="test" file="`, nodetest.Name},
	{`classname="test"`, nodetest.Name},
}

// writerOf is the framework that a JUnit report is of, "" when it does not show.
func writerOf(head []byte) string {
	for _, m := range marks {
		if bytes.Contains(head, []byte(m.mark)) {
			return m.framework
		}
	}
	return ""
}
