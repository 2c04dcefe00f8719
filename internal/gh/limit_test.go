package gh

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
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
		"at once without an end": {withHeader(ghtest.SecondaryLimit(429, 0), "Retry-After", "0").Repeat(ghtest.Always), (127 + 64 + 64) * time.Second, true},
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
