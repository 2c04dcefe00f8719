package gh

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

func checked(annotations int) Check {
	k := Check{Name: "triagebot", HeadSHA: ghtest.SHA("head"), Conclusion: "neutral", Title: "2 of 3 reds", Summary: "not this pull request", DetailsURL: "https://example.com/run"}
	for i := range annotations {
		k.Annotations = append(k.Annotations, Annotation{Path: "outbox.go", Line: i + 1, Level: Warning, Message: fmt.Sprint("late ", i)})
	}
	return k
}

// made is the check run of the state that we made.
func (f fake) made(t *testing.T) ghtest.Check {
	t.Helper()
	all := f.State().Checks
	if len(all) != 1 {
		t.Fatalf("%d checks", len(all))
	}
	return all[0]
}

func TestACheckRunIsMadeAndChanged(t *testing.T) {
	f := newFake(t, "workflow")
	running := checked(0)
	running.Conclusion = ""
	r, err := f.CreateCheck(ctx, running)
	if err != nil || r.Action != Created || r.ID == 0 || r.URL == "" {
		t.Fatalf("%+v %v", r, err)
	}
	if k := f.made(t); k.Status != "in_progress" || k.Conclusion != "" || k.Title != "2 of 3 reds" {
		t.Errorf("%+v", k)
	}
	if u, err := f.UpdateCheck(ctx, r.ID, checked(2)); err != nil || u.Action != Updated || u.ID != r.ID {
		t.Errorf("%+v %v", u, err)
	}
	if k := f.made(t); k.Status != "completed" || k.Conclusion != "neutral" || len(k.Annotations) != 2 || k.Annotations[1].Start != 2 || k.Annotations[1].End != 2 {
		t.Errorf("%+v", k)
	}
}

func TestManyAnnotationsGoFiftyARequest(t *testing.T) {
	for _, n := range []int{0, 1, 50, 51, 120} {
		f := newFake(t, "workflow")
		if _, err := f.CreateCheck(ctx, checked(n)); err != nil {
			t.Fatal(err)
		}
		if k := f.made(t); len(k.Annotations) != n {
			t.Errorf("%d annotations of %d", len(k.Annotations), n)
		}
		if got, want := len(f.Requests()), max((n+49)/50, 1); got != want {
			t.Errorf("%d annotations took %d requests, want %d", n, got, want)
		}
	}
}

func TestTextsOfACheckRunHaveAnEnd(t *testing.T) {
	f := newFake(t, "workflow")
	for _, change := range []func(*Check){
		func(k *Check) { k.Summary = strings.Repeat("x", SummaryLimit+1) },
		func(k *Check) { k.Text = strings.Repeat("x", SummaryLimit+1) },
	} {
		k := checked(0)
		change(&k)
		if _, err := f.CreateCheck(ctx, k); !errors.Is(err, ErrTooLong) {
			t.Errorf("CreateCheck: %v", err)
		}
		if _, err := f.UpdateCheck(ctx, 1, k); !errors.Is(err, ErrTooLong) {
			t.Errorf("UpdateCheck: %v", err)
		}
	}
	if n := len(f.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestAnnotationsAreMadeWhole(t *testing.T) {
	f := newFake(t, "workflow")
	k := checked(0)
	k.Annotations = []Annotation{
		{Level: "shout", Title: strings.Repeat("ü", 300), Message: ""},
		{Path: "a.go", Line: 9, EndLine: 3, Level: Failure, Message: strings.Repeat("é", 40_000)},
	}
	if _, err := f.CreateCheck(ctx, k); err != nil {
		t.Fatal(err)
	}
	a := f.made(t).Annotations
	if a[0].Path != ".github" || a[0].Start != 1 || a[0].Level != "warning" || len([]rune(a[0].Title)) != 255 || a[0].Message == "" {
		t.Errorf("%+v", a[0])
	}
	if a[1].Start != 9 || a[1].End != 9 || len(a[1].Message) > 64<<10+2 {
		t.Errorf("%d %d, %d bytes", a[1].Start, a[1].End, len(a[1].Message))
	}
}

func TestAReadOnlyTokenMakesNoCheckRun(t *testing.T) {
	f := newFake(t, "fork")
	if _, err := f.CreateCheck(ctx, checked(1)); !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), "checks: write") {
		t.Errorf("%v", err)
	}
}
