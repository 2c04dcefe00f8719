package ghtest

import (
	"net/http"
	"slices"
	"strings"
)

// commit finds a node of the graph.
func (s *Server) commit(sha string) (Commit, bool) {
	i := slices.IndexFunc(s.state.Commits, func(c Commit) bool { return c.SHA == sha })
	if i < 0 {
		return Commit{}, false
	}
	return s.state.Commits[i], true
}

// ancestors are a commit and all before it, nearest first.
func (s *Server) ancestors(sha string) []string {
	var out []string
	for queue := []string{sha}; len(queue) > 0; queue = queue[1:] {
		if slices.Contains(out, queue[0]) {
			continue
		}
		out = append(out, queue[0])
		if c, found := s.commit(queue[0]); found {
			queue = append(queue, c.Parents...)
		}
	}
	return out
}

// contains tells whether a commit is reached from another, or is it.
func (s *Server) contains(from, sha string) bool { return slices.Contains(s.ancestors(from), sha) }

// mergeBase is the common ancestor that no other common ancestor is after.
func (s *Server) mergeBase(a, b string) (string, bool) {
	ofB := s.ancestors(b)
	var common []string
	for _, sha := range s.ancestors(a) {
		if slices.Contains(ofB, sha) {
			common = append(common, sha)
		}
	}
	for _, sha := range common {
		if !slices.ContainsFunc(common, func(o string) bool { return o != sha && s.contains(o, sha) }) {
			return sha, true
		}
	}
	return "", false
}

func (c *call) getCommit() reply {
	repo, _ := c.repo()
	ref := c.vars["ref"]
	sha, found := c.s.resolve(repo, ref)
	if !found {
		return failed(http.StatusUnprocessableEntity, "No commit found for SHA: "+ref)
	}
	k, known := c.s.commit(sha)
	if !known {
		return notFound()
	}
	files, header := c.page(c.files(sha, k.Files))
	o := c.commitLike("commit", "", k)
	o["files"] = files
	return reply{status: http.StatusOK, body: o, header: header}
}

// commitLike writes a commit in the form of an example.
func (c *call) commitLike(example, at string, k Commit) obj {
	repo := c.s.state.Repo
	parents := []any{}
	for _, p := range k.Parents {
		parents = append(parents, obj{"sha": p, "url": c.api(repo, "commits/%s", p), "html_url": c.web(repo, "commit/%s", p)})
	}
	url := c.api(repo, "commits/%s", k.SHA)
	return c.like(repo, example, at, obj{
		"sha": k.SHA, "url": url, "html_url": c.web(repo, "commit/%s", k.SHA), "comments_url": url + "/comments", "parents": parents,
		"commit": obj{"message": k.Message, "url": c.api(repo, "git/commits/%s", k.SHA), "tree": obj{"sha": SHA("tree " + k.SHA)}},
	})
}

// compare answers base...head. Each end is a SHA, a branch, owner:branch or owner:repository:branch.
func (c *call) compare() reply {
	from, to, three := strings.Cut(c.vars["basehead"], "...")
	if !three {
		return notFound()
	}
	base, found := c.end(from)
	head, alsoFound := c.end(to)
	if !found || !alsoFound {
		return notFound()
	}
	merge, related := c.s.mergeBase(base.SHA, head.SHA)
	if !related {
		return failed(http.StatusNotFound, "No common ancestor between "+from+" and "+to+".")
	}
	ahead, behind := c.s.only(head.SHA, base.SHA), c.s.only(base.SHA, head.SHA)
	status := "diverged"
	switch {
	case len(ahead) == 0 && len(behind) == 0:
		status = "identical"
	case len(behind) == 0:
		status = "ahead"
	case len(ahead) == 0:
		status = "behind"
	}
	common, _ := c.s.commit(merge)
	commits, changed := []any{}, []string{}
	for _, k := range slices.Backward(ahead) {
		commits = append(commits, c.commitLike("commit-comparison", "commits", k))
		changed = append(changed, k.Files...)
	}
	part, header := c.page(commits)
	slices.Sort(changed)
	url := c.api(c.s.state.Repo, "compare/%s", c.vars["basehead"])
	return reply{status: http.StatusOK, header: header, body: c.like(c.s.state.Repo, "commit-comparison", "", obj{
		"url": url, "html_url": c.web(c.s.state.Repo, "compare/%s", c.vars["basehead"]), "status": status,
		"ahead_by": len(ahead), "behind_by": len(behind), "total_commits": len(ahead), "commits": part, "files": c.files(head.SHA, slices.Compact(changed)),
		"base_commit": c.commitLike("commit-comparison", "base_commit", base), "merge_base_commit": c.commitLike("commit-comparison", "merge_base_commit", common),
	})}
}

// end is a side of a comparison.
func (c *call) end(name string) (Commit, bool) {
	repo := c.s.state.Repo
	if owner, rest, has := strings.Cut(name, ":"); has {
		i := slices.IndexFunc(append([]Repo{repo}, c.s.state.Forks...), func(r Repo) bool { return strings.EqualFold(r.Owner, owner) })
		if i < 0 {
			return Commit{}, false
		}
		repo, name = append([]Repo{repo}, c.s.state.Forks...)[i], rest[strings.LastIndex(rest, ":")+1:]
	}
	sha, found := c.s.resolve(repo, name)
	if !found {
		return Commit{}, false
	}
	return c.s.commit(sha)
}

// only are the commits that one side reaches and the other does not, nearest first.
func (s *Server) only(of, not string) []Commit {
	other := s.ancestors(not)
	var out []Commit
	for _, sha := range s.ancestors(of) {
		if k, found := s.commit(sha); found && !slices.Contains(other, sha) {
			out = append(out, k)
		}
	}
	return out
}
