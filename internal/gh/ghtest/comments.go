package ghtest

import (
	"slices"
	"time"
	"unicode/utf8"
)

// MaxComment is the most characters of a comment; the description does not tell it.
const MaxComment = 65536

func (c *call) listComments() reply {
	n := int(c.number("issue_number"))
	if !c.s.hasIssue(n) {
		return notFound()
	}
	since := c.q("since")
	var out []any
	for _, cm := range c.s.commentsOf(n) {
		if since == "" || cm.Updated.Format(time.RFC3339) >= since {
			out = append(out, c.comment(cm))
		}
	}
	return c.list(out)
}

func (c *call) createComment() reply {
	n := int(c.number("issue_number"))
	if !c.s.hasIssue(n) {
		return notFound()
	}
	text, bad := c.commentBody()
	if bad != nil {
		return *bad
	}
	cm := c.s.addComment(n, c.token.User, text)
	return created(c.comment(cm))
}

func (c *call) getComment() reply {
	cm, found := c.s.comment(c.number("comment_id"))
	if !found {
		return notFound()
	}
	return ok(c.comment(*cm))
}

func (c *call) editComment() reply {
	cm, found := c.s.comment(c.number("comment_id"))
	if !found {
		return notFound()
	}
	text, bad := c.commentBody()
	if bad != nil {
		return *bad
	}
	cm.Body, cm.Updated = text, c.s.stamp()
	cm.Edits++
	return ok(c.comment(*cm))
}

func (c *call) deleteComment() reply {
	if !c.s.deleteComment(c.number("comment_id")) {
		return notFound()
	}
	return noContent()
}

// commentBody reads the body of a comment and refuses what GitHub refuses.
func (c *call) commentBody() (string, *reply) {
	var in struct{ Body string }
	c.decode(&in)
	var bad reply
	switch n := utf8.RuneCountInString(in.Body); {
	case n == 0:
		bad = unprocessable("IssueComment", "data", "unprocessable", "Body cannot be blank")
	case n > MaxComment:
		bad = unprocessable("IssueComment", "data", "unprocessable", "Body is too long (maximum is 65536 characters)")
	default:
		return in.Body, nil
	}
	return "", &bad
}

func (c *call) listReactions() reply {
	cm, found := c.s.comment(c.number("comment_id"))
	if !found {
		return notFound()
	}
	var out []any
	for _, r := range cm.Reactions {
		if want := c.q("content"); want == "" || want == r.Content {
			out = append(out, c.reaction(r))
		}
	}
	return c.list(out)
}

// createReaction answers 200 when the user had reacted so before.
func (c *call) createReaction() reply {
	cm, found := c.s.comment(c.number("comment_id"))
	if !found {
		return notFound()
	}
	var in struct{ Content string }
	c.decode(&in)
	for _, r := range cm.Reactions {
		if r.User == c.token.User && r.Content == in.Content {
			return ok(c.reaction(r))
		}
	}
	r := Reaction{ID: c.s.nextID(), User: c.token.User, Content: in.Content}
	cm.Reactions = append(cm.Reactions, r)
	return created(c.reaction(r))
}

func (c *call) comment(cm Comment) obj {
	repo := c.s.state.Repo
	page := "issues"
	if _, is := c.s.pull(cm.Issue); is {
		page = "pull"
	}
	return c.like(repo, "issue-comment-items", "", obj{
		"id": cm.ID, "body": cm.Body, "user": c.user(cm.User), "author_association": c.association(cm.User),
		"created_at": cm.Created.Format(time.RFC3339), "updated_at": cm.Updated.Format(time.RFC3339),
		"url": c.api(repo, "issues/comments/%d", cm.ID), "issue_url": c.api(repo, "issues/%d", cm.Issue),
		"html_url": c.web(repo, "%s/%d#issuecomment-%d", page, cm.Issue, cm.ID),
	})
}

func (c *call) reaction(r Reaction) obj {
	return c.like(c.s.state.Repo, "reaction", "", obj{"id": r.ID, "user": c.user(r.User), "content": r.Content})
}

func (s *Server) hasIssue(n int) bool {
	_, isPull := s.pull(n)
	_, isIssue := s.issue(n)
	return isPull || isIssue
}

func (s *Server) comment(id int64) (*Comment, bool) {
	i := slices.IndexFunc(s.state.Comments, func(cm Comment) bool { return cm.ID == id })
	if i < 0 {
		return nil, false
	}
	return &s.state.Comments[i], true
}

func (s *Server) commentsOf(n int) []Comment {
	var out []Comment
	for _, cm := range s.state.Comments {
		if cm.Issue == n {
			cm.Reactions = slices.Clone(cm.Reactions)
			out = append(out, cm)
		}
	}
	return out
}

func (s *Server) addComment(n int, user, text string) Comment {
	now := s.stamp()
	cm := Comment{ID: s.nextID(), Issue: n, User: user, Body: text, Created: now, Updated: now}
	s.state.Comments = append(s.state.Comments, cm)
	return cm
}

func (s *Server) deleteComment(id int64) bool {
	before := len(s.state.Comments)
	s.state.Comments = slices.DeleteFunc(s.state.Comments, func(cm Comment) bool { return cm.ID == id })
	return len(s.state.Comments) < before
}

// AddComment is somebody commenting on an issue or pull request; it gives the comment's id.
func (s *Server) AddComment(number int, user, text string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addComment(number, user, text).ID
}

// DeleteComment is somebody deleting a comment.
func (s *Server) DeleteComment(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deleteComment(id)
}

// Comments are those of an issue or pull request, in their order.
func (s *Server) Comments(number int) []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commentsOf(number)
}
