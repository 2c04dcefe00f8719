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
	}{
		"empty":                               {"", Log},
		"text":                                {"hello\n", Log},
		"verbose log":                         {"=== RUN   TestA\n{\"Action\":\"x\"}\n", Log},
		"events":                              {"{\"Time\":\"x\",\"Action\":\"start\",\"Package\":\"p\"}\n", TestJSON},
		"events after the go command's lines": {"go: downloading x v1\n{\"ImportPath\":\"p\",\"Action\":\"build-output\"}\n", TestJSON},
		"other JSON":                          {"{\"a\": 1}\n", Log},
		"XML":                                 {"<?xml version=\"1.0\"?><testsuites/>", JUnit},
		"XML after a mark":                    {"\xef\xbb\xbf\n <testsuites>", JUnit},
		"XML after a comment":                 {"<!-- made by x -->\n<testsuite>", JUnit},
		"HTML is text":                        {"<html>", Log},
	} {
		t.Run(name, func(t *testing.T) {
			got, r, err := Sniff(strings.NewReader(c.text))
			if err != nil || got != c.want {
				t.Errorf("got %v, %v, want %v", got, err, c.want)
			}
			if all, err := io.ReadAll(r); err != nil || string(all) != c.text {
				t.Errorf("the reader gives %q, %v, want the whole text", all, err)
			}
		})
	}
	broken := errors.New("disk")
	if _, _, err := Sniff(iotest.ErrReader(broken)); !errors.Is(err, broken) {
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
		kind, fs, err := ReadReport(f, gotest.Options{Suite: "unit"})
		if err != nil || kind != want || len(fs) < 30 || fs[0].Target.Suite != "unit" {
			t.Errorf("%s: kind %v with %d failures, error %v, want %v with at least 30", file, kind, len(fs), err, want)
		}
	}
}
