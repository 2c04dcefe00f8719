package ghtest

import (
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
)

// actionsApp is the App behind the tokens of workflows; its id on github.com is known.
const (
	actionsApp   = "github-actions"
	actionsAppID = 15368
)

// listChecks lists the check runs of a commit: jobs of the latest attempts, and
// what was created.
func (c *call) listChecks() reply {
	sha, found := c.s.resolve(c.s.state.Repo, c.vars["ref"])
	if !found {
		return failed(http.StatusUnprocessableEntity, "No commit found for SHA: "+c.vars["ref"])
	}
	name, status, app, all := c.q("check_name"), c.q("status"), c.q("app_id"), c.q("filter") == "all"
	var out []any
	seen := map[string]bool{}
	for _, k := range slices.Backward(c.s.checksOf(sha, all)) {
		key := k.App + "\x00" + k.Name
		if name != "" && name != k.Name || status != "" && status != k.Status || app != "" && app != strconv.FormatInt(c.s.appID(k.App), 10) {
			continue
		}
		if seen[key] && !all && k.App != actionsApp {
			continue // filter=latest: one of a name
		}
		seen[key] = true
		out = append(out, c.check(k))
	}
	return c.counted("check_runs", out)
}

// checksOf are the check runs of a commit, jobs first.
func (s *Server) checksOf(sha string, all bool) []Check {
	var out []Check
	for _, r := range s.state.Runs {
		if r.HeadSHA != sha {
			continue
		}
		for n, a := range r.Attempts {
			for _, j := range a.Jobs {
				if last := n+1 == len(r.Attempts); last || all && j.Attempt == 0 {
					out = append(out, j.check(r))
				}
			}
		}
	}
	for _, k := range s.state.Checks {
		if k.HeadSHA == sha {
			out = append(out, k)
		}
	}
	return out
}

// check is the check run of a job.
func (j Job) check(r Run) Check {
	return Check{ID: j.ID, Name: j.Name, HeadSHA: r.HeadSHA, App: actionsApp, Status: j.Status, Conclusion: j.Conclusion, Annotations: j.Annotations}
}

func (c *call) getCheck() reply {
	if k, found := c.s.check(c.number("check_run_id")); found {
		return ok(c.check(*k))
	}
	return notFound()
}

// check finds a check run; that of a job is a copy.
func (s *Server) check(id int64) (*Check, bool) {
	if r, _, j, found := s.job(id); found {
		k := j.check(*r)
		return &k, true
	}
	i := slices.IndexFunc(s.state.Checks, func(k Check) bool { return k.ID == id })
	if i < 0 {
		return nil, false
	}
	return &s.state.Checks[i], true
}

func (c *call) listAnnotations() reply {
	k, found := c.s.check(c.number("check_run_id"))
	if !found {
		return notFound()
	}
	var out []any
	for _, a := range k.Annotations {
		out = append(out, c.like(c.s.state.Repo, "check-annotation-items", "", obj{
			"path": a.Path, "start_line": a.Start, "end_line": a.End, "start_column": nil, "end_column": nil, "annotation_level": a.Level,
			"message": a.Message, "title": orNil(a.Title), "raw_details": orNil(a.Raw), "blob_href": c.web(c.s.state.Repo, "blob/%s/%s", k.HeadSHA, a.Path),
		}))
	}
	return c.list(out)
}

// checkBody is what a check run is created and changed with.
type checkBody struct {
	Name, Status, Conclusion *string
	HeadSHA                  string  `json:"head_sha"`
	ExternalID               *string `json:"external_id"`
	DetailsURL               *string `json:"details_url"`
	Output                   *struct {
		Title, Summary, Text *string
		Annotations          []Annotation
	}
	Actions []any
}

func (c *call) createCheck() reply {
	var in checkBody
	c.decode(&in)
	if _, found := c.s.commit(in.HeadSHA); !found {
		return failed(http.StatusUnprocessableEntity, "No commit found for SHA: "+in.HeadSHA)
	}
	k := Check{ID: c.s.nextID(), HeadSHA: in.HeadSHA, App: c.appOfToken(), Status: "queued"}
	in.into(&k)
	c.s.state.Checks = append(c.s.state.Checks, k)
	return created(c.check(k))
}

func (c *call) updateCheck() reply {
	k, found := c.s.check(c.number("check_run_id"))
	if !found {
		return notFound()
	}
	if k.App != c.appOfToken() {
		return failed(http.StatusForbidden, "Invalid app_id `"+strconv.FormatInt(c.s.appID(c.appOfToken()), 10)+"` - check run can only be modified by the GitHub App that created it.")
	}
	var in checkBody
	c.decode(&in)
	in.into(k)
	k.Edits++
	return ok(c.check(*k))
}

// into lays a body over a check run. Annotations are added to those that are there.
func (in checkBody) into(k *Check) {
	set := func(to *string, from *string) {
		if from != nil {
			*to = *from
		}
	}
	set(&k.Name, in.Name)
	set(&k.Status, in.Status)
	if in.Conclusion != nil {
		k.Conclusion, k.Status = *in.Conclusion, "completed" // a conclusion completes
	}
	set(&k.ExternalID, in.ExternalID)
	set(&k.DetailsURL, in.DetailsURL)
	if in.Output != nil {
		set(&k.Title, in.Output.Title)
		set(&k.Summary, in.Output.Summary)
		set(&k.Text, in.Output.Text)
		k.Annotations = append(k.Annotations, in.Output.Annotations...)
	}
	if in.Actions != nil {
		k.Actions = in.Actions
	}
}

func (c *call) check(k Check) obj {
	repo := c.s.state.Repo
	pulls := []any{}
	for _, p := range c.s.state.Pulls {
		if p.Head.SHA == k.HeadSHA && p.Head.Repo == repo.ID { // none for forks
			pulls = append(pulls, c.pullOfRun(p))
		}
	}
	done := any(nil)
	if k.Status == "completed" {
		done = when(epoch)
	}
	details := k.DetailsURL
	if details == "" {
		details = c.web(repo, "runs/%d", k.ID)
	}
	return c.like(repo, "check-run", "", obj{
		"id": k.ID, "name": k.Name, "head_sha": k.HeadSHA, "external_id": k.ExternalID, "status": k.Status, "conclusion": orNil(k.Conclusion), "completed_at": done,
		"url": c.api(repo, "check-runs/%d", k.ID), "html_url": c.web(repo, "runs/%d", k.ID), "details_url": details, "pull_requests": pulls,
		"check_suite": obj{"id": suiteID(k.HeadSHA, k.App)}, "app": c.app("check-run", "app", k.App),
		"output": obj{
			"title": orNil(k.Title), "summary": orNil(k.Summary), "text": orNil(k.Text),
			"annotations_count": len(k.Annotations), "annotations_url": c.api(repo, "check-runs/%d/annotations", k.ID),
		},
	})
}

// listSuites has a suite for each App that has check runs on the commit.
func (c *call) listSuites() reply {
	sha, found := c.s.resolve(c.s.state.Repo, c.vars["ref"])
	if !found {
		return failed(http.StatusUnprocessableEntity, "No commit found for SHA: "+c.vars["ref"])
	}
	app, name := c.q("app_id"), c.q("check_name")
	suites := map[string][]Check{}
	var order []string
	for _, k := range c.s.checksOf(sha, false) {
		if app != "" && app != strconv.FormatInt(c.s.appID(k.App), 10) || name != "" && name != k.Name {
			continue
		}
		if suites[k.App] == nil {
			order = append(order, k.App)
		}
		suites[k.App] = append(suites[k.App], k)
	}
	var out []any
	for _, slug := range order {
		out = append(out, c.suite(sha, slug, suites[slug]))
	}
	return c.counted("check_suites", out)
}

func (c *call) suite(sha, slug string, checks []Check) obj {
	status, conclusion := "completed", "success"
	for _, k := range checks {
		switch {
		case k.Status != "completed":
			status = "in_progress"
		case k.Conclusion != "success" && k.Conclusion != "neutral" && k.Conclusion != "skipped":
			conclusion = "failure"
		}
	}
	result := any(conclusion)
	if status != "completed" {
		result = nil
	}
	repo, id := c.s.state.Repo, suiteID(sha, slug)
	return c.like(repo, "check-suite-paginated", "check_suites", obj{
		"id": id, "head_sha": sha, "status": status, "conclusion": result, "app": c.app("check-suite-paginated", "check_suites.app", slug), "pull_requests": []any{},
		"url": c.api(repo, "check-suites/%d", id), "check_runs_url": c.api(repo, "check-suites/%d/check-runs", id), "latest_check_runs_count": len(checks),
		"repository": c.repository(repo, "check-suite-paginated", "check_suites.repository"),
		"before":     nil, "after": sha, "head_commit": obj{"id": sha},
	})
}

// suiteID is the identity of the suite of an App on a commit.
func suiteID(sha, app string) int64 {
	h := fnv.New32a()
	h.Write([]byte(sha + app))
	return int64(h.Sum32())
}

// appOfToken is the App that a token acts for. A person's token has none, and
// may not write check runs.
func (c *call) appOfToken() string {
	if a := c.s.state.App; a != nil && c.token.User == a.Slug+"[bot]" {
		return a.Slug
	}
	return actionsApp
}

func (s *Server) appID(slug string) int64 {
	if a := s.state.App; a != nil && a.Slug == slug {
		return a.ID
	}
	if slug == actionsApp {
		return actionsAppID
	}
	return suiteID("", slug)
}

// app is an App in the form of an example.
func (c *call) app(example, at, slug string) obj {
	return c.like(c.s.state.Repo, example, at, obj{"id": c.s.appID(slug), "slug": slug, "name": slug, "html_url": "https://github.com/apps/" + slug})
}
