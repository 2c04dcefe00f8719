package ghtest

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
)

// artifactDays is how long GitHub keeps artifacts unless told otherwise.
const artifactDays = 90

func (c *call) listArtifacts() reply { return c.artifacts(c.s.state.Artifacts) }

func (c *call) listRunArtifacts() reply {
	r, found := c.s.run(c.number("run_id"))
	if !found {
		return notFound()
	}
	of := slices.DeleteFunc(slices.Clone(c.s.state.Artifacts), func(a Artifact) bool { return a.Run != r.ID })
	if c.q("direction") == "asc" {
		slices.Reverse(of)
	}
	return c.artifacts(of)
}

// artifacts lists the youngest first.
func (c *call) artifacts(all []Artifact) reply {
	var out []any
	for _, a := range slices.Backward(all) {
		if name := c.q("name"); name == "" || name == a.Name {
			out = append(out, c.artifact(a))
		}
	}
	return c.counted("artifacts", out)
}

func (c *call) getArtifact() reply {
	a, found := c.s.artifact(c.number("artifact_id"))
	if !found {
		return notFound()
	}
	return ok(c.artifact(a))
}

func (c *call) downloadArtifact() reply {
	a, found := c.s.artifact(c.number("artifact_id"))
	switch {
	case !found || c.vars["archive_format"] != "zip":
		return notFound()
	case a.Expired:
		return failed(http.StatusGone, "Artifact has expired")
	}
	return c.redirect(blob{mime: "application/zip", data: a.bytes()})
}

func (s *Server) artifact(id int64) (Artifact, bool) {
	i := slices.IndexFunc(s.state.Artifacts, func(a Artifact) bool { return a.ID == id })
	if i < 0 {
		return Artifact{}, false
	}
	return s.state.Artifacts[i], true
}

func (a Artifact) bytes() []byte {
	if a.Zip != nil {
		return a.Zip
	}
	return Zip(a.Files)
}

func (c *call) artifact(a Artifact) obj {
	repo, data := c.s.state.Repo, a.bytes()
	r, found := c.s.run(a.Run)
	if !found {
		refuse("artifact %d is of run %d, which is not in the state", a.ID, a.Run)
	}
	size, sha, head := a.Size, a.HeadSHA, a.HeadRepo
	if size == 0 {
		size = int64(len(data))
	}
	if sha == "" {
		sha = r.HeadSHA
	}
	if head == 0 {
		head = r.HeadRepo
	}
	if head == 0 {
		head = repo.ID
	}
	created := a.Created
	if created.IsZero() {
		created = epoch
	}
	url := c.api(repo, "actions/artifacts/%d", a.ID)
	return c.like(repo, "artifact", "", obj{
		"id": a.ID, "name": a.Name, "size_in_bytes": size, "url": url, "archive_download_url": url + "/zip", "expired": a.Expired,
		"created_at": when(created), "updated_at": when(created), "expires_at": when(created.AddDate(0, 0, artifactDays)),
		"digest":       fmt.Sprintf("sha256:%x", sha256.Sum256(data)),
		"workflow_run": obj{"id": r.ID, "repository_id": repo.ID, "head_repository_id": head, "head_branch": r.HeadBranch, "head_sha": sha},
	})
}

// AddArtifact uploads files to a run; it gives the artifact's id.
func (s *Server) AddArtifact(run int64, name string, files map[string]string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := Artifact{ID: s.nextID(), Run: run, Name: name, Files: files, Created: s.stamp()}
	s.state.Artifacts = append(s.state.Artifacts, a)
	return a.ID
}
