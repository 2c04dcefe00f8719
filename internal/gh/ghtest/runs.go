package ghtest

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (c *call) listRuns() reply { return c.runs(c.s.state.Runs) }

func (c *call) listWorkflowRuns() reply {
	w, found := c.s.workflow(c.vars["workflow_id"])
	if !found {
		return notFound()
	}
	return c.runs(slices.DeleteFunc(slices.Clone(c.s.state.Runs), func(r Run) bool { return r.Workflow != w.ID }))
}

// runs lists the runs that the query asks for, the youngest first.
func (c *call) runs(runs []Run) reply {
	sha, branch, event, status, actor := c.q("head_sha"), c.q("branch"), c.q("event"), c.q("status"), c.q("actor")
	var out []any
	for _, r := range slices.Backward(runs) {
		last := r.Attempts[len(r.Attempts)-1]
		if sha != "" && sha != r.HeadSHA || branch != "" && branch != r.HeadBranch || event != "" && event != r.Event ||
			actor != "" && actor != r.Actor || status != "" && status != last.Status && status != last.Conclusion {
			continue
		}
		out = append(out, c.run(r, len(r.Attempts)))
	}
	return c.counted("workflow_runs", out)
}

func (c *call) getRun() reply {
	r, found := c.s.run(c.number("run_id"))
	if !found {
		return notFound()
	}
	return ok(c.run(*r, len(r.Attempts)))
}

func (c *call) getAttempt() reply {
	r, n, found := c.attempt()
	if !found {
		return notFound()
	}
	return ok(c.run(*r, n))
}

// attempt finds the run of the path and the attempt that is named there, or the last.
func (c *call) attempt() (*Run, int, bool) {
	r, found := c.s.run(c.number("run_id"))
	if !found {
		return nil, 0, false
	}
	n := len(r.Attempts)
	if _, named := c.vars["attempt_number"]; named {
		n = int(c.number("attempt_number"))
	}
	return r, n, n >= 1 && n <= len(r.Attempts)
}

func (s *Server) run(id int64) (*Run, bool) {
	i := slices.IndexFunc(s.state.Runs, func(r Run) bool { return r.ID == id })
	if i < 0 {
		return nil, false
	}
	return &s.state.Runs[i], true
}

// workflow finds a workflow by its id or by the name of its file.
func (s *Server) workflow(name string) (Workflow, bool) {
	i := slices.IndexFunc(s.state.Workflows, func(w Workflow) bool {
		return strconv.FormatInt(w.ID, 10) == name || path.Base(w.Path) == name
	})
	if i < 0 {
		return Workflow{}, false
	}
	return s.state.Workflows[i], true
}

// run writes a run as it was in an attempt.
func (c *call) run(r Run, attempt int) obj {
	repo := c.s.state.Repo
	w, found := c.s.workflow(strconv.FormatInt(r.Workflow, 10))
	if !found {
		refuse("run %d is of workflow %d, which is not in the state", r.ID, r.Workflow)
	}
	head, url := repo, c.api(repo, "actions/runs/%d", r.ID)
	if r.HeadRepo != 0 {
		head, _ = c.s.repoByID(r.HeadRepo)
	}
	a := r.Attempts[attempt-1]
	created, previous := when(r.Created), any(nil)
	if attempt > 1 {
		previous = url + "/attempts/" + strconv.Itoa(attempt-1)
	}
	pulls, without := []any{}, c.q("exclude_pull_requests") == "true"
	for _, n := range r.Pulls {
		if p, found := c.s.pull(n); found && !without {
			pulls = append(pulls, c.pullOfRun(*p))
		}
	}
	return c.like(repo, "workflow-run", "", obj{
		"id": r.ID, "name": w.Name, "path": w.Path, "event": r.Event, "display_title": w.Name, "run_number": 1, "run_attempt": attempt,
		"head_branch": r.HeadBranch, "head_sha": r.HeadSHA, "status": a.Status, "conclusion": orNil(a.Conclusion), "workflow_id": w.ID,
		"pull_requests": pulls, "created_at": created, "updated_at": created, "run_started_at": created, "referenced_workflows": []any{},
		"actor": c.user(r.Actor), "triggering_actor": c.user(r.Actor), "previous_attempt_url": previous, "check_suite_id": suiteID(r.HeadSHA, actionsApp),
		"check_suite_url": c.api(repo, "check-suites/%d", suiteID(r.HeadSHA, actionsApp)),
		"url":             url, "html_url": c.web(repo, "actions/runs/%d", r.ID), "workflow_url": c.api(repo, "actions/workflows/%d", w.ID),
		"jobs_url": url + "/jobs", "logs_url": url + "/logs", "artifacts_url": url + "/artifacts", "cancel_url": url + "/cancel", "rerun_url": url + "/rerun",
		"head_commit": obj{"id": r.HeadSHA, "tree_id": SHA("tree " + r.HeadSHA)},
		"repository":  c.repository(repo, "workflow-run", "repository"), "head_repository": c.repository(head, "workflow-run", "head_repository"),
	})
}

// epoch is when whatever has no time of its own happened.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// when is a time as GitHub writes it.
func when(t time.Time) string {
	if t.IsZero() {
		t = epoch
	}
	return t.UTC().Format(time.RFC3339)
}

func (c *call) dispatchWorkflow() reply {
	w, found := c.s.workflow(c.vars["workflow_id"])
	if !found {
		return notFound()
	}
	var in struct {
		Ref    string
		Inputs map[string]any
		Return bool `json:"return_run_details"`
	}
	c.decode(&in)
	if _, found := c.s.resolve(c.s.state.Repo, in.Ref); !found {
		return failed(422, "No ref found for: "+in.Ref)
	}
	c.s.state.Dispatches = append(c.s.state.Dispatches, Dispatch{By: c.token.User, Workflow: path.Base(w.Path), Ref: strings.TrimPrefix(in.Ref, "refs/heads/"), Inputs: in.Inputs})
	if !in.Return {
		return noContent()
	}
	id := c.s.nextID()
	return ok(c.like(c.s.state.Repo, "workflow-dispatch-response", "", obj{
		"workflow_run_id": id, "run_url": c.api(c.s.state.Repo, "actions/runs/%d", id), "html_url": c.web(c.s.state.Repo, "actions/runs/%d", id),
	}))
}

func (c *call) dispatchRepository() reply {
	var in struct {
		Type    string         `json:"event_type"`
		Payload map[string]any `json:"client_payload"`
	}
	c.decode(&in)
	c.s.state.Dispatches = append(c.s.state.Dispatches, Dispatch{By: c.token.User, Type: in.Type, Payload: in.Payload})
	return noContent()
}
