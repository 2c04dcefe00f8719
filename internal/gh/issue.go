package gh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/go-github/v62/github"
)

// Issue is the one tracking issue of ours with this marker.
type Issue struct {
	// Marker is the key; see [Marker].
	Marker string
	// Title and Body may be empty for one that is to be closed: they stay.
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

// issuePages is how far issues are searched: 1,000 of them.
const issuePages = 10

// UpsertIssue brings a tracking issue up to date: found by marker and author
// (among those with the first label, so that a large tracker is not read
// through), changed only when something differs. Labels are added, never taken
// away. An issue that a person closed as not planned stays closed. Needs
// `issues: write`.
func (c *Client) UpsertIssue(ctx context.Context, w Issue) (Result, error) {
	if w.Open && w.Title == "" {
		return Result{}, fmt.Errorf("writing issue %q: it has no title: %w", oneLine(w.Marker), ErrInvalid)
	}
	body, err := marked(w.Marker, w.Body)
	if err != nil {
		return Result{}, fmt.Errorf("writing issue %q: %w", oneLine(w.Title), err)
	}
	if w.Body != "" || w.Open {
		w.Body = body
	}
	mine, err := c.ownIssues(ctx, w.Labels)
	if err != nil {
		return Result{}, err
	}
	open := 0
	var same []*github.Issue
	for _, i := range mine {
		if i.GetState() == "open" {
			open++
		}
		if strings.HasPrefix(i.GetBody(), Marker(w.Marker)) {
			same = append(same, i)
		}
	}
	switch {
	case len(same) > 0:
		return c.changeIssue(ctx, same, w)
	case !w.Open:
		return Result{Action: None}, nil
	case open >= cmp.Or(w.Cap, DefaultIssueCap):
		c.logf("%d issues of ours are open, no other is opened", open)
		return Result{Action: None}, nil
	}
	return c.createIssue(ctx, w)
}

// ownIssues are those that carry a marker of ours and were written by us, the
// oldest first.
func (c *Client) ownIssues(ctx context.Context, labels []string) ([]*github.Issue, error) {
	me, err := c.Login(ctx)
	if err != nil {
		return nil, err
	}
	list, _, res, err := pages(issuePages, func(at github.ListOptions) ([]*github.Issue, *github.Response, error) {
		o := &github.IssueListByRepoOptions{State: "all", Labels: labels[:min(len(labels), 1)], ListOptions: at}
		return c.api.Issues.ListByRepo(ctx, c.owner, c.name, o)
	})
	if err != nil {
		return nil, c.fail(op{doing: "listing the issues of " + c.full(), needs: "issues: read"}, res, err)
	}
	list = slices.DeleteFunc(list, func(i *github.Issue) bool {
		return i.IsPullRequest() || !isOurs(i.GetBody(), i.GetUser().GetLogin(), markerStart, me)
	})
	slices.SortFunc(list, func(a, b *github.Issue) int { return cmp.Compare(a.GetNumber(), b.GetNumber()) })
	return list, nil
}

// createIssue opens an issue. Without a good answer it may be there all the
// same: that is looked for, and it is not opened twice.
func (c *Client) createIssue(ctx context.Context, w Issue) (Result, error) {
	req := &github.IssueRequest{Title: &w.Title, Body: &w.Body}
	if len(w.Labels) > 0 {
		req.Labels = &w.Labels
	}
	made, res, err := c.api.Issues.Create(ctx, c.owner, c.name, req)
	err = c.fail(op{doing: fmt.Sprintf("opening issue %q", oneLine(w.Title)), needs: "issues: write"}, res, err)
	if err == nil {
		return Result{Action: Created, ID: int64(made.GetNumber()), URL: made.GetHTMLURL()}, nil
	}
	if !errors.Is(err, ErrUnavailable) || c.clock.Sleep(ctx, firstPause) != nil {
		return Result{}, err
	}
	mine, lerr := c.ownIssues(ctx, w.Labels)
	if lerr != nil {
		return Result{}, err
	}
	for _, i := range mine {
		if plain(i.GetBody()) == w.Body {
			return Result{Action: Created, ID: int64(i.GetNumber()), URL: i.GetHTMLURL()}, nil
		}
	}
	return Result{}, err
}

// changeIssue brings the oldest of the issues to the state wanted.
func (c *Client) changeIssue(ctx context.Context, same []*github.Issue, w Issue) (Result, error) {
	was := same[0]
	r := Result{Action: Unchanged, ID: int64(was.GetNumber()), URL: was.GetHTMLURL()}
	for _, i := range same[1:] {
		r.Surplus = append(r.Surplus, i.GetHTMLURL())
	}
	isOpen := was.GetState() == "open"
	if !isOpen && (!w.Open || was.GetStateReason() == "not_planned") {
		return r, nil
	}
	req, changed := difference(was, w)
	if !changed {
		return r, nil
	}
	if isOpen && !w.Open && w.Closing != "" {
		// A marker of its own for each closing would be found again the next time.
		if err := c.say(ctx, was.GetNumber(), w.Closing); err != nil {
			return Result{}, err
		}
	}
	_, res, err := c.api.Issues.Edit(ctx, c.owner, c.name, was.GetNumber(), req)
	if err != nil {
		return Result{}, c.fail(op{doing: fmt.Sprintf("changing issue %d", was.GetNumber()), needs: "issues: write"}, res, err)
	}
	r.Action = Updated
	if !w.Open {
		r.Action = Closed
	}
	return r, nil
}

// difference is what must change of an issue.
func difference(was *github.Issue, w Issue) (*github.IssueRequest, bool) {
	req, changed := &github.IssueRequest{}, false
	if w.Title != "" && was.GetTitle() != w.Title {
		req.Title, changed = &w.Title, true
	}
	if w.Body != "" && plain(was.GetBody()) != w.Body {
		req.Body, changed = &w.Body, true
	}
	state := "closed"
	if w.Open {
		state = "open"
	}
	if was.GetState() != state {
		req.State, changed = &state, true
	}
	labels := each(was.Labels, func(l *github.Label) string { return l.GetName() })
	for _, l := range w.Labels {
		if !slices.ContainsFunc(labels, func(has string) bool { return strings.EqualFold(has, l) }) {
			labels = append(labels, l)
			req.Labels, changed = &labels, true
		}
	}
	return req, changed
}

// say writes a comment that is not kept up to date.
func (c *Client) say(ctx context.Context, number int, body string) error {
	if utf8.RuneCountInString(body) > CommentLimit {
		return fmt.Errorf("writing a comment on #%d: %w", number, ErrTooLong)
	}
	_, res, err := c.api.Issues.CreateComment(ctx, c.owner, c.name, number, &github.IssueComment{Body: &body})
	return c.fail(op{doing: fmt.Sprintf("writing a comment on #%d", number), needs: "issues: write"}, res, err)
}
