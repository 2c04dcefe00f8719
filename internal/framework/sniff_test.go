package framework

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/triagebot/triagebot/internal/framework/gotest"
)

func TestSniff(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want Kind
		by   string
	}{
		"empty":                               {"", Log, ""},
		"text":                                {"hello\n", Log, ""},
		"verbose log":                         {"=== RUN   TestA\n{\"Action\":\"x\"}\n", Log, "gotest"},
		"events":                              {"{\"Time\":\"x\",\"Action\":\"start\",\"Package\":\"p\"}\n", TestJSON, "gotest"},
		"events after the go command's lines": {"go: downloading x v1\n{\"ImportPath\":\"p\",\"Action\":\"build-output\"}\n", TestJSON, "gotest"},
		"other JSON":                          {"{\"a\": 1}\n", Log, ""},
		"XML":                                 {"<?xml version=\"1.0\"?><testsuites/>", JUnit, ""},
		"XML after a mark":                    {"\xef\xbb\xbf\n <testsuites>", JUnit, ""},
		"XML after a comment":                 {"<!-- made by x -->\n<testsuite>", JUnit, ""},
		"HTML is text":                        {"<html>", Log, ""},
		"XML of pytest":                       {`<?xml version="1.0"?><testsuites name="pytest tests"><testsuite name="pytest" errors="0">`, JUnit, "pytest"},
		"XML of vitest":                       {`<?xml version="1.0"?><testsuites name="vitest tests" tests="3">`, JUnit, "vitest"},
		"XML of gotestsum":                    {`<testsuites><testsuite name="p"><properties><property name="go.version" value="go1.26"></property>`, JUnit, "gotest"},
		"XML of node":                         {"<?xml version=\"1.0\"?>\n<testsuites>\n<testcase name=\"a\" time=\"0.1\" classname=\"test\"/>", JUnit, "nodetest"},
		"pytest's report log":                 {`{"pytest_version": "8.4.0", "$report_type": "SessionStart"}`, ReportLog, "pytest"},
		"jest's and vitest's JSON":            {`{"numFailedTestSuites":1,"numTotalTests":3,"testResults":[]}`, ScriptJSON, ""},
		"the protocol":                        {"TAP version 13\n# Subtest: a\n", TAP, "nodetest"},
		"the protocol of vitest":              {"TAP version 13\n1..1\nnot ok 1 - a.test.ts # time=1.50ms {\n", TAP, "vitest"},
		"the protocol of vitest, broken":      {"TAP version 13\n1..1\nnot ok 1 - a.test.ts\n    ---\n    error:\n        name: \"Error\"\n", TAP, "vitest"},
		"the protocol of mocha":               {"not ok 1 outer reds\n  m\n# tests 1\n# pass 0\n", TAP, "mocha"},
		"the protocol of mocha, version 13":   {"TAP version 13\nok 1 outer x\n", TAP, "mocha"},
		"the protocol of someone else":        {"TAP version 13\n# a test\nok 1 should be equal\n", TAP, ""},
		"someone else's without a version":    {"ok 1 should be equal\n# a test\nok 2 y\n", Log, ""},
		"mocha's JSON":                        {"{\n  \"stats\": {\n    \"suites\": 1,\n", ScriptJSON, "mocha"},
	} {
		t.Run(name, func(t *testing.T) {
			got, by, r, err := Sniff(strings.NewReader(c.text))
			if err != nil || got != c.want || by != c.by {
				t.Errorf("got %v by %q, %v, want %v by %q", got, by, err, c.want, c.by)
			}
			if all, err := io.ReadAll(r); err != nil || string(all) != c.text {
				t.Errorf("the reader gives %q, %v, want the whole text", all, err)
			}
		})
	}
	broken := errors.New("disk")
	if _, _, _, err := Sniff(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("error %v, want the reader's", err)
	}
}

func TestReadReportReadsEveryKind(t *testing.T) {
	for file, want := range map[string]Kind{
		"plain.log": Log, "verbose.log": Log, "events.json": TestJSON, "gotestsum.json": TestJSON,
		"gotestsum.xml": JUnit, "gojunitreport-v1.xml": JUnit, "gojunitreport-v2.xml": JUnit,
	} {
		f, err := os.Open(filepath.Join("gotest", "testdata", "capture", file))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		kind, fs, err := ReadReport(f, Reading{Suites: []Suite{{Name: "unit", Framework: gotest.Name}}})
		if err != nil || kind != want || len(fs) < 30 || fs[0].Target.Suite != "unit" {
			t.Errorf("%s: kind %v with %d failures, error %v, want %v with at least 30", file, kind, len(fs), err, want)
		}
	}
}
