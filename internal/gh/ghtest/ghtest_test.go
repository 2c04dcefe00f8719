package ghtest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-github/v62/github"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

const (
	owner = "acme"
	repo  = "widgets"
)

// as is a go-github client with one of the server's tokens.
func as(t *testing.T, s *ghtest.Server, token string) *github.Client {
	t.Helper()
	c, err := github.NewClient(nil).WithAuthToken(s.Token(token)).WithEnterpriseURLs(s.URL(), s.URL())
	if err != nil {
		t.Fatal(err)
	}
	c.BaseURL.Path = "/" // WithEnterpriseURLs adds the prefix of an Enterprise Server
	return c
}

// status is the HTTP status that an error of go-github speaks of.
func status(err error) int {
	var e *github.ErrorResponse
	if errors.As(err, &e) {
		return e.Response.StatusCode
	}
	return 0
}

func must[T any](v T, _ *github.Response, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestCommentsAreMadeEditedListedAndDeleted(t *testing.T) {
	s := ghtest.New(t)
	c, ctx := as(t, s, "workflow"), context.Background()
	made := must(c.Issues.CreateComment(ctx, owner, repo, 7, &github.IssueComment{Body: github.String("one")}))(t)
	if made.GetUser().GetLogin() != "github-actions[bot]" || made.GetUser().GetType() != "Bot" {
		t.Errorf("the author is %v", made.GetUser())
	}
	must(c.Issues.EditComment(ctx, owner, repo, made.GetID(), &github.IssueComment{Body: github.String("two")}))(t)
	got := must(c.Issues.GetComment(ctx, owner, repo, made.GetID()))(t)
	if got.GetBody() != "two" {
		t.Errorf("the body is %q", got.GetBody())
	}
	s.AddComment(7, "bob", "three")
	list := must(c.Issues.ListComments(ctx, owner, repo, 7, nil))(t)
	if len(list) != 2 || list[1].GetUser().GetLogin() != "bob" {
		t.Errorf("the list is %v", list)
	}
	if _, err := c.Issues.DeleteComment(ctx, owner, repo, made.GetID()); err != nil {
		t.Fatal(err)
	}
	if left := s.Comments(7); len(left) != 1 || left[0].Body != "three" {
		t.Errorf("left are %v", left)
	}
	if _, _, err := c.Issues.GetComment(ctx, owner, repo, made.GetID()); status(err) != http.StatusNotFound {
		t.Errorf("a deleted comment: %v", err)
	}
}

func TestACommentHasAnEnd(t *testing.T) {
	s := ghtest.New(t)
	c, ctx := as(t, s, "workflow"), context.Background()
	long := strings.Repeat("ß", ghtest.MaxComment)
	must(c.Issues.CreateComment(ctx, owner, repo, 7, &github.IssueComment{Body: &long}))(t)
	long += "!"
	if _, _, err := c.Issues.CreateComment(ctx, owner, repo, 7, &github.IssueComment{Body: &long}); status(err) != http.StatusUnprocessableEntity {
		t.Errorf("one character too many: %v", err)
	}
}

func TestPullRequestsOfAForkAndOfTheRepository(t *testing.T) {
	s := ghtest.New(t)
	c, ctx := as(t, s, "fork"), context.Background()
	fork := must(c.PullRequests.Get(ctx, owner, repo, 8))(t)
	if fork.GetHead().GetRepo().GetFullName() != "mallory/widgets" || !fork.GetHead().GetRepo().GetFork() || fork.GetBase().GetRepo().GetID() != 1001 {
		t.Errorf("the fork's head is of %v, base of %v", fork.GetHead().GetRepo(), fork.GetBase().GetRepo())
	}
	open := must(c.PullRequests.List(ctx, owner, repo, &github.PullRequestListOptions{Head: "mallory:main"}))(t)
	if len(open) != 1 || open[0].GetNumber() != 8 {
		t.Errorf("mallory:main leads to %v", open)
	}
	s.MoveHead(7, ghtest.SHA("pushed"))
	if got := must(c.PullRequests.Get(ctx, owner, repo, 7))(t); got.GetHead().GetSHA() != ghtest.SHA("pushed") {
		t.Errorf("after a push the head is %s", got.GetHead().GetSHA())
	}
	files := must(c.PullRequests.ListFiles(ctx, owner, repo, 7, nil))(t)
	if len(files) != 1 || files[0].GetFilename() != "outbox.go" {
		t.Errorf("the files are %v", files)
	}
	of := must(c.PullRequests.ListPullRequestsWithCommit(ctx, owner, repo, ghtest.SHA("head"), nil))(t)
	if len(of) != 0 {
		t.Errorf("the commit was pushed over, it has %v", of)
	}
}

func TestPullRequestsOfACommitLeaveForksOut(t *testing.T) {
	s := ghtest.New(t)
	c, ctx := as(t, s, "fork"), context.Background()
	for name, want := range map[string]int{"head": 1, "fork-head": 0, "base": 0} {
		if got := must(c.PullRequests.ListPullRequestsWithCommit(ctx, owner, repo, ghtest.SHA(name), nil))(t); len(got) != want {
			t.Errorf("%s has %d pull requests, want %d", name, len(got), want)
		}
	}
}

func TestADeletedForkHasNoRepository(t *testing.T) {
	s := ghtest.New(t)
	s.Update(func(st *ghtest.State) { st.Pulls[1].Head.Repo = 0 })
	got := must(as(t, s, "fork").PullRequests.Get(context.Background(), owner, repo, 8))(t)
	if got.GetHead().Repo != nil {
		t.Errorf("the head is of %v", got.GetHead().Repo)
	}
}

func TestAForksTokenMayReadOnly(t *testing.T) {
	s := ghtest.New(t)
	c, ctx := as(t, s, "fork"), context.Background()
	must(c.Issues.ListComments(ctx, owner, repo, 7, nil))(t)
	_, _, err := c.Issues.CreateComment(ctx, owner, repo, 7, &github.IssueComment{Body: github.String("no")})
	if status(err) != http.StatusForbidden || !strings.Contains(err.Error(), "Resource not accessible by integration") {
		t.Errorf("a write with the fork's token: %v", err)
	}
	if got := s.Comments(7); len(got) != 0 {
		t.Errorf("it was carried out: %v", got)
	}
}
