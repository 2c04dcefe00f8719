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

const getPull = "GET /repos/{owner}/{repo}/pulls/{pull_number}"

func TestLimitsAreWaitedFor(t *testing.T) {
	reset := ghtest.PrimaryLimit(429, 90*time.Second)
	for name, c := range map[string]struct {
		fault ghtest.Fault
		want  []time.Duration
	}{
		"Retry-After of a 403":           {ghtest.SecondaryLimit(403, 7*time.Second), seconds(7)},
		"Retry-After of a 429":           {ghtest.SecondaryLimit(429, 7*time.Second), seconds(7)},
		"a quota used up, 403":           {ghtest.PrimaryLimit(403, 90*time.Second), seconds(91)},
		"a quota used up, 429":           {reset, seconds(91)},
		"a burst without a time, 403":    {ghtest.SecondaryLimit(403, 0), seconds(60)},
		"a burst without a time, 429":    {ghtest.SecondaryLimit(429, 0), seconds(60)},
		"a burst twice":                  {ghtest.SecondaryLimit(403, 0).Repeat(2), seconds(60, 120)},
		"a 429 that says nothing":        {ghtest.Answer(429, "slow down"), seconds(60)},
		"Retry-After as a date":          {withHeader(ghtest.SecondaryLimit(429, 0), "Retry-After", "Mon, 02 Nov 2026 10:30:30 GMT"), seconds(30)},
		"a reset that is past":           {ghtest.PrimaryLimit(403, -time.Hour), seconds(15)},
		"Retry-After that is no time":    {withHeader(ghtest.SecondaryLimit(429, 0), "Retry-After", "-5"), seconds(60)},
		"Retry-After of nothing at all":  {withHeader(ghtest.SecondaryLimit(429, 0), "Retry-After", "0"), seconds(1)},
		"a reset header that overflows":  {withHeader(ghtest.PrimaryLimit(403, time.Second), "X-Ratelimit-Reset", "99999999999999999999"), seconds(15)},
		"a 500 once":                     {ghtest.Answer(500, "oops"), seconds(1)},
		"a bad gateway three times":      {ghtest.BadGateway().Repeat(3), seconds(1, 2, 4)},
		"a lost connection":              {ghtest.Fault{Drop: true}, seconds(1)},
		"an answer that breaks off":      {ghtest.Fault{TruncateAt: 20}, seconds(1)},
		"an answer that breaks off late": {ghtest.Fault{TruncateAt: 2000, Times: 2}, seconds(1, 2)},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, "workflow")
			f.Fail(getPull, c.fault)
			if p, err := f.Pull(ctx, 7); err != nil || p.Number != 7 {
				t.Fatalf("Pull: %v %v", p, err)
			}
			if got := f.clock.waits(); !slices.Equal(got, c.want) {
				t.Errorf("waited %v, want %v", got, c.want)
			}
			if f.log.Len() == 0 {
				t.Error("nothing was logged of the wait")
			}
		})
	}
}

func seconds(n ...int) []time.Duration {
	return each(n, func(i int) time.Duration { return time.Duration(i) * time.Second })
}

func withHeader(f ghtest.Fault, name, value string) ghtest.Fault {
	if f.Header == nil {
		f.Header = map[string]string{}
	}
	f.Header[name] = value
	return f
}

func TestLimitsThatLastTooLongAreGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		fault     ghtest.Fault
		until     time.Duration
		secondary bool
	}{
		"an hour of quota":       {ghtest.PrimaryLimit(403, 40*time.Minute), 40*time.Minute + time.Second, false},
		"an hour of quota, 429":  {ghtest.PrimaryLimit(429, 40*time.Minute), 40*time.Minute + time.Second, false},
		"a long Retry-After":     {ghtest.SecondaryLimit(403, time.Hour), time.Hour, true},
		"Retry-After for ever":   {withHeader(ghtest.SecondaryLimit(429, 0), "Retry-After", "2000000000"), 2000000000 * time.Second, true},
		"bursts without an end":  {ghtest.SecondaryLimit(403, 0).Repeat(ghtest.Always), (60 + 120 + 240) * time.Second, true},
		"a limit without an end": {ghtest.SecondaryLimit(429, 50*time.Second).Repeat(ghtest.Always), 250 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, "workflow")
			start := f.clock.Now()
			f.Fail(getPull, c.fault)
			_, err := f.Pull(ctx, 7)
			var limit *RateLimited
			if !errors.As(err, &limit) || !limit.Until.Equal(start.Add(c.until)) || limit.Secondary != c.secondary {
				t.Errorf("Pull: %v %+v", err, limit)
			}
			if passed := f.clock.Now().Sub(start); passed > DefaultMaxWait {
				t.Errorf("waited %v", passed)
			}
		})
	}
}

func TestALimitHoldsForTheNextRequestToo(t *testing.T) {
	f := newFake(t, "workflow", func(o *Options) { o.MaxWait = time.Minute })
	f.Fail(getPull, ghtest.PrimaryLimit(403, 10*time.Minute))
	var limit *RateLimited
	if _, err := f.Pull(ctx, 7); !errors.As(err, &limit) {
		t.Fatalf("the first: %v", err)
	}
	n := len(f.Requests())
	if _, err := f.Pull(ctx, 8); !errors.As(err, &limit) {
		t.Errorf("the second: %v", err)
	}
	if len(f.Requests()) != n {
		t.Error("GitHub was asked although it does not want to be")
	}
	if err := f.clock.Sleep(ctx, 11*time.Minute); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Pull(ctx, 8); err != nil {
		t.Errorf("after the reset: %v", err)
	}
}

func TestAGoodAnswerThatUsesUpTheQuotaMakesTheNextWait(t *testing.T) {
	f := newFake(t, "workflow")
	f.Update(func(s *ghtest.State) {
		for i := range s.Tokens {
			s.Tokens[i].Limit = 1
		}
	})
	if _, err := f.Pull(ctx, 7); err != nil {
		t.Fatal(err)
	}
	var limit *RateLimited
	if _, err := f.Pull(ctx, 8); !errors.As(err, &limit) || limit.Secondary {
		t.Errorf("Pull: %v", err)
	}
	if n := len(f.Requests()); n != 1 {
		t.Errorf("%d requests, want the first only", n)
	}
}

func TestAResetIsReadByGitHubsOwnClock(t *testing.T) {
	n := 0
	github := time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC) // the machine's clock is years behind
	c, k := served(t, func(w http.ResponseWriter, r *http.Request) {
		if n++; n > 1 {
			_, _ = io.WriteString(w, `{"number":7}`)
			return
		}
		w.Header().Set("Date", github.Format(http.TimeFormat))
		w.Header().Set("X-Ratelimit-Remaining", "0")
		w.Header().Set("X-Ratelimit-Reset", fmt.Sprint(github.Add(30*time.Second).Unix()))
		w.WriteHeader(http.StatusForbidden)
	})
	if p, err := c.Pull(ctx, 7); err != nil || p.Number != 7 {
		t.Errorf("%v %v", p, err)
	}
	if got := k.waits(); !slices.Equal(got, seconds(31)) {
		t.Errorf("waited %v", got)
	}
}

func TestAnUnchangedAnswerTellsTheLimitsOfToday(t *testing.T) {
	remaining := "0"
	c, k := served(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"x"`)
		if remaining != "" {
			w.Header().Set("X-Ratelimit-Remaining", remaining)
		}
		w.Header().Set("X-Ratelimit-Reset", fmt.Sprint(time.Now().Add(30*time.Second).Unix()))
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, `{"number":7}`)
	})
	wait := []int{0, 1, 1, 0, 0} // the answer before was the last of its quota, or was not
	for i, left := range []string{"0", "0", "9", "", "9"} {
		remaining = left
		if p, err := c.Pull(ctx, 7); err != nil || p.Number != 7 {
			t.Fatalf("%v %v", p, err)
		}
		if got := len(k.waits()); got != wait[i] {
			t.Errorf("request %d: %d waits, want %d", i, got, wait[i])
		}
	}
}

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

func TestAskingAgainIsConditionalAndCostsNothing(t *testing.T) {
	f := newFake(t, "workflow")
	first, err := f.Pull(ctx, 7)
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.Pull(ctx, 7)
	if err != nil || again != first {
		t.Errorf("the same again: %v %v", again, err)
	}
	r := f.Requests()
	if len(r) != 2 || r[0].Conditional || !r[1].Conditional || r[1].Status != http.StatusNotModified {
		t.Errorf("requests %+v", r)
	}
	f.MoveHead(7, ghtest.SHA("moved"))
	moved, err := f.Pull(ctx, 7)
	if err != nil || moved.Head.SHA != ghtest.SHA("moved") {
		t.Errorf("after a change: %v %v", moved, err)
	}
	if used := f.State().Tokens[0].Used; used != 2 {
		t.Errorf("three requests cost %d", used)
	}
}

func TestTheStoreOfAnswersIsBounded(t *testing.T) {
	e := newETags()
	big := make([]byte, maxCached/4)
	for i := range 10 {
		e.keep(fmt.Sprint(i), cached{tag: "x", body: big})
		e.keep("same", cached{tag: "y", body: big})
	}
	var sum int
	for _, k := range e.known {
		sum += len(k.body)
	}
	if sum > maxCached || sum != e.bytes {
		t.Errorf("holds %d bytes, counts %d, may hold %d", sum, e.bytes, maxCached)
	}
	e.keep("huge", cached{tag: "x", body: make([]byte, maxCached)})
	if _, ok := e.known["huge"]; ok {
		t.Error("an answer larger than its share is kept")
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

func TestAnAnswerForgottenMeanwhileIsStillGiven(t *testing.T) {
	var n int
	var forget func()
	c, _ := served(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"x"`)
		if n++; r.Header.Get("If-None-Match") != "" {
			forget()
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, `{"number":7}`)
	})
	store := c.api.Client().Transport.(*transport).cache
	forget = func() {
		store.mu.Lock()
		defer store.mu.Unlock()
		clear(store.known)
	}
	for range 2 {
		if p, err := c.Pull(ctx, 7); err != nil || p.Number != 7 {
			t.Errorf("%v %v", p, err)
		}
	}
	if n != 2 {
		t.Errorf("%d requests", n)
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
