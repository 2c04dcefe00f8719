package report

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// TestVerdictsPageIsTheTables keeps docs/verdicts.md the same as the code.
func TestVerdictsPageIsTheTables(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# What a verdict means

Each red test gets one class and, where there is more to say, one or more reasons. The names in code are those of
report.json. This page is made from the tables of package report; a test compares them.

triagebot only adds information. It never skips, quarantines or merges anything, and it never turns a red check green.

## Classes

| class | origin | shown as | says |
|---|---|---|---|
`)
	for _, c := range classTexts {
		origin := ""
		if c.origin != "" {
			origin = "`" + string(c.origin) + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.class, origin, c.label, c.text)
	}
	for _, part := range []struct {
		title, text  string
		inconclusive bool
	}{
		{"Reasons why nothing can be said", "An `inconclusive` verdict always has one, and says what would settle it.", true},
		{"Reasons that refine another class", "They say more of a verdict and do not weaken it.", false},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| reason | shown as | says |\n|---|---|---|\n", part.title, part.text)
		for _, r := range reasonTexts {
			if r.inconclusive == part.inconclusive {
				fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.reason, r.label, r.text)
			}
		}
	}
	golden(t, "../../docs/verdicts.md", []byte(b.String()))
}

// TestEveryReasonOfTheVocabularyHasASentence reads the constants from the source.
func TestEveryReasonOfTheVocabularyHasASentence(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "../triage/verdict.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(f, func(node ast.Node) bool {
		s, ok := node.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(s.Names[0].Name, "Reason") {
			return true
		}
		code, err := strconv.Unquote(s.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		n++
		if ReasonText(triage.Reason(code)) == "" || ReasonLabel(triage.Reason(code)) == "" {
			t.Errorf("%s has no words", s.Names[0].Name)
		}
		return true
	})
	if n != len(reasonTexts) {
		t.Errorf("the vocabulary has %d reasons, the table %d", n, len(reasonTexts))
	}
}

func TestEveryClassHasASentence(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range names(func(i int) string { return triage.Class(i).String() }) {
		var c triage.Class
		if err := c.UnmarshalText([]byte(name)); err != nil {
			t.Fatal(err)
		}
		if s := ClassText(c, triage.OriginBase); s == "" || seen[s] {
			t.Errorf("%s: %q is empty or taken", name, s)
		} else {
			seen[s] = true
		}
	}
	if got := ClassLabel(triage.LagRevealedRace, ""); got != "lag-revealed race, origin unknown" {
		t.Errorf("race of unknown origin is called %q", got)
	}
	if got := ClassLabel(99, ""); got != ClassLabel(triage.Inconclusive, "") {
		t.Errorf("unknown class is called %q", got)
	}
}

func TestWordsHoldNoMarkup(t *testing.T) {
	for _, c := range classTexts {
		if strings.ContainsAny(c.text+c.label, "`*_|<>&@#[]") {
			t.Errorf("%s: %q needs escaping", c.class, c.text)
		}
	}
	for _, r := range reasonTexts {
		if strings.ContainsAny(r.text+r.label, "`*_|<>&@#[]") {
			t.Errorf("%s: %q needs escaping", r.reason, r.text)
		}
	}
}

func TestHeadlineCountsWhatPeopleAskFor(t *testing.T) {
	broke := triage.Verdict{Class: triage.LikelyRegression}
	flaky := triage.Verdict{Class: triage.IntroducedFlake}
	race := triage.Verdict{Class: triage.LagRevealedRace, Origin: triage.OriginHead}
	old := triage.Verdict{Class: triage.LagRevealedRace, Origin: triage.OriginBase}
	base := triage.Verdict{Class: triage.BrokenOnBase}
	open := triage.Verdict{Reasons: []triage.Reason{triage.ReasonNotReproduced}}
	leans := triage.Verdict{Reasons: []triage.Reason{triage.ReasonLeaningRegression}}
	same := triage.Verdict{Class: triage.LikelyRegression, SameAs: &triage.Target{}}
	lost := triage.Verdict{Class: triage.LagRevealedRace}
	for _, c := range []struct {
		verdicts []triage.Verdict
		want     string
	}{
		{nil, "No failing test was found."},
		{[]triage.Verdict{broke}, "This pull request broke 1 test."},
		{[]triage.Verdict{broke, broke}, "This pull request broke 2 tests."},
		{[]triage.Verdict{flaky}, "This pull request made 1 test flaky."},
		{[]triage.Verdict{broke, flaky, race}, "This pull request broke 1 test and made 2 tests flaky."},
		{[]triage.Verdict{old}, "The red test is not this pull request."},
		{[]triage.Verdict{old, base}, "Neither of the 2 red tests is this pull request."},
		{[]triage.Verdict{old, base, base}, "None of the 3 red tests is this pull request."},
		{[]triage.Verdict{old, broke}, "1 of 2 red tests is not this pull request. It broke 1 test."},
		{[]triage.Verdict{old, base, broke}, "2 of 3 red tests are not this pull request. It broke 1 test."},
		{[]triage.Verdict{open}, "Could not tell whether the red test is this pull request."},
		{[]triage.Verdict{lost}, "Could not tell whether the red test is this pull request."},
		{[]triage.Verdict{leans}, "Could not tell for sure, but the red test leans to this pull request."},
		{[]triage.Verdict{open, open}, "Could not tell for any of the 2 red tests."},
		{[]triage.Verdict{open, leans}, "Could not tell for any of the 2 red tests (1 leans to this pull request)."},
		{[]triage.Verdict{open, base}, "1 of 2 red tests is not this pull request. Could not tell for 1 of 2."},
		{[]triage.Verdict{leans, leans, broke}, "This pull request broke 1 test. Could not tell for 2 of 3 (2 lean to this pull request)."},
		{[]triage.Verdict{broke, base, open}, "1 of 3 red tests is not this pull request. It broke 1 test. Could not tell for 1 of 3."},
		{[]triage.Verdict{broke, same}, "This pull request broke 2 tests. 1 of them was not run: it has the same failure as one that was."},
		{[]triage.Verdict{broke, same, same}, "This pull request broke 3 tests. 2 of them were not run: each has the same failure as one that was."},
	} {
		if got := Headline(triage.Report{Verdicts: c.verdicts}); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
	if got, want := Headline(triage.Report{Failures: make([]triage.Failure, 2)}), "Nothing can be said yet of 2 red tests."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
