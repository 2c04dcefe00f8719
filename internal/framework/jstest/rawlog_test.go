package jstest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

var (
	nodeDialect  = Dialect{Name: "nodetest", Separator: " > "}
	mochaDialect = Dialect{Name: "mocha", Package: "mocha", Separator: " "}
)

// shop is a checkout that is not here, with these files.
func shop(files ...string) Options {
	return Options{Exists: func(f string) bool {
		for _, have := range files {
			if f == have {
				return true
			}
		}
		return false
	}}
}

type red struct{ File, Test, Phase, Message string }

func redsOf(t *testing.T, name string, read func(io.Reader) ([]triage.Failure, error)) []red {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "captured", name))
	if err != nil {
		t.Fatal(err)
	}
	fs, err := read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var out []red
	for _, f := range fs {
		out = append(out, red{f.Target.Package, f.Target.Test, f.Signature.Phase, f.Signature.Message})
	}
	return out
}

// The protocol and the tree of marks tell the same reds, in the same words.
func TestRawLogsOfNode(t *testing.T) {
	const a = "test/a.test.mjs"
	want := []red{
		{a, "top fails", "test", "Expected values to be strictly equal: N !== N"},
		{a, "group > inner fails", "test", "lists differ"},
		{a, `group > deep > a > b: "q"`, "test", "TypeError: no such thing N"},
		{a, "parent > sub fails", "test", "sub"},
		{a, "times out", "timeout", "test timed out"},
		{"test/b.test.mjs", "", "", ""},
	}
	o := shop(a, "test/b.test.mjs")
	for _, name := range []string{"node.tap", "node.spec"} {
		got := redsOf(t, name, func(r io.Reader) ([]triage.Failure, error) { return ReadNodeLog(r, nodeDialect, o) })
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	got := redsOf(t, "node.tap", func(r io.Reader) ([]triage.Failure, error) { return ReadTAP(r, nodeDialect, o) })
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("as a report (-want +got):\n%s", d)
	}
}

func TestRawLogOfMocha(t *testing.T) {
	const a = "test/a.test.js"
	want := []red{
		{a, "at the root", "test", "Expected values to be strictly deep-equal: {"},
		{a, "Basket adds", "test", "Expected values to be strictly equal: N !== N"},
		{a, "Basket with a voucher is cheaper", "test", "TypeError: no voucher N"},
		{a, "Basket with a voucher waits", "timeout", "test timed out"},
		{a, "", "setup", "hook broke"},
	}
	got := redsOf(t, "mocha.log", func(r io.Reader) ([]triage.Failure, error) { return ReadMochaLog(r, mochaDialect, shop(a)) })
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("reds (-want +got):\n%s", d)
	}
}

// A CI service puts a time before each line, and colours stay in.
func TestRawLogsAreReadThroughWhatCIAdds(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "captured", "node.tap"))
	if err != nil {
		t.Fatal(err)
	}
	var ci strings.Builder
	for line := range strings.Lines(string(b)) {
		ci.WriteString("2026-03-04T05:06:07.1234567Z \x1b[31m" + strings.TrimRight(line, "\n") + "\x1b[0m\r\n")
	}
	fs, err := ReadNodeLog(strings.NewReader(ci.String()), nodeDialect, Options{})
	if err != nil || len(fs) != 6 {
		t.Errorf("%d failures, %v", len(fs), err)
	}
}

func TestEmptyRawLogs(t *testing.T) {
	for name, read := range map[string]func(io.Reader, Dialect, Options) ([]triage.Failure, error){"tap": ReadTAP, "node": ReadNodeLog, "mocha": ReadMochaLog} {
		if _, err := read(strings.NewReader(""), nodeDialect, Options{}); !errors.Is(err, ErrEmpty) {
			t.Errorf("%s: %v", name, err)
		}
		if fs, err := read(strings.NewReader("all is well\n"), nodeDialect, Options{}); err != nil || len(fs) != 0 {
			t.Errorf("%s: %v, %v", name, fs, err)
		}
	}
}

func FuzzRawLogs(f *testing.F) {
	for _, name := range []string{"node.tap", "node.spec", "mocha.log", "vitest.tap", "vitest-flat.tap", "mocha.tap", "mocha13.tap"} {
		b, err := os.ReadFile(filepath.Join("testdata", "captured", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("        # Subtest: deep\n        not ok 1 - x\n          ---\n          error: |-\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, read := range []func(io.Reader, Dialect, Options) ([]triage.Failure, error){ReadNodeLog, ReadMochaLog, ReadVitestTAP, ReadMochaTAP} {
			fs, _ := read(bytes.NewReader(b), nodeDialect, Options{})
			for _, x := range fs {
				if !x.Outcome.Red() || x.Target.Framework != "nodetest" {
					t.Errorf("%+v", x)
				}
			}
		}
	})
}
