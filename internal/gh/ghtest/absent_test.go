package ghtest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-github/v62/github"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

// What is not there is answered as GitHub answers, and is no failure of the test.
func TestWhatIsNotThereIsNotFound(t *testing.T) {
	s, key := everything(t)
	text, annotated := `{"body":"x"}`, `{"name":"n"}`
	for request, body := range map[string]string{
		"GET /pulls/99": "", "GET /pulls/99/files": "",
		"GET /issues/99": "", "PATCH /issues/99": `{"title":"x"}`, "POST /issues/99/labels": `["x"]`,
		"GET /issues/99/comments": "", "POST /issues/99/comments": text,
		"GET /issues/comments/99": "", "PATCH /issues/comments/99": text, "DELETE /issues/comments/99": "",
		"GET /issues/comments/99/reactions": "", "POST /issues/comments/99/reactions": `{"content":"eyes"}`,
		"GET /check-runs/99": "", "PATCH /check-runs/99": annotated, "GET /check-runs/99/annotations": "",
		"GET /actions/runs/99": "", "GET /actions/runs/42/attempts/9": "", "GET /actions/runs/99/attempts/1": "",
		"GET /actions/runs/99/jobs": "", "GET /actions/runs/42/attempts/9/jobs": "", "GET /actions/runs/99/logs": "",
		"GET /actions/jobs/99": "", "GET /actions/jobs/99/logs": "", "POST /actions/jobs/99/rerun": "",
		"POST /actions/runs/99/rerun": "", "POST /actions/runs/99/rerun-failed-jobs": "",
		"GET /actions/runs/99/artifacts": "", "GET /actions/artifacts/99": "", "GET /actions/artifacts/99/zip": "", "GET /actions/artifacts/51/tar": "",
		"GET /actions/workflows/gone.yml/runs": "", "GET /collaborators/nobody/permission": "",
		"GET /contents/gone.md": "", "GET /contents/README.md?ref=gone": "", "GET /git/ref/tags/v0": "", "GET /git/ref/pull/99/head": "",
		"GET /compare/main..fix": "", "GET /compare/main...nobody:main": "",
	} {
		method, path, _ := strings.Cut(request, " ")
		if code, _, answer := send(t, method, s.URL()+"/repos/acme/widgets"+path, s.Token("alice"), body); code != http.StatusNotFound || !strings.Contains(answer, `"message"`) {
			t.Errorf("%s: %d %s", request, code, answer)
		}
	}
	if code, _, answer := send(t, "GET", s.URL()+"/users/nobody", s.Token("alice"), ""); code != http.StatusNotFound {
		t.Errorf("an unknown user: %d %s", code, answer)
	}
	app := jwtNow(t, key)
	for _, request := range []string{"POST /app/installations/99/access_tokens", "GET /repos/mallory/widgets/installation"} {
		method, path, _ := strings.Cut(request, " ")
		if code, _, answer := send(t, method, s.URL()+path, app, ""); code != http.StatusNotFound {
			t.Errorf("%s: %d %s", request, code, answer)
		}
	}
	for _, path := range []string{"/check-runs", "/check-suites"} {
		if code, _, answer := send(t, "GET", s.URL()+"/repos/acme/widgets/commits/gone"+path, s.Token("alice"), ""); code != http.StatusUnprocessableEntity {
			t.Errorf("%s of an unknown commit: %d %s", path, code, answer)
		}
	}
}

func TestATokenIsNotGivenMoreThanTheAppHas(t *testing.T) {
	s, key := everything(t)
	for body, want := range map[string]int{
		`{"permissions":{"issues":"write"}}`:                               http.StatusCreated,
		`{"permissions":{"administration":"write"}}`:                       http.StatusUnprocessableEntity,
		`{"permissions":{"issues":"read"},"repositories":["widgets"]}`:     http.StatusCreated,
		`{"permissions":{"issues":"read","organization_secrets":"write"}}`: http.StatusUnprocessableEntity,
	} {
		if code, _, answer := send(t, "POST", s.URL()+"/app/installations/5/access_tokens", jwtNow(t, key), body); code != want {
			t.Errorf("%s: %d %s", body, code, answer)
		}
	}
}

func TestTheTokenOfAWorkflowIsNoUser(t *testing.T) {
	s := ghtest.New(t)
	if code, _, answer := send(t, "GET", s.URL()+"/user", s.Token("workflow"), ""); code != http.StatusForbidden || !strings.Contains(answer, "Resource not accessible by integration") {
		t.Errorf("got %d %s", code, answer)
	}
	if code, _, answer := send(t, "GET", s.URL()+"/user", "", ""); code != http.StatusUnauthorized {
		t.Errorf("without a token: %d %s", code, answer)
	}
}

func TestABlankCommentIsRefused(t *testing.T) {
	s := ghtest.New(t)
	c, ctx := as(t, s, "workflow"), context.Background()
	id := s.AddComment(7, "bob", "x")
	if _, _, err := c.Issues.EditComment(ctx, owner, repo, id, &github.IssueComment{Body: github.String("")}); status(err) != http.StatusUnprocessableEntity {
		t.Errorf("got %v", err)
	}
	if got := s.Comments(7)[0]; got.Body != "x" || got.Edits != 0 {
		t.Errorf("it was changed: %+v", got)
	}
}

func TestAReactionIsMadeOnce(t *testing.T) {
	s := ghtest.New(t)
	c, ctx := as(t, s, "workflow"), context.Background()
	id := s.AddComment(7, "bob", "/triage")
	for i, want := range []int{http.StatusCreated, http.StatusOK} {
		if _, res, err := c.Reactions.CreateIssueCommentReaction(ctx, owner, repo, id, "eyes"); err != nil || res.StatusCode != want {
			t.Errorf("time %d: %v %v", i, res.StatusCode, err)
		}
	}
	must(c.Reactions.CreateIssueCommentReaction(ctx, owner, repo, id, "rocket"))(t)
	if code, _, body := send(t, "GET", s.URL()+"/repos/acme/widgets/issues/comments/1000001/reactions?content=eyes", s.Token("fork"), ""); code != 200 || strings.Count(body, `"content"`) != 1 {
		t.Errorf("the eyes are %d %s", code, body)
	}
	if got := s.Comments(7)[0].Reactions; len(got) != 2 {
		t.Errorf("the reactions are %v", got)
	}
}

func TestALogOfARunThatExpiredIsGone(t *testing.T) {
	s := ghtest.New(t)
	s.Update(func(st *ghtest.State) { st.Runs[0].Attempts[0].Jobs[1].LogState = ghtest.LogExpired })
	if code, _, answer := send(t, "GET", s.URL()+"/repos/acme/widgets/actions/runs/42/logs", s.Token("fork"), ""); code != http.StatusGone {
		t.Errorf("got %d %s", code, answer)
	}
}

func TestTheStorageIsOnlyRead(t *testing.T) {
	w := &witness{TB: t}
	s := ghtest.New(w)
	link := must(as(t, s, "fork").Actions.GetWorkflowJobLogs(context.Background(), owner, repo, 421, 0))(t).String()
	send(t, "PUT", link, "", "x")
	if got := w.end(); !strings.Contains(got, "the storage is only read") {
		t.Errorf("the test fails with %q", got)
	}
}
