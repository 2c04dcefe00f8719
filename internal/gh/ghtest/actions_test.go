package ghtest_test

import (
	"archive/zip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v62/github"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

func TestALogIsThereOrSaysWhyNot(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*ghtest.Job)
		api    int
		blob   int
		want   string
	}{
		"there":          {func(*ghtest.Job) {}, 302, 200, "outbox_test.go:12"},
		"still runs":     {func(j *ghtest.Job) { j.Status, j.Conclusion = "in_progress", "" }, 404, 0, "Not Found"},
		"not there":      {func(j *ghtest.Job) { j.LogState = ghtest.LogMissing }, 404, 0, "Not Found"},
		"expired":        {func(j *ghtest.Job) { j.LogState = ghtest.LogExpired }, 410, 0, "message"},
		"runner is lost": {func(j *ghtest.Job) { j.LogState = ghtest.LogLost }, 302, 404, "BlobNotFound"},
	} {
		t.Run(name, func(t *testing.T) {
			s := ghtest.New(t)
			s.Update(func(st *ghtest.State) { tc.change(&st.Runs[0].Attempts[0].Jobs[0]) })
			code, header, body := send(t, "GET", s.URL()+"/repos/acme/widgets/actions/jobs/421/logs", s.Token("fork"), "")
			if code != tc.api {
				t.Fatalf("the API answers %d %s", code, body)
			}
			if code == http.StatusFound {
				code, _, body = send(t, "GET", header.Get("Location"), "", "")
				if code != tc.blob {
					t.Errorf("the storage answers %d", code)
				}
			}
			if !strings.Contains(body, tc.want) {
				t.Errorf("%q is not in %q", tc.want, body)
			}
		})
	}
}

func TestALinkIsGoodForAMinute(t *testing.T) {
	now := time.Now()
	s := ghtest.New(t, ghtest.WithClock(func() time.Time { return now }))
	link := must(as(t, s, "fork").Actions.GetWorkflowJobLogs(context.Background(), owner, repo, 421, 0))(t).String()
	now = now.Add(time.Minute)
	if code, _, _ := send(t, "GET", link, "", ""); code != http.StatusOK {
		t.Errorf("within the minute: %d", code)
	}
	now = now.Add(time.Second)
	if code, _, body := send(t, "GET", link, "", ""); code != http.StatusForbidden || !strings.Contains(body, "AuthenticationFailed") {
		t.Errorf("after the minute: %d %s", code, body)
	}
}

func TestTheLogsOfARunAreAZip(t *testing.T) {
	s := ghtest.New(t)
	link := must(as(t, s, "fork").Actions.GetWorkflowRunAttemptLogs(context.Background(), owner, repo, 42, 1, 0))(t).String()
	_, _, body := send(t, "GET", link, "", "")
	z, err := zip.NewReader(strings.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	if diff := cmp.Diff([]string{"0_test.txt", "1_lint.txt"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestAnArtifactIsAZipOfARun(t *testing.T) {
	s := ghtest.New(t)
	id := s.AddArtifact(43, "triage-v1", map[string]string{"report.json": `{"schema":"x"}`})
	c, ctx := as(t, s, "fork"), context.Background()
	list := must(c.Actions.ListWorkflowRunArtifacts(ctx, owner, repo, 43, nil))(t)
	if len(list.Artifacts) != 1 || list.Artifacts[0].GetID() != id || list.Artifacts[0].GetWorkflowRun().GetHeadRepositoryID() != 2002 || list.Artifacts[0].GetWorkflowRun().GetHeadSHA() != ghtest.SHA("fork-head") {
		t.Errorf("got %v", list)
	}
	link := must(c.Actions.DownloadArtifact(ctx, owner, repo, id, 0))(t).String()
	_, _, body := send(t, "GET", link, "", "")
	z, err := zip.NewReader(strings.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := z.Open("report.json")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(f); err != nil || string(text) != `{"schema":"x"}` {
		t.Errorf("the file is %q, %v", text, err)
	}
	s.Update(func(st *ghtest.State) { st.Artifacts[0].Expired = true })
	if _, _, err := c.Actions.DownloadArtifact(ctx, owner, repo, id, 0); err == nil || !strings.Contains(err.Error(), "410") {
		t.Errorf("an expired one: %v", err)
	}
}

func TestFailedJobsRunAgainInANewAttempt(t *testing.T) {
	s := ghtest.New(t)
	c, ctx := as(t, s, "workflow"), context.Background()
	if _, err := c.Actions.RerunFailedJobsByID(ctx, owner, repo, 42); err != nil {
		t.Fatal(err)
	}
	run := must(c.Actions.GetWorkflowRunByID(ctx, owner, repo, 42))(t)
	if run.GetRunAttempt() != 2 || run.GetStatus() != "queued" || run.GetHeadSHA() != ghtest.SHA("head") {
		t.Errorf("the run is %d %s", run.GetRunAttempt(), run.GetStatus())
	}
	first := must(c.Actions.GetWorkflowRunAttempt(ctx, owner, repo, 42, 1, nil))(t)
	if first.GetConclusion() != "failure" {
		t.Errorf("the first attempt is %s now", first.GetConclusion())
	}
	type job struct {
		status  string
		attempt int64
	}
	got := map[string]job{}
	for _, j := range must(c.Actions.ListWorkflowJobs(ctx, owner, repo, 42, nil))(t).Jobs {
		got[j.GetName()] = job{j.GetStatus(), j.GetRunAttempt()}
	}
	if diff := cmp.Diff(map[string]job{"test": {"queued", 2}, "lint": {"completed", 1}}, got, cmp.AllowUnexported(job{})); diff != "" {
		t.Error(diff)
	}
	if all := must(c.Actions.ListWorkflowJobs(ctx, owner, repo, 42, &github.ListWorkflowJobsOptions{Filter: "all"}))(t); len(all.Jobs) != 3 {
		t.Errorf("of all attempts there are %d jobs, want test twice and lint", len(all.Jobs))
	}
	if diff := cmp.Diff([]ghtest.Rerun{{By: "github-actions[bot]", Kind: "failed", Run: 42, Attempt: 2}}, s.State().Reruns); diff != "" {
		t.Error(diff)
	}
	if _, err := c.Actions.RerunFailedJobsByID(ctx, owner, repo, 42); status(err) != http.StatusForbidden || !strings.Contains(err.Error(), "already running") {
		t.Errorf("a running one: %v", err)
	}
	s.Update(func(st *ghtest.State) { st.Runs[1].Created = time.Now().AddDate(0, -2, 0) })
	if _, err := c.Actions.RerunWorkflowByID(ctx, owner, repo, 43); status(err) != http.StatusForbidden || !strings.Contains(err.Error(), "over a month ago") {
		t.Errorf("an old one: %v", err)
	}
	if _, err := as(t, s, "fork").Actions.RerunJobByID(ctx, owner, repo, 431); status(err) != http.StatusForbidden {
		t.Errorf("without actions: write: %v", err)
	}
}

func TestRunsAreFoundByWhatTheyRan(t *testing.T) {
	s := ghtest.New(t)
	c, ctx := as(t, s, "fork"), context.Background()
	for name, tc := range map[string]struct {
		opts github.ListWorkflowRunsOptions
		want []int64
	}{
		"all, youngest first": {github.ListWorkflowRunsOptions{}, []int64{43, 42}},
		"a commit":            {github.ListWorkflowRunsOptions{HeadSHA: ghtest.SHA("head")}, []int64{42}},
		"a branch":            {github.ListWorkflowRunsOptions{Branch: "main"}, []int64{43}},
		"a conclusion":        {github.ListWorkflowRunsOptions{Status: "failure", Actor: "bob"}, []int64{42}},
		"another event":       {github.ListWorkflowRunsOptions{Event: "push"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []int64
			runs := must(c.Actions.ListWorkflowRunsByFileName(ctx, owner, repo, "ci.yml", &tc.opts))(t)
			for _, r := range runs.WorkflowRuns {
				got = append(got, r.GetID())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || runs.GetTotalCount() != len(tc.want) {
				t.Errorf("total %d %s", runs.GetTotalCount(), diff)
			}
		})
	}
}

func TestACheckRunIsChangedByItsAppOnly(t *testing.T) {
	s, _ := everything(t)
	s.Update(func(st *ghtest.State) {
		st.Tokens = append(st.Tokens, ghtest.Token{Name: "bot", User: "triagebot[bot]", Permissions: ghtest.ReadWrite()})
	})
	ctx, workflow, bot := context.Background(), as(t, s, "workflow"), as(t, s, "bot")
	made := must(workflow.Checks.CreateCheckRun(ctx, owner, repo, github.CreateCheckRunOptions{Name: "triage", HeadSHA: ghtest.SHA("head"), Conclusion: github.String("neutral")}))(t)
	if made.GetStatus() != "completed" || made.GetApp().GetSlug() != "github-actions" {
		t.Errorf("made %s by %s", made.GetStatus(), made.GetApp().GetSlug())
	}
	if _, _, err := bot.Checks.UpdateCheckRun(ctx, owner, repo, made.GetID(), github.UpdateCheckRunOptions{Name: "triage"}); status(err) != http.StatusForbidden {
		t.Errorf("another App changed it: %v", err)
	}
	must(bot.Checks.CreateCheckRun(ctx, owner, repo, github.CreateCheckRunOptions{Name: "triage", HeadSHA: ghtest.SHA("head")}))(t)
	list := must(workflow.Checks.ListCheckRunsForRef(ctx, owner, repo, "fix", &github.ListCheckRunsOptions{CheckName: github.String("triage")}))(t)
	if list.GetTotal() != 2 {
		t.Errorf("%d check runs of that name", list.GetTotal())
	}
	suites := must(workflow.Checks.ListCheckSuitesForRef(ctx, owner, repo, "fix", nil))(t)
	if suites.GetTotal() != 2 || suites.CheckSuites[0].GetConclusion() != "failure" || suites.CheckSuites[1].GetStatus() != "in_progress" {
		t.Errorf("the suites are %v", suites.CheckSuites)
	}
	if _, _, err := workflow.Checks.CreateCheckRun(ctx, owner, repo, github.CreateCheckRunOptions{Name: "triage", HeadSHA: "gone"}); status(err) != http.StatusUnprocessableEntity {
		t.Errorf("on an unknown commit: %v", err)
	}
	notes := must(workflow.Checks.ListCheckRunAnnotations(ctx, owner, repo, 421, nil))(t)
	if len(notes) != 1 || notes[0].GetAnnotationLevel() != "failure" {
		t.Errorf("the job's annotations are %v", notes)
	}
}

func TestADispatchIsNoted(t *testing.T) {
	s := ghtest.New(t)
	c, ctx := as(t, s, "workflow"), context.Background()
	inputs := map[string]any{"run": "42"}
	if _, err := c.Actions.CreateWorkflowDispatchEventByFileName(ctx, owner, repo, "triagebot.yml", github.CreateWorkflowDispatchEventRequest{Ref: "main", Inputs: inputs}); err != nil {
		t.Fatal(err)
	}
	must(c.Repositories.Dispatch(ctx, owner, repo, github.DispatchRequestOptions{EventType: "triage"}))(t)
	want := []ghtest.Dispatch{{By: "github-actions[bot]", Workflow: "triagebot.yml", Ref: "main", Inputs: inputs}, {By: "github-actions[bot]", Type: "triage"}}
	if diff := cmp.Diff(want, s.State().Dispatches); diff != "" {
		t.Error(diff)
	}
	_, err := c.Actions.CreateWorkflowDispatchEventByFileName(ctx, owner, repo, "triagebot.yml", github.CreateWorkflowDispatchEventRequest{Ref: "gone"})
	if status(err) != http.StatusUnprocessableEntity || !strings.Contains(err.Error(), "No ref found for: gone") {
		t.Errorf("an unknown ref: %v", err)
	}
	_, err = c.Actions.CreateWorkflowDispatchEventByFileName(ctx, owner, repo, "gone.yml", github.CreateWorkflowDispatchEventRequest{Ref: "main"})
	if status(err) != http.StatusNotFound {
		t.Errorf("an unknown workflow: %v", err)
	}
}
