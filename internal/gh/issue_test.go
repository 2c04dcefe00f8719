package gh

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

func tracked(key string) Issue {
	return Issue{Marker: "sweep/" + key, Title: "Race in " + key, Body: "found at 300 ms", Labels: []string{"flaky", "triagebot"}, Open: true, Closing: "clean for 7 nights"}
}

// find is an issue of the state.
func (f fake) find(t *testing.T, number int64) ghtest.Issue {
	t.Helper()
	for _, i := range f.State().Issues {
		if int64(i.Number) == number {
			return i
		}
	}
	t.Fatalf("there is no issue %d", number)
	return ghtest.Issue{}
}

func TestATrackingIssueIsOpenedUpdatedClosedAndReopened(t *testing.T) {
	f := newFake(t, "workflow")
	step := func(w Issue, want Action) Result {
		t.Helper()
		r, err := f.UpsertIssue(ctx, w)
		if err != nil || r.Action != want {
			t.Fatalf("%+v %v, want %s", r, err, want)
		}
		return r
	}
	closed := tracked("a")
	closed.Open = false
	step(closed, None)
	r := step(tracked("a"), Created)
	step(tracked("a"), Unchanged)
	changed := tracked("a")
	changed.Title, changed.Body, changed.Labels = "Worse race", "found at 2 ms", []string{"flaky", "p1"}
	if again := step(changed, Updated); again.ID != r.ID || again.URL != r.URL {
		t.Errorf("another issue: %+v", again)
	}
	i := f.find(t, r.ID)
	if i.Title != "Worse race" || !strings.HasSuffix(i.Body, "found at 2 ms") || !slices.Equal(i.Labels, []string{"flaky", "triagebot", "p1"}) {
		t.Errorf("%+v", i)
	}
	step(Issue{Marker: "sweep/a", Labels: []string{"flaky"}, Closing: "clean for 7 nights"}, Closed)
	if i := f.find(t, r.ID); i.State != "closed" || i.Title != "Worse race" || !strings.Contains(i.Body, "found at 2 ms") {
		t.Errorf("closed: %+v", i)
	}
	if c := f.Server.Comments(int(r.ID)); len(c) != 1 || c[0].Body != "clean for 7 nights" {
		t.Errorf("closing comments %+v", c)
	}
	step(closed, Unchanged)
	step(changed, Updated)
	if i := f.find(t, r.ID); i.State != "open" {
		t.Errorf("not opened again: %+v", i)
	}
}

func TestIssuesOfOthersAreNotTouched(t *testing.T) {
	f := newFake(t, "workflow")
	f.Update(func(s *ghtest.State) {
		s.Issues = append(s.Issues,
			ghtest.Issue{Number: 20, Title: "x", User: "mallory", Body: Marker("sweep/a") + "\nforged", Labels: []string{"flaky"}},
			ghtest.Issue{Number: 21, Title: "y", User: botName, Body: "quotes " + Marker("sweep/a"), Labels: []string{"flaky"}})
		s.Pulls[0].Labels, s.Pulls[0].User, s.Pulls[0].Body = []string{"flaky"}, botName, Marker("sweep/a")
	})
	r, err := f.UpsertIssue(ctx, tracked("a"))
	if err != nil || r.Action != Created || r.ID < 22 {
		t.Errorf("%+v %v", r, err)
	}
	if i := f.find(t, 20); i.Body != Marker("sweep/a")+"\nforged" || i.Title != "x" {
		t.Errorf("%+v", i)
	}
}

func TestOpenIssuesHaveACap(t *testing.T) {
	f := newFake(t, "workflow")
	f.Update(func(s *ghtest.State) { // what is closed does not count
		for n := range 5 {
			s.Issues = append(s.Issues, ghtest.Issue{Number: 20 + n, Title: "x", State: "closed", User: botName, Body: Marker(fmt.Sprint("old/", n)), Labels: []string{"flaky"}})
		}
	})
	for i := range 4 {
		w := tracked(fmt.Sprint(i))
		w.Cap = 3
		r, err := f.UpsertIssue(ctx, w)
		if want := map[bool]Action{true: Created, false: None}[i < 3]; err != nil || r.Action != want {
			t.Errorf("issue %d: %+v %v, want %s", i, r, err, want)
		}
	}
	w := tracked("0")
	w.Cap, w.Body = 1, "new facts"
	if r, err := f.UpsertIssue(ctx, w); err != nil || r.Action != Updated {
		t.Errorf("one that is there is updated all the same: %+v %v", r, err)
	}
}

func TestAnIssueWithoutAnAnswerIsNotOpenedTwice(t *testing.T) {
	for name, fault := range map[string]ghtest.Fault{"written": {DropAfter: true}, "not written": {Drop: true}} {
		f := newFake(t, "workflow")
		f.Fail("POST /repos/{owner}/{repo}/issues", fault)
		before := len(f.State().Issues)
		r, err := f.UpsertIssue(ctx, tracked("a"))
		made := len(f.State().Issues) - before
		if name == "written" && (err != nil || r.Action != Created || made != 1) {
			t.Errorf("written: %+v %v, %d made", r, err, made)
		}
		if name != "written" && (!errors.Is(err, ErrUnavailable) || made != 0) {
			t.Errorf("not written: %+v %v, %d made", r, err, made)
		}
	}
}

func TestOfTwoIssuesOfOursTheOldestIsKept(t *testing.T) {
	f := newFake(t, "workflow")
	f.Update(func(s *ghtest.State) {
		for n := range 2 {
			s.Issues = append(s.Issues, ghtest.Issue{Number: 20 + n, Title: "x", User: botName, Body: Marker("sweep/a"), Labels: []string{"flaky"}})
		}
	})
	r, err := f.UpsertIssue(ctx, tracked("a"))
	if err != nil || r.Action != Updated || r.ID != 20 || len(r.Surplus) != 1 {
		t.Errorf("%+v %v", r, err)
	}
}

func TestIssuesThatCannotBeWritten(t *testing.T) {
	f := newFake(t, "workflow")
	untitled := tracked("a")
	untitled.Title = ""
	if _, err := f.UpsertIssue(ctx, untitled); !errors.Is(err, ErrInvalid) {
		t.Errorf("without a title: %v", err)
	}
	long := tracked("a")
	long.Body = strings.Repeat("x", CommentLimit)
	if _, err := f.UpsertIssue(ctx, long); !errors.Is(err, ErrTooLong) {
		t.Errorf("too long: %v", err)
	}
	f = newFake(t, "fork")
	if _, err := f.UpsertIssue(ctx, tracked("a")); !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), "issues: write") {
		t.Errorf("a read-only token: %v", err)
	}
}

func TestAnIssueThatAPersonClosedForGoodStaysClosed(t *testing.T) {
	c, _ := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		fmt.Fprintf(w, `[{"number":20,"state":"closed","state_reason":"not_planned","user":{"login":"bot"},"body":%q}]`, Marker("sweep/a"))
	})
	if r, err := c.UpsertIssue(ctx, tracked("a")); err != nil || r.Action != Unchanged {
		t.Errorf("%+v %v", r, err)
	}
}
