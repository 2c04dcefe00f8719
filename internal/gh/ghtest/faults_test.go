package ghtest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v62/github"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

const pulls = "GET /repos/{owner}/{repo}/pulls"

func TestAFaultIsMetAsOftenAsPlanned(t *testing.T) {
	for _, code := range []int{401, 403, 404, 409, 410, 422, 429, 500, 503} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			s := ghtest.New(t)
			c, ctx := as(t, s, "workflow"), context.Background()
			s.Fail(pulls, ghtest.Fault{Status: code, Skip: 1, Times: 2})
			for i, want := range []int{0, code, code, 0} {
				if _, _, err := c.PullRequests.List(ctx, owner, repo, nil); status(err) != want {
					t.Errorf("request %d: %v, want status %d", i, err, want)
				}
			}
		})
	}
}

func TestAFaultIsFoundByTheOperationAndByThePath(t *testing.T) {
	s := ghtest.New(t)
	c, ctx := as(t, s, "workflow"), context.Background()
	s.Fail("GET /repos/acme/widgets/pulls/8", ghtest.Answer(404, "Not Found"))
	s.Fail("GET /repos/*/*/issues/*", ghtest.Answer(410, "This issue was deleted"))
	must(c.PullRequests.Get(ctx, owner, repo, 7))(t)
	if _, _, err := c.PullRequests.Get(ctx, owner, repo, 8); status(err) != http.StatusNotFound {
		t.Error(err)
	}
	if _, _, err := c.Issues.Get(ctx, owner, repo, 9); status(err) != http.StatusGone {
		t.Error(err)
	}
}

func TestLimitsAreWordedAsGitHubWordsThem(t *testing.T) {
	s := ghtest.New(t)
	c, ctx := as(t, s, "workflow"), context.Background()
	s.Fail(pulls, ghtest.SecondaryLimit(403, time.Minute))
	_, _, err := c.PullRequests.List(ctx, owner, repo, nil)
	if abuse := (*github.AbuseRateLimitError)(nil); !errors.As(err, &abuse) || abuse.GetRetryAfter() != time.Minute {
		t.Errorf("go-github does not see a secondary limit: %v", err)
	}
	fresh := as(t, s, "workflow")
	s.Fail(pulls, ghtest.PrimaryLimit(403, time.Hour))
	_, _, err = fresh.PullRequests.List(ctx, owner, repo, nil)
	if limit := (*github.RateLimitError)(nil); !errors.As(err, &limit) || limit.Rate.Remaining != 0 || time.Until(limit.Rate.Reset.Time) < 50*time.Minute {
		t.Errorf("go-github does not see a primary limit: %v", err)
	}
	s.Fail(pulls, ghtest.SecondaryLimit(429, 0))
	code, header, body := send(t, "GET", s.URL()+"/repos/acme/widgets/pulls", s.Token("workflow"), "")
	if code != 429 || header.Get("Retry-After") != "" || !strings.Contains(body, "secondary rate limit") {
		t.Errorf("got %d %v %s", code, header, body)
	}
}

func TestATokenRunsOutOfRequests(t *testing.T) {
	s := ghtest.New(t)
	s.Update(func(st *ghtest.State) { st.Tokens[0].Limit = 2 })
	ask := func(header ...string) (int, http.Header) {
		code, h, _ := send(t, "GET", s.URL()+"/repos/acme/widgets/pulls", s.Token("workflow"), "", header...)
		return code, h
	}
	code, h := ask()
	if code != 200 || h.Get("X-Ratelimit-Remaining") != "1" {
		t.Errorf("the first: %d, %s left", code, h.Get("X-Ratelimit-Remaining"))
	}
	if code, h = ask("If-None-Match", h.Get("ETag")); code != 304 || h.Get("X-Ratelimit-Limit") != "2" {
		t.Errorf("an unchanged answer: %d", code)
	}
	if code, h = ask(); code != 200 || h.Get("X-Ratelimit-Remaining") != "0" {
		t.Errorf("304 was counted: %d, %s left", code, h.Get("X-Ratelimit-Remaining"))
	}
	if code, h = ask(); code != 403 || h.Get("X-Ratelimit-Remaining") != "0" || h.Get("X-Ratelimit-Reset") == "" {
		t.Errorf("the third: %d %v", code, h)
	}
}

func TestAChangedAnswerHasAnotherTag(t *testing.T) {
	s := ghtest.New(t)
	url := s.URL() + "/repos/acme/widgets/issues/7/comments"
	_, h, _ := send(t, "GET", url, s.Token("workflow"), "")
	s.AddComment(7, "bob", "new")
	code, again, body := send(t, "GET", url, s.Token("workflow"), "", "If-None-Match", h.Get("ETag"))
	if code != 200 || again.Get("ETag") == h.Get("ETag") || !strings.Contains(body, "new") {
		t.Errorf("got %d, tag %s then %s: %s", code, h.Get("ETag"), again.Get("ETag"), body)
	}
}

func TestABrokenConnectionIsNoAnswer(t *testing.T) {
	post := "POST /repos/{owner}/{repo}/issues/{issue_number}/comments"
	for name, tc := range map[string]struct {
		fault ghtest.Fault
		made  int
	}{
		"before it is carried out": {ghtest.Fault{Drop: true}, 0},
		"after it is carried out":  {ghtest.Fault{DropAfter: true}, 1},
		"amid the answer":          {ghtest.Fault{TruncateAt: 10}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := ghtest.New(t)
			s.Fail(post, tc.fault)
			_, _, err := as(t, s, "workflow").Issues.CreateComment(context.Background(), owner, repo, 7, &github.IssueComment{Body: github.String("one")})
			if err == nil || status(err) != 0 {
				t.Errorf("the client is told %v", err)
			}
			if reset := errors.Is(err, syscall.ECONNRESET); reset != (tc.fault.TruncateAt == 0) && runtime.GOOS != "windows" {
				t.Errorf("a reset connection: %v, told as %v", reset, err)
			}
			if got := len(s.Comments(7)); got != tc.made {
				t.Errorf("%d comments were made, want %d", got, tc.made)
			}
		})
	}
}

func TestASlowAnswerEndsWithTheClient(t *testing.T) {
	s := ghtest.New(t)
	s.Fail(pulls, ghtest.Fault{Delay: time.Hour})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, _, err := as(t, s, "workflow").PullRequests.List(ctx, owner, repo, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestACommentVanishesBetweenListAndEdit(t *testing.T) {
	s := ghtest.New(t)
	c, ctx := as(t, s, "workflow"), context.Background()
	id := s.AddComment(7, "github-actions[bot]", "old")
	s.Fail("PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}", ghtest.Fault{Before: func() { s.DeleteComment(id) }})
	list := must(c.Issues.ListComments(ctx, owner, repo, 7, nil))(t)
	if len(list) != 1 {
		t.Fatalf("%d comments", len(list))
	}
	_, _, err := c.Issues.EditComment(ctx, owner, repo, id, &github.IssueComment{Body: github.String("new")})
	if status(err) != http.StatusNotFound {
		t.Errorf("got %v", err)
	}
}

func TestADownloadFails(t *testing.T) {
	s := ghtest.New(t)
	s.Fail("GET /blob/*", ghtest.Fault{Status: 503, Body: "<Error/>"})
	s.Fail("GET /blob/*", ghtest.Fault{TruncateAt: 5})
	link := must(as(t, s, "fork").Actions.GetWorkflowJobLogs(context.Background(), owner, repo, 421, 0))(t)
	if code, _, _ := send(t, "GET", link.String(), "", ""); code != 503 {
		t.Errorf("got %d", code)
	}
	res, err := http.Get(link.String())
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.ReadAll(res.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a truncated download reads as %v", err)
	}
}

func TestWritesInFlightAtOnceAreCounted(t *testing.T) {
	s := ghtest.New(t)
	c, ctx := as(t, s, "workflow"), context.Background()
	var both sync.WaitGroup
	both.Add(2)
	meet := ghtest.Fault{Before: func() { both.Done(); both.Wait() }}
	s.Fail("POST /repos/{owner}/{repo}/issues/{issue_number}/comments", meet.Repeat(2))
	var made sync.WaitGroup
	for range 2 {
		made.Go(func() {
			if _, _, err := c.Issues.CreateComment(ctx, owner, repo, 7, &github.IssueComment{Body: github.String("x")}); err != nil {
				t.Error(err)
			}
		})
	}
	made.Wait()
	if got := s.ConcurrentWrites(); got != 2 {
		t.Errorf("%d at once", got)
	}
	if got := len(s.Comments(7)); got != 2 {
		t.Errorf("%d comments", got)
	}
}

func TestTheJournalTellsWhoAskedWhat(t *testing.T) {
	s := ghtest.New(t)
	c, ctx := as(t, s, "fork"), context.Background()
	must(c.PullRequests.List(ctx, owner, repo, &github.PullRequestListOptions{State: "open"}))(t)
	link := must(c.Actions.GetWorkflowJobLogs(ctx, owner, repo, 421, 0))(t)
	send(t, "GET", link.String(), "", "")
	want := []string{"GET /repos/acme/widgets/pulls", "GET /repos/acme/widgets/actions/jobs/421/logs", "GET /blob/1"}
	if diff := cmp.Diff(want, s.Calls()); diff != "" {
		t.Error(diff)
	}
	first := s.Requests()[0]
	if first.Token != "fork" || first.Query != "state=open" || first.Status != 200 || first.Operation != pulls || first.Problem != "" {
		t.Errorf("the journal has %+v", first)
	}
	if s.ForgetRequests(); len(s.Requests()) != 0 {
		t.Error("it is not forgotten")
	}
}
