package gh

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

// fakeClock passes over what a client waits, and remembers it.
type fakeClock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

func newClock() *fakeClock { return &fakeClock{now: time.Date(2026, 11, 2, 10, 30, 0, 0, time.UTC)} }

func (k *fakeClock) Now() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now
}

func (k *fakeClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now = k.now.Add(d)
	k.slept = append(k.slept, d)
	return nil
}

// waits are what was waited, and forgotten by that.
func (k *fakeClock) waits() []time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := k.slept
	k.slept = nil
	return out
}

// fake is a fake GitHub with a client of one of its tokens, on one clock.
type fake struct {
	*ghtest.Server
	*Client
	clock *fakeClock
	log   *strings.Builder
}

func newFake(t *testing.T, token string, change ...func(*Options)) fake {
	t.Helper()
	k := newClock()
	s := ghtest.New(t, ghtest.WithClock(k.Now))
	var mu sync.Mutex
	log := &strings.Builder{}
	o := Options{Repo: "acme/widgets", APIURL: s.URL(), Clock: k, Logf: func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		log.WriteString(oneLine(format) + "\n")
	}}
	if token != "" {
		o.Token = s.Token(token)
	}
	for _, f := range change {
		f(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return fake{s, c, k, log}
}

// served is a client of a handler, for what a fake GitHub does not do.
func served(t *testing.T, h http.HandlerFunc, change ...func(*Options)) (*Client, *fakeClock) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	k := newClock()
	o := Options{Repo: "acme/widgets", Token: "secret-token", APIURL: s.URL, Clock: k, Login: "bot"}
	for _, f := range change {
		f(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c, k
}

// counter counts what a client sends, answered or not.
type counter struct {
	mu   sync.Mutex
	sent []*http.Request
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.sent = append(c.sent, r)
	c.mu.Unlock()
	return http.DefaultTransport.RoundTrip(r)
}

func (c *counter) of(method string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.sent {
		if r.Method == method {
			n++
		}
	}
	return n
}

var ctx = context.Background()

func TestOptionsThatAreWrongAreErrors(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"no repository":      {Options{}, "write owner/name"},
		"a path":             {Options{Repo: "a/b/c"}, "write owner/name"},
		"dots":               {Options{Repo: "../x"}, "write owner/name"},
		"a query":            {Options{Repo: "a/b?c"}, "write owner/name"},
		"a URL without host": {Options{Repo: "a/b", APIURL: "api.github.com"}, "write https://HOST/api/v3"},
		"a URL of a file":    {Options{Repo: "a/b", APIURL: "file:///etc"}, "write https://HOST/api/v3"},
		"a URL with a user":  {Options{Repo: "a/b", APIURL: "https://u:p@h/api/v3"}, "write https://HOST/api/v3"},
		"a token of lines":   {Options{Repo: "a/b", Token: "x\ny"}, "line breaks"},
		"a key that is none": {Options{Repo: "a/b", App: &App{ID: 1, Key: []byte("SECRETKEY")}}, "private key"},
		"token and App":      {Options{Repo: "a/b", Token: "x", App: &App{}}, "pass one of them"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(c.o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("New: %v, want %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "SECRETKEY") {
				t.Error("the error tells the key")
			}
		})
	}
}

func TestBothShapesOfTheAPIAreSpokenTo(t *testing.T) {
	for _, enterprise := range []bool{false, true} {
		f := newFake(t, "workflow")
		if enterprise {
			c, err := New(Options{Repo: "acme/widgets", Token: f.Token("workflow"), APIURL: f.EnterpriseURL() + "/"})
			if err != nil {
				t.Fatal(err)
			}
			f.Client = c
		}
		if p, err := f.Pull(ctx, 7); err != nil || p.Number != 7 {
			t.Errorf("enterprise %v: %v %v", enterprise, p, err)
		}
	}
}

func TestStatusesAreErrorsThatNameTheFix(t *testing.T) {
	for status, c := range map[int]struct {
		is   error
		want string
	}{
		401: {ErrUnauthorized, "the token is wrong or has expired"},
		403: {ErrForbidden, "`permissions: pull-requests: read`"},
		404: {ErrNotFound, "the token may not see it"},
		409: {ErrConflict, "conflict"},
		410: {ErrGone, "gone"},
		422: {ErrInvalid, "refused as invalid"},
		400: {ErrInvalid, "refused as invalid"},
		413: {ErrTooLong, "too long"},
		500: {ErrUnavailable, "try again later"},
	} {
		f := newFake(t, "workflow")
		f.Fail("GET /repos/{owner}/{repo}/pulls/{pull_number}", ghtest.Answer(status, "said \x1b[31mso\u202e\n::error::x").Repeat(ghtest.Always))
		_, err := f.Pull(ctx, 7)
		var e *Error
		if !errors.Is(err, c.is) || !errors.As(err, &e) || e.Status != status || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v, want %v and %q", status, err, c.is, c.want)
			continue
		}
		if !strings.Contains(err.Error(), "getting pull request 7 of acme/widgets") || strings.ContainsAny(err.Error(), "\x1b\u202e\n") {
			t.Errorf("%d: the message is %q", status, err)
		}
	}
}

func TestAnAnswerThatIsNoJSONIsUnavailable(t *testing.T) {
	c, _ := served(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("<html>hello")) })
	if _, err := c.Pull(ctx, 7); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Pull: %v", err)
	}
}

func TestListsAreReadToTheirEnd(t *testing.T) {
	f := newFake(t, "workflow")
	for range 205 {
		f.AddComment(7, "bob", "hello")
	}
	all, err := f.Client.Comments(ctx, 7, time.Time{})
	if err != nil || len(all) != 205 {
		t.Fatalf("%d comments, %v", len(all), err)
	}
	if !slices.IsSortedFunc(all, func(a, b CommentRef) int { return int(a.ID - b.ID) }) {
		t.Error("not in order")
	}
	if n := len(f.Requests()); n != 3 {
		t.Errorf("%d requests for three pages", n)
	}
}

func TestTheRepository(t *testing.T) {
	f := newFake(t, "workflow")
	r, err := f.Repo(ctx)
	if want := (Repo{1001, "acme", "widgets", "main", false}); err != nil || r != want || r.FullName() != "acme/widgets" {
		t.Errorf("%+v %v", r, err)
	}
	f.Fail("GET /repos/{owner}/{repo}", ghtest.Answer(404, "Not Found"))
	if _, err := f.Repo(ctx); !errors.Is(err, ErrNotFound) {
		t.Errorf("not there: %v", err)
	}
}

func TestForeignTextIsFitToBePrinted(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                        "plain",
		"a\nb\tc\r":                    "a b c",
		"\x1b[31mred\x00\u202e\u200b":  "[31mred",
		"\xff\ufffd":                   "",
		"x\u2028y":                     "xy",
		strings.Repeat("ü", 200):       strings.Repeat("ü", 150) + "…",
		"a" + strings.Repeat("ü", 200): "a" + strings.Repeat("ü", 149) + "…",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("%q is printed as %q, want %q", in, got, want)
		}
	}
}

func TestARefusalNamesTheFields(t *testing.T) {
	f := newFake(t, "workflow")
	f.Fail("GET /repos/{owner}/{repo}/pulls/{pull_number}", ghtest.Fault{Status: 422, Body: `{"message":"Validation Failed","documentation_url":"https://docs.github.com/rest",
		"errors":[{"resource":"Issue","field":"body","code":"custom","message":"is too long"},{"code":"b"},{"code":"c"},{"code":"d"}]}`})
	_, err := f.Pull(ctx, 7)
	if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "Validation Failed (Issue body custom is too long) (b) (c)") || strings.Contains(err.Error(), "(d)") {
		t.Errorf("%v", err)
	}
}
