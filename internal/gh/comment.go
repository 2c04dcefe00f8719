package gh

import (
	"context"
	"time"
)

// CommentLimit is the length of a comment that GitHub takes, in characters. It
// refuses longer ones with 422; it does not shorten.
const CommentLimit = 65536

// Marker is the hidden first line by which a text of ours is found again, for
// a key of letters, digits and "._:/-"; other characters are dropped.
func Marker(key string) string { return "<!-- triagebot:" + key + " -->" }

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
	ID     int64  // of the comment, or the number
	URL    string // for people
	// Surplus are URLs of further texts of ours with the same marker; they are
	// left alone, the oldest is the one kept up to date.
	Surplus []string
}

// Upsert brings the comment of ours on a pull request (or issue) up to date. Ours is
// what starts with the marker **and** was written by [Client.Login]: anybody
// may paste a marker. Nothing is sent when the text is the same. A body of more
// than [CommentLimit] characters is [ErrTooLong], before anything is sent.
func (c *Client) Upsert(ctx context.Context, number int, w Comment) (Result, error) {
	return Result{}, errNotBuilt
}

// Reply answers a comment, once: a second reply to the same comment updates
// the first.
func (c *Client) Reply(ctx context.Context, number int, commentID int64, body string) (Result, error) {
	return Result{}, errNotBuilt
}

// CommentByID gets one comment as it is now: the author may have edited it
// since the event. [ErrNotFound] when it was deleted.
func (c *Client) CommentByID(ctx context.Context, id int64) (CommentRef, error) {
	return CommentRef{}, errNotBuilt
}

// Comments lists the comments of a pull request that were written or edited
// since a moment, oldest first; the zero time is all of them.
func (c *Client) Comments(ctx context.Context, number int, since time.Time) ([]CommentRef, error) {
	return nil, errNotBuilt
}

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
func (c *Client) React(ctx context.Context, commentID int64, r Reaction) error { return errNotBuilt }
