package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/framework/pytest"
)

func TestPartFix(t *testing.T) {
	for message, want := range map[string][2]string{
		"there is no node on the PATH: install Node 20 or newer, or put it on the PATH": {"there is no node on the PATH", "install Node 20 or newer, or put it on the PATH"},
		`asking "x": no such file or directory`:                                         {`asking "x": no such file or directory`, ""},
		"a: run this: b: make it anew":                                                  {"a: run this: b", "make it anew"},
		"":                                                                              {"", ""},
	} {
		if found, fix := partFix(message); found != want[0] || fix != want[1] {
			t.Errorf("%q parts into %q and %q, want %q", message, found, fix, want)
		}
	}
}

func TestFindingsAreCountedAndHarmless(t *testing.T) {
	var out bytes.Buffer
	bad, err := printFindings(&out, []finding{{what: "a", found: "x"}, {"b", "\x1b[31my", "do\x07 it", true}})
	if err != nil || bad != 1 {
		t.Fatalf("%d are bad, error %v, want 1", bad, err)
	}
	if s := out.String(); strings.ContainsAny(s, "\x1b\x07") || !strings.HasPrefix(s, "ok  a  x\nNO  b  ") || !strings.Contains(s, "→ do") {
		t.Errorf("printed %q", s)
	}
}

func TestWhatLagDoesNotMoveIsSaid(t *testing.T) {
	for name, tc := range map[string]struct {
		s    pytest.Survey
		want string
	}{
		"uvloop":                {pytest.Survey{Implementation: "CPython", Packages: map[string]string{"uvloop": "0.21"}}, "uvloop's loops are not delayed"},
		"a free-threaded build": {pytest.Survey{Implementation: "CPython", FreeThreaded: true}, "free-threaded build"},
		"another Python":        {pytest.Survey{Implementation: "PyPy"}, "not measured on PyPy"},
		"nothing of these":      {pytest.Survey{Implementation: "CPython"}, "threads that C started"},
	} {
		f := pythonLag(&suite{}, tc.s)
		if f.bad || !strings.Contains(f.fix, tc.want) {
			t.Errorf("%s: said %q, want %q in it", name, f.fix, tc.want)
		}
		if name == "nothing of these" && strings.Contains(f.fix, ";") {
			t.Errorf("said more than there is: %q", f.fix)
		}
	}
}

func TestPluginsOfOthersAreNotNamed(t *testing.T) {
	got := pluginFindings(pytest.Survey{Packages: map[string]string{"pytest-xdist": "3.8.0", "requests": "2"}})
	if len(got) != 1 || !strings.HasPrefix(got[0].found, "pytest-xdist 3.8.0: ") {
		t.Errorf("got %v, want xdist alone", got)
	}
}
