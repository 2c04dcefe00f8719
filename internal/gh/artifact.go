package gh

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"time"

	"github.com/google/go-github/v62/github"
)

// Artifact is a zip that a run left.
type Artifact struct {
	ID      int64
	Name    string
	Size    int64
	Expired bool
	// RunID, HeadSHA and HeadRepoID are GitHub's own words on where it comes
	// from: compare them with the run.
	RunID      int64
	HeadSHA    string
	HeadRepoID int64
	Created    time.Time
}

// Of says why an artifact does not belong to a run, going by GitHub's own words
// on both; nil when it does. What the artifact says of itself proves nothing.
func (a Artifact) Of(run Run) error {
	var why string
	switch {
	case a.RunID != run.ID:
		why = fmt.Sprintf("it is of run %d", a.RunID)
	case a.HeadSHA != run.HeadSHA:
		why = fmt.Sprintf("it is of commit %.12s", oneLine(a.HeadSHA))
	case a.HeadRepoID != run.HeadRepoID:
		why = fmt.Sprintf("it is of repository %d", a.HeadRepoID)
	default:
		return nil
	}
	return fmt.Errorf("taking artifact %q for run %d: %s: %w", oneLine(a.Name), run.ID, why, ErrArtifact)
}

// artifactPages is how far the artifacts of a run are listed.
const artifactPages = 5

// Artifacts lists the artifacts of a run, newest first, one of each name: of
// two attempts that wrote the same name the later counts.
func (c *Client) Artifacts(ctx context.Context, runID int64) ([]Artifact, error) {
	list, _, res, err := pages(artifactPages, func(at github.ListOptions) ([]*github.Artifact, *github.Response, error) {
		page, res, err := c.api.Actions.ListWorkflowRunArtifacts(ctx, c.owner, c.name, runID, &at)
		if err != nil {
			return nil, res, err
		}
		return page.Artifacts, res, nil
	})
	if err != nil {
		return nil, c.fail(op{doing: fmt.Sprintf("listing the artifacts of run %d", runID), needs: "actions: read"}, res, err)
	}
	all := each(list, func(a *github.Artifact) Artifact {
		return Artifact{
			ID: a.GetID(), Name: a.GetName(), Size: a.GetSizeInBytes(), Expired: a.GetExpired(), Created: a.GetCreatedAt().Time,
			RunID: a.GetWorkflowRun().GetID(), HeadSHA: a.GetWorkflowRun().GetHeadSHA(), HeadRepoID: a.GetWorkflowRun().GetHeadRepositoryID(),
		}
	})
	slices.SortStableFunc(all, func(a, b Artifact) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID))
	})
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(a Artifact) bool {
		older := seen[a.Name]
		seen[a.Name] = true
		return older
	}), nil
}

// ReadArtifact reads the files of an artifact whose names match one of names
// (path.Match patterns, as "report*.json"), into memory; nothing is written to
// disk. The whole zip is refused ([ErrArtifact]) when any entry of it, wanted or
// not, is a link, leaves the zip's root, is in a folder (unless limits.Nested),
// has a name twice, or when a size is beyond the limits. [ErrGone] when it has
// expired.
func (c *Client) ReadArtifact(ctx context.Context, a Artifact, names []string, limits Limits) (map[string][]byte, error) {
	o := op{doing: fmt.Sprintf("reading artifact %d, %q", a.ID, oneLine(a.Name)), needs: "actions: read"}
	limits = limits.orDefault()
	if a.Expired {
		return nil, &Error{Doing: o.doing, Message: "it has expired", kind: ErrGone, Fix: "run the measuring workflow again"}
	}
	if a.Size > limits.Zip {
		return nil, fmt.Errorf("%s: its zip has %d bytes, at most %d are read: %w", o.doing, a.Size, limits.Zip, ErrArtifact)
	}
	var data []byte
	err := c.download(ctx, o, func() (*url.URL, *github.Response, error) {
		return c.api.Actions.DownloadArtifact(ctx, c.owner, c.name, a.ID, maxHops)
	}, func(body io.Reader) (err error) {
		data, err = io.ReadAll(io.LimitReader(body, limits.Zip+1))
		return err
	})
	if err != nil {
		return nil, err
	}
	files, err := readZip(data, names, limits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.doing, err)
	}
	return files, nil
}
