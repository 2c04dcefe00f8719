package history

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// Repo is a repository in GitHub's own words.
type Repo struct {
	ID            int64
	DefaultBranch string
}

// Run is a workflow run in GitHub's own words. What its artifacts say of
// themselves proves nothing.
type Run struct {
	ID      int64
	Branch  string
	Event   string
	HeadSHA string
	// RepoID is the repository that the workflow belongs to, HeadRepoID the one
	// whose code ran: they differ for a fork.
	RepoID, HeadRepoID int64
	Created            time.Time
}

// Artifact is one report that a run left.
type Artifact struct {
	Name string
	Read func(ctx context.Context) ([]byte, error)
}

// GitHub is what is asked of GitHub.
type GitHub interface {
	Repo(ctx context.Context) (Repo, error)
	// Runs lists the completed runs of a branch's name, newest first. A fork may
	// have a branch of that name too.
	Runs(ctx context.Context, branch string, most int) ([]Run, error)
	// Reports lists the reports that a run left. An artifact that GitHub does not
	// call one of this run is left out.
	Reports(ctx context.Context, run Run) ([]Artifact, error)
}

// Actions is the source of what runs of the default branch left. The repository,
// the branch and the event of every run are GitHub's own words; a run of a fork or
// of a pull request is never taken, whatever its branch is called.
type Actions struct{ API GitHub }

// trustedEvents are those that run the default branch's own code. Events of pull
// requests do not, and workflow_run hands on what others left.
var trustedEvents = []string{"push", "schedule", "workflow_dispatch"}

// Entries lists the reports of trusted runs. Each must be of its run's commit.
func (a Actions) Entries(ctx context.Context, limit int) ([]Entry, []string, error) {
	repo, err := a.API.Repo(ctx)
	if err != nil {
		return nil, nil, err
	}
	runs, err := a.API.Runs(ctx, repo.DefaultBranch, limit)
	if err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(runs, func(a, b Run) int { return b.Created.Compare(a.Created) })
	var out []Entry
	var refused, unread []string
	for _, run := range runs {
		if len(out) >= limit {
			break
		}
		if err := trusted(run, repo); err != nil {
			refused = append(refused, fmt.Sprintf("run %d: %v", run.ID, err))
			continue
		}
		reports, err := a.API.Reports(ctx, run)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			unread = append(unread, err.Error())
			continue
		}
		for _, r := range reports {
			out = append(out, Entry{Name: fmt.Sprintf("run %d: %s", run.ID, r.Name), HeadSHA: run.HeadSHA, Open: func(ctx context.Context) (io.ReadCloser, error) {
				b, err := r.Read(ctx)
				return io.NopCloser(bytes.NewReader(b)), err
			}})
		}
	}
	return out[:min(len(out), limit)], actionWarnings(refused, unread), nil
}

func actionWarnings(refused, unread []string) []string {
	var out []string
	if len(refused) > 0 {
		out = append(out, fmt.Sprintf("history: %d runs are not trusted, for example %s", len(refused), refused[0]))
	}
	if len(unread) > 0 {
		out = append(out, fmt.Sprintf("history: the artifacts of %d runs cannot be listed, for example %s", len(unread), unread[0]))
	}
	return out
}

// trusted says why a run is no evidence of main.
func trusted(run Run, repo Repo) error {
	switch {
	case run.RepoID != repo.ID || run.HeadRepoID != repo.ID:
		return fmt.Errorf("its code is of another repository")
	case run.Branch != repo.DefaultBranch:
		return fmt.Errorf("it is of branch %.60q, not of %q", run.Branch, repo.DefaultBranch)
	case !slices.Contains(trustedEvents, run.Event):
		return fmt.Errorf("it was started by %.40q", run.Event)
	case run.HeadSHA == "":
		return fmt.Errorf("its commit is not known")
	}
	return nil
}
