package gotest

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestBadReports(t *testing.T) {
	for name, c := range map[string]struct {
		read readFunc
		text string
		want error
		says string
	}{
		"log of 0 bytes":          {ReadLog, "", ErrEmpty, "log"},
		"JSON of 0 bytes":         {ReadJSON, "", ErrEmpty, "go test -json"},
		"JUnit of 0 bytes":        {ReadJUnit, "", ErrEmpty, "JUnit"},
		"JUnit of white space":    {ReadJUnit, " \n", ErrKind, "XML"},
		"text for JSON":           {ReadJSON, "hello\nworld\n", ErrKind, "test2json"},
		"other JSON for JSON":     {ReadJSON, "[1,2]\n", ErrKind, "test2json"},
		"JSON for JUnit":          {ReadJUnit, `{"Action":"start"}`, ErrKind, "testsuites"},
		"HTML for JUnit":          {ReadJUnit, `<html><body/></html>`, ErrKind, "testsuites"},
		"text for JUnit":          {ReadJUnit, "FAIL\n", ErrKind, "testsuites"},
		"cut JSON":                {ReadJSON, `{"Action":"sta`, ErrTruncated, "cut"},
		"JSON without a result":   {ReadJSON, `{"Action":"start","Package":"p"}` + "\n", ErrTruncated, `"p"`},
		"cut JUnit":               {ReadJUnit, `<testsuites><testsuite name="p"><testcase name="TestA">`, ErrTruncated, "line 1"},
		"log that stops":          {ReadLog, "--- FAIL: TestA (0.00s)\n    a_test.go:1: boom\n", ErrTruncated, "package"},
		"entities":                {ReadJUnit, `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuites>&b;</testsuites>`, nil, "document type"},
		"unknown entity":          {ReadJUnit, `<testsuites>&b;</testsuites>`, nil, "entity"},
		"deep nesting":            {ReadJUnit, "<testsuites>" + strings.Repeat("<testsuite>", 100), nil, "deeper"},
		"other encoding":          {ReadJUnit, `<?xml version="1.0" encoding="utf-16"?><testsuites/>`, nil, "encoding"},
		"a text without an end":   {ReadJUnit, `<testsuites><testsuite><testcase><failure>` + strings.Repeat("x", maxToken+(1<<20)), nil, "longer"},
		"an attribute without an": {ReadJUnit, `<testsuites name="` + strings.Repeat("x", maxToken+(1<<20)), nil, "longer"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.read(strings.NewReader(c.text), Options{})
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %v with %q", err, c.want, c.says)
			}
		})
	}
}

func TestNothingRedIsNoError(t *testing.T) {
	for name, c := range map[string]struct {
		read readFunc
		text string
	}{
		"green log":        {ReadLog, "ok  \texample.com/p\t0.1s\n?   \texample.com/q\t[no test files]\n"},
		"other log":        {ReadLog, "make: *** [build] Error 2\nFAIL: something else\n--- FAIL: not a test\nerror: --- FAIL: \n"},
		"green events":     {ReadJSON, `{"Action":"run","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"p"}` + "\n"},
		"green JUnit":      {ReadJUnit, `<testsuites><testsuite name="p"><testcase classname="p" name="TestA"/></testsuite></testsuites>`},
		"JUnit of a rerun": {ReadJUnit, `<testsuite name="p"><testcase classname="p" name="TestA"><flakyFailure>x</flakyFailure></testcase></testsuite>`},
	} {
		if fs, err := c.read(strings.NewReader(c.text), Options{}); err != nil || len(fs) > 0 {
			t.Errorf("%s: got %+v, %v, want nothing", name, fs, err)
		}
	}
}

func TestJUnitFlavours(t *testing.T) {
	const body = `<failure message="Failed">    x_test.go:3: boom</failure>`
	for name, text := range map[string]string{
		"class and suite full": `<testsuites><testsuite name="example.com/m/p"><testcase classname="example.com/m/p" name="TestA">` + body + `</testcase></testsuite></testsuites>`,
		"short class":          `<testsuites><testsuite name="example.com/m/p"><testcase classname="p" name="TestA">` + body + `</testcase></testsuite></testsuites>`,
		"short suite":          `<testsuites><testsuite name="p"><testcase classname="example.com/m/p" name="TestA">` + body + `</testcase></testsuite></testsuites>`,
		"no class":             `<testsuite name="example.com/m/p"><testcase name="TestB"/><testcase classname="example.com/m/p" name="TestA">` + body + `</testcase></testsuite>`,
		"suite within a suite": `<testsuites><testsuite name="all"><testsuite name="example.com/m/p"><testcase classname="example.com/m/p" name="TestA">` + body + `</testcase></testsuite></testsuite></testsuites>`,
		"reported twice":       `<testsuites><testsuite name="example.com/m/p"><testcase classname="example.com/m/p" name="TestA">` + body + `</testcase><testcase classname="example.com/m/p" name="TestA">` + body + `</testcase></testsuite></testsuites>`,
		"message in a CDATA":   `<testsuites><testsuite name="example.com/m/p"><testcase classname="example.com/m/p" name="TestA"><failure><![CDATA[    x_test.go:3: boom]]></failure></testcase></testsuite></testsuites>`,
		"indentation trimmed":  `<testsuites><testsuite name="example.com/m/p"><testcase classname="example.com/m/p" name="TestA"><failure>x_test.go:3: boom</failure></testcase></testsuite></testsuites>`,
		"parent of a red child": `<testsuites><testsuite name="example.com/m/p"><testcase classname="example.com/m/p" name="TestP"><failure>=== RUN   TestP
--- FAIL: TestP (0.00s)</failure></testcase><testcase classname="example.com/m/p" name="TestP/a">` + body + `</testcase></testsuite></testsuites>`,
	} {
		fs, err := ReadJUnit(strings.NewReader(text), Options{})
		if err != nil || len(fs) != 1 || fs[0].Target.Package != "example.com/m/p" || fs[0].Signature.Message != "boom" || fs[0].Location.Line != 3 {
			t.Errorf("%s: got %+v, %v", name, fs, err)
		}
	}
}

func TestLogOddities(t *testing.T) {
	const red = "--- FAIL: TestA (0.00s)\n    x_test.go:3: boom\nFAIL\n"
	const end = "FAIL\texample.com/p\t0.1s\n"
	for name, text := range map[string]string{
		"plain":                     red + end,
		"CRLF":                      strings.ReplaceAll(red+end, "\n", "\r\n"),
		"shuffled":                  "-test.shuffle 99\n" + red + end,
		"exit status":               red + "exit status 1\n" + end,
		"make around it":            "make[1]: Entering directory\n" + red + end + "make: *** [test] Error 1\n",
		"job and step columns":      columnsOf(red + end),
		"events in the log":         "go: downloading x\n" + `{"Action":"output","Package":"example.com/p","Test":"TestA","Output":"    x_test.go:3: boom\n"}` + "\n" + `{"Action":"fail","Package":"example.com/p","Test":"TestA"}` + "\n" + `{"Action":"fail","Package":"example.com/p"}` + "\n",
		"twice, as with -count":     red + red + end,
		"coverage line":             red + "coverage: 10.0% of statements\n" + end,
		"passed on another round":   "=== RUN   TestA\n    x_test.go:3: boom\n--- FAIL: TestA (0.00s)\n=== RUN   TestA\n--- PASS: TestA (0.00s)\nFAIL\n" + end,
		"a green package between":   "--- FAIL: TestZ (0.00s)\nok  \texample.com/q\t0.1s\n" + red + end,
		"a line of a megabyte":      strings.Repeat("x", 1<<20) + "\n" + red + end,
		"no newline at the end":     strings.TrimSuffix(red+end, "\n"),
		"NUL bytes and bad UTF-8":   "\x00\xff\xfe\n" + red + end,
		"print without a newline":   "print" + red + end,
		"a benchmark in the middle": "BenchmarkX-8 100 12 ns/op\n--- BENCH: BenchmarkX-8\n" + red + end,
	} {
		fs, err := ReadLog(strings.NewReader(text), Options{})
		want := triage.Target{Suite: "go", Framework: Name, Package: "example.com/p", Test: "TestA"}
		if err != nil || len(fs) != 1 || fs[0].Target != want || fs[0].Signature.Message != "boom" {
			t.Errorf("%s: got %+v, %v", name, fs, err)
		}
		if seed := fs[0].Seed; (name == "shuffled") != (seed == 99) {
			t.Errorf("%s: seed %d", name, seed)
		}
	}
}

func columnsOf(log string) string {
	var b strings.Builder
	for line := range strings.Lines(log) {
		b.WriteString("build (1.26)\tRun go test\t2024-05-01T12:00:00.1234567Z " + line)
	}
	return b.String()
}

func TestPackageDirsLocate(t *testing.T) {
	opt := Options{PackageDir: func(pkg string) (string, bool) { return "sub/" + strings.TrimPrefix(pkg, "example.com/"), true }}
	fs, err := ReadLog(strings.NewReader("--- FAIL: TestA (0.00s)\n    x_test.go:3: boom\nFAIL\nFAIL\texample.com/p\t0.1s\n"), opt)
	if err != nil || fs[0].Location.File != "sub/p/x_test.go" {
		t.Errorf("got %+v, %v", fs, err)
	}
}

// fuzzReader checks what holds for any input: no panic, only red outcomes,
// each target once, signatures within bounds, and prefixes give a part.
func fuzzReader(f *testing.F, read readFunc, files ...string) {
	for _, file := range files {
		data := readCapture(f, file)
		for len(data) > 0 {
			n := min(len(data), 4<<10)
			f.Add(data[:n])
			data = data[n:]
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fs, err := read(bytes.NewReader(data), Options{})
		seen := map[triage.Target]bool{}
		for _, x := range fs {
			if !x.Outcome.Red() || seen[x.Target] || len(x.Signature.Message) > maxMessage || x.Signature != (triage.Signature{}) && x.Signature.Phase == "" {
				t.Fatalf("bad failure %+v", x)
			}
			seen[x.Target] = true
		}
		again, err2 := read(bytes.NewReader(data), Options{})
		if len(again) != len(fs) || (err == nil) != (err2 == nil) {
			t.Fatalf("second reading differs: %d and %d failures", len(fs), len(again))
		}
	})
}

func FuzzReadLog(f *testing.F)   { fuzzReader(f, ReadLog, "plain.log", "verbose.log", "race-plain.log") }
func FuzzReadJSON(f *testing.F)  { fuzzReader(f, ReadJSON, "events.json", "race-events.json") }
func FuzzReadJUnit(f *testing.F) { fuzzReader(f, ReadJUnit, "gotestsum.xml", "gojunitreport-v2.xml") }

// FuzzResults: whatever a process prints, a test without a marked PASS of its
// own has not passed, and neither has one in a process that broke.
func FuzzResults(f *testing.F) {
	f.Add([]byte("^V=== RUN   TestA\n^V--- PASS: TestA (0.00s)\n^VPASS\n"), 0)
	f.Add([]byte("^V=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\n"), 0)
	f.Add([]byte("^V=== RUN   TestA\npanic: x\n\ngoroutine 1 [running]:\nexample.com/p.TestA(0x1)\n\t/x.go:1\n"), 2)
	f.Add([]byte("^V=== RUN   TestA\n^V--- SKIP: TestA (0.00s)\n^VPASS\n"), 0)
	f.Fuzz(func(t *testing.T, out []byte, exit int) {
		out = bytes.ReplaceAll(out, []byte("^V"), []byte{marker})
		target := triage.Target{Suite: "go", Framework: Name, Package: "example.com/p", Test: "TestA"}
		spec := triage.RunSpec{Tree: "/t", Prepared: triage.Prepared{Dir: "/t/p", Bin: "/x"}, Target: target}
		rs, err := Adapter{}.Results(spec, triage.End{Exit: exit & 0xff}, bytes.NewReader(out))
		if err != nil || len(rs) == 0 || rs[0].Target != target {
			t.Fatalf("got %+v, %v, want the target first", rs, err)
		}
		for _, r := range rs {
			if r.Outcome.Red() != (r.Failure != nil) {
				t.Fatalf("result %+v: red and failure disagree", r)
			}
		}
		framed := bytes.IndexByte(out, marker) >= 0
		if rs[0].Outcome == triage.Pass && framed && !bytes.Contains(out, []byte("\x16--- PASS: TestA (")) {
			t.Fatalf("invented pass from %q", out)
		}
	})
}
