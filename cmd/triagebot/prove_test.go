package main

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/pipeline"
	"github.com/triagebot/triagebot/internal/triage"
)

// fixed is a planted world: how often a test is red on each tree, plainly and
// under the second rung of the ladder.
type fixed struct {
	before, after, lagBefore, lagAfter float64
	// gone is set when the plan delays nothing after the fix.
	gone, absentBefore bool
	// mixed reds of before have one of two signatures.
	mixed bool
	err   error
	rand  *rand.Rand
	asked []triage.Request
}

var proofLadder = []triage.LagPlan{
	{Version: 1, Name: "doubles", Kinds: []triage.Kind{triage.KindReturn}, MinMS: 400, MaxMS: 400},
	{Version: 1, Name: "worker-10", Kinds: []triage.Kind{triage.KindCall}, MinMS: 10, MaxMS: 10},
}

func (w *fixed) Site(string) (triage.Site, bool) { return triage.Site{}, false }

func (w *fixed) Run(_ context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, error) {
	if w.err != nil {
		return triage.Trial{}, w.err
	}
	w.asked = append(w.asked, req)
	t := triage.Trial{Request: req, Outcome: triage.Pass, DecisionCount: 3}
	rate := w.before
	switch lagged := plan != nil && plan.Name != "doubles"; {
	case req.Arm.Side == triage.Head && lagged:
		rate = w.lagAfter
		if w.gone {
			t.DecisionCount = 0
		}
	case req.Arm.Side == triage.Head:
		rate = w.after
	case lagged:
		rate = w.lagBefore
	}
	if w.absentBefore && req.Arm.Side == triage.Base {
		t.Outcome = triage.Absent
		return t, nil
	}
	if w.rand.Float64() < rate {
		message := "sent 0"
		if w.mixed && w.rand.IntN(2) == 0 {
			message = "something else"
		}
		t.Outcome = triage.Fail
		t.Failure = &triage.Failure{Message: message, Signature: triage.Signature{Phase: triage.PhaseTest, Message: message}}
	}
	return t, nil
}

func TestProofs(t *testing.T) {
	for name, tc := range map[string]struct {
		w      fixed
		proven bool
		why    string
	}{
		"mended, and shown by lag":             {fixed{lagBefore: 1}, true, ""},
		"mended, and flaky without lag":        {fixed{before: 0.3, lagBefore: 1}, true, ""},
		"mended, and always red before":        {fixed{before: 1}, true, ""},
		"often red before, no lag shows it":    {fixed{before: 0.4}, true, ""},
		"never red before":                     {fixed{}, false, "not red before the fix: 0 of 10 plainly, and under none of 2 lag plans"},
		"still red under lag":                  {fixed{lagBefore: 1, lagAfter: 1}, false, "still red after the fix, under the lag"},
		"sometimes red under lag still":        {fixed{lagBefore: 1, lagAfter: 0.5}, false, "still red after the fix, under the lag"},
		"still red plainly":                    {fixed{before: 1, after: 0.5}, false, "still red after the fix: in run"},
		"the delayed code is gone":             {fixed{lagBefore: 1, gone: true}, false, "the code that it delayed is gone"},
		"gone, but it was red plainly":         {fixed{before: 0.6, lagBefore: 1, gone: true}, true, ""},
		"new test":                             {fixed{absentBefore: true}, false, "is it new?"},
		"red in another way each time is none": {fixed{lagBefore: 1, mixed: true}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := tc.w
			w.rand = rand.New(rand.NewPCG(11, 12))
			v := prover{run: &w, explain: noCause, ladder: proofLadder, repeats: 59}
			if err := v.prove(t.Context()); err != nil {
				t.Fatal(err)
			}
			if v.r.Proven != tc.proven || !strings.Contains(v.r.Why, tc.why) || v.r.Proven == (v.r.Why != "") {
				t.Errorf("proven %v, %q\n%s", v.r.Proven, v.r.Why, proofPage(v.r))
			}
			if v.r.Proven && v.r.Rows[0].After.Runs != 59 {
				t.Errorf("%d plain runs after the fix, want 59", v.r.Rows[0].After.Runs)
			}
			for _, row := range v.r.Rows {
				if v.r.Proven && row.After.Red > 0 {
					t.Errorf("proven with a red after the fix: %+v", row)
				}
			}
		})
	}
}

func noCause(pipeline.Lagged, func(triage.LagPlan) (triage.Trial, error)) (*triage.Cause, error) {
	return nil, nil
}

func TestTheLeastLagIsARowOfItsOwn(t *testing.T) {
	least := triage.LagPlan{Version: 1, Name: "least", Decisions: []triage.Decision{{Site: "hub.go:close:call:1", MS: 2}}}
	for name, tc := range map[string]struct {
		red  int // of 5 runs of the cause
		rows int
	}{"a steady one": {5, 3}, "one that is not steady": {4, 2}} {
		w := &fixed{lagBefore: 1, rand: rand.New(rand.NewPCG(1, 2))}
		v := prover{run: w, ladder: proofLadder, repeats: 5, explain: func(l pipeline.Lagged, probe func(triage.LagPlan) (triage.Trial, error)) (*triage.Cause, error) {
			if l.ControlRuns != proveFirst || l.ControlRed != 0 || !l.Red.SameFailure(l.Reference) {
				t.Errorf("%s: the search begins with %+v", name, l)
			}
			tr, err := probe(least)
			if err != nil || tr.Arm.Side != triage.Base || tr.Purpose != triage.Explain {
				t.Errorf("%s: probed %+v, %v", name, tr.Request, err)
			}
			return &triage.Cause{Kind: triage.CauseRace, Plan: least.ID(), Red: tc.red, Runs: 5, DoseMS: 2, Sites: []triage.Site{{File: "hub.go", Line: 7, Func: "close"}}}, nil
		}}
		if err := v.prove(t.Context()); err != nil || !v.r.Proven || len(v.r.Rows) != tc.rows {
			t.Fatalf("%s: %v, %d rows, %q", name, err, len(v.r.Rows), v.r.Why)
		}
		page := proofPage(v.r)
		row := "| the least lag that suffices: `hub.go:close:call:1 late by 2 ms` | 5 of 5 red | 0 of 10 red | 0.00033 |"
		if strings.Contains(page, row) != (tc.rows == 3) || !strings.Contains(page, "Its cause is a race at `hub.go:7 close`, from 2 ms on.") {
			t.Errorf("%s:\n%s", name, page)
		}
	}
}

// TestAFlakeThatWasNotMendedIsRarelyProven: the same test before and after.
func TestAFlakeThatWasNotMendedIsRarelyProven(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, rate := range []float64{0.01, 0.05, 0.2, 0.5, 1} {
		proven := 0
		for range 2000 {
			v := prover{run: &fixed{before: rate, after: rate, rand: r}, repeats: 299}
			if err := v.prove(t.Context()); err != nil {
				t.Fatal(err)
			}
			if v.r.Proven {
				proven++
			}
		}
		if proven > 20 { // 1 %
			t.Errorf("a flake of %g is proven mended %d times in 2000", rate, proven)
		}
	}
}

func TestAProofEndsWithItsBudget(t *testing.T) {
	v := prover{run: &fixed{before: 1, rand: rand.New(rand.NewPCG(1, 1))}, repeats: 59, deadline: time.Now().Add(-time.Second)}
	if err := v.prove(t.Context()); err != nil || v.r.Proven || !strings.Contains(v.r.Why, "--budget") {
		t.Errorf("%v, %+v", err, v.r)
	}
	full := errors.New("the disk is full")
	v = prover{run: &fixed{err: full}}
	if err := v.prove(t.Context()); !errors.Is(err, full) || v.r.Proven {
		t.Errorf("error %v, proven %v", err, v.r.Proven)
	}
	v = prover{run: &fixed{err: pipeline.ErrBudget}}
	if err := v.prove(t.Context()); err != nil || v.r.Why == "" {
		t.Errorf("error %v, %q", err, v.r.Why)
	}
}

func TestTheRunsThatABoundTakes(t *testing.T) {
	for text, want := range map[string]int{"1%": 299, "0.01": 299, "5 %": 59, "50%": 5, "0.1%": 2995} {
		b, err := parseBound(text)
		if got := runsFor(b); err != nil || got != want {
			t.Errorf("%q takes %d runs, want %d (%v)", text, got, want, err)
		}
		if n := float64(want); math.Pow(1-b, n) > 0.05 || math.Pow(1-b, n-1) <= 0.05 {
			t.Errorf("%q: %d runs are not the least", text, want)
		}
	}
	for _, text := range []string{"", "0", "100%", "1.0", "-1%", "NaN", "x", "0.001%"} {
		if _, err := parseBound(text); err == nil {
			t.Errorf("%q is read as a bound", text)
		}
	}
}

func TestTheTableOfAProofHoldsNoStrangersMarkdown(t *testing.T) {
	r := proofRecord{Target: triage.Target{Package: "p", Test: "Test`|@octocat\n| x |"}, Message: "`a` | <b>", Why: "x",
		Rows: []proofRow{{Kind: "plain", Before: proofCount{Runs: 2, Red: 1}}}}
	page := proofPage(r)
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "|") && strings.Count(line, "|") != 5 {
			t.Errorf("a row of %d bars: %q", strings.Count(line, "|"), line)
		}
	}
	if strings.Contains(page, "`a`") || strings.Contains(page, "\n| x |") {
		t.Errorf("%s", page)
	}
}
