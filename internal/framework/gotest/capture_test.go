package gotest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

var update = flag.Bool("update", false, "rewrite the golden files")

type readFunc func(io.Reader, Options) ([]triage.Failure, error)

// captures are the reports of the lab module.
var captures = []struct {
	file string
	read readFunc
}{
	{"plain.log", ReadLog},
	{"verbose.log", ReadLog},
	{"events.json", ReadJSON},
	{"gotestsum.json", ReadJSON},
	{"gotestsum.xml", ReadJUnit},
	{"gojunitreport-v1.xml", ReadJUnit},
	{"gojunitreport-v2.xml", ReadJUnit},
	{"race-plain.log", ReadLog},
	{"race-verbose.log", ReadLog},
	{"race-events.json", ReadJSON},
	{"shuffle.log", ReadLog},
	{"gotestsum.log", ReadLog},
}

func readCapture(t testing.TB, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "capture", file))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustRead(t testing.TB, read readFunc, data []byte) []triage.Failure {
	t.Helper()
	fs, err := read(bytes.NewReader(data), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return fs
}

func TestGoldenFailures(t *testing.T) {
	for _, c := range captures {
		t.Run(c.file, func(t *testing.T) {
			fs := mustRead(t, c.read, readCapture(t, c.file))
			for i := range fs {
				if fs[i].Outcome.Red() && fs[i].Target.Framework == Name {
					fs[i].Excerpt = ""
				}
			}
			golden(t, c.file+".golden.json", fs)
		})
	}
}

func golden(t *testing.T, name string, v any) {
	t.Helper()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, buf.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), buf.String()); d != "" {
		t.Errorf("differs from %s (-want +got):\n%s", file, d)
	}
}

// framedResults are the reds of our own trials of the lab module.
func framedResults(t testing.TB) []triage.Failure {
	t.Helper()
	files, err := filepath.Glob("testdata/capture/framed/*.txt")
	if err != nil || len(files) < 20 {
		t.Fatalf("found %d framed captures, want at least 20 (%v)", len(files), err)
	}
	var out []triage.Failure
	for _, f := range files {
		out = append(out, reds(framedResult(t, f, ""))...)
	}
	return out
}

var framedName = regexp.MustCompile(`^(\w+)\.exit(\d+)\.txt$`)

// framedResult reads one framed capture as a trial of the given test.
func framedResult(t testing.TB, file, test string) []triage.Result {
	t.Helper()
	m := framedName.FindStringSubmatch(filepath.Base(file))
	if m == nil {
		t.Fatalf("capture %q has no exit code in its name", file)
	}
	exit, _ := strconv.Atoi(m[2])
	end := triage.End{Exit: exit}
	if exit > 128 {
		end = triage.End{Exit: -1, Signal: "killed"}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	spec := triage.RunSpec{
		Tree:     "/tmp/lab",
		Prepared: triage.Prepared{Dir: "/tmp/lab/" + m[1], Bin: "/x"},
		Scope:    triage.InPackage,
		Target:   triage.Target{Suite: "go", Framework: Name, Package: "example.com/lab/" + m[1], Test: test},
	}
	rs, err := Adapter{}.Results(spec, end, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

func reds(rs []triage.Result) []triage.Failure {
	var out []triage.Failure
	for _, r := range rs {
		if r.Outcome.Red() && r.Failure != nil {
			out = append(out, *r.Failure)
		}
	}
	return out
}

// TestSameFailureEverywhere is the property everything rests on: one failure
// has one signature, whichever way it reached us and wherever it ran.
func TestSameFailureEverywhere(t *testing.T) {
	plain := mustRead(t, ReadLog, readCapture(t, "plain.log"))
	race := mustRead(t, ReadLog, readCapture(t, "race-plain.log"))
	want := signatures(plain)
	raced := signatures(race)

	check := func(name string, fs []triage.Failure, want map[triage.Target]triage.Signature, atLeast int) {
		t.Helper()
		same := 0
		for _, f := range fs {
			w, ok := want[f.Target]
			switch {
			case !ok: // plain logs do not tell which test exited
			case f.Signature.IsZero(): // the writer dropped what the test said
			case f.Signature != w:
				t.Errorf("%s: %s: signature differs (-plain +%s):\n%s", name, f.Target, name, cmp.Diff(w, f.Signature))
			default:
				same++
			}
		}
		if same < atLeast {
			t.Errorf("%s: only %d failures are equal to the plain log's, want at least %d", name, same, atLeast)
		}
	}
	for name, c := range map[string]struct {
		fs []triage.Failure
		n  int
	}{
		"verbose":     {mustRead(t, ReadLog, readCapture(t, "verbose.log")), 32},
		"json":        {mustRead(t, ReadJSON, readCapture(t, "events.json")), 32},
		"gotestsum":   {mustRead(t, ReadJSON, readCapture(t, "gotestsum.json")), 32},
		"terminal":    {mustRead(t, ReadLog, readCapture(t, "gotestsum.log")), 30},
		"junit":       {mustRead(t, ReadJUnit, readCapture(t, "gotestsum.xml")), 29},
		"junit-v1":    {withoutMixed(mustRead(t, ReadJUnit, readCapture(t, "gojunitreport-v1.xml"))), 14},
		"junit-v2":    {mustRead(t, ReadJUnit, readCapture(t, "gojunitreport-v2.xml")), 30},
		"github":      {mustRead(t, ReadLog, asGitHubLog(readCapture(t, "plain.log"))), 35},
		"github-v":    {mustRead(t, ReadLog, asGitHubLog(readCapture(t, "verbose.log"))), 32},
		"moved":       {mustRead(t, ReadLog, moved(readCapture(t, "plain.log"))), 35},
		"moved-junit": {mustRead(t, ReadJUnit, moved(readCapture(t, "gotestsum.xml"))), 29},
	} {
		check(name, withoutLiar(c.fs), want, c.n)
	}
	check("trials", withoutRace(framedResults(t)), want, 28)
	check("race-verbose", mustRead(t, ReadLog, readCapture(t, "race-verbose.log")), raced, 3)
	check("race-json", mustRead(t, ReadJSON, readCapture(t, "race-events.json")), raced, 3)
	check("race-moved", mustRead(t, ReadLog, moved(readCapture(t, "race-plain.log"))), raced, 3)
	check("race-trials", onlyRace(framedResults(t)), raced, 3)
}

func signatures(fs []triage.Failure) map[triage.Target]triage.Signature {
	out := map[triage.Target]triage.Signature{}
	for _, f := range fs {
		out[f.Target] = f.Signature
	}
	return out
}

func filter(fs []triage.Failure, keep func(triage.Failure) bool) []triage.Failure {
	var out []triage.Failure
	for _, f := range fs {
		if keep(f) {
			out = append(out, f)
		}
	}
	return out
}

// withoutLiar leaves out the test that prints the testing package's own lines:
// without framing nobody can tell them apart.
func withoutLiar(fs []triage.Failure) []triage.Failure {
	return filter(fs, func(f triage.Failure) bool { return f.Target.Package != "example.com/lab/imitate" })
}

// withoutMixed leaves out what go-junit-report v1 mixes up by itself.
func withoutMixed(fs []triage.Failure) []triage.Failure {
	return filter(fs, func(f triage.Failure) bool {
		return f.Target.Package != "example.com/lab/parallel" && f.Target.Test != "TestParentToo/child"
	})
}

func withoutRace(fs []triage.Failure) []triage.Failure {
	return filter(fs, func(f triage.Failure) bool { return !strings.Contains(f.Target.Package, "/race") })
}

func onlyRace(fs []triage.Failure) []triage.Failure {
	return filter(fs, func(f triage.Failure) bool { return strings.Contains(f.Target.Package, "/race") })
}

// asGitHubLog is a log as the job log of GitHub Actions shows it.
func asGitHubLog(log []byte) []byte {
	var b bytes.Buffer
	n := 0
	stamp := func(s string) {
		n++
		fmt.Fprintf(&b, "2024-05-01T12:%02d:%02d.%07dZ %s\r\n", n/60%60, n%60, n, s)
	}
	b.WriteString("\xef\xbb\xbf")
	stamp("##[group]Run go test ./...")
	stamp("\x1b[36;1mgo test ./...\x1b[0m")
	stamp("##[endgroup]")
	for line := range strings.SplitSeq(strings.TrimSuffix(string(log), "\n"), "\n") {
		if strings.HasPrefix(line, "FAIL") || strings.Contains(line, "--- FAIL") {
			line = "\x1b[31m" + line + "\x1b[0m"
		}
		stamp(line)
	}
	stamp("##[error]Process completed with exit code 1.")
	return b.Bytes()
}

var (
	hexWord  = regexp.MustCompile(`0x[0-9a-f]+`)
	stampRun = regexp.MustCompile(`\d{4}/\d\d/\d\d \d\d:\d\d:\d\d`)
	goID     = regexp.MustCompile(`goroutine \d+`)
	lineRun  = regexp.MustCompile(`(\.go):(\d+)`)
)

// moved is a report as another run in another place would give it: other
// paths, addresses, goroutines, times and line numbers.
func moved(report []byte) []byte {
	report = bytes.ReplaceAll(report, []byte("/tmp/lab/"), []byte("/home/runner/work/trees/base-7/"))
	report = bytes.ReplaceAll(report, []byte("/usr/local/go/"), []byte("/opt/hostedtoolcache/go/1.26.8/x64/"))
	report = hexWord.ReplaceAll(report, []byte("0xc0ffee"))
	report = stampRun.ReplaceAll(report, []byte("2031/01/02 03:04:05"))
	report = goID.ReplaceAll(report, []byte("goroutine 4242"))
	report = lineRun.ReplaceAll(report, []byte("$1:1$2"))
	report = bytes.ReplaceAll(report, []byte("127.0.0.1:38211"), []byte("127.0.0.1:40404"))
	return report
}

// TestPrefixes cuts every capture at many places: what is read is then a part
// of the whole, or an error says that something is missing.
func TestPrefixes(t *testing.T) {
	for _, c := range captures {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			data := readCapture(t, c.file)
			whole := signatures(mustRead(t, c.read, data))
			step := max(1, len(data)/150)
			for n := 0; n < len(data); n += step {
				checkPrefix(t, c.read, data[:n], whole)
			}
		})
	}
}

func checkPrefix(t *testing.T, read readFunc, prefix []byte, whole map[triage.Target]triage.Signature) {
	t.Helper()
	fs, err := read(bytes.NewReader(prefix), Options{})
	if err != nil {
		return
	}
	packages := map[string]bool{}
	for t := range whole {
		packages[t.Package] = true
	}
	for _, f := range fs {
		if f.Target.IsCommand() && f.Signature.IsZero() && packages[f.Target.Package] {
			continue // red for certain, and nothing more is said
		}
		if w, ok := whole[f.Target]; !ok || w != f.Signature {
			t.Fatalf("first %d bytes: no error, and %s has signature %+v, not of the whole report (%+v)", len(prefix), f.Target, f.Signature, w)
		}
	}
}
