package ghtest

import (
	"fmt"
	"slices"
	"strings"
)

func (c *call) listPulls() reply {
	state, head, base := c.q("state"), c.q("head"), c.q("base")
	if by := c.q("sort"); by != "" && by != "created" {
		refuse("the fake does not sort pull requests by %q", by)
	}
	var out []any
	for _, p := range c.pullsInOrder() {
		if state == "" && p.state() != "open" || state != "" && state != "all" && state != p.state() {
			continue
		}
		if head != "" && !strings.EqualFold(head, c.label(p.Head)) || base != "" && base != p.Base.Ref {
			continue
		}
		out = append(out, c.pull(p, "pull-request-simple-items"))
	}
	return c.list(out)
}

// pullsInOrder has the youngest first, as GitHub sorts by default; "asc" turns it.
func (c *call) pullsInOrder() []Pull {
	out := slices.Clone(c.s.state.Pulls)
	slices.SortFunc(out, func(a, b Pull) int { return b.Number - a.Number })
	if c.q("direction") == "asc" {
		slices.Reverse(out)
	}
	return out
}

func (c *call) getPull() reply {
	p, found := c.s.pull(int(c.number("pull_number")))
	if !found {
		return notFound()
	}
	return ok(c.pull(*p, "pull-request"))
}

func (c *call) listPullFiles() reply {
	p, found := c.s.pull(int(c.number("pull_number")))
	if !found {
		return notFound()
	}
	return c.list(c.files(p.Head.SHA, p.Files))
}

// pullsOfCommit finds pull requests by a commit. A head that is only in a fork
// is not found: GitHub answers [] for most of them.
func (c *call) pullsOfCommit() reply {
	sha := c.vars["commit_sha"]
	var out []any
	for _, p := range c.pullsInOrder() {
		if p.Head.Repo == c.s.state.Repo.ID && c.s.contains(p.Head.SHA, sha) && !c.s.contains(p.Base.SHA, sha) {
			out = append(out, c.pull(p, "pull-request-simple-items"))
		}
	}
	return c.list(out)
}

// onPull tells whether the issue or comment of the path is of a pull request.
func (c *call) onPull() bool {
	n := 0
	if _, has := c.vars["issue_number"]; has {
		n = int(c.number("issue_number"))
	} else if _, has := c.vars["comment_id"]; has {
		if cm, found := c.s.comment(c.number("comment_id")); found {
			n = cm.Issue
		}
	}
	_, found := c.s.pull(n)
	return found
}

func (s *Server) pull(number int) (*Pull, bool) {
	i := slices.IndexFunc(s.state.Pulls, func(p Pull) bool { return p.Number == number })
	if i < 0 {
		return nil, false
	}
	return &s.state.Pulls[i], true
}

func (p Pull) state() string {
	if p.State == "" {
		return "open"
	}
	return p.State
}

// label is "owner:branch".
func (c *call) label(b Branch) string {
	if r, found := c.s.repoByID(b.Repo); found {
		return r.Owner + ":" + b.Ref
	}
	return "unknown:" + b.Ref
}

// pull writes a pull request in the form of an example: pull-request or pull-request-simple-items.
func (c *call) pull(p Pull, example string) obj {
	repo := c.s.state.Repo
	o := rewrite(c.example(repo, example, ""), strings.NewReplacer("/1347", fmt.Sprintf("/%d", p.Number))).(obj) // the number of the examples
	lay(o, obj{
		"id": int64(p.Number) + 500_000, "number": p.Number, "title": p.Title, "body": p.Body, "state": p.state(), "draft": p.Draft,
		"user": c.user(p.User), "labels": c.labels(p.Labels), "assignees": []any{}, "requested_reviewers": []any{}, "requested_teams": []any{},
		"assignee": nil, "milestone": nil, "merge_commit_sha": orNil(p.Merge), "author_association": c.association(p.User), "auto_merge": nil,
		"html_url": c.web(repo, "pull/%d", p.Number), "url": c.api(repo, "pulls/%d", p.Number),
		"comments_url": c.api(repo, "issues/%d/comments", p.Number), "issue_url": c.api(repo, "issues/%d", p.Number),
		"head": c.branch(p.Head, p.User, example), "base": c.branch(p.Base, p.User, example), "closed_at": nil, "merged_at": nil,
	})
	if p.state() == "closed" {
		o["closed_at"] = "2026-01-02T03:04:05Z"
	}
	if example == "pull-request" {
		lay(o, obj{"merged": false, "merged_by": nil, "changed_files": len(p.Files), "comments": len(c.s.commentsOf(p.Number))})
	}
	return o
}

// branch is an end of a pull request; user owns a fork that is gone.
func (c *call) branch(b Branch, user, example string) obj {
	r, found := c.s.repoByID(b.Repo)
	if !found {
		return obj{"label": c.label(b), "ref": b.Ref, "sha": b.SHA, "repo": nil, "user": c.user(user)}
	}
	return obj{"label": c.label(b), "ref": b.Ref, "sha": b.SHA, "user": c.user(r.Owner), "repo": c.repository(r, example, "base.repo")}
}

// pullOfRun is the short form that runs and check runs hold.
func (c *call) pullOfRun(p Pull) obj {
	repo := c.s.state.Repo
	end := func(b Branch) obj {
		r, _ := c.s.repoByID(b.Repo)
		return obj{"ref": b.Ref, "sha": b.SHA, "repo": obj{"id": r.ID, "name": r.Name, "url": c.base + "/repos/" + r.FullName()}}
	}
	return obj{"id": int64(p.Number) + 500_000, "number": p.Number, "url": c.api(repo, "pulls/%d", p.Number), "head": end(p.Head), "base": end(p.Base)}
}

func (c *call) labels(names []string) []any {
	out := []any{}
	for i, n := range names {
		out = append(out, c.like(c.s.state.Repo, "label-items", "", obj{"id": 700_000 + i, "name": n, "url": c.api(c.s.state.Repo, "labels/%s", n), "default": false}))
	}
	return out
}

// files writes names as the files of a comparison.
func (c *call) files(sha string, names []string) []any {
	out := []any{}
	for _, n := range names {
		out = append(out, c.like(c.s.state.Repo, "diff-entry-items", "", obj{
			"filename": n, "sha": SHA(n), "status": "modified",
			"contents_url": c.api(c.s.state.Repo, "contents/%s?ref=%s", n, sha), "blob_url": c.web(c.s.state.Repo, "blob/%s/%s", sha, n), "raw_url": c.web(c.s.state.Repo, "raw/%s/%s", sha, n),
		}))
	}
	return out
}

// association is GitHub's unreliable hint: only the owner is told apart from the rest here.
func (c *call) association(login string) string {
	if strings.EqualFold(login, c.s.state.Repo.Owner) {
		return "OWNER"
	}
	return "NONE"
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// MoveHead is a push to the branch of a pull request: its head is another commit.
func (s *Server) MoveHead(number int, sha string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, found := s.pull(number)
	if !found {
		panic(fmt.Sprintf("ghtest: there is no pull request %d", number))
	}
	p.Head.SHA = sha
}
