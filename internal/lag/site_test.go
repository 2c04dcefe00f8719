package lag

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestSiteOf(t *testing.T) {
	for id, want := range map[string]triage.Site{
		"shop/core.py:Dispatcher._one:double:1":     {Kind: "double", File: "shop/core.py", Func: "Dispatcher._one"},
		"tests/test_a.py:test_b.<locals>.go:wake:3": {Kind: "wake", File: "tests/test_a.py", Func: "test_b.<locals>.go"},
		"odd:name.py:f.<locals>.<lambda>:timeout:0": {Kind: "timeout", File: "odd:name.py", Func: "f.<locals>.<lambda>"},
		"src/a.ts:A.m:wake:2":                       {Kind: "wake", File: "src/a.ts", Func: "A.m"},
		"a.js:<module>:timeout:1":                   {Kind: "timeout", File: "a.js", Func: "<module>"},
		"":                                          {},
		"no site at all":                            {},
		"a:b":                                       {},
		"a:b:c":                                     {},
		"a.py:f:call:x":                             {},
		":f:call:1":                                 {},
	} {
		want.ID = id
		if got := SiteOf(id); got != want {
			t.Errorf("SiteOf(%q) = %+v, want %+v", id, got, want)
		}
	}
}

const someLog = `{"site":"a.py:f:call:1","kind":"call","role":"worker","hit":1,"ms":10,"line":7,"text":"def f():","test":false}
{"site":"a.py:f:call:1","kind":"call","role":"worker","hit":2,"ms":10}
{"stretched":"tests/a.py:t:timeout:2","line":3,"text":"q.get(timeout=1)","test":true}
not a record
{"site":"bad","kind":"call","role":"worker","hit":1,"ms":10,"line":7}
{"site":"a.py:g:call:1","line":9`

func TestReadSites(t *testing.T) {
	got, err := ReadSites(strings.NewReader(someLog))
	want := []triage.Site{
		{ID: "a.py:f:call:1", Kind: "call", File: "a.py", Line: 7, Func: "f", Text: "def f():"},
		{ID: "tests/a.py:t:timeout:2", Kind: "timeout", File: "tests/a.py", Line: 3, Func: "t", Text: "q.get(timeout=1)", Test: true},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, difference\n%s", err, diff)
	}
	l, err := ReadLog(strings.NewReader(someLog))
	if err != nil || l.Count != 3 || len(l.Stretched) != 1 || l.Bad != 1 {
		t.Errorf("package lag reads the same log as %+v, %v", l, err)
	}
}

func FuzzReadSites(f *testing.F) {
	f.Add(someLog)
	f.Add("\x00\n{\"line\":1e99}\n")
	f.Add(strings.Repeat("x", 3*maxLine) + "\n" + someLog)
	f.Fuzz(func(t *testing.T, log string) {
		sites, err := ReadSites(strings.NewReader(log))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sites {
			if s.ID == "" || s.File == "" || s.Line <= 0 || len(s.Text) > maxText {
				t.Errorf("site %+v", s)
			}
		}
	})
}
