package gh

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"
)

// Run is one attempt of a workflow run.
type Run struct {
	ID      int64
	Attempt int
	// Name is the workflow's name, Path its file, ".github/workflows/ci.yml".
	Name, Path string
	// Event is what started it, as pull_request.
	Event string
	// Status is queued, in_progress or completed; Conclusion is success,
	// failure, cancelled …
	Status, Conclusion string
	HeadSHA            string
	// HeadBranch proves nothing: a fork's branch may be called main.
	HeadBranch string
	HeadRepoID int64
	HeadRepo   string // "owner/name"
	// RepoID is the repository that the workflow belongs to.
	RepoID int64
	// Pulls are the pull requests that GitHub names; empty for forks.
	Pulls   []int
	Created time.Time
	// Started is when this attempt was started (run_started_at): what a run left
	// before is of an earlier attempt.
	Started time.Time
	URL     string
}

// Job is one job of a run.
type Job struct {
	ID, RunID int64
	Attempt   int
	// Name is the job's name with its matrix values, "test (1.26, linux)".
	Name               string
	Status, Conclusion string
	HeadSHA            string
	// FailedSteps are the names of the steps that failed.
	FailedSteps        []string
	Started, Completed time.Time
	// CheckRunID is for [Client.Annotations].
	CheckRunID int64
	URL        string
}

// workflowRun is a run with the field that the library's type lacks.
type workflowRun struct {
	github.WorkflowRun
	Path string `json:"path"`
}

func (w *workflowRun) run() Run {
	r := Run{
		ID: w.GetID(), Attempt: max(w.GetRunAttempt(), 1), Name: w.GetName(), Event: w.GetEvent(),
		Status: w.GetStatus(), Conclusion: w.GetConclusion(), HeadSHA: w.GetHeadSHA(), HeadBranch: w.GetHeadBranch(),
		HeadRepoID: w.GetHeadRepository().GetID(), HeadRepo: w.GetHeadRepository().GetFullName(),
		RepoID: w.GetRepository().GetID(), Created: w.GetCreatedAt().Time, Started: w.GetRunStartedAt().Time, URL: w.GetHTMLURL(),
	}
	r.Path, _, _ = strings.Cut(w.Path, "@") // GitHub may add the branch
	for _, p := range w.PullRequests {
		if p.GetBase().GetRepo().GetID() == r.RepoID {
			r.Pulls = append(r.Pulls, p.GetNumber())
		}
	}
	return r
}

// Run gets a run with its latest attempt.
func (c *Client) Run(ctx context.Context, id int64) (Run, error) {
	var w workflowRun
	res, err := c.get(ctx, c.path("actions/runs/%d", id), &w)
	return w.run(), c.fail(op{doing: fmt.Sprintf("getting run %d of %s", id, c.full()), needs: "actions: read"}, res, err)
}

// runPages is how far a list of runs is read: GitHub gives no more than 1,000.
const runPages = 10

// RunsOf lists the runs of a workflow for a head SHA, newest first. workflow is
// the file, "triage.yml" or ".github/workflows/triage.yml"; "" is every workflow.
func (c *Client) RunsOf(ctx context.Context, headSHA, workflow string) ([]Run, error) {
	o := op{doing: fmt.Sprintf("listing the runs of %.12s", oneLine(headSHA)), needs: "actions: read"}
	if !sha.MatchString(headSHA) {
		return nil, &Error{Doing: o.doing, Message: "it is no commit's full SHA", kind: ErrInvalid}
	}
	list, _, res, err := pages(runPages, func(at github.ListOptions) ([]workflowRun, *github.Response, error) {
		var page struct {
			Runs []workflowRun `json:"workflow_runs"`
		}
		query := url.Values{"head_sha": {headSHA}, "per_page": {strconv.Itoa(at.PerPage)}}
		if at.Page > 1 {
			query.Set("page", strconv.Itoa(at.Page))
		}
		res, err := c.get(ctx, c.path("actions/runs?%s", query.Encode()), &page)
		return page.Runs, res, err
	})
	if err != nil {
		return nil, c.fail(o, res, err)
	}
	var runs []Run
	for i := range list {
		r := list[i].run()
		if r.HeadSHA == headSHA && (workflow == "" || r.Path == workflow || path.Base(r.Path) == workflow) {
			runs = append(runs, r)
		}
	}
	slices.SortStableFunc(runs, func(a, b Run) int { return b.Created.Compare(a.Created) })
	return runs, nil
}

// Job gets one job. The id of a check run that GitHub Actions made
// ([CheckRef.App] "github-actions") is the id of its job.
func (c *Client) Job(ctx context.Context, id int64) (Job, error) {
	j, res, err := c.api.Actions.GetWorkflowJobByID(ctx, c.owner, c.name, id)
	if err != nil {
		return Job{}, c.fail(op{doing: fmt.Sprintf("getting job %d of %s", id, c.full()), needs: "actions: read"}, res, err)
	}
	return job(j), nil
}

// FailedJobs lists the jobs of an attempt that failed or timed out; attempt 0
// is the latest. Jobs that still run or were cancelled are not in it.
func (c *Client) FailedJobs(ctx context.Context, runID int64, attempt int) ([]Job, error) {
	all, err := c.Jobs(ctx, runID, attempt)
	return slices.DeleteFunc(all, func(j Job) bool { return !red(j.Conclusion) }), err
}

// Jobs lists all jobs of an attempt; attempt 0 is the latest.
func (c *Client) Jobs(ctx context.Context, runID int64, attempt int) ([]Job, error) {
	list, _, res, err := pages(runPages, func(at github.ListOptions) ([]*github.WorkflowJob, *github.Response, error) {
		if attempt > 0 {
			jobs, res, err := c.api.Actions.ListWorkflowJobsAttempt(ctx, c.owner, c.name, runID, int64(attempt), &at)
			return jobsOf(jobs), res, err
		}
		jobs, res, err := c.api.Actions.ListWorkflowJobs(ctx, c.owner, c.name, runID, &github.ListWorkflowJobsOptions{Filter: "latest", ListOptions: at})
		return jobsOf(jobs), res, err
	})
	if err != nil {
		return nil, c.fail(op{doing: fmt.Sprintf("listing the jobs of run %d", runID), needs: "actions: read"}, res, err)
	}
	return each(list, job), nil
}

func jobsOf(j *github.Jobs) []*github.WorkflowJob {
	if j == nil {
		return nil
	}
	return j.Jobs
}

// red are the conclusions of a job or step that failed by itself.
func red(conclusion string) bool { return conclusion == "failure" || conclusion == "timed_out" }

func job(j *github.WorkflowJob) Job {
	out := Job{
		ID: j.GetID(), RunID: j.GetRunID(), Attempt: int(max(j.GetRunAttempt(), 1)), Name: j.GetName(),
		Status: j.GetStatus(), Conclusion: j.GetConclusion(), HeadSHA: j.GetHeadSHA(),
		Started: j.GetStartedAt().Time, Completed: j.GetCompletedAt().Time, CheckRunID: j.GetID(), URL: j.GetHTMLURL(),
	}
	if id, err := strconv.ParseInt(path.Base(j.GetCheckRunURL()), 10, 64); err == nil && id > 0 {
		out.CheckRunID = id
	}
	for _, s := range j.Steps {
		if red(s.GetConclusion()) {
			out.FailedSteps = append(out.FailedSteps, s.GetName())
		}
	}
	return out
}

// maxAnnotationPages is how far the annotations of a check run are read.
const maxAnnotationPages = 10

// Annotations lists what was annotated on a check run, at most 1,000.
func (c *Client) Annotations(ctx context.Context, checkRunID int64) ([]Annotation, error) {
	list, _, res, err := pages(maxAnnotationPages, func(at github.ListOptions) ([]*github.CheckRunAnnotation, *github.Response, error) {
		return c.api.Checks.ListCheckRunAnnotations(ctx, c.owner, c.name, checkRunID, &at)
	})
	return each(list, func(a *github.CheckRunAnnotation) Annotation {
		return Annotation{Path: a.GetPath(), Line: a.GetStartLine(), EndLine: a.GetEndLine(), Level: Level(a.GetAnnotationLevel()), Title: a.GetTitle(), Message: a.GetMessage()}
	}), c.fail(op{doing: fmt.Sprintf("listing the annotations of check run %d", checkRunID), needs: "checks: read"}, res, err)
}

// RerunFailed runs the failed jobs of a run again, on the same commit and with
// the same rights. Needs `actions: write`. Not possible 30 days after the run,
// or while it runs: [ErrForbidden].
func (c *Client) RerunFailed(ctx context.Context, runID int64) error {
	res, err := c.api.Actions.RerunFailedJobsByID(ctx, c.owner, c.name, runID)
	return c.fail(op{doing: fmt.Sprintf("running the failed jobs of run %d again", runID), needs: "actions: write"}, res, err)
}

// RerunRun runs all jobs of a run again. See [Client.RerunFailed].
func (c *Client) RerunRun(ctx context.Context, runID int64) error {
	res, err := c.api.Actions.RerunWorkflowByID(ctx, c.owner, c.name, runID)
	return c.fail(op{doing: fmt.Sprintf("running run %d again", runID), needs: "actions: write"}, res, err)
}

// RerunJob runs one job of a run again, and those that need it; what it needs
// itself keeps its result. See [Client.RerunFailed].
func (c *Client) RerunJob(ctx context.Context, jobID int64) error {
	res, err := c.api.Actions.RerunJobByID(ctx, c.owner, c.name, jobID)
	return c.fail(op{doing: fmt.Sprintf("running job %d again", jobID), needs: "actions: write"}, res, err)
}

// RunsOn lists the completed runs of a branch's name, newest first and at most
// most of them. A fork's branch may have the same name: compare HeadRepoID.
// workflow is as for [Client.RunsOf].
func (c *Client) RunsOn(ctx context.Context, branch, workflow string, most int) ([]Run, error) {
	o := op{doing: fmt.Sprintf("listing the runs of branch %.60q", branch), needs: "actions: read"}
	if branch == "" || most < 1 {
		return nil, &Error{Doing: o.doing, Message: "no branch is named, or no run is wanted", kind: ErrInvalid}
	}
	list, _, res, err := pages(min(runPages, 1+most/perPage), func(at github.ListOptions) ([]workflowRun, *github.Response, error) {
		var page struct {
			Runs []workflowRun `json:"workflow_runs"`
		}
		query := url.Values{"branch": {branch}, "status": {"completed"}, "per_page": {strconv.Itoa(at.PerPage)}}
		if at.Page > 1 {
			query.Set("page", strconv.Itoa(at.Page))
		}
		res, err := c.get(ctx, c.path("actions/runs?%s", query.Encode()), &page)
		return page.Runs, res, err
	})
	if err != nil {
		return nil, c.fail(o, res, err)
	}
	var runs []Run
	for i := range list {
		r := list[i].run()
		if r.HeadBranch == branch && (workflow == "" || r.Path == workflow || path.Base(r.Path) == workflow) {
			runs = append(runs, r)
		}
	}
	slices.SortStableFunc(runs, func(a, b Run) int { return b.Created.Compare(a.Created) })
	return runs[:min(len(runs), most)], nil
}
