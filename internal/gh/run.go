package gh

import (
	"context"
	"io"
	"time"
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

// Log is what was read of a job's log.
type Log struct {
	Bytes int64
	// Truncated is set when the log is longer than the limit.
	Truncated bool
}

// Run gets a run with its latest attempt.
func (c *Client) Run(ctx context.Context, id int64) (Run, error) { return Run{}, errNotBuilt }

// RunsOf lists the runs of a workflow for a head SHA, newest first. workflow is
// the file, "triage.yml" or ".github/workflows/triage.yml"; "" is every workflow.
func (c *Client) RunsOf(ctx context.Context, sha, workflow string) ([]Run, error) {
	return nil, errNotBuilt
}

// FailedJobs lists the jobs of an attempt that failed or timed out; attempt 0
// is the latest. Jobs that still run or were cancelled are not in it.
func (c *Client) FailedJobs(ctx context.Context, runID int64, attempt int) ([]Job, error) {
	return nil, errNotBuilt
}

// JobLog writes the log of a finished job to w, at most limit bytes of it.
// There is none while the job runs, after it expired, or when the runner was
// lost: [ErrNoLog], which is a normal answer. The log is hostile text.
func (c *Client) JobLog(ctx context.Context, jobID int64, w io.Writer, limit int64) (Log, error) {
	return Log{}, errNotBuilt
}

// Annotations lists what was annotated on a check run, at most 1,000.
func (c *Client) Annotations(ctx context.Context, checkRunID int64) ([]Annotation, error) {
	return nil, errNotBuilt
}

// RerunFailed runs the failed jobs of a run again, on the same commit and with
// the same rights. Needs `actions: write`. Not possible 30 days after the run,
// or while it runs: [ErrForbidden].
func (c *Client) RerunFailed(ctx context.Context, runID int64) error { return errNotBuilt }

// RerunRun runs all jobs of a run again. See [Client.RerunFailed].
func (c *Client) RerunRun(ctx context.Context, runID int64) error { return errNotBuilt }
