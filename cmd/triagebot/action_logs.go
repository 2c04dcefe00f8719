package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/gh"
)

const (
	// maxLog bounds one job's log; what is longer is cut at its end, where the
	// failures of a noisy job may be, but 64 MiB of test output is no usual job.
	maxLog = 64 << 20
	// maxLogJobs bounds the jobs whose logs are read: more of them are a matrix
	// that broke as a whole, and a few legs tell it.
	maxLogJobs = 8
	// A log appears some seconds after its job has ended.
	logTries = 4
	logPause = 3 * time.Second
)

// failedLogs downloads the logs of the failed jobs of this run, for a job that
// follows them. [errGreen] when none has failed.
func (a *actionRun) failedLogs(ctx context.Context, c *child) ([]string, error) {
	run, err := number(a.env("GITHUB_RUN_ID"))
	if err != nil {
		return nil, errors.New("looking for the red tests: give one of the inputs reports, logs, tests and command; a job without them reads the logs of the run's failed jobs, and here is no run")
	}
	g, err := a.client()
	if err != nil {
		return nil, fmt.Errorf("looking for the red tests: give one of the inputs reports, logs, tests and command, or a token that may read the logs of the failed jobs: %w", err)
	}
	jobs, err := a.failedJobs(ctx, g, run)
	if err != nil {
		return nil, err
	}
	var paths, missing []string
	for i, j := range jobs {
		if i == maxLogJobs {
			a.annotate(gh.Warning, fmt.Sprintf("%d jobs have failed; the logs of the first %d are read.", len(jobs), maxLogJobs))
			break
		}
		path := c.path(fmt.Sprintf("job-%d.log", j.ID))
		err := fetchLog(ctx, g, j.ID, path, logPause)
		if errors.Is(err, gh.ErrNoLog) {
			missing = append(missing, strconv.Quote(j.Name))
			continue
		}
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("reading the logs of the failed jobs: %s left no log: its runner was lost, or the log has expired or is not there yet; run this job again later, or use the input reports", several(missing))
	}
	if len(missing) > 0 {
		a.annotate(gh.Warning, "These failed jobs left no log and are not triaged: "+strings.Join(missing, ", "))
	}
	return paths, nil
}

// failedJobs are those of this attempt that are wanted. An attempt that /triage
// started may be green where the one before was red: then those count. That no
// job has ended at all is a mistake, and not green.
func (a *actionRun) failedJobs(ctx context.Context, g *gh.Client, run int64) ([]gh.Job, error) {
	attempt, err := strconv.Atoi(a.env("GITHUB_RUN_ATTEMPT"))
	if err != nil || attempt < 1 {
		attempt = 1
	}
	ended, broken := 0, ""
	for n := attempt; n >= max(1, attempt-1); n-- {
		jobs, err := g.Jobs(ctx, run, n)
		if err != nil {
			return nil, err
		}
		jobs = slices.DeleteFunc(wanted(jobs, lines(a.in["log-jobs"])), func(j gh.Job) bool { return j.Conclusion == "" || j.Conclusion == "skipped" })
		ended += len(jobs)
		if i := slices.IndexFunc(jobs, func(j gh.Job) bool { return n == attempt && !ranToItsEnd(j) }); i >= 0 {
			broken = fmt.Sprintf("%q is %s", jobs[i].Name, jobs[i].Conclusion)
		}
		if jobs = slices.DeleteFunc(jobs, func(j gh.Job) bool { return j.Conclusion != "failure" && j.Conclusion != "timed_out" }); len(jobs) > 0 {
			return jobs, nil
		}
	}
	if broken != "" {
		return nil, fmt.Errorf("looking for the red tests: no job has failed, but %s, so nothing can be told: run it again, or name the jobs that run tests with log-jobs", broken)
	}
	if ended == 0 {
		return nil, errors.New("looking for the red tests: no job of this run that log-jobs names has ended: give one of the inputs reports, logs, tests and command, or let this job follow the red one with needs")
	}
	return nil, errGreen
}

// ranToItsEnd tells jobs that have a result from those that were cancelled, or
// never began: they are no proof of anything.
func ranToItsEnd(j gh.Job) bool {
	return slices.Contains([]string{"success", "neutral", "failure", "timed_out"}, j.Conclusion)
}

// wanted picks the jobs that a list of names and beginnings names. The name of a
// matrix job is followed by its values.
func wanted(jobs []gh.Job, names []string) []gh.Job {
	if len(names) == 0 {
		return jobs
	}
	var out []gh.Job
	for _, j := range jobs {
		for _, n := range names {
			begin, open := strings.CutSuffix(n, "*")
			if j.Name == n || strings.HasPrefix(j.Name, n+" (") || open && strings.HasPrefix(j.Name, begin) {
				out = append(out, j)
				break
			}
		}
	}
	return out
}

// logs is what a log is fetched from.
type logs interface {
	JobLog(ctx context.Context, jobID int64, w io.Writer, limit int64) (gh.Log, error)
}

func fetchLog(ctx context.Context, g logs, job int64, path string, pause time.Duration) error {
	for try := 1; ; try++ {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
		if err != nil {
			return fmt.Errorf("keeping the log of job %d: %w", job, err)
		}
		_, err = g.JobLog(ctx, job, f, maxLog)
		err = errors.Join(err, f.Close())
		if !errors.Is(err, gh.ErrNoLog) || try == logTries {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}
