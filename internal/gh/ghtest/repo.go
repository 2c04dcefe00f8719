package ghtest

import (
	"encoding/base64"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

func (c *call) getRepo() reply {
	r, _ := c.repo()
	visibility := "public"
	if r.Private {
		visibility = "private"
	}
	o := c.repository(r, "full-repository-default-response", "")
	lay(o, obj{"default_branch": r.DefaultBranch, "visibility": visibility, "language": nil, "html_url": strings.TrimSuffix(c.web(r, ""), "/"), "url": strings.TrimSuffix(c.api(r, ""), "/")})
	for _, k := range []string{"parent", "source", "template_repository", "organization"} {
		delete(o, k)
	}
	return ok(o)
}

// permission tells what a user may do: the coarse word, and the role.
func (c *call) permission() reply {
	login := c.vars["username"]
	i := slices.IndexFunc(c.s.state.Users, func(u User) bool { return strings.EqualFold(u.Login, login) })
	if i < 0 {
		return notFound()
	}
	u := c.s.state.Users[i]
	role := u.Role
	if role == "" || role == "none" {
		role = "none"
		if !c.s.state.Repo.Private {
			role = "read" // everybody may read what is public
		}
	}
	coarse := map[string]string{"maintain": "write", "triage": "read"}[role]
	if coarse == "" {
		coarse = role
	}
	who := c.user(u.Login)
	who["role_name"] = role
	return ok(obj{"permission": coarse, "role_name": role, "user": who})
}

func (c *call) getUser() reply {
	login := c.vars["username"]
	known := slices.ContainsFunc(c.s.state.Users, func(u User) bool { return strings.EqualFold(u.Login, login) })
	if !known && !strings.HasSuffix(login, "[bot]") {
		return notFound()
	}
	o := c.example(c.s.state.Repo, "public-user-default-response", "")
	lay(o, c.user(login))
	o["user_view_type"] = "public" // tells the forms of a user apart; the example lacks it
	return ok(o)
}

// getMe is the user behind the token. The token of a workflow or an App is no user.
func (c *call) getMe() reply {
	if c.token == nil {
		return failed(http.StatusUnauthorized, "Requires authentication")
	}
	if strings.HasSuffix(c.token.User, "[bot]") {
		return failed(http.StatusForbidden, "Resource not accessible by integration")
	}
	o := c.example(c.s.state.Repo, "private-user-response-with-public-profile-information", "")
	lay(o, c.user(c.token.User))
	o["user_view_type"] = "public"
	return ok(o)
}

func (c *call) rateLimit() reply {
	limit, used := defaultLimit, 0
	if c.token != nil {
		limit, used = c.token.limit(), c.token.Used
	}
	core := obj{"limit": limit, "used": used, "remaining": max(limit-used, 0), "reset": c.s.reset().Unix()}
	return ok(c.like(c.s.state.Repo, "rate-limit-overview", "", obj{"rate": core, "resources": obj{"core": core}}))
}

// getContents gives a file at a ref; folders are not served.
func (c *call) getContents() reply {
	repo, _ := c.repo()
	ref := c.q("ref")
	if ref == "" {
		ref = repo.DefaultBranch
	}
	sha, found := c.s.resolve(repo, ref)
	if !found {
		return failed(http.StatusNotFound, "No commit found for the ref "+ref)
	}
	i := slices.IndexFunc(c.s.state.Files, func(f File) bool { return f.Path == c.vars["path"] && (f.SHA == "" || f.SHA == sha) })
	if i < 0 {
		return notFound()
	}
	f := c.s.state.Files[i]
	url := c.api(repo, "contents/%s?ref=%s", f.Path, ref)
	return ok(c.like(repo, "content-file-response-if-content-is-a-file", "", obj{
		"name": path.Base(f.Path), "path": f.Path, "size": len(f.Content), "content": wrapped(f.Content), "sha": SHA(f.Content), "url": url,
		"html_url": c.web(repo, "blob/%s/%s", ref, f.Path), "git_url": c.api(repo, "git/blobs/%s", SHA(f.Content)), "download_url": nil, "_links": obj{"self": url},
	}))
}

// wrapped is base64 with a line break after 60 characters, as GitHub writes it.
func wrapped(content string) string {
	text := base64.StdEncoding.EncodeToString([]byte(content))
	var out strings.Builder
	for part := range slices.Chunk([]byte(text), 60) {
		out.Write(part)
		out.WriteByte('\n')
	}
	return out.String()
}

func (c *call) getRef() reply {
	repo, _ := c.repo()
	ref := c.vars["ref"]
	sha, found := c.s.ref(repo, ref)
	if !found {
		return notFound()
	}
	return ok(c.like(repo, "git-ref", "", obj{
		"ref": "refs/" + ref, "url": c.api(repo, "git/refs/%s", ref),
		"object": obj{"type": "commit", "sha": sha, "url": c.api(repo, "git/commits/%s", sha)},
	}))
}

// ref is the commit of a full name without "refs/".
func (s *Server) ref(repo Repo, name string) (string, bool) {
	if sha, found := s.state.Refs[name]; found && repo.ID == s.state.Repo.ID {
		return sha, true
	}
	if number, kind, is := strings.Cut(strings.TrimPrefix(name, "pull/"), "/"); is && strings.HasPrefix(name, "pull/") {
		n, _ := strconv.Atoi(number)
		if p, found := s.pull(n); found && repo.ID == s.state.Repo.ID {
			sha := map[string]string{"head": p.Head.SHA, "merge": p.Merge}[kind]
			return sha, sha != ""
		}
	}
	for _, p := range s.state.Pulls {
		if p.Head.Repo == repo.ID && "heads/"+p.Head.Ref == name {
			return p.Head.SHA, true
		}
	}
	return "", false
}

// resolve is the commit that a SHA, a branch, a tag or a full name stands for.
func (s *Server) resolve(repo Repo, name string) (string, bool) {
	if _, found := s.commit(name); found {
		return name, true
	}
	name = strings.TrimPrefix(name, "refs/")
	for _, full := range []string{name, "heads/" + name, "tags/" + name} {
		if sha, found := s.ref(repo, full); found {
			return sha, true
		}
	}
	return "", false
}
