package gh

import "context"

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
func (c *Client) Pull(ctx context.Context, number int) (Pull, error) { return Pull{}, errNotBuilt }

// FindPull finds the open pull request that a run measured: head SHA and head
// repository of the run, as the API tells them, must be those of the pull
// request. It never trusts a number from an artifact, nor a branch's name
// alone. [ErrNoPull] when there is none (closed, or the head has moved on),
// [ErrManyPulls] for more than one.
func (c *Client) FindPull(ctx context.Context, run Run) (Pull, error) { return Pull{}, errNotBuilt }

// MergeBase is the commit where head left base. Both are SHAs, branches, or
// "owner:branch" of a fork.
func (c *Client) MergeBase(ctx context.Context, base, head string) (string, error) {
	return "", errNotBuilt
}

// ChangedFiles are the paths that head changed since the merge base, at most
// 300, as the API gives them; more reports whether there are others.
func (c *Client) ChangedFiles(ctx context.Context, base, head string) (paths []string, more bool, err error) {
	return nil, false, errNotBuilt
}
