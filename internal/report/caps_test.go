package report

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestCleanShowsWhatIsNotSeen(t *testing.T) {
	for in, want := range map[string]string{
		"a\x00b\x07\x7f":           "a␀b␇␡",
		"a\x1b[31;1mb\x1b[0m":      "ab",
		"\x1b]0;title\x07x":        "x",
		"\x1b]8;;http://x\x1b\\y":  "y",
		"\x1bM\x1b(Bz":             "z",
		"\x1b":                     "␛",
		"\u009b31mc":               "c",
		"\u202egnp\u200b\u2066":    "\ufffdgnp\ufffd\ufffd",
		"a\u2028b\ufeff\U000e0041": "a\ufffdb\ufffd\ufffd",
		"\xff\xfe":                 "\ufffd",
		"a\r\nb\rc\td":             "a\nb\nc\td",
		"日本 é e\u0301 😀":           "日本 é e\u0301 😀",
	} {
		if got := clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if again := clean(clean(in)); again != clean(in) {
			t.Errorf("%q is not clean after cleaning: %q", in, again)
		}
	}
}

func TestBlocksAreBounded(t *testing.T) {
	var lines []string
	for i := range 500 {
		lines = append(lines, fmt.Sprintf("line %d %s", i, strings.Repeat("é", 1000)))
	}
	got := block(strings.Join(lines, "\n"))
	if len(got) != blockLines || !strings.HasPrefix(got[0], "line 0 ") || !strings.HasPrefix(got[blockLines-1], "line 499 ") {
		t.Errorf("%d lines, from %q to %q", len(got), got[0][:8], got[len(got)-1][:8])
	}
	left := false
	for _, l := range got {
		left = left || l == "… 461 lines left out …"
		if utf8.RuneCountInString(l) > blockWidth {
			t.Errorf("a line of %d runes", utf8.RuneCountInString(l))
		}
	}
	if !left {
		t.Error("the block does not say what it leaves out")
	}
}

// crowded has more of everything than a page shows.
func crowded() triage.Report {
	b := newBuilder()
	target := b.red(goTest("crowd", "TestCrowd"), "m", "")
	b.r.Failures[0].Message = ""
	b.both(target, plainArm, strings.Repeat("F", 300), strings.Repeat("F", 300))
	for i := range 30 {
		id := b.plan(triage.LagPlan{Seed: uint64(i + 1)})
		b.trial(target, lagArm(id), triage.Ladder, 'o')
	}
	b.r.Trials[0].Leftovers = nil
	for i := range 9 {
		b.r.Trials[0].Leftovers = append(b.r.Trials[0].Leftovers, triage.Leftover{Kind: "process", Name: fmt.Sprint("sleep ", i)})
	}
	for i := range b.r.Trials[:9] { // each line twice
		b.r.Trials[i].LagNotes = []string{fmt.Sprint("odd loop ", i/2)}
	}
	v := b.verdict(target, triage.BrokenOnBase, triage.Bound{Text: "x"})
	v.Cause = &triage.Cause{Kind: triage.CauseRace, Sites: make([]triage.Site, 9), DoseMS: 1, Note: "unsure"}
	for i := range v.Cause.Sites {
		v.Cause.Sites[i] = triage.Site{ID: fmt.Sprint("s", i), Kind: triage.KindCall, Text: "f()"}
	}
	for i := range 40 {
		b.r.Warnings = append(b.r.Warnings, fmt.Sprint("warning ", i))
	}
	for i := range 60 {
		same := b.red(goTest("crowd", fmt.Sprintf("TestSame%02d", i)), "m", "")
		b.verdict(same, triage.BrokenOnBase, triage.Bound{}).SameAs = &target
	}
	b.r.Plan.Stopped = "budget"
	return b.done()
}

func TestCrowdedPagesCountWhatTheyLeaveOut(t *testing.T) {
	r := crowded()
	if err := Validate(r); err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{"markdown": Markdown(r, Options{}), "terminal": onTerminal(t, r, Options{}), "html": rendered(t, r)}
	for _, want := range []string{"… and 5 more places.", "… and 18 more.", "… and 30 more warnings.", "sleep 4", "Unsure.", "1 in another way",
		"The failure in trial 1", "The time budget was used up"} {
		for name, page := range pages {
			if !strings.Contains(strings.Join(strings.Fields(page), " "), want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
	}
	for name, page := range pages {
		if strings.Contains(page, "sleep 5") {
			t.Errorf("%s lists more than %d leftovers", name, maxLeftovers)
		}
		if n := strings.Count(page, "The lag runtime said"); n != maxLagNotes || !strings.Contains(page, "odd loop 2") {
			t.Errorf("%s shows %d lines of the lag runtime, want the first %d", name, n, maxLagNotes)
		}
	}
	if want := "and 30 more"; !strings.Contains(pages["markdown"], want) {
		t.Errorf("markdown does not say %q of the cluster", want)
	}
	if want := "230 more are in report.json."; !strings.Contains(pages["html"], want) {
		t.Errorf("html does not say %q of the trials", want)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("cable pulled") }

func TestReadAndWriteErrorsOfPagesAreReturned(t *testing.T) {
	if _, err := Decode(brokenReader{}); err == nil || !strings.Contains(err.Error(), "cable pulled") {
		t.Errorf("Decode: %v", err)
	}
	if err := HTML(brokenWriter{}, regression()); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("HTML: %v", err)
	}
}

func TestListsAndKeysAreCapped(t *testing.T) {
	r := regression()
	r.Warnings = make([]string, maxList+1)
	if err := Validate(r); err == nil || !strings.Contains(err.Error(), "warnings: 20001 elements") {
		t.Errorf("a long list: %v", err)
	}
	r = regression()
	r.Plan.Sites = map[string]triage.Site{strings.Repeat("k", maxName+1): {}}
	if err := Validate(r); err == nil || !strings.Contains(err.Error(), "the key is longer") {
		t.Errorf("a long key: %v", err)
	}
}
