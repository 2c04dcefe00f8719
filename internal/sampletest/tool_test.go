package sampletest

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/sample"
)

// shell is a framework whose tests are shell scripts; an argument that is no
// file selects nothing.
var shell = tool{
	one: func(f Fact) []string {
		return []string{"sh", "-c", `[ -f "$1" ] || exit 5; . "./$1"`, "sh", f.Package}
	},
	late: func(Late) string { return "exit 3" },
	none: []int{5},
}

func TestProveByTellsWhatContradicts(t *testing.T) {
	tree := t.TempDir()
	files := map[string][]byte{"green": []byte("true\n"), "told": []byte("test \"$SKY\" = blue\n"), "red": []byte("echo the sky fell\nfalse\n"), "deep/x": []byte("  true\n")}
	if err := sample.Write(tree, files); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		fact Fact
		want string
	}{
		"a true red":            {Fact{Package: "red", Red: "2/2", Says: "sky"}, ""},
		"a true green":          {Fact{Package: "green", Red: "0/2"}, ""},
		"one that is told":      {Fact{Package: "told", Red: "0/1", Env: []string{"SKY=blue"}}, ""},
		"one that is not told":  {Fact{Package: "told", Red: "1/1"}, ""},
		"a red that is late":    {Fact{Package: "green", Red: "1/1", Late: &Late{File: "green", After: "true", MS: 1}}, ""},
		"one that is so before": {Fact{Package: "deep/x", Red: "1/1", Late: &Late{File: "deep/x", Before: "true", MS: 1}}, ""},
		"a green that is red":   {Fact{Package: "red", Red: "0/1"}, "red 1/1, want 0/1"},
		"another message":       {Fact{Package: "red", Red: "1/1", Says: "sea"}, "does not say"},
		"no such test":          {Fact{Package: "blue", Red: "1/1"}, "selects no test"},
	} {
		t.Run(name, func(t *testing.T) {
			wrong, err := c.fact.proveBy(t.Context(), shell, nil, tree, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(wrong, "\n"); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("contradictions are %q, want %q", got, c.want)
			}
		})
	}
	if after, err := os.ReadFile(filepath.Join(tree, "green")); err != nil || string(after) != "true\n" {
		t.Errorf("the tree itself was changed: %q, %v", after, err)
	}
}

func TestProveByRefusesWhatItCannotProve(t *testing.T) {
	for name, c := range map[string]struct {
		fact Fact
		want string
	}{
		"a build":        {Fact{Red: "build"}, "for Go only"},
		"no such line":   {Fact{Red: "1/1", Late: &Late{File: "a", After: "zzz", MS: 1}}, "is not in a"},
		"two such lines": {Fact{Red: "1/1", Late: &Late{File: "a", After: "x", MS: 1}}, "two lines"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := t.TempDir()
			if err := sample.Write(tree, map[string][]byte{"a": []byte("x\nx\n")}); err != nil {
				t.Fatal(err)
			}
			if _, err := c.fact.proveBy(t.Context(), shell, nil, tree, t.TempDir()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
		})
	}
}

func TestPythonDelayStandsOnTheLineItself(t *testing.T) {
	tree := t.TempDir()
	src := "def f():\n    a()\n    b()\n"
	if err := sample.Write(tree, map[string][]byte{"m.py": []byte(src)}); err != nil {
		t.Fatal(err)
	}
	for want, l := range map[string]Late{
		"def f():\n    a(); __import__(\"time\").sleep(0.03)\n    b()\n":         {After: "a()", MS: 30},
		"def f():\n    a(); __import__(\"time\").sleep(0.03); c()\n    b()\n":    {After: "a()", MS: 30, Insert: "c()"},
		"def f():\n    a()\n    await __import__(\"asyncio\").sleep(1.5); b()\n": {Before: "b()", MS: 1500, Await: true},
	} {
		l.File = "m.py"
		dir, err := l.copyTree(tools["pytest"], tree, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "m.py"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("the late copy (-want +got):\n%s", diff)
		}
	}
}

func TestASampleWithoutItsInterpreterSaysHowToGetIt(t *testing.T) {
	s := Sample{Name: "py-x", Header: Header{Framework: "pytest"}}
	for _, value := range []string{"", "/no/such/python"} {
		t.Setenv("TRIAGEBOT_TEST_PYTHON", value)
		t.Setenv("TRIAGEBOT_REQUIRE_PYTHON", "")
		why, err := s.Missing()
		if err != nil || !strings.Contains(why, "make python-env") || !strings.Contains(why, "TRIAGEBOT_TEST_PYTHON") {
			t.Errorf("with %q it is %q, %v", value, why, err)
		}
		t.Setenv("TRIAGEBOT_REQUIRE_PYTHON", "1")
		if _, err := s.Missing(); err == nil {
			t.Errorf("with %q it is not missed although it is required", value)
		}
	}
	if why, err := (Sample{}).Missing(); why != "" || err != nil {
		t.Errorf("a sample of Go misses %q, %v", why, err)
	}
}

func TestInstallLoadsTheCheckout(t *testing.T) {
	s := Sample{Name: "py-x", Header: Header{Framework: "pytest", Editable: "src"}}
	if why, err := s.Missing(); err != nil {
		t.Fatal(err)
	} else if why != "" {
		t.Skip(why)
	}
	checkout, dir := t.TempDir(), t.TempDir()
	if err := sample.Write(checkout, map[string][]byte{"src/wheel.py": []byte("spokes = 32\n")}); err != nil {
		t.Fatal(err)
	}
	bin, err := s.install(t.Context(), checkout, dir)
	if err != nil {
		t.Fatal(err)
	}
	out, code, err := run(t.Context(), dir, s.env(true, bin), "python3", "-c", "import wheel, pytest; print(wheel.spokes)")
	if err != nil || code != 0 || !strings.Contains(out, "32") {
		t.Errorf("exit %d, %v: %s", code, err, out)
	}
}

func TestRedReadsTheReportThatItsCommandWrites(t *testing.T) {
	dir := t.TempDir()
	s := Sample{Header: Header{CI: CI{Run: []string{"sh", "-c", "echo noise; echo red >$REPORT; false"}}}}
	r := Repo{Report: filepath.Join(dir, "ci.xml")}
	r.Dir = dir
	got, tries, err := s.red(context.Background(), r)
	if err != nil || tries != 1 || string(got) != "red\n" {
		t.Errorf("report is %q after %d, %v", got, tries, err)
	}
	s.CI.Run = []string{"sh", "-c", ": $REPORT; echo broken; false"}
	r.Report = filepath.Join(dir, "none.xml")
	if _, _, err := s.red(context.Background(), r); err == nil || !regexp.MustCompile("none.xml.*broken").MatchString(err.Error()) {
		t.Errorf("error is %v, want the missing report and what was printed", err)
	}
}
