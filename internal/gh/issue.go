package gh

import "context"

// Issue is the one tracking issue of ours with this marker.
type Issue struct {
	// Marker is the key; see [Marker].
	Marker      string
	Title, Body string
	Labels      []string
	// Open is the state wanted: an open issue is created or re-opened,
	// a closed one is closed with the comment Closing, and never created.
	Open    bool
	Closing string
	// Cap is how many open issues of ours there may be; at the cap no other is
	// created (the Result is [None]). 0 is [DefaultIssueCap].
	Cap int
}

// DefaultIssueCap keeps a bad night from flooding a tracker.
const DefaultIssueCap = 10

// UpsertIssue brings a tracking issue up to date: found by marker and author,
// changed only when something differs. Needs `issues: write`.
func (c *Client) UpsertIssue(ctx context.Context, w Issue) (Result, error) {
	return Result{}, errNotBuilt
}
