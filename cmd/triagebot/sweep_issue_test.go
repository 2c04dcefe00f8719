package main

import (
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/gh"
	"github.com/triagebot/triagebot/internal/gh/ghtest"
	"github.com/triagebot/triagebot/internal/triage"
)

// swept is the report of a sweep with a verdict for each class, or a clean one.
func swept(classes ...triage.Class) triage.Report {
	r := triage.Report{
		Schema: triage.Schema, Tool: tool(),
		Check: triage.Check{Repo: "acme/loop", Suite: "go", Source: "run", Head: triage.Rev{SHA: "4f1c9a7b0000"}, Base: triage.Rev{SHA: "4f1c9a7b0000"}},
		Plan:  triage.Plan{Created: time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC), Lag: "auto", Alpha: 0.01},
		Sweep: &triage.Sweep{Tests: 91, Units: 1, Rungs: []triage.SweepRung{{Name: "control", Scope: triage.InSuite, Runs: 2, Tests: 91, WallMS: 56_000}}},
	}
	for i, c := range classes {
		t := triage.Target{Suite: "go", Framework: "gotest", Package: "example.com/app", Test: "Test" + strings.Repeat("X", i+1) + "@everyone"}
		v := triage.Verdict{Target: t, Class: c, Origin: triage.OriginBase, Bound: triage.Bound{Text: "fails ≥ 55 %"}}
		if c == triage.Inconclusive {
			v.Reasons = []triage.Reason{triage.ReasonNotReproduced}
		}
		r.Verdicts = append(r.Verdicts, v)
		r.Failures = append(r.Failures, triage.Failure{Target: t, Outcome: triage.Fail})
	}
	return r
}

func newIssues(t *testing.T) (*ghtest.Server, *gh.Client) {
	t.Helper()
	s := ghtest.New(t)
	c, err := gh.New(gh.Options{Repo: "acme/widgets", APIURL: s.URL(), Token: s.Token("workflow")})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func TestOneIssueTracksTheSweeps(t *testing.T) {
	_, c := newIssues(t)
	for _, step := range []struct {
		name string
		r    triage.Report
		want gh.Action
	}{
		{"a clean sweep opens none", swept(), gh.None},
		{"an open lead is no finding", swept(triage.Inconclusive), gh.None},
		{"findings open it", swept(triage.LagRevealedRace, triage.PreExistingFlake), gh.Created},
		{"the same findings change nothing", swept(triage.LagRevealedRace, triage.PreExistingFlake), gh.Unchanged},
		{"others change it", swept(triage.LagRevealedRace), gh.Updated},
		{"an open lead does not close it", swept(triage.Inconclusive), gh.None},
		{"a sweep that was cut short does not close it", cut(swept()), gh.None},
		{"a clean one closes it", swept(), gh.Closed},
		{"and again", swept(), gh.Unchanged},
		{"findings open it again", swept(triage.BrokenOnBase), gh.Updated},
	} {
		got, err := trackSweep(t.Context(), c, step.r, "https://github.com/acme/loop/actions/runs/9")
		if err != nil || got.Action != step.want {
			t.Errorf("%s: %s, %v, want %s", step.name, got.Action, err, step.want)
		}
	}
}

func cut(r triage.Report) triage.Report {
	r.Plan.Stopped = "budget"
	return r
}

func TestTheTrackingIssueHoldsThePageAndTheEvidence(t *testing.T) {
	s, c := newIssues(t)
	opened, err := trackSweep(t.Context(), c, swept(triage.LagRevealedRace), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := trackSweep(t.Context(), c, swept(), "https://github.com/acme/loop/actions/runs/9"); err != nil {
		t.Fatal(err)
	}
	for _, i := range s.State().Issues {
		if int64(i.Number) != opened.ID {
			continue
		}
		if i.Title != "triagebot: the sweep of go found 1 test" || i.State != "closed" {
			t.Errorf("%q, %s", i.Title, i.State)
		}
		if !strings.Contains(i.Body, "Found in 91 tests: 1 race.") || !strings.Contains(i.Body, "TestX&#64;") {
			t.Errorf("the body:\n%s", i.Body)
		}
	}
	comments := s.Comments(int(opened.ID))
	if len(comments) != 1 || !strings.Contains(comments[0].Body, "Nothing found in 91 tests.") || !strings.Contains(comments[0].Body, "91 tests in 2 processes") ||
		!strings.Contains(comments[0].Body, "/runs/9") {
		t.Errorf("closed with %+v", comments)
	}
}

func TestAFloodOfFindingsIsOneIssueWithinItsLimit(t *testing.T) {
	s, c := newIssues(t)
	before := len(s.State().Issues)
	classes := make([]triage.Class, 400)
	for i := range classes {
		classes[i] = triage.BrokenOnBase
	}
	if _, err := trackSweep(t.Context(), c, swept(classes...), ""); err != nil {
		t.Fatal(err)
	}
	issues := s.State().Issues
	if len(issues) != before+1 || len(issues[len(issues)-1].Body) > 65_536 {
		t.Errorf("%d more issues", len(issues)-before)
	}
}
