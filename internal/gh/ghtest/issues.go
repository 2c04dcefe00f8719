package ghtest

import (
	"net/http"
	"slices"
	"strings"
)

func (s *Server) issue(n int) (*Issue, bool) {
	i := slices.IndexFunc(s.state.Issues, func(is Issue) bool { return is.Number == n })
	if i < 0 {
		return nil, false
	}
	return &s.state.Issues[i], true
}

// listIssues has pull requests too, as GitHub has.
func (c *call) listIssues() reply {
	state, creator := c.q("state"), c.q("creator")
	var labels []string
	if text := c.q("labels"); text != "" {
		labels = strings.Split(text, ",")
	}
	all := slices.Clone(c.s.state.Issues)
	for _, p := range c.s.state.Pulls {
		all = append(all, p.issue())
	}
	slices.SortFunc(all, func(a, b Issue) int { return b.Number - a.Number })
	if c.q("direction") == "asc" {
		slices.Reverse(all)
	}
	var out []any
	for _, i := range all {
		if state == "" && i.state() != "open" || state != "" && state != "all" && state != i.state() || creator != "" && !strings.EqualFold(creator, i.User) {
			continue
		}
		if !slices.ContainsFunc(labels, func(l string) bool { return !slices.Contains(i.Labels, l) }) {
			out = append(out, c.issue(i))
		}
	}
	return c.list(out)
}

func (c *call) getIssue() reply {
	n := int(c.number("issue_number"))
	if p, is := c.s.pull(n); is {
		return ok(c.issue(p.issue()))
	}
	if i, is := c.s.issue(n); is {
		return ok(c.issue(*i))
	}
	return notFound()
}

// issueBody is what an issue is made and changed with.
type issueBody struct {
	Title, Body, State *string
	Labels             *[]string
}

func (c *call) createIssue() reply {
	var in issueBody
	c.decode(&in)
	next := 1
	for _, i := range c.s.state.Issues {
		next = max(next, i.Number+1)
	}
	for _, p := range c.s.state.Pulls {
		next = max(next, p.Number+1)
	}
	i := Issue{Number: next, User: c.token.User}
	if bad := in.into(&i); bad != nil {
		return *bad
	}
	c.s.state.Issues = append(c.s.state.Issues, i)
	return created(c.issue(i))
}

func (c *call) editIssue() reply {
	i, found := c.s.issue(int(c.number("issue_number")))
	if !found {
		return notFound()
	}
	var in issueBody
	c.decode(&in)
	if bad := in.into(i); bad != nil {
		return *bad
	}
	return ok(c.issue(*i))
}

func (in issueBody) into(i *Issue) *reply {
	if in.Body != nil && len([]rune(*in.Body)) > MaxComment {
		bad := unprocessable("Issue", "body", "custom", "body is too long (maximum is 65536 characters)")
		return &bad
	}
	if in.Title != nil {
		i.Title = *in.Title
	}
	if in.Body != nil {
		i.Body = *in.Body
	}
	if in.State != nil {
		i.State = *in.State
	}
	if in.Labels != nil {
		i.Labels = *in.Labels
	}
	return nil
}

// addLabels adds to an issue or pull request; the body is an object or a bare list.
func (c *call) addLabels() reply {
	var in struct{ Labels []string }
	if strings.HasPrefix(string(c.body), "[") {
		c.decode(&in.Labels)
	} else {
		c.decode(&in)
	}
	n := int(c.number("issue_number"))
	labels := (*[]string)(nil)
	if p, is := c.s.pull(n); is {
		labels = &p.Labels
	} else if i, is := c.s.issue(n); is {
		labels = &i.Labels
	} else {
		return notFound()
	}
	for _, l := range in.Labels {
		if !slices.Contains(*labels, l) {
			*labels = append(*labels, l)
		}
	}
	return reply{status: http.StatusOK, body: c.labels(*labels)}
}

// issue is a pull request as an issue.
func (p Pull) issue() Issue {
	return Issue{Number: p.Number, Title: p.Title, Body: p.Body, User: p.User, State: p.State, Labels: p.Labels}
}

func (i Issue) state() string {
	if i.State == "" {
		return "open"
	}
	return i.State
}

func (c *call) issue(i Issue) obj {
	repo := c.s.state.Repo
	url, page := c.api(repo, "issues/%d", i.Number), "issues"
	_, isPull := c.s.pull(i.Number)
	if isPull {
		page = "pull"
	}
	o := c.like(repo, "issue-items", "", obj{
		"id": int64(i.Number) + 600_000, "number": i.Number, "title": i.Title, "body": i.Body, "state": i.state(), "user": c.user(i.User), "labels": c.labels(i.Labels),
		"assignee": nil, "assignees": []any{}, "milestone": nil, "closed_by": nil, "closed_at": nil, "locked": false, "active_lock_reason": nil, "state_reason": nil,
		"comments": len(c.s.commentsOf(i.Number)), "author_association": c.association(i.User), "pinned_comment": nil,
		"url": url, "html_url": c.web(repo, "%s/%d", page, i.Number), "comments_url": url + "/comments", "events_url": url + "/events", "labels_url": url + "/labels{/name}",
	})
	delete(o, "pull_request")
	if isPull {
		pull := c.api(repo, "pulls/%d", i.Number)
		web := c.web(repo, "pull/%d", i.Number)
		o["pull_request"] = obj{"url": pull, "html_url": web, "diff_url": web + ".diff", "patch_url": web + ".patch"}
	}
	return o
}
