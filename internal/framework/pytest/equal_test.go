package pytest

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

// redTests fail in every way that a check can show.
const redTests = `
import pytest, unittest

class TestOuter:
    class TestInner:
        @pytest.mark.parametrize("x", ["a::b", "a - b", "[z]", "x] - y", "\n", "", "é", "q\"'", "back\\slash", " lead", "a/b"])
        def test_p(self, x):
            assert x == "other", "no"

def test_plain():
    print("E   not the message")
    print("=== FAILURES ===")
    assert [1, 2, 3] == [1, 2, 4]

def helper(): raise ValueError("bad thing at 0x7f01 in /tmp/x/y.txt")
def test_chained():
    try: helper()
    except ValueError as e: raise RuntimeError("multi\nline") from e
def test_deep(): helper()
def test_long(): assert "x" * 300 == "y" * 300
def test_dict(): assert {"a": 1, "b": [1, 2]} == {"a": 1, "b": [1, 3]}
def test_fail(): pytest.fail("explicit")
def test_no_trace(): pytest.fail("without a trace", pytrace=False)
def test_bare(): assert False
def test_key(): {}["missing"]
class Odd(Exception): pass
def test_own(): raise Odd()

try: ExceptionGroup
except NameError: from exceptiongroup import ExceptionGroup
def test_group(): raise ExceptionGroup("tasks", [ValueError("no tea"), helped(), ExceptionGroup("inner", [KeyError("y"), Odd()])])
def test_group_of_one(): raise ExceptionGroup("tasks", [ExceptionGroup("inner", [helped()])])
def test_group_of_lines(): raise ExceptionGroup("oops\nctx", [ValueError("no tea"), KeyError("y")])
def test_group_of_six(): raise ExceptionGroup("tasks", [six(i) for i in "fcbaed"])
def test_group_noted():
    e = ExceptionGroup("tasks", [ValueError("no tea"), KeyError("y")])
    e.add_note("a note") if hasattr(e, "add_note") else None
    raise e
def test_group_logged():
    import logging
    try: raise ExceptionGroup("earlier", [OSError("retry this"), KeyError("z")])
    except ExceptionGroup: logging.exception("trying again")
    raise ExceptionGroup("tasks", [ValueError("no tea"), KeyError("y")])
def test_group_behind():
    try: raise ExceptionGroup("tasks", [ValueError("no tea"), KeyError("y")])
    except ExceptionGroup as e: raise RuntimeError("wrapped") from e
@pytest.fixture
def grouped(): raise ExceptionGroup("set-up", [ValueError("no tea"), KeyError("y")])
def test_group_setup(grouped): pass
def six(i):
    try:
        def deep(n): 1 / 0 if n == 0 else deep(n - 1)
        deep(6)
    except ZeroDivisionError as e:
        try: raise ValueError(i * 80) from e
        except ValueError as e: return e
def helped():
    try: helper()
    except ValueError as e:
        try: raise LookupError("no 7 cups\nof tea") from e
        except LookupError as e: return e

@pytest.fixture
def broken(): raise OSError("no database")
def test_setup(broken): pass
@pytest.fixture
def late():
    yield
    raise OSError("cannot close")
def test_teardown(late): pass
def test_both(late): assert 0, "first"
@pytest.mark.xfail(strict=True, reason="known")
def test_xpass(): pass

class Unit(unittest.TestCase):
    def test_method(self): self.assertEqual(1, 2, "words")
    def test_sub(self):
        with self.subTest(i=3): self.assertEqual(3, 4)
`

// signatures maps each red to its signature.
func signatures(t *testing.T, fs []triage.Failure, err error) map[string]triage.Signature {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]triage.Signature{}
	for _, f := range fs {
		m[f.Target.Package+"::"+f.Target.Test] = f.Signature
	}
	return m
}

// ci runs pytest as a CI would, and gives its output and its JUnit report.
func ci(t *testing.T, dir string, args ...string) (log, junit []byte) {
	t.Helper()
	xml := filepath.Join(t.TempDir(), "junit.xml")
	argv := append([]string{python(t), "-m", "pytest", "-p", "no:cacheprovider", "--junitxml", xml}, args...)
	out, _, err := start(t.Context(), triage.Command{Dir: dir, Argv: argv, Env: []string{"CI=true", "PYTHONDONTWRITEBYTECODE=1", "COLUMNS=80"}})
	if err != nil {
		t.Fatal(err)
	}
	junit, err = os.ReadFile(xml)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out, junit
}

// ours runs a file under our plugin.
func ours(t *testing.T, dir, file string) map[string]triage.Signature {
	t.Helper()
	a := Adapter{}
	p := prepare(t, a, dir, file)
	rs, _ := trial(t, a, triage.RunSpec{Prepared: p, Tree: dir, Scope: triage.InPackage, Target: triage.Target{Package: file}})
	var fs []triage.Failure
	for _, r := range rs {
		if r.Failure != nil {
			fs = append(fs, *r.Failure)
		}
	}
	return signatures(t, fs, nil)
}

func inTree(dir string) Options {
	return Options{Exists: func(file string) bool {
		_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(file)))
		return err == nil
	}}
}

// The same red has one signature, whatever told of it.
func TestSignaturesAreEqualWhateverTells(t *testing.T) {
	dir := tree(t, map[string]string{"tests/unit/test_red.py": redTests})
	want := ours(t, dir, "tests/unit/test_red.py")
	if len(want) != 11+24 {
		t.Fatalf("our own run has %d reds: %v", len(want), want)
	}
	for name, s := range want {
		if s.IsZero() || s.Message == "" {
			t.Errorf("%s has the signature %+v", name, s)
		}
	}
	for _, style := range []string{"auto", "long", "short", "native", "line", "no"} {
		t.Run(style, func(t *testing.T) {
			log, junit := ci(t, dir, "--tb="+style, "--color=yes")
			fs, err := ReadLog(bytes.NewReader(log), Options{})
			got, fromLog := signatures(t, fs, err), maps.Clone(want)
			if style == "line" || style == "no" { // without a traceback nothing tells where this id ends
				delete(fromLog, "tests/unit/test_red.py::TestOuter::TestInner::test_p[x] - y]")
				delete(got, "tests/unit/test_red.py::TestOuter::TestInner::test_p[x]")
				for name, s := range got { // older versions of pytest cut their summary short: nothing is claimed then
					if s.IsZero() {
						delete(got, name)
						delete(fromLog, name)
					}
				}
			}
			if diff := cmp.Diff(fromLog, got); diff != "" {
				t.Errorf("raw log:\n%s", diff)
			}
			fs, err = ReadJUnit(bytes.NewReader(junit), inTree(dir))
			if diff := cmp.Diff(want, signatures(t, fs, err)); diff != "" {
				t.Errorf("JUnit:\n%s", diff)
			}
		})
	}
	t.Run("verbose, in the columns of a service", func(t *testing.T) {
		log, _ := ci(t, dir, "-v", "-rA")
		var stamped bytes.Buffer
		for line := range bytes.Lines(log) {
			fmt.Fprintf(&stamped, "tests\tRun pytest\t2026-01-02T03:04:05.1234567Z %s", line)
		}
		fs, err := ReadLog(&stamped, Options{})
		if diff := cmp.Diff(want, signatures(t, fs, err)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("older JUnit family", func(t *testing.T) {
		_, junit := ci(t, dir, "-o", "junit_family=xunit1")
		fs, err := ReadJUnit(bytes.NewReader(junit), Options{})
		if diff := cmp.Diff(want, signatures(t, fs, err)); diff != "" {
			t.Error(diff)
		}
	})
}

// words are parts of messages that could mislead a reader.
var words = []string{
	"E   x", " - ", "::", "[", "]", "...", "FAILED", "1.5s", "0x7f3a", "/tmp/a/b.txt", "/home/u/p/file.py", "é", "日本", `"`, "'", `\`, "%s",
	"<b>&amp;", "AssertionError: ", "file.py:12: ", "=== x ===", "____ y ____", "----", "timed out", "12:30:01", "id=17", "\t", "wanted 3",
}

// Messages of any words are told alike by all.
func TestSignaturesOfAnyMessageAreEqual(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	var b strings.Builder
	b.WriteString("import pytest\n")
	for i := range 60 {
		var m strings.Builder
		for range 1 + rng.IntN(5) {
			m.WriteString(words[rng.IntN(len(words))])
			m.WriteString([]string{" ", "", "w"}[rng.IntN(3)])
		}
		how := []string{"raise ValueError(%s)", "assert False, %s", "pytest.fail(%s)", "assert 1 == 2, %s"}[rng.IntN(4)]
		fmt.Fprintf(&b, "def test_%d(): "+how+"\n", i, pyQuote("m"+m.String()))
	}
	dir := tree(t, map[string]string{"test_any.py": b.String()})
	want := ours(t, dir, "test_any.py")
	if len(want) != 60 {
		t.Fatalf("%d reds", len(want))
	}
	for _, style := range []string{"auto", "short"} {
		log, junit := ci(t, dir, "--tb="+style)
		fs, err := ReadLog(bytes.NewReader(log), Options{})
		if diff := cmp.Diff(want, signatures(t, fs, err)); diff != "" {
			t.Errorf("raw log, %s:\n%s", style, diff)
		}
		fs, err = ReadJUnit(bytes.NewReader(junit), inTree(dir))
		if diff := cmp.Diff(want, signatures(t, fs, err)); diff != "" {
			t.Errorf("JUnit, %s:\n%s", style, diff)
		}
	}
}

// pyQuote writes a Python string literal.
func pyQuote(s string) string { return strings.ReplaceAll(strconv.Quote(s), "\x07", `\a`) }

func TestACollectionErrorIsOneTargetEverywhere(t *testing.T) {
	dir := tree(t, map[string]string{"tests/test_imp.py": "import no_such_module_17\n", "tests/test_ok.py": "def test_a(): pass\n"})
	a := Adapter{}
	p := prepare(t, a, dir, "tests/test_imp.py")
	if p.Failure == nil {
		t.Fatal("it collects")
	}
	sig := triage.Signature{Phase: triage.PhaseBuild, Message: "ModuleNotFoundError: No module named 'no_such_module_17'"}
	want := triage.Target{Suite: "pytest", Framework: Name, Package: "tests/test_imp.py"}
	check := func(who string, f triage.Failure) {
		t.Helper()
		if f.Target != want || f.Signature != sig || f.Outcome != triage.Error {
			t.Errorf("%s: %+v", who, f)
		}
	}
	check("Prepare", *p.Failure)
	log, junit := ci(t, dir)
	for who, read := range map[string]func() ([]triage.Failure, error){
		"raw log": func() ([]triage.Failure, error) { return ReadLog(bytes.NewReader(log), Options{}) },
		"JUnit":   func() ([]triage.Failure, error) { return ReadJUnit(bytes.NewReader(junit), inTree(dir)) },
	} {
		fs, err := read()
		if err != nil || len(fs) != 1 {
			t.Errorf("%s: %v %v\n%s", who, fs, err, log)
			continue
		}
		check(who, fs[0])
	}
	if p := prepare(t, a, dir, "tests/test_ok.py"); p.Failure != nil {
		t.Errorf("a file beside it: %+v", p.Failure)
	}
	if p := prepare(t, a, dir, "tests/test_new.py"); p.Failure != nil {
		t.Errorf("a file that is not there: %+v", p.Failure)
	}
}
