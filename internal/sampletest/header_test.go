package sampletest

import (
	"strings"
	"testing"
)

const tiny = `plants: a thing
why: a reason
ci: {run: [go, test, -json]}
verdicts:
  - {package: p, test: TestA, class: [broken-on-base]}
facts:
  - {on: both, test: TestA, red: 1/1}
-- base/a.go --
package p
-- head/b.go --
package p
`

func TestParseReadsAHeader(t *testing.T) {
	s, err := parse("tiny", []byte(tiny))
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "tiny" || s.Verdicts[0].Class[0].String() != "broken-on-base" || len(s.Layout.Base) != 1 {
		t.Errorf("sample is %+v", s)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct{ old, with, want string }{
		"an unknown key":           {"why:", "because:", "decoding header"},
		"an unknown class":         {"broken-on-base", "broken", "decoding class"},
		"no reason to exist":       {"a reason", "", "plants and why"},
		"no fact":                  {"facts:\n  - {on: both, test: TestA, red: 1/1}\n", "", "no fact"},
		"no red":                   {"ci: {run: [go, test, -json]}\n", "", "run or recorded"},
		"a missing recording":      {"{run: [go, test, -json]}", "{recorded: ci.json}", `no file "ci.json"`},
		"a race without cause":     {"broken-on-base", "lag-revealed-race", "origin and cause"},
		"an excuse by chance":      {"[broken-on-base]", "[likely-regression], origin: head, by_chance: [broken-on-base]", "chance must not excuse"},
		"a file that nothing uses": {"-- head/b.go", "-- heads/b.go --\n-- head/b.go", "nothing uses"},
		"an unknown side":          {"on: both", "on: all", "want head, base or both"},
		"an impossible count":      {"1/1", "2/1", "no count can be"},
		"a count without runs":     {"1/1", "1", "want 3/3"},
		"a wrong pattern":          {"red: 1/1", "red: 1/1, says: '('", "missing closing"},
		"an unknown framework":     {"ci: {run", "framework: nose\nci: {run", "unknown framework"},
		"a delay of nothing":       {"red: 1/1", "red: 1/1, late: {file: a.go, ms: 5}", "late needs"},
	} {
		t.Run(name, func(t *testing.T) {
			spoilt := strings.Replace(tiny, c.old, c.with, 1)
			if spoilt == tiny {
				t.Fatalf("%q is not in the sample", c.old)
			}
			_, err := parse("tiny", []byte(spoilt))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
		})
	}
}

func TestProveContradictsAFalseFact(t *testing.T) {
	s, err := Load(samples + "/regression.txtar")
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	scratch := t.TempDir()
	for _, c := range []struct {
		fact Fact
		want string
	}{
		{Fact{On: "head", Package: "price", Test: "TestParseKeepsCents", Red: "0/1"}, "red 1/1, want 0/1"},
		{Fact{On: "base", Package: "price", Red: "1/1"}, "red 0/1, want 1/1"},
		{Fact{On: "head", Package: "price", Red: "1/1", Says: "panic"}, "does not say"},
		{Fact{On: "head", Package: "price", Test: "TestParse", Red: "0/1"}, "selects no test"},
		{Fact{On: "head", Package: "price", Red: "build"}, "compiles"},
	} {
		wrong, err := s.Prove(t.Context(), r.Repo, c.fact, scratch)
		if err != nil {
			t.Fatal(err)
		}
		if len(wrong) != 1 || !strings.Contains(wrong[0], c.want) {
			t.Errorf("%s: contradictions are %q, want one with %q", c.fact, wrong, c.want)
		}
	}
}

func TestArgsNameWhatTheToolShallNotFind(t *testing.T) {
	s := Sample{Header: Header{Flags: []string{"--lag", "off"}, Suite: []string{"go", "test"}, Find: []string{"base"}}}
	r := Repo{Report: "/x/ci.log"}
	r.Dir, r.Head, r.Base = "/x/repo", "aaa", "bbb"
	got := strings.Join(s.Args(r, "/x/out"), " ")
	want := "measure --repo /x/repo --log /x/ci.log --out /x/out --json --head aaa --lag off -- go test"
	if got != want {
		t.Errorf("arguments are\n%s\nwant\n%s", got, want)
	}
}
