package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/pipeline"
	"github.com/triagebot/triagebot/internal/triage"
)

var racyTarget = triage.Target{Suite: "go", Framework: "gotest", Package: "example.com/m", Test: "TestRacy"}

// racy is a runner of a test that is red, on both trees, when the site "late" is
// 5 ms late. Like the live one it knows sites only after it has instrumented.
type racy struct{ instrumented bool }

func (r *racy) Run(_ context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, error) {
	t := triage.Trial{Request: req, Start: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), DurationMS: 10, Outcome: triage.Pass, Ran: 1}
	if plan == nil || req.Arm.Scope != triage.Alone {
		return t, nil
	}
	r.instrumented = true
	t.Decisions = plan.Decisions
	if len(t.Decisions) == 0 && len(plan.Kinds) > 0 && plan.MaxMS > 0 {
		for _, site := range []string{"early", "late", "unknown"} {
			t.Decisions = append(t.Decisions, triage.Decision{Site: site, Kind: triage.KindCall, Role: triage.RoleWorker, Hit: 1, MS: plan.MaxMS})
		}
	}
	t.DecisionCount = len(t.Decisions)
	for _, d := range t.Decisions {
		if d.Site == "late" && d.MS >= 5 {
			t.Outcome, t.Exit = triage.Fail, 1
			t.Failure = &triage.Failure{Target: req.Target, Outcome: triage.Fail, Signature: triage.Signature{Phase: triage.PhaseTest, Message: "not written"}}
		}
	}
	return t, nil
}

func (r *racy) Site(id string) (triage.Site, bool) {
	return triage.Site{ID: id, Kind: triage.KindCall, File: "m.go", Line: 7, Func: id}, r.instrumented && id != "unknown"
}

func racyHeader(t *testing.T) triage.Report {
	t.Helper()
	plans, err := lag.Ladder(goCapabilities(), 1, "auto")
	if err != nil {
		t.Fatal(err)
	}
	r := triage.Report{
		Schema: triage.Schema, Tool: tool(),
		Check:    triage.Check{Repo: "m", Suite: "go", Source: "test", Head: triage.Rev{SHA: strings.Repeat("1", 40)}, Base: triage.Rev{SHA: strings.Repeat("2", 40)}},
		Plan:     triage.Plan{Created: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC), Lag: "auto", Seed: 1, Alpha: config.Defaults().Alpha, Ladders: map[string][]string{}, LagPlans: map[string]triage.LagPlan{}},
		Failures: []triage.Failure{{Target: racyTarget, Outcome: triage.Fail, Signature: triage.Signature{Phase: triage.PhaseTest, Message: "not written"}}},
	}
	for _, p := range plans {
		r.Plan.Ladders[gotest.Name] = append(r.Plan.Ladders[gotest.Name], p.ID())
		r.Plan.LagPlans[p.ID()] = p
	}
	return r
}

// finished measures what is left of the run in st.
func finished(t *testing.T, st *store, header triage.Report) triage.Report {
	t.Helper()
	live := &racy{}
	in := input(header)
	in.Record = st.recorder(live.Site)
	r, err := pipeline.Triage(t.Context(), in, &pipeline.Recorded{Trials: st.trials, Sites: st.sites, Next: live})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.finish(r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAResumedSearchForACauseKnowsTheSites(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	header := racyHeader(t)
	st, err := createStore(dir, header, "")
	if err != nil {
		t.Fatal(err)
	}
	whole := finished(t, st, header)
	st.Close()
	c := whole.Verdicts[0].Cause
	if c == nil || c.Kind != triage.CauseRace || len(c.Sites) != 1 || c.Sites[0].ID != "late" {
		t.Fatalf("the cause is %+v", c)
	}
	journal, err := os.ReadFile(filepath.Join(dir, journalFile))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(dir, reportFile))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(journal, []byte{'\n'})
	for k := range lines {
		if err := os.WriteFile(filepath.Join(dir, journalFile), bytes.Join(lines[:k], nil), 0o644); err != nil {
			t.Fatal(err)
		}
		st, err := openStore(dir)
		if err != nil {
			t.Fatal(err)
		}
		header, err := readHeader(dir)
		if err != nil {
			t.Fatal(err)
		}
		finished(t, st, header)
		st.Close()
		got, err := os.ReadFile(filepath.Join(dir, reportFile))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Fatalf("resumed after %d trials (-want +got):\n%s", k, diff)
		}
	}
	if r, err := readReportFile(filepath.Join(dir, reportFile)); err != nil {
		t.Error(err)
	} else if again, err := rejudge(t.Context(), r); err != nil || !cmp.Equal(r.Verdicts, again.Verdicts) {
		t.Errorf("replayed: %v\n%s", err, cmp.Diff(r.Verdicts, again.Verdicts))
	}
}

func TestAFolderThatHoldsAnUnfinishedRunIsNotOverwritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	header := racyHeader(t)
	st, err := createStore(dir, header, "")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if _, err := createStore(dir, header, ""); err == nil || !strings.Contains(err.Error(), "it holds an unfinished run") {
		t.Errorf("error %v", err)
	}
	finished(t, st, header)
	again, err := createStore(dir, header, "")
	if err != nil {
		t.Fatalf("a finished run cannot be replaced: %v", err)
	}
	defer again.Close()
	if _, err := os.Stat(filepath.Join(dir, reportFile)); !os.IsNotExist(err) {
		t.Errorf("the old report stands beside the new run: %v", err)
	}
}

func TestAHeaderThatCannotBeReadIsNamed(t *testing.T) {
	for name, tc := range map[string]struct{ file, text string }{
		"the plan is cut":       {headerFile, `{"schema":`},
		"the sites are cut":     {sitesFile, `{"a":`},
		"the trials are no use": {journalFile, "{}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			st, err := createStore(dir, racyHeader(t), "")
			if err != nil {
				t.Fatal(err)
			}
			st.Close()
			if err := os.WriteFile(filepath.Join(dir, tc.file), []byte(tc.text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err = readHeader(dir)
			if err == nil {
				_, err = openStore(dir)
			}
			if err == nil || !strings.Contains(err.Error(), tc.file) {
				t.Errorf("error %v does not name %s", err, tc.file)
			}
		})
	}
}
