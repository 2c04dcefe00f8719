package ghtest

import (
	"crypto/sha1"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// SHA is the commit id that stands for a name in tests: SHA("head").
func SHA(name string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(name))) }

// exampleRepos are the repositories that GitHub's examples speak of.
var exampleRepos = []string{"octocat/Hello-World", "octocat/hello-worId", "octocat/example", "octo-org/octo-repo", "github/hello-world"}

// example is a copy of an example of the description, of its first item if it is
// a list. at leads into it: "workflow_runs", "base.repo". URLs are made the server's.
func (c *call) example(repo Repo, name, at string) obj {
	node, found := c.s.contract.examples[name]
	if !found {
		refuse("the description has no example %q", name)
	}
	for key := range strings.SplitSeq(at, ".") {
		if list, is := node.([]any); is {
			node = list[0]
		}
		if key != "" {
			node = node.(obj)[key]
		}
	}
	if list, is := node.([]any); is {
		node = list[0]
	}
	pairs := []string{"https://api.github.com", c.base}
	for _, r := range exampleRepos {
		pairs = append(pairs, r, repo.FullName())
	}
	return rewrite(node, strings.NewReplacer(pairs...)).(obj)
}

// like is an example with facts laid over it.
func (c *call) like(repo Repo, name, at string, over obj) obj {
	o := c.example(repo, name, at)
	lay(o, over)
	return o
}

func rewrite(node any, r *strings.Replacer) any {
	switch n := node.(type) {
	case obj:
		out := make(obj, len(n))
		for k, v := range n {
			out[k] = rewrite(v, r)
		}
		return out
	case []any:
		out := make([]any, len(n))
		for i, v := range n {
			out[i] = rewrite(v, r)
		}
		return out
	case string:
		return r.Replace(n)
	}
	return node
}

// lay puts facts over an example, object by object.
func lay(into, over obj) {
	for k, v := range over {
		inner, isObj := v.(obj)
		if old, was := into[k].(obj); isObj && was {
			lay(old, inner)
			continue
		}
		into[k] = v
	}
}

// user is a simple-user. It is a bot when its login says so.
func (c *call) user(login string) obj {
	kind := "User"
	if strings.HasSuffix(login, "[bot]") {
		kind = "Bot"
	}
	u := rewrite(c.example(c.s.state.Repo, "issue-comment", "user"), strings.NewReplacer("octocat", strings.ReplaceAll(login, "[bot]", "%5Bbot%5D"))).(obj)
	lay(u, obj{"login": login, "id": c.s.userID(login), "type": kind})
	return u
}

func (s *Server) userID(login string) int64 {
	for _, u := range s.state.Users {
		if strings.EqualFold(u.Login, login) && u.ID != 0 {
			return u.ID
		}
	}
	h := fnv.New32a()
	h.Write([]byte(strings.ToLower(login)))
	return int64(h.Sum32())
}

// repository is the form that pull requests and runs hold.
func (c *call) repository(r Repo, name, at string) obj {
	return c.like(r, name, at, obj{
		"id": r.ID, "name": r.Name, "full_name": r.FullName(), "private": r.Private, "fork": r.Fork,
		"owner": c.user(r.Owner),
	})
}

// repoByID finds the repository or one of its forks.
func (s *Server) repoByID(id int64) (Repo, bool) {
	all := append([]Repo{s.state.Repo}, s.state.Forks...)
	i := slices.IndexFunc(all, func(r Repo) bool { return r.ID == id })
	if id == 0 || i < 0 {
		return Repo{}, false
	}
	return all[i], true
}

// web is the address of a page for people.
func (c *call) web(repo Repo, format string, args ...any) string {
	host := "https://github.com/"
	if strings.HasSuffix(c.base, enterprisePrefix) {
		host = c.s.url + "/"
	}
	return host + repo.FullName() + "/" + fmt.Sprintf(format, args...)
}

// api is the address of something below a repository.
func (c *call) api(repo Repo, format string, args ...any) string {
	return c.base + "/repos/" + repo.FullName() + "/" + fmt.Sprintf(format, args...)
}
