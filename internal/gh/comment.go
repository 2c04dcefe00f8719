package gh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/go-github/v62/github"
)

// CommentLimit is the length of a comment that GitHub takes, in characters. It
// refuses longer ones with 422; it does not shorten.
const CommentLimit = 65536

// Marker is the hidden first line by which a text of ours is found again, for
// a key of letters, digits and "._:/-"; other characters are dropped. It is the
// line that package report writes for the same key.
func Marker(key string) string { return markerStart + notMarker.ReplaceAllString(key, "") + " -->" }

// markerStart begins the marker of every text of ours.
const markerStart = "<!-- triagebot:"

var notMarker = regexp.MustCompile(`[^A-Za-z0-9._:/-]|--+`)

// Comment is the one comment of ours with this marker.
type Comment struct {
	// Marker is the key, as "acme/loop/ci". The body's first line is made to be
	// [Marker] of it.
	Marker string
	Body   string
	// Create allows a new comment. Unset, only a comment that is there already is
	// updated: a green check says nothing unless it corrects a red.
	Create bool
}

// Action is what an upsert did.
type Action string

// What an upsert can do.
const (
	Created   Action = "created"
	Updated   Action = "updated"
	Unchanged Action = "unchanged"
	Closed    Action = "closed"
	// None: there was nothing to update, and creating was not asked for.
	None Action = "none"
)

// Result of an upsert.
type Result struct {
	Action Action
	ID     int64  // of the comment, or the issue's number
	URL    string // for people
	// Surplus are URLs of further texts of ours with the same marker; they are
	// left alone, and the oldest is the one kept up to date.
	Surplus []string
}

// Upsert brings the comment of ours on a pull request (or issue) up to date. Ours is
// what starts with the marker **and** was written by [Client.Login]: anybody
// may paste a marker. Nothing is sent when the text is the same. A body of more
// than [CommentLimit] characters is [ErrTooLong], before anything is sent. Of
// two processes that create it at once, one comment remains.
func (c *Client) Upsert(ctx context.Context, number int, w Comment) (Result, error) {
	body, err := marked(w.Marker, w.Body)
	if err != nil {
		return Result{}, fmt.Errorf("writing a comment on #%d: %w", number, err)
	}
	mine, err := c.ownComments(ctx, number, Marker(w.Marker))
	if err != nil {
		return Result{}, err
	}
	if len(mine) > 0 {
		r, err := c.edit(ctx, mine, body)
		if !errors.Is(err, ErrNotFound) {
			return r, err
		}
		c.logf("comment %d was deleted meanwhile", mine[0].ID)
	}
	if !w.Create {
		return Result{Action: None}, nil
	}
	return c.create(ctx, number, Marker(w.Marker), body)
}

// marked is the body with the marker as its first line.
func marked(key, body string) (string, error) {
	marker := Marker(key)
	if marker == Marker("") {
		return "", fmt.Errorf("the marker %q has no letter or digit: %w", oneLine(key), ErrInvalid)
	}
	body = plain(strings.ToValidUTF8(body, "\uFFFD"))
	if first, _, _ := strings.Cut(body, "\n"); first != marker {
		body = marker + "\n" + body
	}
	if n := utf8.RuneCountInString(body); n > CommentLimit {
		return "", fmt.Errorf("it has %d characters, GitHub takes %d: %w", n, CommentLimit, ErrTooLong)
	}
	return body, nil
}

// plain is a text with the changes that GitHub makes to it on its way.
func plain(s string) string {
	return strings.TrimRight(strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\x00", ""), " \t\n")
}

// isOurs reports whether a text starts with the marker and its author is us.
func isOurs(body, author, marker, login string) bool {
	return strings.HasPrefix(body, marker) && strings.EqualFold(author, login)
}

// ownComments are those of ours with the marker, the oldest first.
func (c *Client) ownComments(ctx context.Context, number int, marker string) ([]CommentRef, error) {
	me, err := c.Login(ctx)
	if err != nil {
		return nil, err
	}
	all, err := c.Comments(ctx, number, time.Time{})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(k CommentRef) bool { return !isOurs(k.Body, k.Author, marker, me) }), nil
}

// edit updates the oldest of our comments.
func (c *Client) edit(ctx context.Context, mine []CommentRef, body string) (Result, error) {
	r := Result{Action: Unchanged, ID: mine[0].ID, URL: mine[0].URL}
	for _, k := range mine[1:] {
		r.Surplus = append(r.Surplus, k.URL)
	}
	if plain(mine[0].Body) == body {
		return r, nil
	}
	_, res, err := c.api.Issues.EditComment(ctx, c.owner, c.name, r.ID, &github.IssueComment{Body: &body})
	if err != nil {
		return Result{}, c.fail(op{doing: fmt.Sprintf("updating comment %d", r.ID), needs: "pull-requests: write"}, res, err)
	}
	r.Action = Updated
	return r, nil
}

// create writes a new comment. Without a good answer it may be there all the
// same, so it is looked for before it is written again.
func (c *Client) create(ctx context.Context, number int, marker, body string) (Result, error) {
	for attempt := 0; ; attempt++ {
		k, res, err := c.api.Issues.CreateComment(ctx, c.owner, c.name, number, &github.IssueComment{Body: &body})
		err = c.fail(op{doing: fmt.Sprintf("writing a comment on #%d", number), needs: "pull-requests: write"}, res, err)
		if err == nil {
			return c.settle(ctx, number, marker, body, Result{Action: Created, ID: k.GetID(), URL: k.GetHTMLURL()})
		}
		if !errors.Is(err, ErrUnavailable) || attempt == repeats {
			return Result{}, err
		}
		c.logf("%v; looking whether it was written", err)
		if serr := c.clock.Sleep(ctx, firstPause<<attempt); serr != nil {
			return Result{}, err
		}
		mine, lerr := c.ownComments(ctx, number, marker)
		if lerr != nil {
			return Result{}, err
		}
		if len(mine) > 0 {
			r, eerr := c.edit(ctx, mine, body)
			r.Action = Created
			return r, eerr
		}
	}
}

// settle looks whether another process, as the next leg of a matrix, wrote its
// comment while we wrote ours. The oldest stays, and whoever made a younger one
// takes it away: so all agree without a lock.
func (c *Client) settle(ctx context.Context, number int, marker, body string, made Result) (Result, error) {
	mine, err := c.ownComments(ctx, number, marker)
	if err != nil || len(mine) < 2 || mine[0].ID == made.ID {
		return made, nil // ours is written, that is what was asked for
	}
	if r, err := c.edit(ctx, mine[:1], body); err == nil {
		if _, err := c.api.Issues.DeleteComment(ctx, c.owner, c.name, made.ID); err != nil {
			r.Surplus = append(r.Surplus, made.URL)
		}
		return r, nil
	}
	return made, nil
}

// Reply answers a comment, once: a second reply to the same comment updates
// the first.
func (c *Client) Reply(ctx context.Context, number int, commentID int64, body string) (Result, error) {
	return c.Upsert(ctx, number, Comment{Marker: fmt.Sprintf("reply/%d", commentID), Body: body, Create: true})
}

// CommentByID gets one comment as it is now: the author may have edited it
// since the event. [ErrNotFound] when it was deleted.
func (c *Client) CommentByID(ctx context.Context, id int64) (CommentRef, error) {
	k, res, err := c.api.Issues.GetComment(ctx, c.owner, c.name, id)
	return comment(k), c.fail(op{doing: fmt.Sprintf("getting comment %d", id), needs: "pull-requests: read"}, res, err)
}

// commentPages is how far comments are read: 5,000 of them.
const commentPages = 50

// Comments lists the comments of a pull request that were written or edited
// since a moment, oldest first; the zero time is all of them.
func (c *Client) Comments(ctx context.Context, number int, since time.Time) ([]CommentRef, error) {
	var from *time.Time
	if !since.IsZero() {
		utc := since.UTC()
		from = &utc
	}
	list, _, res, err := pages(commentPages, func(at github.ListOptions) ([]*github.IssueComment, *github.Response, error) {
		return c.api.Issues.ListComments(ctx, c.owner, c.name, number, &github.IssueListCommentsOptions{Since: from, ListOptions: at})
	})
	if err != nil {
		return nil, c.fail(op{doing: fmt.Sprintf("listing the comments of #%d", number), needs: "pull-requests: read"}, res, err)
	}
	all := each(list, comment)
	slices.SortStableFunc(all, func(a, b CommentRef) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

func comment(k *github.IssueComment) CommentRef {
	author := k.GetUser()
	return CommentRef{
		ID: k.GetID(), Body: k.GetBody(), Author: author.GetLogin(), Bot: isBot(author.GetLogin(), author.GetType()),
		Created: k.GetCreatedAt().Time, Updated: k.GetUpdatedAt().Time, URL: k.GetHTMLURL(),
	}
}

// isBot reports whether an account is not a person's: who is not known to be a
// user counts as a bot.
func isBot(login, kind string) bool { return kind != "User" || strings.HasSuffix(login, "[bot]") }

// Reaction is one of GitHub's.
type Reaction string

// The reactions that triagebot uses: seen, done, refused.
const (
	Eyes       Reaction = "eyes"
	Rocket     Reaction = "rocket"
	Confused   Reaction = "confused"
	ThumbsUp   Reaction = "+1"
	ThumbsDown Reaction = "-1"
)

// React sets a reaction on a comment; setting it again changes nothing.
func (c *Client) React(ctx context.Context, commentID int64, r Reaction) error {
	ctx = context.WithValue(ctx, harmless{}, true)
	_, res, err := c.api.Reactions.CreateIssueCommentReaction(ctx, c.owner, c.name, commentID, string(r))
	return c.fail(op{doing: fmt.Sprintf("reacting to comment %d", commentID), needs: "pull-requests: write"}, res, err)
}
