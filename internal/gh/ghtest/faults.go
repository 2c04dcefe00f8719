package ghtest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

// Fault is something that goes wrong. The zero value with Before set changes
// the state and lets the request go on.
type Fault struct {
	// Status answers the request with Header and Body instead of carrying it out.
	Status int
	Header map[string]string
	// Body is the text of the answer; "" is GitHub's JSON error with the usual message.
	Body string
	// RateReset makes the answer that of an exhausted primary limit, which ends after that time.
	RateReset time.Duration
	// Drop closes the connection without an answer, before the request is carried out;
	// DropAfter carries it out first: the client cannot know.
	Drop, DropAfter bool
	// Delay comes before all else; it ends early when the client leaves.
	Delay time.Duration
	// TruncateAt breaks the connection after so many bytes of the body.
	TruncateAt int
	// Before runs first, without a lock: delete the comment, move the head.
	Before func()
	// Skip lets that many matching requests pass before the first fault.
	Skip int
	// Times is how many requests meet it; 0 is one, Always is all.
	Times int
}

// Always is a [Fault.Times] without end.
const Always = -1

type planned struct {
	Fault
	match string
	met   int
	skip  int
}

// Fail plans a fault. match is "METHOD PATH": the path as the description
// writes it ("GET /repos/{owner}/{repo}/pulls"), or a pattern of path.Match for
// the path that is asked for ("GET /repos/acme/widgets/pulls/*"). "GET /blob/*"
// are the downloads, "*" is every request. A fault that nothing meets fails the
// test.
func (s *Server) Fail(match string, f Fault) {
	if f.Times == 0 {
		f.Times = 1
	}
	if _, err := path.Match(match, ""); err != nil {
		panic(fmt.Sprintf("ghtest: fault %q: %v", match, err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &planned{Fault: f, match: match, skip: f.Skip})
}

// Answer is a fault that answers with a status and GitHub's JSON error.
func Answer(status int, message string) Fault {
	text, _ := json.Marshal(obj{"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status)})
	return Fault{Status: status, Body: string(text)}
}

// SecondaryLimit is GitHub's answer to a client that is too busy: 403 or 429.
// retryAfter is in whole seconds; 0 leaves the header out.
func SecondaryLimit(status int, retryAfter time.Duration) Fault {
	text, _ := json.Marshal(obj{
		"message":           "You have exceeded a secondary rate limit. Please wait a few minutes before you try again. If you reach out to GitHub Support for help, please include the request ID FAKE:1:2:3:4.",
		"documentation_url": "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits",
		"status":            strconv.Itoa(status),
	})
	f := Fault{Status: status, Body: string(text), Header: map[string]string{}}
	if retryAfter > 0 {
		f.Header["Retry-After"] = strconv.Itoa(int(retryAfter / time.Second))
	}
	return f
}

// PrimaryLimit is the answer when the hourly limit is used up: 403 or 429, no
// requests remaining, and the time of the reset.
func PrimaryLimit(status int, reset time.Duration) Fault {
	f := Answer(status, "API rate limit exceeded for installation ID 1.")
	f.RateReset = reset
	return f
}

// BadGateway is a page of GitHub's front end, which is no JSON.
func BadGateway() Fault {
	return Fault{Status: http.StatusBadGateway, Body: "<html><body><h1>502 Bad Gateway</h1></body></html>", Header: map[string]string{"Content-Type": "text/html"}}
}

// Then repeats a fault.
func (f Fault) Repeat(times int) Fault {
	f.Times = times
	return f
}

// meet finds the first planned fault of a request.
func (s *Server) meet(c *call) *planned {
	return s.meetPath(c.r.Method, c.entry.Path, c.op)
}

func (s *Server) meetPath(method, asked, op string) *planned {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if f.Times != Always && f.met >= f.Times || !f.matches(method+" "+asked, op) {
			continue
		}
		if f.skip > 0 {
			f.skip--
			return nil
		}
		f.met++
		return f
	}
	return nil
}

func (f *planned) matches(asked, op string) bool {
	if f.match == "*" || f.match == op {
		return true
	}
	hit, _ := path.Match(f.match, asked)
	return hit
}

// breaks delays and breaks a connection; true when there is nothing more to answer.
func (f *planned) breaks(w http.ResponseWriter, r *http.Request) bool {
	if f.Delay > 0 {
		select {
		case <-time.After(f.Delay):
		case <-r.Context().Done():
			return true
		}
	}
	if f.Drop {
		drop(w)
	}
	return f.Drop
}

// drop closes a connection so that the client sees a reset, not an end.
func drop(w http.ResponseWriter) {
	hijacker, can := w.(http.Hijacker)
	if !can {
		panic(http.ErrAbortHandler)
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, is := conn.(*net.TCPConn); is {
		tcp.SetLinger(0) //nolint:errcheck // then it is an end
	}
	conn.Close()
}

// reply is the answer of a fault.
func (f *planned) reply(now time.Time) reply {
	text := f.Body
	if text == "" {
		text = Answer(f.Status, http.StatusText(f.Status)).Body
	}
	r := reply{status: f.Status, body: rawBody(text), header: http.Header{}}
	if f.RateReset != 0 {
		r.header.Set("X-Ratelimit-Limit", "1000")
		r.header.Set("X-Ratelimit-Remaining", "0")
		r.header.Set("X-Ratelimit-Reset", strconv.FormatInt(now.Add(f.RateReset).Unix(), 10))
	}
	for k, v := range f.Header {
		r.header.Set(k, v)
	}
	return r
}

// reportUnmet makes a fault that nothing met a problem: the test thinks that it tests it.
func (s *Server) reportUnmet() {
	s.mu.Lock()
	var unmet []string
	for _, f := range s.faults {
		if f.met == 0 || f.Times != Always && f.met < f.Times {
			unmet = append(unmet, fmt.Sprintf("%s (met %d times of %d)", f.match, f.met, f.Times))
		}
	}
	s.mu.Unlock()
	if len(unmet) > 0 {
		s.problem("planned faults were not met: " + strings.Join(unmet, "; "))
	}
}
