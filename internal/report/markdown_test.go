package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestEveryPageIsSafe(t *testing.T) {
	for name, build := range fixtures {
		if bad := unsafe(Markdown(build(), Options{Marker: "k"}), "<!-- triagebot:k -->"); bad != "" {
			t.Errorf("%s: %s", name, bad)
		}
	}
}

func TestThePageCheckerSeesWhatIsUnsafe(t *testing.T) {
	for _, page := range []string{
		"hello @octocat", "see #12", "see GH-12", "http://x", "www.x.org", "<b>x</b>", "![x](y)", "[x](y)", "<!-- x -->", "\x1b[1m",
		"\u202e", "\xff", "```\nopen", "<details>", "`open", "| a | b", "4f1c9a7b2d3e", "```\n/retest\n```", "```\n@bot merge\n```",
		"````\n```\n@x\n", "` ``@x`` `@x", "<summary>",
	} {
		if unsafe(page, "") == "" {
			t.Errorf("%q passes as safe", page)
		}
	}
	for _, page := range []string{"plain", "`@octocat`", "``a ` @b``", "```\n@ x <b>\n```", "\\`", "a &lt;b&gt; &#64;\u200bx", "| a | b | c | d |"} {
		if bad := unsafe(page, ""); bad != "" {
			t.Errorf("%q: %s", page, bad)
		}
	}
}

func TestAPageKeepsEveryLimit(t *testing.T) {
	for name, build := range fixtures {
		r := build()
		full := len(Markdown(r, Options{Marker: "k"}))
		for limit := 1; limit < full+500; limit += 1 + limit/20 {
			page := Markdown(r, Options{Limit: limit, Marker: "k"})
			if len(page) > limit {
				t.Fatalf("%s: limit %d, page %d", name, limit, len(page))
			}
			if bad := unsafe(page, "<!-- triagebot:k -->"); bad != "" {
				t.Fatalf("%s: limit %d: %s\n%s", name, limit, bad, page)
			}
		}
		if got := len(Markdown(r, Options{Limit: full, Marker: "k"})); got != full {
			t.Errorf("%s: with a limit of its own %d bytes the page has %d", name, full, got)
		}
	}
}

func TestALongPageSaysWhatItLeavesOut(t *testing.T) {
	b := newBuilder()
	for i := range 400 {
		target := b.red(goTest("many", fmt.Sprintf("TestMany%03d", i)), "got 1", strings.Repeat("line\n", 60))
		b.both(target, plainArm, "FFF", "FFF")
		b.verdict(target, triage.BrokenOnBase, wrong(0.02))
	}
	page := Markdown(b.done(), Options{})
	if len(page) > CommentLimit {
		t.Fatalf("%d bytes", len(page))
	}
	for _, want := range []string{"The arguments for", "are left out here; report.json has them.", "None of the 400 red tests"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	small := Markdown(b.r, Options{Limit: 4000})
	if !strings.Contains(small, "more tests |") {
		t.Errorf("the short table does not count the rest:\n%s", small)
	}
}

func TestAClusterIsOneRow(t *testing.T) {
	page := Markdown(cluster(), Options{})
	if !strings.Contains(page, "… and 24 with the same signature") {
		t.Errorf("the cluster is not counted:\n%s", page)
	}
	if rows := strings.Count(page, "\n| "); rows != 3 { // title, cluster, flake
		t.Errorf("%d rows, want 3", rows)
	}
}

func TestAClusterThatDisagreesIsNotCountedUnderAVerdict(t *testing.T) {
	r := cluster()
	for i := range r.Verdicts {
		if r.Verdicts[i].SameAs != nil && i%2 == 0 {
			r.Verdicts[i].Class, r.Verdicts[i].Origin = triage.Inconclusive, ""
			r.Verdicts[i].Reasons = []triage.Reason{triage.ReasonSameSignature, triage.ReasonUnstable}
		}
	}
	page := Markdown(r, Options{})
	for _, want := range []string{"<br>… and 12 with the same signature | **likely", "<br>… and 11 with the same signature | could not tell: no steady picture, same signature |"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q:\n%s", want, page[:2000])
		}
	}
}

func TestALongBoundStandsInTheArgumentOnly(t *testing.T) {
	r := regression()
	r.Verdicts[0].Bound.Text = "head 3/5, base 0/5: " + strings.Repeat("x", boundWidth)
	page := Markdown(r, Options{})
	if table, rest, _ := strings.Cut(page, "<details>"); strings.Contains(table, "head 3/5") || !strings.Contains(rest, "Head 3/5") {
		t.Errorf("the bound is in the wrong place:\n%s", page)
	}
}

func TestWhatNeedsAPersonComesFirst(t *testing.T) {
	page := Markdown(threeReds(), Options{})
	first, last := strings.Index(page, "TestParse/empty"), strings.Index(page, "TestDrain")
	if first < 0 || last < first {
		t.Errorf("the regression is at %d, the old flake at %d", first, last)
	}
}

func TestProseIsBrokenUpWhereItWouldBeLive(t *testing.T) {
	for in, want := range map[string]string{
		"@octocat":     "@~octocat",
		"a #12":        "a \\#~12",
		"_GH-12":       "\\_GH-~12",
		"_www.x.org":   "\\_www~.x.org",
		"http://x":     "http:~//x",
		"<b>&amp;":     "&lt;b&gt;&amp;amp;",
		"0123456789ab": "012345~6789ab",
		"[x](y) ![z]":  "\\[x\\](y) \\!\\[z\\]",
		"a\nb":         "a b",
	} {
		if got := strings.ReplaceAll(mdText(in), zeroWidth, "~"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestMarkerIsWrittenOnlyFromOptions(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"acme/loop:go", "<!-- triagebot:acme/loop:go -->\n"},
		{"a-->b @x", "<!-- triagebot:abx -->\n"},
		{"", ""},
	} {
		page := Markdown(hostile(), Options{Marker: c.in})
		if !strings.HasPrefix(page, c.want+"**") || strings.Count(page, "<!--") != strings.Count(c.want, "<!--") {
			t.Errorf("marker %q: page begins %q", c.in, page[:60])
		}
	}
}

func TestForgeableReportsAreAdvice(t *testing.T) {
	const advice = "take it as advice"
	if page := Markdown(regression(), Options{Forgeable: true}); !strings.Contains(page, advice) {
		t.Error("a page from a fork does not say so")
	}
	if page := Markdown(regression(), Options{}); strings.Contains(page, advice) {
		t.Error("a page of our own code says that it is from a fork")
	}
}

func TestTestsOfOneNameAreToldApart(t *testing.T) {
	b := newBuilder()
	for _, pkg := range []string{"a/store", "b/store", "c/other"} {
		addFlake(b, goTest(pkg, "TestSame"))
	}
	titles := titlesOf(b.r)
	want := map[string]string{"a/store": "example.com/loop/a/store TestSame", "b/store": "example.com/loop/b/store TestSame", "c/other": "other TestSame"}
	for pkg, title := range want {
		if got := titles[goTest(pkg, "TestSame")]; got != title {
			t.Errorf("%s: title %q, want %q", pkg, got, title)
		}
	}
}

func TestACommandIsOneLineOrNotShown(t *testing.T) {
	if got := command("a\nrm -rf /\x1b[1m"); got != "a⏎rm -rf /" {
		t.Errorf("got %q", got)
	}
	if got := command(strings.Repeat("x", commandWidth+1)); !strings.HasPrefix(got, "# ") {
		t.Errorf("a long command is cut or run: %q", got[:20])
	}
}

// spread puts one hostile text into every place of a report that is shown.
func spread(s, more string) triage.Report {
	b := newBuilder()
	target := triage.Target{Suite: s, Framework: s, Package: more, Test: s}
	b.red(target, s, more+"\n"+s)
	site := triage.Site{ID: s, Kind: triage.KindCall, File: s, Line: 3, Func: more, Text: s}
	plan := b.plan(triage.LagPlan{Name: s, MinMS: 1, MaxMS: 2})
	b.both(target, plainArm, "F.o-", "..")
	b.both(target, packageArm, "F", ".")
	b.both(target, triage.Arm{Detector: more}, "F", ".")
	b.both(target, lagArm(plan), "FF", "FF")
	b.trial(target, lagArm(plan), triage.Ladder, 'F').Leftovers = []triage.Leftover{{Kind: "file", Name: s}}
	b.r.Trials[len(b.r.Trials)-1].LagNotes = []string{s, more}
	b.evidence(target).Warnings = []string{s, more, s + more}
	v := b.verdict(target, triage.LagRevealedRace, triage.Bound{Text: s}, triage.ReasonDataRace)
	v.Settle, v.Reproduce = more, s
	v.Cause = &triage.Cause{Kind: triage.CauseRace, Sites: []triage.Site{site, site}, Attempt: &site, Advice: s + more, Note: more, DoseMS: 3, Plan: plan}
	other := triage.Target{Suite: "x", Test: more + s}
	w := b.verdict(other, triage.Inconclusive, triage.Bound{Text: more}, triage.ReasonNoLog)
	w.SameAs = &target
	b.r.Warnings = []string{more, s}
	b.r.Tool = triage.Tool{Name: s, Version: more, Platform: s}
	b.r.Check.Head = triage.Rev{SHA: s, Ref: more, Unbuildable: s}
	b.r.Plan.Lag = s
	return b.done()
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"a", "`", "``` x", "@octocat", "fixes #1", "<!-- triagebot:k -->", "</details>", "|", "\\", "\\|", "`a`|`b`",
		"\x1b[31m", "\u202e", "\xff", "http://x.org", "www.x.org", "- [ ] x", "1. x", "![a](b)", "a\nb", "&#64;x", "<code>", "\\`@x`", "*`a*`", "GH-1", "_www.x", "_GH-1", "\x00", "🧪", "0123456789abcdef"} {
		f.Add(s, "plain", uint16(0))
		f.Add("plain", s, uint16(3000))
		f.Add(s, s, uint16(900))
	}
	f.Fuzz(func(t *testing.T, s, more string, limit uint16) {
		o := Options{Limit: int(limit), Marker: "k", ReportPath: more}
		page := Markdown(spread(s, more), o)
		if most := max(int(limit), 0); most > 0 && len(page) > most || len(page) > CommentLimit {
			t.Fatalf("limit %d, page %d", limit, len(page))
		}
		if bad := unsafe(page, "<!-- triagebot:k -->"); bad != "" {
			t.Fatalf("%s\n%s", bad, page)
		}
	})
}

func FuzzTerminal(f *testing.F) {
	for _, s := range []string{"a", "\x1b[31m", "\x9b1m", "\u009b1m", "\x1b]0;t\x07", "::error::x", "##[error]x", "日本語", "\u202e", "\xff", "e\u0301", "a b"} {
		f.Add(s, s, 80)
		f.Add("x", s, 10)
	}
	f.Fuzz(func(t *testing.T, s, more string, width int) {
		var b bytes.Buffer
		if err := Terminal(&b, spread(s, more), Options{Width: width % 500, ReportPath: s}); err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(b.Bytes()) {
			t.Fatal("not UTF-8")
		}
		for _, line := range strings.Split(b.String(), "\n") {
			for _, r := range line {
				if unicode.IsControl(r) {
					t.Fatalf("control character %U in %q", r, line)
				}
			}
			if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
				t.Fatalf("an Actions runner would obey %q", line)
			}
		}
	})
}
