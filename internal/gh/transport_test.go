package gh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

func TestRefusalsAreNotRepeated(t *testing.T) {
	for _, status := range []int{401, 403, 404, 410, 422} {
		f := newFake(t, "workflow")
		f.Fail(getPull, ghtest.Answer(status, "no"))
		if _, err := f.Pull(ctx, 7); err == nil {
			t.Errorf("%d: no error", status)
		}
		if n := len(f.Requests()); n != 1 {
			t.Errorf("%d: %d requests", status, n)
		}
	}
}

func TestServerErrorsEndInAnError(t *testing.T) {
	f := newFake(t, "workflow")
	f.Fail(getPull, ghtest.BadGateway().Repeat(ghtest.Always))
	_, err := f.Pull(ctx, 7)
	var e *Error
	if !errors.Is(err, ErrUnavailable) || !errors.As(err, &e) || e.Status != 502 {
		t.Errorf("Pull: %v", err)
	}
	if n := len(f.Requests()); n != 1+repeats {
		t.Errorf("%d requests", n)
	}
}

func TestAWriteIsSentOnceUnlessItWasRefusedForALimit(t *testing.T) {
	const post = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments"
	for name, c := range map[string]struct {
		fault ghtest.Fault
		posts int
		ok    bool
	}{
		"a limit":           {ghtest.SecondaryLimit(429, 5*time.Second), 2, true},
		"a bad gateway":     {ghtest.BadGateway(), 1, false},
		"a lost connection": {ghtest.Fault{Drop: true}, 1, false},
	} {
		var sent counter
		f := newFake(t, "workflow", func(o *Options) { o.HTTP = &http.Client{Transport: &sent} })
		f.Fail(post, c.fault)
		err := f.say(ctx, 7, "hello")
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if !c.ok && !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: %v is not ErrUnavailable", name, err)
		}
		if n := sent.of("POST"); n != c.posts {
			t.Errorf("%s: %d posts, want %d", name, n, c.posts)
		}
	}
}

func TestWritesComeOneAtATimeAndASecondApart(t *testing.T) {
	f := newFake(t, "workflow")
	start := f.clock.Now()
	var wg sync.WaitGroup
	for i := range 5 {
		wg.Go(func() {
			if err := f.say(ctx, 7, fmt.Sprint(i)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := f.ConcurrentWrites(); n != 1 {
		t.Errorf("%d writes at once", n)
	}
	var last time.Time
	for _, r := range f.Requests() {
		if gap := r.Time.Sub(last); gap < time.Second {
			t.Errorf("a write %v after the one before", gap)
		}
		last = r.Time
	}
	if passed := f.clock.Now().Sub(start); passed != 4*time.Second {
		t.Errorf("five writes took %v of waiting", passed)
	}
}

func TestTheTokenGoesToNoOtherHost(t *testing.T) {
	var asked atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if len(r.Header["Authorization"]) > 0 {
			t.Errorf("%s %s with %q", r.Method, r.URL, r.Header["Authorization"])
		}
	}))
	defer other.Close()
	for _, status := range []int{301, 302, 307, 308} {
		c, _ := served(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL+r.URL.Path, status) })
		if _, err := c.Pull(ctx, 7); err == nil || !strings.Contains(err.Error(), "another host") {
			t.Errorf("%d: %v", status, err)
		}
		if _, err := c.JobLog(ctx, 5, io.Discard, 100); status == 301 && err == nil {
			t.Errorf("log, %d: %v", status, err)
		}
		if err := c.say(ctx, 7, "x"); err == nil {
			t.Errorf("write, %d: no error", status)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the other host was asked %d times, want once: the log's 302", n)
	}
}

func TestARenamedRepositoryIsFollowedForReadingOnly(t *testing.T) {
	c, _ := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/elsewhere" {
			http.Redirect(w, r, "/elsewhere", http.StatusMovedPermanently)
			return
		}
		if r.Header.Get("Authorization") != "Bearer secret-token" || r.Method != http.MethodGet {
			t.Errorf("%s with %q", r.Method, r.Header.Get("Authorization"))
		}
		_, _ = w.Write([]byte(`{"number":7}`))
	})
	if p, err := c.Pull(ctx, 7); err != nil || p.Number != 7 {
		t.Errorf("Pull: %v %v", p, err)
	}
	if err := c.say(ctx, 7, "x"); err == nil || !strings.Contains(err.Error(), "moved") {
		t.Errorf("a write: %v", err)
	}
}

func TestACancelledCallEndsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(ctx)
	asked := make(chan struct{})
	c, _ := served(t, func(w http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	})
	done := make(chan error)
	go func() { _, err := c.Pull(ctx, 7); done <- err }()
	<-asked
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnavailable) {
		t.Errorf("Pull: %v", err)
	}
}

func TestACancelledWaitEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(ctx)
	c, _ := served(t, func(w http.ResponseWriter, r *http.Request) {
		defer cancel()
		w.Header().Set("Retry-After", "200")
		w.WriteHeader(http.StatusTooManyRequests)
	}, func(o *Options) { o.Clock = systemClock{} })
	if _, err := c.Pull(ctx, 7); !errors.Is(err, context.Canceled) {
		t.Errorf("Pull: %v", err)
	}
}

func TestAWriterThatWaitsForItsTurnCanGo(t *testing.T) {
	ctx, cancel := context.WithCancel(ctx)
	started, release := make(chan struct{}), make(chan struct{})
	c, _ := served(t, func(w http.ResponseWriter, r *http.Request) {
		close(started)
		<-release
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte("{}"))
	})
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- c.say(context.Background(), 7, "x") }()
	<-started
	go func() { second <- c.say(ctx, 7, "y") }()
	cancel()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("the second: %v", err)
	}
	close(release)
	if err := <-first; err != nil {
		t.Errorf("the first: %v", err)
	}
}

func TestAnAnswerWithoutEndIsRefused(t *testing.T) {
	c, _ := served(t, func(w http.ResponseWriter, r *http.Request) {
		block := make([]byte, 1<<20)
		for range 40 {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	if _, err := c.Pull(ctx, 7); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("Pull: %v", err)
	}
}

func TestAHostThatIsNotThereIsUnavailable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	c, k := served(t, nil, func(o *Options) { o.APIURL = "http://" + l.Addr().String() })
	if err := c.say(ctx, 7, "x"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a write: %v", err)
	}
	if got := k.waits(); !slices.Equal(got, seconds(1, 2, 4)) {
		t.Errorf("a write that was never sent may be repeated; waited %v", got)
	}
}

func TestTheMachinesClockWaitsAndEnds(t *testing.T) {
	var k systemClock
	start := k.Now()
	if err := k.Sleep(ctx, 5*time.Millisecond); err != nil || k.Now().Sub(start) < 5*time.Millisecond {
		t.Errorf("Sleep: %v after %v", err, k.Now().Sub(start))
	}
	ctx, cancel := context.WithCancel(ctx)
	time.AfterFunc(5*time.Millisecond, cancel)
	if err := k.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := k.Sleep(ctx, -1); !errors.Is(err, context.Canceled) {
		t.Errorf("no wait at all: %v", err)
	}
}

// stuck is a connection that gives no answer within the time of an attempt.
type stuck struct{ asked atomic.Int32 }

func (s *stuck) RoundTrip(*http.Request) (*http.Response, error) {
	s.asked.Add(1)
	return nil, context.DeadlineExceeded
}

func TestAnAttemptThatTakesTooLongIsNotTheCallersDeadline(t *testing.T) {
	var s stuck
	c, _ := served(t, nil, func(o *Options) { o.HTTP = &http.Client{Transport: &s} })
	_, err := c.Pull(ctx, 7)
	if !errors.Is(err, ErrUnavailable) || s.asked.Load() != 1+repeats {
		t.Errorf("%v after %d attempts", err, s.asked.Load())
	}
	over, cancel := context.WithDeadline(ctx, time.Now().Add(-time.Second))
	defer cancel()
	if _, err := c.Pull(over, 7); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrUnavailable) {
		t.Errorf("the caller's own: %v", err)
	}
}

func TestDownloadsHopWithinTLS(t *testing.T) {
	secure, plain := httptest.NewRequest("GET", "https://a/x", nil), httptest.NewRequest("GET", "http://a/x", nil)
	for _, c := range []struct {
		to   *http.Request
		via  []*http.Request
		well bool
	}{
		{secure, []*http.Request{secure}, true},
		{plain, []*http.Request{plain}, true},
		{secure, []*http.Request{plain}, true},
		{plain, []*http.Request{secure}, false},
		{secure, []*http.Request{secure, secure, secure}, false},
	} {
		if err := downloadRedirect(c.to, c.via); (err == nil) != c.well {
			t.Errorf("%s after %d hops: %v", c.to.URL, len(c.via), err)
		}
	}
}
