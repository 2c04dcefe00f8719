package classify

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestEvidenceShowsEachArmAndEachComparison(t *testing.T) {
	c := quietly().measured(head, "so").measured(base, "a").tried(lagged("r1"), "FFF").with(explained).
		measured(lagged("r1"), "FF").measured(laggedBase("r1"), "F.")
	e, _ := Judge(DefaultPolicy(), *c)
	want := []triage.Tally{
		{Arm: head, Pass: 3, Other: 1, Skip: 1, Sequence: "...-o"},
		{Arm: base, Pass: 3, Absent: 1, Sequence: "...-"},
		{Arm: lagged("r1"), Same: 2, Sequence: "FF"},
		{Arm: laggedBase("r1"), Pass: 1, Same: 1, Sequence: "F."},
	}
	if d := cmp.Diff(want, e.Tallies); d != "" {
		t.Errorf("tallies (-want +got):\n%s", d)
	}
	if e.Reference != red || e.Target != simTarget {
		t.Errorf("reference %+v of %v", e.Reference, e.Target)
	}
	if len(e.Comparisons) != 2 || e.Comparisons[1].Head != lagged("r1") || e.Comparisons[1].Base != laggedBase("r1") {
		t.Errorf("comparisons are %+v", e.Comparisons)
	}
}

func TestComparisonCountsTheReferenceOnly(t *testing.T) {
	e, _ := Judge(DefaultPolicy(), *scripted().plain("FFFF", "ooo."))
	got := e.Comparisons[0]
	if got.Difference != 1 || math.Abs(got.E-101.75) > 0.1 || math.Abs(got.P-1/got.E) > 1e-12 {
		t.Errorf("comparison is %+v: base's other failures must not count", got)
	}
	if want := 2.0 / 70; math.Abs(got.FisherP-want) > 1e-9 {
		t.Errorf("Fisher's p is %g, want %g", got.FisherP, want)
	}
}

func TestOneSideAloneIsNoComparison(t *testing.T) {
	e, _ := Judge(DefaultPolicy(), *scripted().plain("FF", "i"))
	if len(e.Comparisons) != 0 {
		t.Errorf("comparisons are %+v", e.Comparisons)
	}
}

func TestOneForeignRedDoesNotReplaceTheSignatureOfCI(t *testing.T) {
	for script, want := range map[string]triage.Signature{"p": red, "pp": red, "ppp": thirdRed, "ppp.": red, "pppF": red} {
		if e, _ := Judge(DefaultPolicy(), *scripted().plain(script, "....")); e.Reference != want {
			t.Errorf("after %q the reference is %q, want %q", script, e.Reference.Message, want.Message)
		}
	}
}

func TestWarnings(t *testing.T) {
	for name, c := range map[string]struct {
		c    *Case
		want string
	}{
		"trials that do not count":  {scripted().plain("Fi", "."), "1 trials on head do not count"},
		"not the failure of CI":     {scripted().plain("ppp", "..."), "not the way CI showed"},
		"CI left no message":        {scripted().with(noMessage).plain("F", "."), "stands for it"},
		"no message anywhere":       {scripted().with(noMessage).plain(".", "."), "no failure with a message"},
		"foreign failure under lag": {quietly().tried(lagged("r1"), "o"), "in another way"},
		"lag does not run":          {quietly().tried(lagged("r1"), "ii").tried(lagged("r2"), "ii"), "lag could not be used"},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := Judge(DefaultPolicy(), *c.c)
			if !strings.Contains(strings.Join(e.Warnings, "\n"), c.want) {
				t.Errorf("warnings are %q, want %q", e.Warnings, c.want)
			}
		})
	}
	if e, _ := Judge(DefaultPolicy(), *scripted().plain("FFFF", "....")); len(e.Warnings) != 0 {
		t.Errorf("a clean case has warnings: %q", e.Warnings)
	}
}

func TestAdjustIsHolmOverTheTests(t *testing.T) {
	evidence := func(p ...float64) triage.Evidence {
		var e triage.Evidence
		for _, p := range p {
			e.Comparisons = append(e.Comparisons, triage.Comparison{P: p, AdjustedP: p, E: 1 / p})
		}
		return e
	}
	in := []triage.Evidence{evidence(0.01), evidence(0.04), evidence(0.9, 0.005), {}}
	out := Adjust(in)
	for i, want := range [][]float64{{0.03}, {0.08}, {1, 0.02}, nil} {
		for j, w := range want {
			if got := out[i].Comparisons[j].AdjustedP; math.Abs(got-w) > 1e-12 {
				t.Errorf("test %d, comparison %d: adjusted p is %g, want %g", i, j, got, w)
			}
		}
	}
	if in[0].Comparisons[0].AdjustedP != 0.01 {
		t.Error("the input was changed")
	}
}

func TestRejectsAtTheThresholdOfTheRulesOwn(t *testing.T) {
	e, _ := Judge(DefaultPolicy(), *scripted().plain("FFFF", "...."))
	p := DefaultPolicy()
	if !p.Rejects(e, 1, 0) || p.Rejects(e, 2, 0) || !p.Rejects(e, 2, 1) {
		t.Errorf("e = %g is rejected wrongly in a family of 1 or 2", e.Comparisons[0].E)
	}
	if p.Rejects(triage.Evidence{}, 1, 0) {
		t.Error("no evidence rejects")
	}
}

func TestNumbersAsPeopleReadThem(t *testing.T) {
	for rate, want := range map[float64]string{0: "0 %", 0.0004: "0.1 %", 0.005: "0.5 %", 0.012: "1.2 %", 0.139: "14 %", 1: "100 %"} {
		if got := percent(rate); got != want {
			t.Errorf("percent(%g) = %q, want %q", rate, got, want)
		}
	}
	if got := millis(2.04); got != "2 ms" {
		t.Errorf("millis = %q", got)
	}
	if StepConfirm.String() != "confirm" || StepKind(99).String() != "unknown" {
		t.Error("step names are wrong")
	}
}
