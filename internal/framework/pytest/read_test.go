package pytest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestTargetsOfNodeIDs(t *testing.T) {
	for id, want := range map[string]triage.Target{
		"tests/test_a.py::TestB::test_c[x::y]": {Package: "tests/test_a.py", Test: "TestB::test_c[x::y]"},
		"test_a.py":                            {Package: "test_a.py"},
		`tests\test_a.py::test_b`:              {Package: "tests/test_a.py", Test: "test_b"},
		"./test_a.py::test_b[::]":              {Package: "test_a.py", Test: "test_b[::]"},
	} {
		want.Suite, want.Framework = "pytest", Name
		if got := ParseID(id, Options{}); got != want {
			t.Errorf("ParseID(%q) = %+v, want %+v", id, got, want)
		}
	}
	in := ParseID("test_a.py::test_b", Options{Dir: "backend", Suite: "py"})
	if in.Package != "backend/test_a.py" || in.Suite != "py" {
		t.Errorf("below a directory: %+v", in)
	}
}

func TestTargetsOfJUnitNames(t *testing.T) {
	files := map[string]bool{
		"tests/test_a.py": true, "tests/test_a/test_b.py": true, "my.dir/test_c.py": true,
		"tests/Odd.py": true, "backend/tests/test_d.py": true, "specs/login.yaml": true,
	}
	exists := func(f string) bool { return files[f] }
	for _, c := range []struct {
		classname, name string
		o               Options
		want            string
	}{
		{"tests.test_a", "test_x", Options{Exists: exists}, "tests/test_a.py::test_x"},
		{"tests.test_a.TestB.TestC", "test_x[a.b]", Options{Exists: exists}, "tests/test_a.py::TestB::TestC::test_x[a.b]"},
		{"tests.test_a.test_b", "test_x", Options{Exists: exists}, "tests/test_a/test_b.py::test_x"},
		{"tests.Odd.Odd", "test_x", Options{Exists: exists}, "tests/Odd.py::Odd::test_x"},
		{"my.dir.test_c.T", "test_x", Options{Exists: exists}, "my.dir/test_c.py::T::test_x"},
		{"tests.test_d", "test_x", Options{Exists: exists, Dir: "backend"}, "backend/tests/test_d.py::test_x"},
		{"specs.login.yaml", "user", Options{Exists: exists}, "specs/login.yaml::user"},
		{"", "tests.test_a", Options{Exists: exists}, "tests/test_a.py::"},
		{"tests.unit.test_z.TestB.TestC", "test_x", Options{}, "tests/unit/test_z.py::TestB::TestC::test_x"},
		{"pkg.checks.CheckThing", "test_x", Options{}, "pkg/checks.py::CheckThing::test_x"},
	} {
		got := c.o.fromClassname(c.classname, c.name)
		if s := got.Package + "::" + got.Test; s != c.want {
			t.Errorf("%s %s: %s, want %s", c.classname, c.name, s, c.want)
		}
	}
}

func TestNormalise(t *testing.T) {
	for in, want := range map[string]string{
		"AssertionError: assert 3 == 4":                                  "assert N == N",
		"Failed: DID NOT RAISE <class 'OSError'>":                        "DID NOT RAISE <class 'OSError'>",
		"<Mock name='x' id='140223'> called":                             "<Mock name='x' id=N> called",
		"<Thread(Thread-12 (run), started 1234)>":                        "<Thread(Thread-N (run), started N)>",
		"<Foo object at 0x7f12ab>":                                       "<Foo object at ADDR>",
		"FileNotFoundError: [Errno 2] No such file: '/tmp/pytest-1/a/b'": "FileNotFoundError: [Errno 2] No such file: 'TMP'",
		"took 1.25s, wanted 3":                                           "took DUR, wanted 3",
		"at 2026-01-02T03:04:05.123Z":                                    "at TIME",
		"/home/u/w/head/shop/core.py:12: x":                              "core.py: x",
		"connect to 127.0.0.1:45123":                                     "connect to 127.0.0.1:PORT",
		"\x1b[31mred\x1b[0m #x1B[1mtext":                                 "red text",
		"status 503":                                                     "status 503",
		"utf8 item2 v1.2":                                                "utf8 item2 v1.2",
		"id 3f2504e0-4f89-11d3-9a0c-0305e82c3301":                        "id UUID",
		"see http://host/a/b/c":                                          "see http://host/a/b/c",
		"":                                                               "",
	} {
		if got := Normalise(in); got != want {
			t.Errorf("Normalise(%q) = %q, want %q", in, got, want)
		}
		if again := Normalise(Normalise(in)); again != Normalise(in) {
			t.Errorf("Normalise is not stable on %q: %q", in, again)
		}
	}
}

func TestReadersTellWhatIsWrong(t *testing.T) {
	const report = `<testsuites><testsuite><testcase classname="test_a" name="test_b"><failure message="assert 1">x</failure></testcase></testsuite></testsuites>`
	junit := func(s string) error { _, err := ReadJUnit(strings.NewReader(s), Options{}); return err }
	jsonl := func(s string) error { _, err := ReadReportLog(strings.NewReader(s), Options{}); return err }
	raw := func(s string) error { _, err := ReadLog(strings.NewReader(s), Options{}); return err }
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"empty JUnit", junit(""), ErrEmpty},
		{"blank JUnit", junit(" \n"), ErrEmpty},
		{"JUnit that is JSON", junit(`{"a":1}`), ErrEmpty},
		{"XML of another kind", junit("<html></html>"), ErrKind},
		{"JUnit cut off", junit(report[:90]), ErrTruncated},
		{"whole JUnit", junit(report), nil},
		{"empty report log", jsonl(""), ErrEmpty},
		{"report log that is XML", jsonl(report), ErrKind},
		{"report log without an end", jsonl(`{"pytest_version":"9","$report_type":"SessionStart"}` + "\n"), ErrTruncated},
		{"report log cut off", jsonl(`{"pytest_version":"9","$report_type":"SessionStart"}` + "\n" + `{"nodeid":`), ErrTruncated},
		{"empty raw log", raw(" \n\n"), ErrEmpty},
		{"raw log of something else", raw("make: nothing to be done\n"), nil},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
		}
	}
	if _, err := ReadLog(iotest.ErrReader(io.ErrUnexpectedEOF), Options{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a reader that breaks: %v", err)
	}
}

// Any beginning of a valid JUnit report gives an error or a part of its failures.
func TestAnyBeginningOfAReportIsAPart(t *testing.T) {
	report := capture(t, "junit.xml")
	whole, err := ReadJUnit(bytes.NewReader(report), Options{})
	if err != nil || len(whole) == 0 {
		t.Fatal(err, len(whole))
	}
	for n := 0; n < len(report); n += 97 {
		part, err := ReadJUnit(bytes.NewReader(report[:n]), Options{})
		if err == nil || len(part) > len(whole) {
			t.Fatalf("%d bytes: error %v, %d failures", n, err, len(part))
		}
		if diff := cmp.Diff(whole[:len(part)], part, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%d bytes: %s", n, diff)
		}
	}
}

func capture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "captures", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The captures of all kinds tell the same reds with the same signatures.
func TestCapturesAgree(t *testing.T) {
	o := Options{Exists: func(f string) bool { return f == "tests/test_red.py" }}
	junit, err := ReadJUnit(bytes.NewReader(capture(t, "junit.xml")), o)
	want := signatures(t, junit, err)
	if len(want) != 27 {
		t.Errorf("%d reds", len(want))
	}
	log, err := ReadLog(bytes.NewReader(capture(t, "log.txt")), o)
	if diff := cmp.Diff(want, signatures(t, log, err)); diff != "" {
		t.Errorf("raw log:\n%s", diff)
	}
	rl, err := ReadReportLog(bytes.NewReader(capture(t, "reportlog.jsonl")), o)
	if diff := cmp.Diff(want, signatures(t, rl, err)); diff != "" {
		t.Errorf("report log:\n%s", diff)
	}
	for _, f := range append(append(junit, log...), rl...) {
		if f.Location.File == "" || f.Excerpt == "" && f.Target.Test != "test_xpass" {
			t.Errorf("%s has the location %+v, excerpt %q", f.Target, f.Location, f.Excerpt)
		}
	}
}

func TestASummaryCutShortHasNoSignature(t *testing.T) {
	log := "=== test session starts ===\n=== short test summary info ===\nFAILED tests/test_a.py::test_b - AssertionError: a long m...\nFAILED tests/test_a.py::test_c\n=== 2 failed in 0.10s ===\n"
	fs, err := ReadLog(strings.NewReader(log), Options{})
	if err != nil || len(fs) != 2 || !fs[0].Signature.IsZero() || !fs[1].Signature.IsZero() || fs[0].Message == "" {
		t.Errorf("%v %+v", err, fs)
	}
}

func TestASeedIsReadFromTheLog(t *testing.T) {
	log := "=== test session starts ===\nUsing --randomly-seed=4242\n=== short test summary info ===\nFAILED a.py::b - x\n=== 1 failed in 0.10s ===\n"
	fs, _ := ReadLog(strings.NewReader(log), Options{})
	if len(fs) != 1 || fs[0].Seed != 4242 {
		t.Errorf("%+v", fs)
	}
}

func TestAProcessThatDiedIsTheCommands(t *testing.T) {
	for log, want := range map[string]triage.Signature{
		"=== test session starts ===\ntests/a.py .Fatal Python error: Segmentation fault\n":                                                    {},
		"=== test session starts ===\ntests/a.py .\nFatal Python error: Segmentation fault\n\nCurrent thread 0x01 (most recent call first):\n": {Phase: "panic", Message: "Fatal Python error: Segmentation fault"},
		"INTERNALERROR> Traceback (most recent call last):\nINTERNALERROR>   File \"x.py\", line 3, in f\nINTERNALERROR> KeyError: 'a'\n":      {Phase: "setup", Message: "KeyError: 'a'"},
	} {
		fs, err := ReadLog(strings.NewReader(log), Options{})
		if err != nil || len(fs) != min(1, len(want.Phase)) {
			t.Errorf("%q: %v %v", log, err, fs)
		} else if len(fs) == 1 && (fs[0].Signature != want || !fs[0].Target.IsCommand()) {
			t.Errorf("%q: %+v", log, fs[0])
		}
	}
}

// A large log is read in bounded memory: nothing of the green part is kept.
func TestALargeLogIsStreamed(t *testing.T) {
	line := strings.Repeat("tests/test_many.py::test_one PASSED some output here ", 2) + "\n"
	tail := "=== short test summary info ===\nFAILED a.py::b - x\n=== 1 failed in 0.10s ===\n"
	allocs := testing.AllocsPerRun(1, func() {
		r := io.MultiReader(strings.NewReader("=== test session starts ===\n"), io.LimitReader(&repeat{text: line}, 20<<20), strings.NewReader("\n"+tail))
		if fs, err := ReadLog(r, Options{}); err != nil || len(fs) != 1 {
			t.Errorf("%v %v", err, fs)
		}
	})
	if allocs > 20_000 {
		t.Errorf("%v allocations", allocs)
	}
}

type repeat struct {
	text string
	at   int
}

func (r *repeat) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		c := copy(b[n:], r.text[r.at:])
		n += c
		r.at = (r.at + c) % len(r.text)
	}
	return n, nil
}

func BenchmarkReadLog(b *testing.B) {
	log := capture(b, "log.txt")
	var big bytes.Buffer
	for big.Len() < 8<<20 {
		fmt.Fprintf(&big, "2026-01-02T03:04:05.1234567Z tests/test_many.py::test_one PASSED\n")
	}
	big.Write(log)
	b.SetBytes(int64(big.Len()))
	for b.Loop() {
		if _, err := ReadLog(bytes.NewReader(big.Bytes()), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestDetect(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	for _, c := range []struct {
		name string
		tree fstest.MapFS
		want []Found
	}{
		{"pyproject", fstest.MapFS{"pyproject.toml": file("[tool.pytest.ini_options]\n")}, []Found{{Why: "pyproject.toml"}}},
		{"setup.cfg", fstest.MapFS{"setup.cfg": file("[tool:pytest]\n")}, []Found{{Why: "setup.cfg"}}},
		{"tox.ini", fstest.MapFS{"tox.ini": file("[testenv]\ncommands = pytest\n")}, []Found{{Why: "tox.ini"}}},
		{"conftest", fstest.MapFS{"tests/conftest.py": file("")}, []Found{{Why: "tests/conftest.py"}}},
		{"a test file", fstest.MapFS{"tests/test_a.py": file("")}, []Found{{Why: "tests/test_a.py"}}},
		{"no Python", fstest.MapFS{"go.mod": file("module x\n"), "pyproject.toml": file("[tool.black]\n")}, nil},
		{"two packages", fstest.MapFS{
			"services/a/pytest.ini": file("[pytest]\n"), "lib/test_x.py": file(""), "node_modules/x/test_y.py": file(""), "go.mod": file(""),
		}, []Found{{Dir: "lib", Why: "test_x.py"}, {Dir: "services/a", Why: "pytest.ini"}}},
	} {
		if diff := cmp.Diff(c.want, Detect(c.tree)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func FuzzReaders(f *testing.F) {
	f.Add([]byte("=== FAILURES ===\n___ test_a ___\nE   x\na.py:1: E\n=== short test summary info ===\nFAILED a.py::test_a[ - ] - x\n"))
	f.Add([]byte(`<testsuite><testcase classname="a.B" name="c[d"><error message="failed on setup with &quot;x&quot;">E   y</error></testcase></testsuite>`))
	f.Add([]byte(`{"pytest_version":"9","$report_type":"SessionStart"}` + "\n" + `{"$report_type":"TestReport","nodeid":"a.py::b","outcome":"failed","when":"call","longrepr":{"reprcrash":{"path":"a.py","lineno":1,"message":"x"}}}`))
	for _, name := range []string{"junit.xml", "log.txt", "reportlog.jsonl"} {
		f.Add(capture(f, name))
	}
	o := Options{Dir: "d", Exists: func(s string) bool { return len(s)%2 == 0 }}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, read := range []func(io.Reader, Options) ([]triage.Failure, error){ReadLog, ReadJUnit, ReadReportLog} {
			fs, _ := read(bytes.NewReader(b), o)
			for _, f := range fs {
				if !f.Outcome.Red() || f.Target.Framework != Name || len(f.Signature.Message) > maxMessage || len(f.Excerpt) > 2*maxExcerpt {
					t.Errorf("%+v", f)
				}
			}
		}
	})
}
