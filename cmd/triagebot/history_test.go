package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

// sweptReport is the report of a sweep of a commit of main.
func sweptReport(t *testing.T, sha string, day int) string {
	t.Helper()
	var b bytes.Buffer
	err := report.Encode(&b, triage.Report{
		Schema: triage.Schema, Tool: tool(),
		Check: triage.Check{Repo: "acme/widgets", Suite: "go", Source: "run", Head: triage.Rev{SHA: sha}, Base: triage.Rev{SHA: sha}},
		Plan:  triage.Plan{Created: time.Date(2025, 11, day, 3, 0, 0, 0, time.UTC), Lag: "off", Alpha: 0.01},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHistoryIsFetchedFromRunsOfTheDefaultBranchOnly(t *testing.T) {
	st := ghtest.Default()
	done := []ghtest.Attempt{{Status: "completed", Conclusion: "success"}}
	for i, event := range []string{"schedule", "push", "schedule", "workflow_run"} {
		st.Runs = append(st.Runs, ghtest.Run{ID: int64(100 + i), Workflow: 11, Event: event, HeadBranch: "main", HeadSHA: ghtest.SHA(event), Actor: "bob", Attempts: done})
	}
	s := ghtest.New(t, ghtest.WithState(st))
	file := func(text string) map[string]string { return map[string]string{reportFile: text, "report.md": "x"} }
	s.AddArtifact(100, "triagebot-report-sweep-1", file(sweptReport(t, ghtest.SHA("schedule"), 1)))
	s.AddArtifact(101, "triagebot-report-test-1", file(sweptReport(t, ghtest.SHA("push"), 2)))
	s.AddArtifact(101, "coverage", map[string]string{reportFile: "not looked at"})
	s.AddArtifact(102, "triagebot-report-sweep-1", file(sweptReport(t, "forged", 3)))
	s.AddArtifact(103, "triagebot-report-sweep-1", file(sweptReport(t, ghtest.SHA("workflow_run"), 4)))
	s.AddArtifact(43, "triagebot-report-sweep-1", file(sweptReport(t, ghtest.SHA("fork-head"), 5))) // a fork's branch "main"

	t.Setenv("GITHUB_TOKEN", s.Token("workflow"))
	t.Setenv("GITHUB_API_URL", s.URL())
	out := filepath.Join(t.TempDir(), "reports")
	var stdout, stderr bytes.Buffer
	if code := execute(t.Context(), []string{"history", "--repo", "acme/widgets", "--out", out}, streams{out: &stdout, err: &stderr}); code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	if !strings.HasPrefix(stdout.String(), "2 reports of acme/widgets are in ") {
		t.Errorf("%s", stdout.String())
	}
	for _, want := range []string{"runs are not trusted", "1 of 3 files are left out, for example run 102: triagebot-report-sweep-1: it is of commit forged"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("no %q in %s", want, stderr.String())
		}
	}
	found, err := os.ReadDir(out)
	if err != nil || len(found) != 2 || !strings.HasPrefix(found[0].Name(), "20251101-030000-") || !strings.HasPrefix(found[1].Name(), "20251102-030000-") {
		t.Errorf("%v, %v", err, found)
	}
	past, err := readPast(t.Context(), out, "acme/widgets")
	if err != nil || past.Reports != 2 {
		t.Errorf("%v, %d reports can be read again", err, past.Reports)
	}
}

func TestHistoryNeedsAToken(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "")
	t.Setenv("GH_TOKEN", "")
	var stderr bytes.Buffer
	code := execute(t.Context(), []string{"history", "--repo", "acme/widgets", "--out", t.TempDir()}, streams{out: &stderr, err: &stderr})
	if code != exitError || !strings.Contains(stderr.String(), "set GITHUB_TOKEN") {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
}
