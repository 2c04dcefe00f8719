package gh

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

const (
	botName      = "github-actions[bot]"
	patchComment = "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}"
	postComment  = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments"
)

var ours = Comment{Marker: "acme/loop", Body: "two reds", Create: true}

func TestTheMarkerIsTheOneThatReportsCarry(t *testing.T) {
	for _, key := range []string{"acme/loop", "a b\n-->c", "x--y---z", "t:1._/-"} {
		page := report.Markdown(triage.Report{}, report.Options{Marker: key})
		if first, _, _ := strings.Cut(page, "\n"); first != Marker(key) {
			t.Errorf("%q: the report has %q, we look for %q", key, first, Marker(key))
		}
	}
}

func TestOneCommentIsKeptUpToDate(t *testing.T) {
	f := newFake(t, "workflow")
	first, err := f.Upsert(ctx, 7, ours)
	if err != nil || first.Action != Created || first.ID == 0 || !strings.Contains(first.URL, "/pull/7") {
		t.Fatalf("the first: %+v %v", first, err)
	}
	same, err := f.Upsert(ctx, 7, ours)
	if err != nil || same.Action != Unchanged || same.ID != first.ID || same.URL != first.URL {
		t.Errorf("the same again: %+v %v", same, err)
	}
	changed := ours
	changed.Body, changed.Create = "all green", false
	third, err := f.Upsert(ctx, 7, changed)
	if err != nil || third.Action != Updated || third.ID != first.ID {
		t.Errorf("another text: %+v %v", third, err)
	}
	c := f.Server.Comments(7)
	if len(c) != 1 || c[0].Body != Marker("acme/loop")+"\nall green" || c[0].Edits != 1 {
		t.Errorf("the comments are %+v", c)
	}
}

func TestGreenIsSilent(t *testing.T) {
	f := newFake(t, "workflow")
	quiet := ours
	quiet.Create = false
	if r, err := f.Upsert(ctx, 7, quiet); err != nil || r.Action != None {
		t.Errorf("Upsert: %+v %v", r, err)
	}
	if n := len(f.Server.Comments(7)); n != 0 {
		t.Errorf("%d comments", n)
	}
}

func TestOnlyOurOwnCommentIsTouched(t *testing.T) {
	for name, foreign := range map[string]struct{ user, body string }{
		"a pasted marker":         {"mallory", Marker("acme/loop") + "\nyou are all wrong"},
		"a name like ours":        {"github-actions", Marker("acme/loop") + "\nx"},
		"a quote by ourselves":    {botName, "> " + Marker("acme/loop") + "\nx"},
		"a key that begins alike": {botName, Marker("acme/loop2") + "\nx"},
		"another check of ours":   {botName, Marker("acme/other") + "\nx"},
	} {
		f := newFake(t, "workflow")
		f.Update(func(s *ghtest.State) { s.Users = append(s.Users, ghtest.User{Login: "github-actions"}) })
		id := f.AddComment(7, foreign.user, foreign.body)
		r, err := f.Upsert(ctx, 7, ours)
		if err != nil || r.Action != Created || r.ID == id {
			t.Errorf("%s: %+v %v", name, r, err)
		}
		if c := f.Server.Comments(7); len(c) != 2 || c[0].Body != foreign.body {
			t.Errorf("%s: the comments are %+v", name, c)
		}
	}
}

func TestOfTwoOfOursTheOldestIsKeptAndTheOtherTold(t *testing.T) {
	f := newFake(t, "workflow")
	old := f.AddComment(7, botName, Marker("acme/loop")+"\none")
	f.AddComment(7, botName, Marker("acme/loop")+"\ntwo")
	r, err := f.Upsert(ctx, 7, ours)
	if err != nil || r.Action != Updated || r.ID != old || len(r.Surplus) != 1 {
		t.Errorf("Upsert: %+v %v", r, err)
	}
	if c := f.Server.Comments(7); c[1].Edits != 0 || len(c) != 2 {
		t.Errorf("the second was touched: %+v", c)
	}
}

func TestACommentDeletedMeanwhile(t *testing.T) {
	for _, create := range []bool{true, false} {
		f := newFake(t, "workflow")
		id := f.AddComment(7, botName, Marker("acme/loop")+"\nold")
		f.Fail(patchComment, ghtest.Fault{Before: func() { f.DeleteComment(id) }})
		w := ours
		w.Create = create
		r, err := f.Upsert(ctx, 7, w)
		want, left := None, 0
		if create {
			want, left = Created, 1
		}
		if err != nil || r.Action != want || r.ID == id || len(f.Server.Comments(7)) != left {
			t.Errorf("create %v: %+v %v, %d left", create, r, err, len(f.Server.Comments(7)))
		}
	}
}

func TestABodyThatIsTooLongIsNotSent(t *testing.T) {
	f := newFake(t, "workflow")
	head := len(Marker("acme/loop")) + 1
	for _, unit := range []string{"x", "ü", "😀"} {
		w := ours
		w.Body = strings.Repeat(unit, CommentLimit-head+1)
		if _, err := f.Upsert(ctx, 7, w); !errors.Is(err, ErrTooLong) {
			t.Errorf("one %s too many: %v", unit, err)
		}
	}
	if n := len(f.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
	w := ours
	w.Body = strings.Repeat("ü", CommentLimit-head)
	if _, err := f.Upsert(ctx, 7, w); err != nil {
		t.Errorf("the longest: %v", err)
	}
}

func TestAPostWithoutAnAnswerIsLookedForFirst(t *testing.T) {
	for name, c := range map[string]struct {
		fault ghtest.Fault
		posts int
	}{
		"it was written":     {ghtest.Fault{DropAfter: true}, 1},
		"it was not written": {ghtest.Fault{Drop: true}, 2},
		"a bad gateway":      {ghtest.BadGateway(), 2},
	} {
		t.Run(name, func(t *testing.T) {
			var sent counter
			f := newFake(t, "workflow", func(o *Options) { o.HTTP = &http.Client{Transport: &sent} })
			f.Fail(postComment, c.fault)
			r, err := f.Upsert(ctx, 7, ours)
			if err != nil || r.Action != Created || r.URL == "" {
				t.Errorf("Upsert: %+v %v", r, err)
			}
			if n := len(f.Server.Comments(7)); n != 1 {
				t.Errorf("%d comments", n)
			}
			if n := sent.of("POST"); n != c.posts {
				t.Errorf("%d posts, want %d", n, c.posts)
			}
		})
	}
}

func TestAPostThatNeverSucceedsIsGivenUp(t *testing.T) {
	f := newFake(t, "workflow")
	f.Fail(postComment, ghtest.BadGateway().Repeat(ghtest.Always))
	if _, err := f.Upsert(ctx, 7, ours); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Upsert: %v", err)
	}
	if n := len(f.Server.Comments(7)); n != 0 {
		t.Errorf("%d comments", n)
	}
}

func TestAReadOnlyTokenIsForbidden(t *testing.T) {
	f := newFake(t, "fork")
	_, err := f.Upsert(ctx, 7, ours)
	if !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), "pull-requests: write") || !strings.Contains(err.Error(), "fork") {
		t.Errorf("Upsert: %v", err)
	}
	if err := f.React(ctx, f.AddComment(7, "bob", "/triage"), Eyes); !errors.Is(err, ErrForbidden) {
		t.Errorf("React: %v", err)
	}
}

func TestALockedConversationIsSaid(t *testing.T) {
	f := newFake(t, "workflow")
	f.Fail(postComment, ghtest.Answer(http.StatusForbidden, "Unable to create comment because issue is locked."))
	if _, err := f.Upsert(ctx, 7, ours); !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), "unlock") {
		t.Errorf("Upsert: %v", err)
	}
}

func TestTextsThatGitHubChangesAreNotChangedForEver(t *testing.T) {
	f := newFake(t, "workflow")
	w := ours
	w.Body = "one\r\ntwo \xff three\x00  \n\n"
	if r, err := f.Upsert(ctx, 7, w); err != nil || r.Action != Created {
		t.Fatalf("the first: %+v %v", r, err)
	}
	f.Update(func(s *ghtest.State) { // as GitHub's forms write it
		for i := range s.Comments {
			s.Comments[i].Body = strings.ReplaceAll(s.Comments[i].Body, "\n", "\r\n")
		}
	})
	if r, err := f.Upsert(ctx, 7, w); err != nil || r.Action != Unchanged {
		t.Errorf("the second: %+v %v", r, err)
	}
}

func TestAMarkerWithoutAKeyIsRefused(t *testing.T) {
	f := newFake(t, "workflow")
	for _, key := range []string{"", "   ", "<!---->"} {
		w := ours
		w.Marker = key
		if _, err := f.Upsert(ctx, 7, w); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", key, err)
		}
	}
}

func TestARepeatedReplyIsOneComment(t *testing.T) {
	f := newFake(t, "workflow")
	asked := f.AddComment(7, "bob", "/triage")
	a, err := f.Reply(ctx, 7, asked, "on it")
	if err != nil || a.Action != Created {
		t.Fatalf("%+v %v", a, err)
	}
	b, err := f.Reply(ctx, 7, asked, "done")
	if err != nil || b.Action != Updated || b.ID != a.ID {
		t.Errorf("%+v %v", b, err)
	}
	if other, err := f.Reply(ctx, 7, asked+1, "no"); err != nil || other.Action != Created {
		t.Errorf("to another comment: %+v %v", other, err)
	}
}

func TestCommentsTellWhoWroteThemAndWhen(t *testing.T) {
	f := newFake(t, "workflow")
	f.AddComment(7, "bob", "old")
	if err := f.clock.Sleep(ctx, time.Hour); err != nil {
		t.Fatal(err)
	}
	since := f.clock.Now()
	id := f.AddComment(7, botName, "new")
	got, err := f.Client.Comments(ctx, 7, since)
	if err != nil || len(got) != 1 {
		t.Fatalf("%+v %v", got, err)
	}
	if k := got[0]; k.ID != id || k.Author != botName || !k.Bot || k.Body != "new" || !k.Created.Equal(since) {
		t.Errorf("%+v", k)
	}
	k, err := f.CommentByID(ctx, id)
	if err != nil || k != got[0] {
		t.Errorf("by its id: %+v %v", k, err)
	}
	f.DeleteComment(id)
	if _, err := f.CommentByID(ctx, id); !errors.Is(err, ErrNotFound) {
		t.Errorf("deleted: %v", err)
	}
}

func TestReactionsAreSetOnce(t *testing.T) {
	f := newFake(t, "workflow")
	id := f.AddComment(7, "bob", "/triage")
	f.Fail("POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions", ghtest.Fault{DropAfter: true})
	for _, r := range []Reaction{Eyes, Eyes, Rocket, Confused} {
		if err := f.React(ctx, id, r); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, r := range f.Server.Comments(7)[0].Reactions {
		got = append(got, r.Content)
	}
	if !slices.Equal(got, []string{"eyes", "rocket", "confused"}) {
		t.Errorf("reactions %v", got)
	}
}

func TestTwoThatCreateAtOnceLeaveOneComment(t *testing.T) {
	f := newFake(t, "workflow")
	other, err := New(Options{Repo: "acme/widgets", APIURL: f.URL(), Token: f.Token("workflow"), Clock: f.clock})
	if err != nil {
		t.Fatal(err)
	}
	var first Result
	f.Fail(postComment, ghtest.Fault{Before: func() { // between our look and our post
		if first, err = other.Upsert(ctx, 7, Comment{Marker: "acme/loop", Body: "leg one", Create: true}); err != nil {
			t.Error(err)
		}
	}})
	r, err := f.Upsert(ctx, 7, Comment{Marker: "acme/loop", Body: "leg two", Create: true})
	if err != nil || r.Action != Updated || r.ID != first.ID || len(r.Surplus) != 0 {
		t.Errorf("%+v %v, the first was %+v", r, err, first)
	}
	if c := f.Server.Comments(7); len(c) != 1 || !strings.HasSuffix(c[0].Body, "leg two") {
		t.Errorf("the comments are %+v", c)
	}
}

func TestACommentThatIsWrittenIsNoErrorWhateverComesAfter(t *testing.T) {
	f := newFake(t, "workflow")
	f.Fail("GET /repos/{owner}/{repo}/issues/{issue_number}/comments", ghtest.Fault{Status: 403, Skip: 1})
	if r, err := f.Upsert(ctx, 7, ours); err != nil || r.Action != Created {
		t.Errorf("%+v %v", r, err)
	}
}
