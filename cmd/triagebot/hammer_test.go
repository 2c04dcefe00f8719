package main

import (
	"bytes"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
)

var hammered = triage.Target{Suite: "go", Framework: "gotest", Package: "example.com/app/hub", Test: "TestClose"}

// blows makes trials of a word: "." passes, a letter fails in its own way, "-" has
// no result. A capital leaves told.json behind, and so does ",", which passes.
func blows(word string) []triage.Trial {
	var out []triage.Trial
	for i, c := range word {
		t := triage.Trial{Seq: i + 1, Request: triage.Request{Target: hammered, Seed: int64(100 + i)}, Outcome: triage.Pass, DurationMS: 10}
		if c == ',' || c >= 'A' && c <= 'Z' {
			t.Leftovers = []triage.Leftover{{Kind: "file", Name: "TestClose1234/001/told.json"}, {Kind: "file", Name: "TestClose1234/002/told.json"}}
		}
		switch {
		case c == '-':
			t.Outcome, t.Note = triage.Absent, "nothing"
		case c != '.' && c != ',':
			message := "way " + strings.ToLower(string(c)) + "\nmore"
			t.Outcome = triage.Fail
			t.Failure = &triage.Failure{Target: hammered, Message: message, Signature: triage.Signature{Message: message}, Excerpt: "--- FAIL"}
		}
		out = append(out, t)
	}
	return out
}

func tallied(word string) hammerRecord {
	h := newHammerTally()
	for _, t := range blows(word) {
		h.add(t)
	}
	return h.record(hammerRecord{Target: hammered, Plan: hammerPlan{Jobs: 2}, WallMS: 1000})
}

func TestTheHeadlineOfHammering(t *testing.T) {
	for name, tc := range map[string]struct{ word, want string }{
		"nothing red":            {strings.Repeat(".", 300), "0 of 300 red (≤ 0.99 % at 95 %)."},
		"one red":                {strings.Repeat(".", 9) + "a", "1 of 10 red (0.25 % to 45 % at 95 %): way a"},
		"all the same":           {"a.a.", "2 of 4 red (6.8 % to 93 % at 95 %), all the same: way a"},
		"with a file left":       {"A..A", "2 of 4 red (6.8 % to 93 % at 95 %), all the same: way a; file told.json is left behind then, and never else"},
		"green runs leave it":    {"A,.A", "2 of 4 red (6.8 % to 93 % at 95 %), all the same: way a"},
		"not all red leave it":   {"A..a", "2 of 4 red (6.8 % to 93 % at 95 %), all the same: way a"},
		"in several ways":        {"ab..", "2 of 4 red (6.8 % to 93 % at 95 %), in 2 different ways."},
		"no result":              {"--", "No run counts."},
		"no result is not a run": {"-.", "0 of 1 red (≤ 95 % at 95 %)."},
	} {
		if got := hammerHeadline(tallied(tc.word)); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestFailuresAreGroupedWithTheirFirstSeedAndLeftovers(t *testing.T) {
	r := tallied(".bA,aA-a")
	if r.Runs != 7 || r.Red != 5 || r.Odd != 1 || r.TrialMS != 80 {
		t.Errorf("%d of %d red, %d odd, %v ms", r.Red, r.Runs, r.Odd, r.TrialMS)
	}
	want := []hammerGroup{
		{Signature: triage.Signature{Message: "way a\nmore"}, Count: 4, FirstRun: 3, FirstSeed: 102, Message: "way a\nmore", Excerpt: "--- FAIL",
			Left: []hammerLeft{{triage.Leftover{Kind: "file", Name: "told.json"}, 2, 1}}},
		{Signature: triage.Signature{Message: "way b\nmore"}, Count: 1, FirstRun: 2, FirstSeed: 101, Message: "way b\nmore", Excerpt: "--- FAIL"},
	}
	if diff := cmp.Diff(want, r.Groups); diff != "" {
		t.Error(diff)
	}
	var b bytes.Buffer
	if err := showHammer(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"5 of 7 red", "1 runs more ended without a result", "4 × way a", "first in run 3, seed 102", "left behind: file told.json, in 2 of these and in 1 of 2 green runs", "2 at a time, load 0", "no verdict counts them"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
}

func TestAHostileMessageSteersNoTerminal(t *testing.T) {
	h := newHammerTally()
	x := blows("a")[0]
	x.Failure.Message, x.Failure.Excerpt = "\x1b[2J::error::x", "::stop-commands::\n##[group]"
	h.add(x)
	var b bytes.Buffer
	if err := showHammer(&b, h.record(hammerRecord{Target: hammered})); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); strings.ContainsAny(s, "\x1b") || strings.Contains(s, "::") || strings.Contains(s, "##[") {
		t.Errorf("%q", s)
	}
}

// cmdSeeds: "seeds DIR N" wants N runs in the journal, each with a seed of its own.
func cmdSeeds(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	j, trials, err := rerun.OpenJournal(filepath.Join(ts.MkAbs(args[0]), journalFile))
	ts.Check(err)
	ts.Check(j.Close())
	seeds := map[int64]bool{}
	for _, t := range trials {
		seeds[t.Seed] = true
	}
	if len(trials) != want || len(seeds) != want {
		ts.Fatalf("%d runs with %d seeds, want %d", len(trials), len(seeds), want)
	}
}

func TestIDsOfPytestStayWhole(t *testing.T) {
	if got := inLine("tests/test_a.py::test_b\x1b[2J ##[error]"); got != "tests/test_a.py::test_b [2J # #[error]" {
		t.Errorf("%q", got)
	}
	if got := harmless("::error::x"); got != ": :error: :x" {
		t.Errorf("%q", got)
	}
}
