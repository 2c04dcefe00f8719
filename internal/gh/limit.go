package gh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// secondaryPause is the least wait after a secondary limit that names no time;
// it doubles. Source: GitHub's "Best practices for using the REST API".
const secondaryPause = time.Minute

// waiting is what one request has waited.
type waiting struct {
	t         *transport
	left      time.Duration
	failures  int // 5xx or no answer
	secondary int // limits without a time
	told      int // limits with one
}

// limit waits until GitHub wants to hear from us again.
func (w *waiting) limit(ctx context.Context) error {
	until, secondary := w.t.limits.get()
	d := until.Sub(w.t.clock.Now())
	if d <= 0 {
		return nil
	}
	if d > w.left {
		return &RateLimited{Until: until, Secondary: secondary}
	}
	w.t.logf("GitHub asks to wait: %s until its limit allows more", d.Round(time.Second))
	return w.sleep(ctx, d)
}

func (w *waiting) sleep(ctx context.Context, d time.Duration) error {
	w.left -= d
	return w.t.clock.Sleep(ctx, d)
}

// after looks at an answer and says whether to ask again; it has waited then,
// or [waiting.limit] will. Rate headers are taken off the answer: the library
// would keep a second account of them, with the machine's clock.
func (w *waiting) after(req *http.Request, res *http.Response, err error) (again bool, _ error) {
	if err != nil {
		return w.repeat(req, err, neverSent(err))
	}
	limited := w.limited(req, res)
	for name := range res.Header {
		if strings.HasPrefix(name, "X-Ratelimit-") {
			res.Header.Del(name)
		}
	}
	switch {
	case limited:
		return true, nil
	case res.StatusCode >= 500 && res.StatusCode != http.StatusNotImplemented:
		return w.repeat(req, nil, false)
	}
	return false, nil
}

// repeat waits before a request that failed is sent again, when it may be:
// a POST may have been carried out even though there was no good answer.
func (w *waiting) repeat(req *http.Request, err error, unsent bool) (bool, error) {
	var f *final
	ctx := req.Context()
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.As(err, &f):
		return false, f.error
	case req.Method == http.MethodPost && !w.t.repeatable && !unsent && ctx.Value(harmless{}) == nil:
		return false, nil
	case w.failures >= repeats:
		return false, nil
	}
	pause := firstPause << w.failures
	w.failures++
	if pause > w.left {
		return false, nil
	}
	w.t.logf("GitHub gave no good answer to a %s; asking again in %s", req.Method, pause)
	return true, w.sleep(ctx, pause)
}

// limited reports whether an answer says that a limit was hit, and notes until
// when. An answer that used up the quota is good, but the next has to wait.
func (w *waiting) limited(req *http.Request, res *http.Response) bool {
	now := w.t.clock.Now()
	h := res.Header
	usedUp := h.Get("X-Ratelimit-Remaining") == "0"
	reset := resetIn(h, now)
	if res.StatusCode != http.StatusForbidden && res.StatusCode != http.StatusTooManyRequests {
		if usedUp && reset > 0 && !isGraphQL(req.URL) {
			w.t.limits.set(now.Add(reset), false)
		}
		return false
	}
	if d, ok := retryAfter(h, now); ok {
		// Once is as told; who is told "at once" again and again waits longer.
		w.t.limits.set(now.Add(max(d, time.Second<<min(w.told, 6))), !usedUp)
		w.told++
		return true
	}
	if usedUp {
		// A reset that is past, or none, is a clock that differs: ask soon.
		w.t.limits.set(now.Add(max(reset, secondaryPause>>2)), false)
		return true
	}
	if res.StatusCode == http.StatusTooManyRequests || speaksOfLimit(res) {
		w.t.limits.set(now.Add(secondaryPause<<min(w.secondary, 10)), true)
		w.secondary++
		return true
	}
	return false
}

// resetIn is how long until the quota is renewed, by GitHub's own clock when
// the answer tells it; 0 when it is not said or past.
func resetIn(h http.Header, now time.Time) time.Duration {
	unix, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64)
	if err != nil || unix <= 0 || unix > 1<<40 {
		return 0
	}
	if d, err := http.ParseTime(h.Get("Date")); err == nil {
		now = d
	}
	if d := time.Unix(unix, 0).Sub(now); d > 0 {
		return d + time.Second // the header has no fractions
	}
	return 0
}

// retryAfter reads Retry-After: seconds, or a date.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	v := h.Get("Retry-After")
	if n, err := strconv.ParseUint(v, 10, 31); err == nil {
		return time.Duration(n) * time.Second, true
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0, false
	}
	return at.Sub(now), true
}

// speaksOfLimit tells a 403 that is a limit from one that is a refusal; only
// the text differs.
func speaksOfLimit(res *http.Response) bool {
	data, err := io.ReadAll(res.Body)
	res.Body = io.NopCloser(bytes.NewReader(data))
	if err != nil {
		return false
	}
	text := strings.ToLower(string(data[:min(len(data), 4096)]))
	for _, s := range []string{"secondary rate limit", "secondary-rate-limit", "abuse detection", "abuse-rate-limit", "api rate limit exceeded"} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// Error says until when, and what to do.
func (e *RateLimited) Error() string {
	kind := "quota is used up"
	if e.Secondary {
		kind = "limit on bursts was hit"
	}
	return fmt.Sprintf("GitHub's %s until %s; run again then", kind, e.Until.UTC().Format(time.RFC3339))
}
