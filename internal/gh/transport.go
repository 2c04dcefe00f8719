package gh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	// writeGap is what GitHub asks for between requests that change something.
	writeGap = time.Second
	// attemptTime is the longest that one request may take, answer read.
	attemptTime = time.Minute
	// repeats is how often a request is sent again after a 5xx or no answer;
	// the pause before each doubles from firstPause.
	repeats    = 3
	firstPause = time.Second
	// maxAnswer is the largest answer of the API that is read; a page of a
	// hundred comments of the greatest length has some 25 MB.
	maxAnswer = 32 << 20
)

// transport carries requests to the API's host, and to no other. It
// authenticates them, keeps within GitHub's limits, and repeats what may be
// repeated. Answers are read whole, so that one that breaks off is repeated too.
type transport struct {
	base http.RoundTripper
	api  *url.URL
	// authorize gives the Authorization header; nil leaves the request's own.
	authorize func(context.Context) (string, error)
	// repeatable says that even a POST may be sent twice.
	repeatable bool
	clock      Clock
	logf       func(string, ...any)
	maxWait    time.Duration
	cache      *etags // nil: no conditional requests

	writing   chan struct{} // holds one: the right to write
	lastWrite time.Time     // owned by the holder
	limits    limits
}

// limits is until when GitHub does not want to hear from us.
type limits struct {
	mu        sync.Mutex
	until     time.Time
	secondary bool
}

func (l *limits) set(until time.Time, secondary bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if until.After(l.until) {
		l.until, l.secondary = until, secondary
	}
}

func (l *limits) get() (until time.Time, secondary bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until, l.secondary
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != t.api.Scheme || req.URL.Host != t.api.Host {
		closeBody(req)
		return nil, fmt.Errorf("refusing to follow GitHub to another host, %q", req.URL.Host)
	}
	body, err := requestBody(req)
	if err != nil {
		return nil, err
	}
	ctx := req.Context()
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		select {
		case t.writing <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		defer func() {
			t.lastWrite = t.clock.Now()
			<-t.writing
		}()
		if err := t.clock.Sleep(ctx, writeGap-t.clock.Now().Sub(t.lastWrite)); err != nil {
			return nil, err
		}
	}
	return t.persist(req, body)
}

// persist sends a request until there is an answer to give back.
func (t *transport) persist(req *http.Request, body []byte) (*http.Response, error) {
	w := waiting{t: t, left: t.maxWait}
	for {
		if err := w.limit(req.Context()); err != nil {
			return nil, err
		}
		res, err := t.attempt(req, body)
		if again, werr := w.after(req, res, err); werr != nil {
			return nil, werr
		} else if !again {
			return res, err
		}
	}
}

// attempt sends a request once and reads the answer.
func (t *transport) attempt(req *http.Request, body []byte) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), attemptTime)
	defer cancel()
	r := req.Clone(ctx)
	if body != nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	if t.authorize != nil {
		header, err := t.authorize(req.Context()) // a token may have limits to wait for
		if err != nil {
			return nil, &final{err}
		}
		if header != "" {
			r.Header.Set("Authorization", header)
		}
	}
	var known cached
	if t.cache != nil {
		known = t.cache.ask(r)
	}
	res, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, &attemptError{err}
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return nil, &attemptError{fmt.Errorf("reading the answer: %w", err)}
	}
	if len(data) > maxAnswer {
		return nil, &final{fmt.Errorf("the answer has more than %d bytes", maxAnswer)}
	}
	res.Body = io.NopCloser(bytes.NewReader(data))
	res.Request = req
	if t.cache != nil {
		return t.cache.answer(req, res, data, known), nil
	}
	return res, nil
}

// harmless marks the context of a POST that may be sent twice.
type harmless struct{}

// attemptError is an attempt without an answer. Its deadline is the attempt's,
// not the caller's.
type attemptError struct{ error }

// Unwrap is the error itself.
func (e *attemptError) Unwrap() error { return e.error }

// final is an error that another attempt does not mend.
type final struct{ error }

// Unwrap is the error itself.
func (f *final) Unwrap() error { return f.error }

func requestBody(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	defer req.Body.Close()
	data, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the request's body: %w", err)
	}
	return data, nil
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// neverSent reports whether an error says that no connection was made.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// sameHost is the redirect rule of the API: a repository that was renamed
// answers so. The token goes nowhere else, and a write stays a write.
func sameHost(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case len(via) >= 5:
		return errors.New("too many redirects")
	case req.URL.Host != first.URL.Host || req.URL.Scheme != first.URL.Scheme:
		return fmt.Errorf("refusing to follow GitHub to another host, %q", req.URL.Host)
	case req.Method != first.Method:
		return errors.New("the repository has moved; use its new name")
	}
	return nil
}

// systemClock is the machine's clock.
type systemClock struct{}

// Now is the time.
func (systemClock) Now() time.Time { return time.Now() }

// Sleep waits for d or for the context.
func (systemClock) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// defaultTransport has the time-outs that http.DefaultTransport lacks.
func defaultTransport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = 30 * time.Second
	return t
}

// isGraphQL: the quota of the REST API does not hold for it.
func isGraphQL(u *url.URL) bool { return strings.HasSuffix(u.Path, "/graphql") }
