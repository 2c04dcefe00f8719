package ghtest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

// witness is a test that notes its errors, so that a test can show what the
// server makes fail.
type witness struct {
	testing.TB
	mu       sync.Mutex
	errors   []string
	cleanups []func()
}

func (w *witness) Helper() {}

func (w *witness) Errorf(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.errors = append(w.errors, fmt.Sprintf(format, args...))
}

func (w *witness) Cleanup(f func()) { w.cleanups = append(w.cleanups, f) }

func (w *witness) end() string {
	for i := len(w.cleanups) - 1; i >= 0; i-- {
		w.cleanups[i]()
	}
	return strings.Join(w.errors, "\n")
}

// send makes a request by hand; go-github would not make these.
func send(t *testing.T, method, url, token, body string, header ...string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(text)
}

func TestAnUnsoundRequestFailsTheTest(t *testing.T) {
	for name, tc := range map[string]struct{ method, path, body, want string }{
		"an unknown path":              {"GET", "/repos/acme/widgets/pull/7", "", "no path like /repos/acme/widgets/pull/7"},
		"a method it does not have":    {"PUT", "/repos/acme/widgets/pulls/7", "", "no PUT of"},
		"GraphQL":                      {"POST", "/graphql", `{"query":"{repository{id}}"}`, "/query: "},
		"another repository":           {"GET", "/repos/acme/gadgets/pulls", "", "repository acme/gadgets is not in the state"},
		"a word where a number goes":   {"GET", "/repos/acme/widgets/pulls/seven", "", "request: "},
		"an undeclared query":          {"GET", "/repos/acme/widgets/pulls?status=open", "", `no query parameter "status"`},
		"a query that is not served":   {"GET", "/repos/acme/widgets/actions/runs?check_suite_id=5", "", `does not serve the query parameter "check_suite_id"`},
		"a page that is too large":     {"GET", "/repos/acme/widgets/pulls?per_page=101", "", "per_page is 101"},
		"a misspelt field":             {"POST", "/repos/acme/widgets/issues/7/comments", `{"bdy":"x"}`, "request: "},
		"one field too many":           {"POST", "/repos/acme/widgets/issues/7/comments", `{"body":"x","pin":true}`, `property "pin" is unsupported`},
		"a number for a text":          {"POST", "/repos/acme/widgets/issues/7/comments", `{"body":7}`, "/body: "},
		"no body":                      {"POST", "/repos/acme/widgets/issues/7/comments", "", "request: "},
		"no JSON":                      {"POST", "/repos/acme/widgets/issues/7/comments", `{"body":`, "request: "},
		"an unknown conclusion":        {"POST", "/repos/acme/widgets/check-runs", `{"name":"n","head_sha":"a","status":"completed","conclusion":"red"}`, "/conclusion: "},
		"a summary beyond the limit":   {"POST", "/repos/acme/widgets/check-runs", `{"name":"n","head_sha":"a","output":{"title":"t","summary":"` + strings.Repeat("x", 65536) + `"}}`, "/output/summary: "},
		"51 annotations":               {"POST", "/repos/acme/widgets/check-runs", `{"name":"n","head_sha":"a","output":{"title":"t","summary":"s","annotations":[` + strings.Repeat(`{"path":"a","start_line":1,"end_line":1,"annotation_level":"notice","message":"m"},`, 50) + `{"path":"a","start_line":1,"end_line":1,"annotation_level":"notice","message":"m"}]}}`, "/output/annotations: "},
		"an unknown reaction":          {"POST", "/repos/acme/widgets/issues/comments/1/reactions", `{"content":"shrug"}`, "/content: "},
		"26 inputs":                    {"POST", "/repos/acme/widgets/actions/workflows/ci.yml/dispatches", `{"ref":"main","inputs":{` + inputs(26) + `}}`, "/inputs: "},
		"a body where none is allowed": {"GET", "/repos/acme/widgets/pulls", `{"a":1}`, "request: "},
	} {
		t.Run(name, func(t *testing.T) {
			w := &witness{TB: t}
			s := ghtest.New(w)
			status, _, answer := send(t, tc.method, s.URL()+tc.path, s.Token("workflow"), tc.body)
			got := w.end()
			if !strings.Contains(got, tc.want) {
				t.Errorf("the test fails with %q, want %q in it", got, tc.want)
			}
			if status != http.StatusInternalServerError || !strings.Contains(answer, "fake GitHub: ") {
				t.Errorf("the client is told %d %s", status, answer)
			}
			if r := s.Requests(); len(r) != 1 || !strings.Contains(r[0].Problem, tc.want) {
				t.Errorf("the journal has %v", r)
			}
		})
	}
}

func inputs(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(`"i%d":"x"`, i))
	}
	return strings.Join(out, ",")
}

func TestARequestWithoutATokenFailsTheTest(t *testing.T) {
	w := &witness{TB: t}
	s := ghtest.New(w)
	send(t, "GET", s.URL()+"/repos/acme/widgets/pulls", "", "")
	send(t, "GET", s.URL()+"/rate_limit", "", "") // needs none
	if got := w.end(); strings.Count(got, "\n") != 0 || !strings.Contains(got, "/pulls: breach: no token was sent") {
		t.Errorf("the test fails with %q", got)
	}
}

func TestAnUnknownTokenIsRefusedAsGitHubDoes(t *testing.T) {
	s := ghtest.New(t)
	status, _, answer := send(t, "GET", s.URL()+"/repos/acme/widgets/pulls", "stale", "")
	if status != http.StatusUnauthorized || !strings.Contains(answer, "Bad credentials") {
		t.Errorf("got %d %s", status, answer)
	}
	if r := s.Requests(); r[0].Token != "?" {
		t.Errorf("the journal calls it %q", r[0].Token)
	}
}

func TestATokenSentToTheStorageFailsTheTest(t *testing.T) {
	w := &witness{TB: t}
	s := ghtest.New(w)
	status, header, _ := send(t, "GET", s.URL()+"/repos/acme/widgets/actions/jobs/421/logs", s.Token("workflow"), "")
	if status != http.StatusFound {
		t.Fatalf("the log is answered %d", status)
	}
	if status, _, _ := send(t, "GET", header.Get("Location"), "", ""); status != http.StatusOK {
		t.Errorf("without a token the storage answers %d", status)
	}
	if len(w.errors) != 0 {
		t.Errorf("until here the test fails with %q", w.errors)
	}
	send(t, "GET", header.Get("Location"), s.Token("workflow"), "")
	if got := w.end(); !strings.Contains(got, "the token was sent to the storage") {
		t.Errorf("the test fails with %q", got)
	}
}

func TestAFaultThatNothingMetFailsTheTest(t *testing.T) {
	w := &witness{TB: t}
	s := ghtest.New(w)
	s.Fail("GET /repos/{owner}/{repo}/pulls", ghtest.BadGateway().Repeat(2))
	s.Fail("GET /repos/{owner}/{repo}/issues", ghtest.BadGateway().Repeat(ghtest.Always))
	send(t, "GET", s.URL()+"/repos/acme/widgets/pulls", s.Token("workflow"), "")
	got := w.end()
	if !strings.Contains(got, "/pulls (met 1 times of 2)") || !strings.Contains(got, "/issues (met 0 times") {
		t.Errorf("the test fails with %q", got)
	}
}

func TestAFaultMustBeAnErrorThatGitHubGives(t *testing.T) {
	for name, f := range map[string]ghtest.Fault{
		"no JSON":               {Status: http.StatusForbidden, Body: "no"},
		"no message":            {Status: http.StatusForbidden, Body: `{"error":"no"}`},
		"a message of no text":  {Status: http.StatusConflict, Body: `{"message":7}`},
		"a link of no text":     {Status: http.StatusForbidden, Body: `{"message":"no","documentation_url":7}`},
		"a success it lacks":    {Status: http.StatusAccepted, Body: `{"message":"yes"}`},
		"a declared one, wrong": {Status: http.StatusUnprocessableEntity, Body: `{"message":"x","documentation_url":"x","errors":"no list"}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := &witness{TB: t}
			s := ghtest.New(w)
			s.Fail("GET /repos/{owner}/{repo}/pulls", f)
			send(t, "GET", s.URL()+"/repos/acme/widgets/pulls", s.Token("workflow"), "")
			if got := w.end(); !strings.Contains(got, "reply") {
				t.Errorf("the test fails with %q", got)
			}
		})
	}
}

func TestARedirectLeadsSomewhere(t *testing.T) {
	w := &witness{TB: t}
	s := ghtest.New(w)
	s.Fail("GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs", ghtest.Fault{Status: http.StatusFound})
	send(t, "GET", s.URL()+"/repos/acme/widgets/actions/jobs/421/logs", s.Token("workflow"), "")
	if got := w.end(); !strings.Contains(got, "no Location") {
		t.Errorf("the test fails with %q", got)
	}
}

// A state that no GitHub could be in gives replies that its description forbids.
func TestAnUnsoundReplyFailsTheTest(t *testing.T) {
	for name, tc := range map[string]struct {
		path, want string
		change     func(*ghtest.State)
	}{
		"an unknown state": {"/pulls/7", "/state: ", func(st *ghtest.State) { st.Pulls[0].State = "ajar" }},
		"an unknown level": {"/check-runs/421", "", func(st *ghtest.State) { st.Runs[0].Attempts[0].Jobs[0].Conclusion = "red" }},
		"an unknown job":   {"/actions/runs/42/jobs", "/jobs/0/status: ", func(st *ghtest.State) { st.Runs[0].Attempts[0].Jobs[0].Status = "done" }},
		"a lost workflow":  {"/actions/runs/42", "workflow 11, which is not in the state", func(st *ghtest.State) { st.Workflows = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			w := &witness{TB: t}
			s := ghtest.New(w)
			s.Update(tc.change)
			status, _, _ := send(t, "GET", s.URL()+"/repos/acme/widgets"+tc.path, s.Token("workflow"), "")
			if got := w.end(); got == "" || !strings.Contains(got, tc.want) || status != http.StatusInternalServerError {
				t.Errorf("answered %d, the test fails with %q, want %q in it", status, got, tc.want)
			}
		})
	}
}
