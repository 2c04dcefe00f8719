package gh

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-github/v62/github"
)

// Pull is a pull request.
type Pull struct {
	Number int
	// State is open or closed.
	State      string
	Head, Base Branch
	// Author is the login of who opened it.
	Author string
	URL    string
	// MergeSHA is GitHub's trial merge, "" while it is not known.
	MergeSHA string
}

// Branch is one end of a pull request.
type Branch struct {
	SHA string
	// Ref is the branch's name; anybody may name a fork's branch main.
	Ref string
	// RepoID and Repo ("owner/name") are 0 and "" when a fork was deleted.
	RepoID int64
	Repo   string
}

// Fork reports whether the head comes from another repository, or from one
// that is not known: its code is not trusted.
func (p Pull) Fork() bool { return p.Head.RepoID == 0 || p.Head.RepoID != p.Base.RepoID }

// Stale reports whether sha is no longer what the pull request proposes: the
// head has moved, or it is closed.
func (p Pull) Stale(sha string) bool { return p.State != "open" || p.Head.SHA != sha }

// Pull gets a pull request.
func (c *Client) Pull(ctx context.Context, number int) (Pull, error) {
	p, res, err := c.api.PullRequests.Get(ctx, c.owner, c.name, number)
	if err != nil {
		return Pull{}, c.fail(op{doing: fmt.Sprintf("getting pull request %d of %s", number, c.full()), needs: "pull-requests: read"}, res, err)
	}
	return pull(p), nil
}

func pull(p *github.PullRequest) Pull {
	return Pull{
		Number: p.GetNumber(), State: p.GetState(), Author: p.GetUser().GetLogin(), URL: p.GetHTMLURL(), MergeSHA: p.GetMergeCommitSHA(),
		Head: branch(p.GetHead()), Base: branch(p.GetBase()),
	}
}

func branch(b *github.PullRequestBranch) Branch {
	return Branch{SHA: b.GetSHA(), Ref: b.GetRef(), RepoID: b.GetRepo().GetID(), Repo: b.GetRepo().GetFullName()}
}

// scanPages is how many pages of open pull requests are searched when nothing
// else finds the head.
const scanPages = 10

// FindPull finds the open pull request that a run measured: head SHA and head
// repository of the run, as the API tells them, must be those of the pull
// request. It never trusts a number from an artifact, nor a branch's name
// alone. [ErrNoPull] when there is none (closed, or the head has moved on),
// [ErrManyPulls] for more than one.
func (c *Client) FindPull(ctx context.Context, run Run) (Pull, error) {
	doing := fmt.Sprintf("finding the pull request of run %d, commit %.12s", run.ID, run.HeadSHA)
	if !sha.MatchString(run.HeadSHA) || run.HeadRepoID == 0 {
		return Pull{}, fmt.Errorf("%s: the run does not say which repository its head is in: %w", doing, ErrNoPull)
	}
	for _, search := range []func(context.Context, Run) ([]Pull, error){c.pullsNamed, c.pullsOfCommit, c.pullsOpen} {
		found, err := search(ctx, run)
		if err != nil {
			return Pull{}, fmt.Errorf("%s: %w", doing, err)
		}
		switch found = matching(found, run); {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return Pull{}, fmt.Errorf("%s: #%d and #%d: %w", doing, found[0].Number, found[1].Number, ErrManyPulls)
		}
	}
	return Pull{}, fmt.Errorf("%s: none is open with this head: %w", doing, ErrNoPull)
}

// matching keeps the open pull requests that have the run's head, one of each number.
func matching(pulls []Pull, run Run) []Pull {
	var out []Pull
	for _, p := range pulls {
		same := p.State == "open" && p.Head.SHA == run.HeadSHA && p.Head.RepoID == run.HeadRepoID
		if same && !slices.ContainsFunc(out, func(q Pull) bool { return q.Number == p.Number }) {
			out = append(out, p)
		}
	}
	return out
}

// pullsNamed are those with the run's branch, and those that the run names. Both
// ways are taken, so that a second candidate is not missed: one head may be
// proposed to two branches.
func (c *Client) pullsNamed(ctx context.Context, run Run) ([]Pull, error) {
	var found []Pull
	if owner, _, ok := strings.Cut(run.HeadRepo, "/"); ok && run.HeadBranch != "" {
		var err error
		if found, err = c.listPulls(ctx, owner+":"+run.HeadBranch, 1); err != nil {
			return nil, err
		}
	}
	for _, n := range run.Pulls {
		if slices.ContainsFunc(found, func(p Pull) bool { return p.Number == n }) {
			continue
		}
		p, err := c.Pull(ctx, n)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		found = append(found, p)
	}
	return found, nil
}

// pullsOfCommit are those that GitHub knows the commit of; often none for forks.
func (c *Client) pullsOfCommit(ctx context.Context, run Run) ([]Pull, error) {
	list, _, res, err := pages(1, func(at github.ListOptions) ([]*github.PullRequest, *github.Response, error) {
		return c.api.PullRequests.ListPullRequestsWithCommit(ctx, c.owner, c.name, run.HeadSHA, &at)
	})
	err = c.fail(op{doing: "listing the pull requests of a commit", needs: "pull-requests: read"}, res, err)
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrInvalid) || errors.Is(err, ErrConflict) {
		return nil, nil // the commit of a fork is not known here
	}
	return each(list, pull), err
}

// pullsOpen are all open ones, as far as [scanPages].
func (c *Client) pullsOpen(ctx context.Context, _ Run) ([]Pull, error) {
	return c.listPulls(ctx, "", scanPages)
}

// listPulls lists the open pull requests, of one "owner:branch" or of all.
func (c *Client) listPulls(ctx context.Context, head string, most int) ([]Pull, error) {
	list, _, res, err := pages(most, func(at github.ListOptions) ([]*github.PullRequest, *github.Response, error) {
		return c.api.PullRequests.List(ctx, c.owner, c.name, &github.PullRequestListOptions{State: "open", Head: head, ListOptions: at})
	})
	return each(list, pull), c.fail(op{doing: "listing the open pull requests of " + c.full(), needs: "pull-requests: read"}, res, err)
}

// each maps a list.
func each[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i, a := range in {
		out[i] = f(a)
	}
	return out
}

// MergeBase is the commit where head left base. Both are SHAs, branches, or
// "owner:branch" of a fork.
func (c *Client) MergeBase(ctx context.Context, base, head string) (string, error) {
	cmp, err := c.compare(ctx, base, head, 1)
	if err != nil {
		return "", err
	}
	found := cmp.GetMergeBaseCommit().GetSHA()
	if !sha.MatchString(found) {
		return "", &Error{Doing: comparing(base, head), Message: "they have no commit in common", kind: ErrNotFound}
	}
	return found, nil
}

// maxChanged is how many changed files the API gives of a comparison.
const maxChanged = 300

// ChangedFiles are the paths that head changed since the merge base, at most
// 300, as the API gives them; more reports whether there may be others.
func (c *Client) ChangedFiles(ctx context.Context, base, head string) (paths []string, more bool, err error) {
	cmp, err := c.compare(ctx, base, head, 1)
	if err != nil {
		return nil, false, err
	}
	for _, f := range cmp.Files {
		paths = append(paths, f.GetFilename())
		if before := f.GetPreviousFilename(); before != "" {
			paths = append(paths, before)
		}
	}
	return paths, len(cmp.Files) >= maxChanged, nil
}

func comparing(base, head string) string {
	return fmt.Sprintf("comparing %s with %s", oneLine(base), oneLine(head))
}

// compare reads the first page, which has the files and the merge base.
func (c *Client) compare(ctx context.Context, base, head string, perPage int) (*github.CommitsComparison, error) {
	for _, ref := range []string{base, head} {
		if !compared.MatchString(ref) || strings.Contains(ref, "..") {
			return nil, &Error{Doing: comparing(base, head), Message: "one of them is no branch or commit", kind: ErrInvalid}
		}
	}
	cmp, res, err := c.api.Repositories.CompareCommits(ctx, c.owner, c.name, base, head, &github.ListOptions{PerPage: perPage})
	return cmp, c.fail(op{doing: comparing(base, head), needs: "contents: read"}, res, err)
}

var (
	// sha is a commit's name, SHA-1 or SHA-256.
	sha = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
	// compared is a branch or SHA, with "owner:" before it for a fork; what git
	// forbids in a name is not in it.
	compared = regexp.MustCompile(`^(?:[A-Za-z0-9_.-]+:)?[^\s\x00-\x20\x7f~^:?*\[\\-][^\s\x00-\x20\x7f~^:?*\[\\]{0,254}$`)
)
