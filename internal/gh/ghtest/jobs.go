package ghtest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// listJobs lists the jobs of an attempt: the named one, the latest, or with
// filter=all those of all attempts.
func (c *call) listJobs() reply {
	r, n, found := c.attempt()
	if !found {
		return notFound()
	}
	from := n
	if c.q("filter") == "all" {
		from = 1
	}
	var out []any
	for i := from; i <= n; i++ {
		for _, j := range r.Attempts[i-1].Jobs {
			if from == n || j.Attempt == 0 {
				out = append(out, c.job(*r, i, j))
			}
		}
	}
	return c.counted("jobs", out)
}

func (c *call) getJob() reply {
	r, n, j, found := c.s.job(c.number("job_id"))
	if !found {
		return notFound()
	}
	return ok(c.job(*r, n, *j))
}

// job finds a job and the attempt that ran it.
func (s *Server) job(id int64) (*Run, int, *Job, bool) {
	for i := range s.state.Runs {
		r := &s.state.Runs[i]
		for n := range r.Attempts {
			jobs := r.Attempts[n].Jobs
			if k := slices.IndexFunc(jobs, func(j Job) bool { return j.ID == id }); k >= 0 {
				return r, n + 1, &jobs[k], true
			}
		}
	}
	return nil, 0, nil, false
}

func (c *call) job(r Run, attempt int, j Job) obj {
	repo := c.s.state.Repo
	if j.Attempt != 0 {
		attempt = j.Attempt
	}
	w, _ := c.s.workflow(strconv.FormatInt(r.Workflow, 10))
	steps := []any{}
	for i, st := range j.Steps {
		steps = append(steps, obj{"name": st.Name, "status": "completed", "conclusion": st.Conclusion, "number": i + 1, "started_at": when(r.Created), "completed_at": when(r.Created)})
	}
	done := any(nil)
	if j.Status == "completed" {
		done = when(r.Created)
	}
	return c.like(repo, "job", "", obj{
		"id": j.ID, "run_id": r.ID, "run_attempt": attempt, "run_url": c.api(repo, "actions/runs/%d", r.ID), "head_sha": r.HeadSHA, "head_branch": r.HeadBranch,
		"url": c.api(repo, "actions/jobs/%d", j.ID), "html_url": c.web(repo, "actions/runs/%d/job/%d", r.ID, j.ID), "check_run_url": c.api(repo, "check-runs/%d", j.ID),
		"status": j.Status, "conclusion": orNil(j.Conclusion), "created_at": when(r.Created), "started_at": when(r.Created), "completed_at": done,
		"name": j.Name, "steps": steps, "labels": []any{"ubuntu-latest"}, "workflow_name": w.Name,
	})
}

func (c *call) jobLog() reply {
	_, _, j, found := c.s.job(c.number("job_id"))
	if !found {
		return notFound()
	}
	switch {
	case j.Status != "completed", j.LogState == LogMissing:
		return notFound()
	case j.LogState == LogExpired:
		return gone()
	case j.LogState == LogLost:
		return c.redirect(blob{lost: true})
	}
	return c.redirect(blob{mime: "text/plain", data: []byte(j.Log)})
}

// runLogs is a zip with a file for each job of an attempt.
func (c *call) runLogs() reply {
	r, n, found := c.attempt()
	if !found || r.Attempts[n-1].Status != "completed" {
		return notFound()
	}
	files := map[string]string{}
	for i, j := range r.Attempts[n-1].Jobs {
		switch j.LogState {
		case LogThere:
			files[fmt.Sprintf("%d_%s.txt", i, j.Name)] = j.Log
		case LogExpired:
			return gone()
		}
	}
	return c.redirect(blob{mime: "application/zip", data: Zip(files)})
}

func gone() reply { return failed(http.StatusGone, "Server Error") }

// rerunRun, rerunFailed and rerunJob start another attempt. An old or a running
// run is refused as GitHub does.

func (c *call) rerunRun() reply {
	r, found := c.s.run(c.number("run_id"))
	if !found {
		return notFound()
	}
	return c.rerun(r, "all", 0, func(Job) bool { return true })
}

func (c *call) rerunFailed() reply {
	r, found := c.s.run(c.number("run_id"))
	if !found {
		return notFound()
	}
	return c.rerun(r, "failed", 0, func(j Job) bool { return j.Conclusion != "success" && j.Conclusion != "skipped" })
}

func (c *call) rerunJob() reply {
	r, _, j, found := c.s.job(c.number("job_id"))
	if !found {
		return notFound()
	}
	return c.rerun(r, "job", j.ID, func(o Job) bool { return o.ID == j.ID })
}

// maxRerunDays is how long GitHub lets a run be run again.
const maxRerunDays = 30

func (c *call) rerun(r *Run, kind string, job int64, again func(Job) bool) reply {
	var in struct {
		Debug bool `json:"enable_debug_logging"`
	}
	if len(c.body) > 0 {
		c.decode(&in)
	}
	last := len(r.Attempts)
	switch {
	case r.Attempts[last-1].Status != "completed":
		return failed(http.StatusForbidden, "This workflow is already running")
	case !r.Created.IsZero() && c.s.now().After(r.Created.AddDate(0, 0, maxRerunDays)):
		return failed(http.StatusForbidden, "Unable to retry this workflow run because it was created over a month ago")
	}
	next := Attempt{Status: "queued"}
	for _, j := range r.Attempts[last-1].Jobs {
		if !again(j) {
			if j.Attempt == 0 {
				j.Attempt = last
			}
			next.Jobs = append(next.Jobs, j)
			continue
		}
		next.Jobs = append(next.Jobs, Job{ID: c.s.nextID(), Name: j.Name, Status: "queued"})
	}
	r.Attempts = append(r.Attempts, next)
	c.s.state.Reruns = append(c.s.state.Reruns, Rerun{By: c.token.User, Kind: kind, Run: r.ID, Job: job, Attempt: last + 1, Debug: in.Debug})
	return created(obj{})
}
