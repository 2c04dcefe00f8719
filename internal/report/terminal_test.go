package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

func onTerminal(t *testing.T, r triage.Report, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Terminal(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTerminalKeepsItsWidth(t *testing.T) {
	for name, build := range fixtures {
		for _, width := range []int{40, 60, 80, 120, 200} {
			for _, line := range strings.Split(onTerminal(t, build(), Options{Width: width}), "\n") {
				// excerpts and commands are shown as they are, and a long word stays whole
				if columns(line) > width && !strings.HasPrefix(line, "    ") && len(strings.Fields(line)) > 1 && !longWord(line, width) {
					t.Errorf("%s at %d: %d columns: %q", name, width, columns(line), line)
				}
			}
		}
	}
}

func longWord(line string, width int) bool {
	for _, w := range strings.Fields(line) {
		if columns(w) > width-8 {
			return true
		}
	}
	return strings.HasPrefix(line, "Test") // a title
}

var sgr = regexp.MustCompile(`\x1b\[[0-9]+m`)

func TestColorChangesNothingButColor(t *testing.T) {
	for name, build := range fixtures {
		plain := onTerminal(t, build(), Options{Width: 90})
		color := onTerminal(t, build(), Options{Width: 90, Color: true})
		if strings.Contains(plain, "\x1b") {
			t.Errorf("%s: colours that were not asked for", name)
		}
		if got := sgr.ReplaceAllString(color, ""); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(plain), " ") {
			t.Errorf("%s: the text differs with colour", name)
		}
		for _, line := range strings.Split(color, "\n") {
			if codes := sgr.FindAllString(line, -1); len(codes) > 0 && codes[len(codes)-1] != "\x1b[0m" {
				t.Errorf("%s: a colour runs on after %q", name, line)
			}
		}
	}
}

func TestTheTableStandsInColumns(t *testing.T) {
	b := newBuilder()
	for _, n := range []string{"TestASCII", "Test/日本語の名前", "Test/e\u0301", "Test/😀"} {
		addFlake(b, goTest("p", n))
	}
	lines := strings.Split(onTerminal(t, b.done(), Options{Width: 100}), "\n")
	for _, l := range lines[3:7] {
		before, _, ok := strings.Cut(l, "○")
		if !ok || columns(before) != columns(lines[2][:strings.Index(lines[2], "head")]) {
			t.Errorf("the marks of %q do not stand under %q", l, lines[2])
		}
	}
}

func TestFitNeverCutsAWideRuneInTwo(t *testing.T) {
	for n := range 20 {
		if got := fit("日本語のとても長い名前", n); columns(got) > n {
			t.Errorf("fit to %d: %d columns: %q", n, columns(got), got)
		}
	}
}

func TestALineThatARunnerWouldObeyIsBroken(t *testing.T) {
	for _, line := range []string{"::error::x", "  ::add-mask::x", "\x1b[2m::x", "a ##[error]b", "\t::x"} {
		tm := terminal{}
		tm.line(line)
		if got := tm.b.String(); !strings.Contains(got, zeroWidth) {
			t.Errorf("%q stays %q", line, got)
		}
	}
	tm := terminal{}
	tm.line("a::b # c")
	if got := tm.b.String(); got != "a::b # c\n" {
		t.Errorf("a harmless line became %q", got)
	}
}

func TestNumbersForPeople(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{percent(0), "0 %"}, {percent(0.0001), "< 0.1 %"}, {percent(0.0161), "1.6 %"}, {percent(0.01), "1 %"}, {percent(0.137), "14 %"},
		{percent(0.999), "> 99 %"}, {percent(1), "100 %"},
		{duration(0), "0 ms"}, {duration(2.25), "2.2 ms"}, {duration(300), "300 ms"}, {duration(1500), "1.5 s"}, {duration(600_000), "10 min"},
		{pvalue(0.00001), "< 0.0001"}, {pvalue(0.17), "= 0.17"},
		{evalue(1340.2), "1340"}, {evalue(0.0635), "0.064"}, {evalue(61.7), "62"}, {evalue(2e9), "2e+09"},
		{dose(triage.LagPlan{MinMS: 50, MaxMS: 100}), "50 ms–100 ms"}, {dose(triage.LagPlan{MaxMS: 5}), "5 ms"}, {dose(triage.LagPlan{}), ""},
		{bound(triage.Bound{Wrong: 0.01}), "wrong ≤ 1 %"}, {bound(triage.Bound{RateLow: 0.1, RateHigh: 0.5}), "10 %–50 %"}, {bound(triage.Bound{}), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestEveryCauseHasASentence(t *testing.T) {
	place := triage.Site{ID: "a.go:f:call:1", Kind: triage.KindCall, File: "a.go", Line: 7, Func: "f"}
	sleep := triage.Site{Kind: triage.KindSleep, File: "b_test.go", Line: 9, Func: "TestX"}
	deadline := triage.Site{Kind: triage.KindTimeout, File: "b_test.go", Line: 9, Func: "TestX"}
	for _, c := range []struct {
		kind  triage.CauseKind
		sites []triage.Site
		want  string
	}{
		{triage.CauseRace, []triage.Site{place}, "It fails whenever a.go:7 f is 5 ms late or more"},
		{triage.CauseRace, []triage.Site{{ID: "x:y"}}, "It fails whenever x:y is 5 ms late or more"},
		{triage.CauseFixedSleep, []triage.Site{sleep, place}, "The test sleeps a fixed time at b_test.go:9 TestX instead of waiting; a step that is 5 ms late or more makes it fail"},
		{triage.CauseTimeBudget, []triage.Site{deadline, place}, "The time budget at b_test.go:9 TestX is too short once a step is 5 ms late or more"},
		{triage.CauseTimeBudget, []triage.Site{place}, "Some wait runs out when a.go:7 f is 5 ms late or more"},
		{triage.CauseLateWriter, []triage.Site{place}, "a.go:7 f writes into the test's temporary directory after the test has ended"},
		{triage.CauseLateWriter, nil, "Something wrote into the test's temporary directory after the test had ended"},
		{triage.CauseSlowMachine, nil, "It fails when the machine is slow or has fewer processors, and for no single delay"},
		{triage.CauseSlowMachine, []triage.Site{place}, "It fails when the machine is slow; a.go:7 f is where it shows"},
		{triage.CauseUnstable, nil, "It fails under delay, but no single place could be made answerable"},
		{triage.CauseUnstable, []triage.Site{place}, "Delay at a.go:7 f is part of it, but the picture is not steady"},
	} {
		got := causeSentence(triage.Cause{Kind: c.kind, DoseMS: 5, Red: 3, Runs: 4, Sites: c.sites}).String()
		if want := c.want + " (3 of 4 runs)."; got != want {
			t.Errorf("%s\ngot  %q\nwant %q", c.kind, got, want)
		}
	}
}

func TestFurtherPlacesOfACauseSayHowTheyBelong(t *testing.T) {
	call := triage.Site{Kind: triage.KindCall}
	sleep := triage.Site{Kind: triage.KindSleep}
	for _, c := range []struct {
		cause triage.Cause
		want  string
	}{
		{triage.Cause{Sites: []triage.Site{sleep, call}}, "The late step: "},
		{triage.Cause{Sites: []triage.Site{call, call}, AnyOf: true}, "The same when this one alone is late: "},
		{triage.Cause{Sites: []triage.Site{call, call}}, "Late together with "},
	} {
		if got := joint(c.cause); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestSentencesBeginAndEnd(t *testing.T) {
	for in, want := range map[string]string{
		"wait on `x`": "Wait on x.", "≤ 14 %": "≤ 14 %.", "Done.": "Done.", "`x` first": "x first.", "": "", "éa": "Éa.",
	} {
		if got := sentence(quote(in)).String(); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
