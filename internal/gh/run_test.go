package gh

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

func TestARunTellsWhereItsCodeComesFrom(t *testing.T) {
	f := newFake(t, "workflow")
	r, err := f.Run(ctx, 43)
	if err != nil {
		t.Fatal(err)
	}
	want := Run{
		ID: 43, Attempt: 1, Name: "CI", Path: ".github/workflows/ci.yml", Event: "pull_request", Status: "completed", Conclusion: "failure",
		HeadSHA: ghtest.SHA("fork-head"), HeadBranch: "main", HeadRepoID: 2002, HeadRepo: "mallory/widgets", RepoID: 1001,
		Created: r.Created, Started: r.Started, URL: r.URL,
	}
	if diff := cmp.Diff(want, r); diff != "" || r.Created.IsZero() || r.URL == "" {
		t.Errorf("%s", diff)
	}
	own, err := f.Run(ctx, 42)
	if err != nil || !slices.Equal(own.Pulls, []int{7}) || own.HeadRepoID != 1001 {
		t.Errorf("%+v %v", own, err)
	}
	if _, err := f.Run(ctx, 99); !errors.Is(err, ErrNotFound) {
		t.Errorf("a run that is not there: %v", err)
	}
}

func TestTheRunOfAnEventIsTheRunOfTheAPI(t *testing.T) {
	f := newFake(t, "workflow")
	for _, id := range []int64{42, 43} {
		e, err := ParseEvent("workflow_run", f.State().RunEvent(id))
		if err != nil {
			t.Fatal(err)
		}
		r, err := f.Run(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		r.URL, e.Run.URL = "", ""
		if diff := cmp.Diff(r, *e.Run); diff != "" {
			t.Errorf("%d: %s", id, diff)
		}
	}
}

func TestRunsAreFoundByCommitAndFile(t *testing.T) {
	f := newFake(t, "workflow")
	f.Update(func(s *ghtest.State) {
		old := s.Runs[0]
		old.ID, old.Created = 40, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
		other := s.Runs[0]
		other.ID, other.Workflow = 44, 12
		s.Runs = append(s.Runs, other, old)
	})
	ids := func(runs []Run, err error) []int64 {
		if err != nil {
			t.Fatal(err)
		}
		return each(runs, func(r Run) int64 { return r.ID })
	}
	head := ghtest.SHA("head")
	for workflow, want := range map[string][]int64{
		"ci.yml": {42, 40}, ".github/workflows/ci.yml": {42, 40}, "triagebot.yml": {44}, "other.yml": {}, "": {44, 42, 40}, "i.yml": {}, ".yml": {},
	} {
		got := ids(f.RunsOf(ctx, head, workflow))
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", workflow, got, want)
		}
	}
	if got := ids(f.RunsOf(ctx, head, "ci.yml")); got[0] != 42 {
		t.Errorf("not the newest first: %v", got)
	}
	for _, bad := range []string{"", "main", head[:12], head + "&status=success"} {
		if _, err := f.RunsOf(ctx, bad, ""); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestWhatGitHubSaysOfRunsIsChecked(t *testing.T) {
	head := ghtest.SHA("head")
	c, _ := served(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"total_count":2,"workflow_runs":[
			{"id":1,"head_sha":%q,"path":".github/workflows/ci.yml@refs/heads/main","repository":{"id":5},
			 "pull_requests":[{"number":3,"base":{"repo":{"id":6}}},{"number":4,"base":{"repo":{"id":5}}}]},
			{"id":2,"head_sha":%q,"path":".github/workflows/ci.yml"}]}`, head, ghtest.SHA("other"))
	})
	runs, err := c.RunsOf(ctx, head, "ci.yml")
	if err != nil || len(runs) != 1 || runs[0].ID != 1 || runs[0].Path != ".github/workflows/ci.yml" || !slices.Equal(runs[0].Pulls, []int{4}) || runs[0].Attempt != 1 {
		t.Errorf("%+v %v", runs, err)
	}
}

func TestRunsOfManyPagesAreReadToTheEnd(t *testing.T) {
	f := newFake(t, "workflow")
	f.Update(func(s *ghtest.State) {
		for i := range int64(150) {
			r := s.Runs[0]
			r.ID = 1000 + i
			s.Runs = append(s.Runs, r)
		}
	})
	runs, err := f.RunsOf(ctx, ghtest.SHA("head"), "ci.yml")
	if err != nil || len(runs) != 151 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

func TestTheFailedJobsOfAnAttempt(t *testing.T) {
	f := newFake(t, "workflow")
	f.Update(func(s *ghtest.State) {
		first := &s.Runs[0].Attempts[0]
		for i, conclusion := range []string{"timed_out", "cancelled", "skipped"} {
			first.Jobs = append(first.Jobs, ghtest.Job{ID: int64(500 + i), Name: conclusion, Status: "completed", Conclusion: conclusion})
		}
		first.Jobs = append(first.Jobs, ghtest.Job{ID: 510, Name: "running", Status: "in_progress"})
		s.Runs[0].Attempts = append(s.Runs[0].Attempts, ghtest.Attempt{
			Status: "completed", Conclusion: "success", Jobs: []ghtest.Job{{ID: 600, Name: "test", Status: "completed", Conclusion: "success"}},
		})
	})
	jobs, err := f.FailedJobs(ctx, 42, 1)
	if err != nil || len(jobs) != 2 || jobs[1].ID != 500 {
		t.Fatalf("%+v %v", jobs, err)
	}
	j := jobs[0]
	if j.ID != 421 || j.RunID != 42 || j.Attempt != 1 || j.Name != "test" || j.CheckRunID != 421 || !slices.Equal(j.FailedSteps, []string{"Run go test ./..."}) || j.HeadSHA != ghtest.SHA("head") {
		t.Errorf("%+v", j)
	}
	if jobs, err := f.FailedJobs(ctx, 42, 0); err != nil || len(jobs) != 0 {
		t.Errorf("the latest attempt is green: %+v %v", jobs, err)
	}
	if _, err := f.FailedJobs(ctx, 42, 7); !errors.Is(err, ErrNotFound) {
		t.Errorf("an attempt that is not there: %v", err)
	}
}

func TestTheCheckRunOfAJobIsTheJob(t *testing.T) {
	f := newFake(t, "workflow")
	e, err := ParseEvent("check_run", f.State().CheckEvent(421))
	if err != nil || e.Check.App != "github-actions" || e.Check.Conclusion != "failure" {
		t.Fatalf("%+v %v", e.Check, err)
	}
	if j, err := f.Job(ctx, e.Check.ID); err != nil || j.RunID != 42 || j.Name != "test" {
		t.Errorf("%+v %v", j, err)
	}
	if _, err := f.Job(ctx, 1); !errors.Is(err, ErrNotFound) {
		t.Errorf("a job that is not there: %v", err)
	}
}

func TestAJobsLogIsDownloadedWithoutTheToken(t *testing.T) {
	f := newFake(t, "workflow")
	var b bytes.Buffer
	log, err := f.JobLog(ctx, 421, &b, 1<<20)
	if err != nil || log.Truncated || log.Bytes != int64(b.Len()) || !strings.Contains(b.String(), "--- FAIL: TestOutbox") {
		t.Errorf("%+v %v\n%s", log, err, &b)
	}
	// The storage fails the test when it sees an Authorization header.
	if last := f.Requests()[1]; !strings.HasPrefix(last.Path, "/blob/") || last.Token != "" {
		t.Errorf("the download was %+v", last)
	}
	whole := int64(b.Len())
	for limit, cut := range map[int64]bool{10: true, whole - 1: true, whole: false, 0: true} {
		b.Reset()
		log, err := f.JobLog(ctx, 421, &b, limit)
		if err != nil || log.Truncated != cut || log.Bytes != limit || int64(b.Len()) != limit {
			t.Errorf("limit %d: %+v %v", limit, log, err)
		}
	}
}

func TestNoLogIsANormalAnswer(t *testing.T) {
	for name, change := range map[string]func(*ghtest.Job){
		"the job still runs":  func(j *ghtest.Job) { j.Status, j.Conclusion = "in_progress", "" },
		"it never came":       func(j *ghtest.Job) { j.LogState = ghtest.LogMissing },
		"it has expired":      func(j *ghtest.Job) { j.LogState = ghtest.LogExpired },
		"the runner was lost": func(j *ghtest.Job) { j.LogState = ghtest.LogLost },
	} {
		f := newFake(t, "workflow")
		f.Update(func(s *ghtest.State) { change(&s.Runs[0].Attempts[0].Jobs[0]) })
		if _, err := f.JobLog(ctx, 421, io.Discard, 100); !errors.Is(err, ErrNoLog) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := newFake(t, "workflow")
	f.Fail("GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs", ghtest.Answer(403, "Must have admin rights to Repository."))
	if _, err := f.JobLog(ctx, 421, io.Discard, 100); !errors.Is(err, ErrForbidden) || errors.Is(err, ErrNoLog) {
		t.Errorf("no right to read it: %v", err)
	}
}

func TestALinkThatExpiredIsAskedForOnceMore(t *testing.T) {
	f := newFake(t, "workflow")
	late := func() { _ = f.clock.Sleep(ctx, 2*time.Minute) }
	f.Fail("GET /blob/*", ghtest.Fault{Before: late})
	var b bytes.Buffer
	if _, err := f.JobLog(ctx, 421, &b, 1<<20); err != nil || b.Len() == 0 {
		t.Errorf("JobLog: %v", err)
	}
	if n := len(f.Requests()); n != 4 {
		t.Errorf("%d requests, want two links and two downloads", n)
	}
	f = newFake(t, "workflow")
	f.Fail("GET /blob/*", ghtest.Fault{Before: late, Times: 2})
	_, err := f.JobLog(ctx, 421, io.Discard, 100)
	if !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrForbidden) || errors.Is(err, ErrNoLog) {
		t.Errorf("expired twice: %v", err)
	}
}

func TestADownloadThatBreaksOffIsAnError(t *testing.T) {
	f := newFake(t, "workflow")
	f.Fail("GET /blob/*", ghtest.Fault{TruncateAt: 30})
	var b bytes.Buffer
	if log, err := f.JobLog(ctx, 421, &b, 1<<20); !errors.Is(err, ErrUnavailable) || log.Bytes != int64(b.Len()) {
		t.Errorf("%+v %v", log, err)
	}
	f.Fail("GET /blob/*", ghtest.Fault{Drop: true})
	b.Reset()
	if _, err := f.JobLog(ctx, 421, &b, 1<<20); err != nil || b.Len() == 0 {
		t.Errorf("a download that never began is tried again: %v", err)
	}
}

func TestTheSignatureOfALinkIsNotTold(t *testing.T) {
	c, _ := served(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:1/blob?sig=SECRET", http.StatusFound)
	})
	_, err := c.JobLog(ctx, 1, io.Discard, 10)
	if err == nil || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("JobLog: %v", err)
	}
}

func TestLinksThatAreNoneAreRefused(t *testing.T) {
	for _, link := range []string{"file:///etc/passwd", "gopher://x", "//", ""} {
		c, _ := served(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Location"] = []string{link}
			w.WriteHeader(http.StatusFound)
		})
		if _, err := c.JobLog(ctx, 1, io.Discard, 10); err == nil {
			t.Errorf("%q is followed", link)
		}
	}
}

func TestAnnotationsOfAJob(t *testing.T) {
	f := newFake(t, "workflow")
	got, err := f.Annotations(ctx, 421)
	want := []Annotation{{Path: ".github", Line: 1, EndLine: 1, Level: Failure, Message: "Process completed with exit code 1."}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestRunsAreRunAgainOnRequest(t *testing.T) {
	f := newFake(t, "workflow")
	if err := f.RerunFailed(ctx, 42); err != nil {
		t.Fatal(err)
	}
	if err := f.RerunRun(ctx, 43); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, r := range f.State().Reruns {
		kinds = append(kinds, r.Kind)
	}
	if !slices.Equal(kinds, []string{"failed", "all"}) {
		t.Errorf("asked for %v", kinds)
	}
	if err := f.RerunFailed(ctx, 42); !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), "already running") {
		t.Errorf("while it runs: %v", err)
	}
	if err := f.RerunRun(ctx, 99); !errors.Is(err, ErrNotFound) {
		t.Errorf("a run that is not there: %v", err)
	}
	f = newFake(t, "fork")
	if err := f.RerunFailed(ctx, 42); !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), "actions: write") {
		t.Errorf("a read-only token: %v", err)
	}
}

func TestOneJobIsRunAgain(t *testing.T) {
	f := newFake(t, "workflow")
	jobs, err := f.Jobs(ctx, 42, 0)
	if err != nil || len(jobs) != 2 || jobs[0].ID != 421 || jobs[1].Conclusion != "success" {
		t.Fatalf("jobs %+v, %v", jobs, err)
	}
	if err := f.RerunJob(ctx, jobs[1].ID); err != nil {
		t.Fatal(err)
	}
	if r := f.State().Reruns; len(r) != 1 || r[0].Kind != "job" || r[0].Job != 422 {
		t.Errorf("asked for %+v", r)
	}
	if err := f.RerunJob(ctx, 999); !errors.Is(err, ErrNotFound) {
		t.Errorf("a job that is not there: %v", err)
	}
}

func TestARerunWithoutAnAnswerIsNotAskedForTwice(t *testing.T) {
	f := newFake(t, "workflow")
	f.Fail("POST /repos/{owner}/{repo}/actions/runs/{run_id}/rerun-failed-jobs", ghtest.Fault{DropAfter: true})
	if err := f.RerunFailed(ctx, 42); !errors.Is(err, ErrUnavailable) {
		t.Errorf("RerunFailed: %v", err)
	}
	if n := len(f.State().Reruns); n != 1 {
		t.Errorf("run again %d times", n)
	}
}

func TestTheMergeBaseAndTheChangedFiles(t *testing.T) {
	f := newFake(t, "workflow")
	for _, c := range []struct{ base, head, want string }{
		{ghtest.SHA("base"), ghtest.SHA("head"), ghtest.SHA("base")},
		{"main", "mallory:main", ghtest.SHA("root")},
	} {
		if got, err := f.MergeBase(ctx, c.base, c.head); err != nil || got != c.want {
			t.Errorf("%s...%s: %s %v", c.base, c.head, got, err)
		}
	}
	files, more, err := f.ChangedFiles(ctx, "main", ghtest.SHA("head"))
	if err != nil || more || !slices.Equal(files, []string{"outbox.go"}) {
		t.Errorf("%v %v %v", files, more, err)
	}
	if _, _, err := f.ChangedFiles(ctx, "main", ghtest.SHA("nowhere")); !errors.Is(err, ErrNotFound) {
		t.Errorf("changes of a commit that is not there: %v", err)
	}
	for _, bad := range []string{"", "a b", "--upload-pack", "a...b", "x\ny", "a:b:c", "a?b"} {
		if _, err := f.MergeBase(ctx, "main", bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := f.MergeBase(ctx, "main", ghtest.SHA("nowhere")); !errors.Is(err, ErrNotFound) {
		t.Errorf("a commit that is not there: %v", err)
	}
}

func TestAFileOfACommit(t *testing.T) {
	f := newFake(t, "workflow")
	text := strings.Repeat("budget: 10m\n", 20)
	f.Update(func(s *ghtest.State) {
		s.Files = append(s.Files, ghtest.File{Path: ".github/triagebot.yml", Content: text, SHA: ghtest.SHA("base")})
	})
	for _, ref := range []string{"", "main", ghtest.SHA("base")} {
		if got, err := f.File(ctx, ".github/triagebot.yml", ref); err != nil || string(got) != text {
			t.Errorf("%q: %q %v", ref, got, err)
		}
	}
	if _, err := f.File(ctx, ".github/triagebot.yml", ghtest.SHA("head")); !errors.Is(err, ErrNotFound) {
		t.Errorf("in another commit: %v", err)
	}
	for _, bad := range []string{"", "/etc/passwd", "../x", "a/../../b", "a//b"} {
		if _, err := f.File(ctx, bad, ""); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for what, answer := range map[string]string{"a folder": `[{"type":"file"}]`, "a link": `{"type":"symlink","target":"/etc/passwd"}`, "too large": `{"type":"file","encoding":"none","content":""}`} {
		c, _ := served(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, answer) })
		if _, err := c.File(ctx, "x", ""); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
