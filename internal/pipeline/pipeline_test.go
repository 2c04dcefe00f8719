package pipeline_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/triagebot/triagebot/internal/pipeline"
	"github.com/triagebot/triagebot/internal/triage"
)

func TestPlantedTruthsAreFound(t *testing.T) {
	for name, tc := range map[string]struct {
		planted planted
		class   triage.Class
		origin  triage.Origin
		reason  triage.Reason
	}{
		"regression":      {regression, triage.LikelyRegression, triage.OriginHead, ""},
		"broken on base":  {broken, triage.BrokenOnBase, triage.OriginBase, ""},
		"race on base":    {raceOnBase, triage.LagRevealedRace, triage.OriginBase, ""},
		"race by head":    {raceByHead, triage.LagRevealedRace, triage.OriginHead, ""},
		"not reproduced":  {quiet, triage.Inconclusive, "", triage.ReasonNotReproduced},
		"order dependent": {ordered, triage.LikelyRegression, triage.OriginHead, triage.ReasonOrder},
		"new test":        {absent, triage.LikelyRegression, triage.OriginHead, triage.ReasonNewTest},
	} {
		t.Run(name, func(t *testing.T) {
			in, w := check(1, tc.planted)
			r := triageOf(t, in, w)
			v := r.Verdicts[0]
			if v.Class != tc.class || v.Origin != tc.origin || tc.reason != "" && !slices.Contains(v.Reasons, tc.reason) {
				t.Errorf("verdict %s, origin %q, reasons %v", v.Class, v.Origin, v.Reasons)
			}
			if r.Plan.Stopped != "" || r.Cost.Trials != len(r.Trials) || len(r.Trials) != len(w.asked) {
				t.Errorf("stopped %q, %d trials of %d, cost %+v", r.Plan.Stopped, len(r.Trials), len(w.asked), r.Cost)
			}
			if v.Class != triage.Inconclusive && !strings.HasPrefix(v.Reproduce, "triagebot replay ") {
				t.Errorf("the reproduction is %q", v.Reproduce)
			}
			encoded(t, r)
		})
	}
}

func TestPlainRoundsOfAllTargetsComeFirst(t *testing.T) {
	in, w := check(1, raceOnBase, regression, quiet, raceByHead)
	triageOf(t, in, w)
	plain := map[triage.Target]int{}
	lagged := false
	for i, req := range w.asked {
		if !req.Arm.Plain() || req.Arm.Scope != triage.Alone {
			lagged = true
			continue
		}
		if lagged {
			continue
		}
		plain[req.Target]++
		for j := range in.Report.Failures {
			if ahead := plain[req.Target] - plain[target(j)]; ahead > 2 && plain[target(j)] < 2*in.Policy.MinRounds {
				t.Fatalf("trial %d: %s is %d trials ahead of %s", i+1, req.Target, ahead, target(j))
			}
		}
	}
	for j := range in.Report.Failures {
		if plain[target(j)] < 2*in.Policy.MinRounds {
			t.Errorf("%s had %d plain trials before the first lag", target(j), plain[target(j)])
		}
	}
	if !lagged {
		t.Error("no lag was tried")
	}
}

func TestWithoutExplainThereIsNoLag(t *testing.T) {
	in, w := check(1, raceOnBase, quiet)
	in.Explain = nil
	triageOf(t, in, w)
	for _, req := range w.asked {
		if req.Arm.Lag != "" {
			t.Fatalf("asked for %+v", req)
		}
	}
}

func TestACommandIsRunAsItIs(t *testing.T) {
	in, w := check(1)
	command := triage.Target{Suite: "go", Framework: "gotest", Package: "example.com/m"}
	w.tests[command] = quiet
	in.Report.Failures = []triage.Failure{{Target: command, Outcome: triage.Error}}
	triageOf(t, in, w)
	for _, req := range w.asked {
		if req.Arm.Lag != "" || req.Arm.Scope != triage.Alone {
			t.Fatalf("asked for %+v", req)
		}
	}
}

func TestAboveEightRedsOfOneSignatureShareAVerdict(t *testing.T) {
	tests := make([]planted, 12)
	for i := range tests {
		tests[i] = regression
	}
	in, w := check(1, tests...)
	in.Report.Failures[5].Signature = otherSignature
	r := triageOf(t, in, w)
	measured := map[triage.Target]bool{}
	for _, req := range w.asked {
		measured[req.Target] = true
	}
	if want := map[triage.Target]bool{target(0): true, target(1): true, target(5): true}; !cmp.Equal(want, measured) {
		t.Errorf("measured %v", measured)
	}
	for i, v := range r.Verdicts {
		if v.Target != target(i) {
			t.Errorf("verdict %d is of %s", i, v.Target)
		}
		if shared := v.SameAs != nil; shared == measured[v.Target] {
			t.Errorf("%s: measured %v, shared %v", v.Target, measured[v.Target], shared)
		}
		if v.SameAs != nil && (v.Class != triage.LikelyRegression || *v.SameAs != target(0)) {
			t.Errorf("%s: %s, same as %s", v.Target, v.Class, v.SameAs)
		}
	}
	if len(r.Verdicts) != 12 || len(r.Evidence) != 3 {
		t.Errorf("%d verdicts, evidence of %d", len(r.Verdicts), len(r.Evidence))
	}
	encoded(t, r)
}

// TestARejectedTargetEasesTheOthers has two regressions. The second loses its
// first round, so it has four when the first has the five that a family of two
// needs; Holm's method then asks it for no more than four.
func TestARejectedTargetEasesTheOthers(t *testing.T) {
	late := regression
	late.odd = map[int]triage.Outcome{0: triage.Invalid, 1: triage.Invalid}
	in, w := check(1, regression, late)
	in.Policy.CheapMS = 0
	r := triageOf(t, in, w)
	for i, want := range []int{5, 4} {
		p := in.Policy
		e := r.Evidence[i]
		head := e.Tally(triage.Arm{Side: triage.Head})
		if head.N() != want || r.Verdicts[i].Class != triage.LikelyRegression {
			t.Errorf("%s: %d counted runs of head, want %d; %s (threshold for one of two %v)", e.Target, head.N(), want, r.Verdicts[i].Class, p.Threshold(2, 0))
		}
	}
}

func TestASearchThatIsCutShortKeepsItsCause(t *testing.T) {
	in, w := check(1, raceOnBase)
	first := slices.IndexFunc(triageOf(t, in, w).Trials, func(tr triage.Trial) bool { return tr.Purpose == triage.Explain })
	if first < 0 {
		t.Fatal("no cause was looked for")
	}
	in, w = check(1, raceOnBase)
	w.cut, w.at = pipeline.ErrBudget, first+1
	r := triageOf(t, in, w)
	if r.Plan.Stopped != "budget" || len(r.Trials) != first+1 {
		t.Fatalf("stopped %q after %d trials", r.Plan.Stopped, len(r.Trials))
	}
	if c := r.Verdicts[0].Cause; c != nil && c.Note != "the search was cut short" {
		t.Errorf("cause %+v", c)
	}
	if got := encoded(t, replayed(t, in, r)); got != encoded(t, r) {
		t.Errorf("replayed to something else:\n%s", cmp.Diff(encoded(t, r), got))
	}
}

func TestARecordThatCannotBeKeptEndsTheMeasuring(t *testing.T) {
	in, w := check(1, regression)
	var kept []triage.Trial
	in.Record = func(tr triage.Trial) error {
		if len(kept) == 5 {
			return errDisk
		}
		kept = append(kept, tr)
		return nil
	}
	r, err := pipeline.Triage(t.Context(), in, w)
	if !errors.Is(err, errDisk) || err.Error() != "measuring: no space left on device" {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff(kept, r.Trials); diff != "" || r.Plan.Stopped != "interrupted" || len(r.Verdicts) != 1 {
		t.Errorf("stopped %q, verdicts %v, trials (-kept +got):\n%s", r.Plan.Stopped, r.Verdicts, diff)
	}
	if got := encoded(t, replayed(t, in, r)); got != encoded(t, r) {
		t.Errorf("replayed to something else:\n%s", cmp.Diff(encoded(t, r), got))
	}
}

func TestARunnersOwnErrorKeepsTheReport(t *testing.T) {
	in, w := check(1, regression)
	w.cut, w.at = errDisk, 3
	r, err := pipeline.Triage(t.Context(), in, w)
	if !errors.Is(err, errDisk) || len(r.Trials) != 3 || r.Plan.Stopped != "interrupted" {
		t.Errorf("error %v, stopped %q, %d trials", err, r.Plan.Stopped, len(r.Trials))
	}
	encoded(t, r)
}

func TestABaseThatDoesNotBuildIsLearntFromItsTrials(t *testing.T) {
	unbuilt := triage.Failure{Outcome: triage.Error, Signature: triage.Signature{Phase: triage.PhaseBuild}}
	in, w := check(1, regression)
	run := runnerFunc(func(req triage.Request) (triage.Trial, error) {
		if req.Arm.Side == triage.Base {
			return triage.Trial{Outcome: triage.Invalid, Note: "m does not build on base", Failure: &unbuilt}, nil
		}
		return w.Run(t.Context(), req, nil)
	})
	r := triageOf(t, in, run)
	v := r.Verdicts[0]
	if v.Class != triage.Inconclusive || !slices.Contains(v.Reasons, triage.ReasonBaseUnbuildable) || len(r.Trials) > 8 {
		t.Errorf("%s %v after %d trials", v.Class, v.Reasons, len(r.Trials))
	}
}

func TestProgressIsTold(t *testing.T) {
	in, w := check(1, regression, raceOnBase)
	o := &observer{}
	in.Observer = o
	r := triageOf(t, in, w)
	if diff := cmp.Diff(r.Trials, o.finished); diff != "" {
		t.Errorf("told of other trials than recorded:\n%s", diff)
	}
	for _, want := range []string{"head against base", "lag: 10 ms", "the same lag on head and base", "naming the cause"} {
		if !slices.Contains(o.doing, want) {
			t.Errorf("never told of %q", want)
		}
	}
}

type observer struct {
	doing    []string
	finished []triage.Trial
}

func (o *observer) Measuring(_ triage.Target, _, _ int, doing string) {
	o.doing = append(o.doing, doing)
}

func (o *observer) Finished(t triage.Trial) { o.finished = append(o.finished, t) }
