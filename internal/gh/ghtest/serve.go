package ghtest

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3filter"
)

// maxBody is far above what any request of ours sends.
const maxBody = 8 << 20

// call is one request on its way through the server.
type call struct {
	s     *Server
	r     *http.Request
	base  string // how the client reached the API
	op    string // "GET /repos/{owner}/{repo}"
	vars  map[string]string
	query url.Values
	asks  map[string]bool // the parameters of the query that the handler looked at
	body  []byte
	token *Token // nil: none, or an App's JWT
	entry Request
}

// reply is what a handler answers. A nil body is none.
type reply struct {
	status int
	body   any
	header http.Header
}

type obj = map[string]any

// ServeHTTP answers a request of the API.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	c := &call{s: s, r: r, base: s.url, query: r.URL.Query(), asks: map[string]bool{}, body: body}
	c.entry = Request{Time: s.now(), Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Body: string(body), Conditional: r.Header.Get("If-None-Match") != ""}
	defer s.enter(r)()
	if err != nil {
		c.breach(w, fmt.Errorf("reading the body: %w", err))
		return
	}
	path, enterprise := strings.CutPrefix(r.URL.EscapedPath(), enterprisePrefix)
	if enterprise {
		c.base += enterprisePrefix
	}
	if path == "/api"+graphqlPath {
		path = graphqlPath
	}
	c.entry.Path = path
	route, vars, err := s.contract.find(r.Method, path)
	if err != nil {
		c.breach(w, err)
		return
	}
	c.op, c.vars = r.Method+" "+route.Path, vars
	c.entry.Operation = c.op
	c.identify()
	in, err := s.contract.checkRequest(r, route, vars, body)
	if err != nil {
		c.breach(w, err)
		return
	}
	f := s.meet(c)
	if f != nil && f.Before != nil {
		f.Before()
	}
	if f != nil && f.breaks(w, r) {
		c.record(0, "")
		return
	}
	if f != nil && f.Status != 0 {
		c.finish(w, in, f.reply(s.now()), f)
		return
	}
	rep, err := c.answer()
	if err != nil {
		c.breach(w, err)
		return
	}
	c.finish(w, in, rep, f)
}

// enter counts the writes that are in flight.
func (s *Server) enter(r *http.Request) (leave func()) {
	if r.Method == http.MethodGet || strings.HasSuffix(r.URL.Path, graphqlPath) {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writing++
	s.writers = max(s.writers, s.writing)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.writing--
	}
}

// errBreach marks what GitHub would never be asked by a sound client.
var errBreach = errors.New("breach")

// answer runs the handler under the lock.
func (c *call) answer() (rep reply, err error) {
	op, ok := operations[c.op]
	if !ok {
		return reply{}, fmt.Errorf("the fake does not serve %s", c.op)
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			e, is := p.(error)
			if !is || !errors.Is(e, errBreach) {
				panic(p)
			}
			err = e
		}
	}()
	if denied, ok := c.authorize(op); !ok {
		return denied, nil
	}
	if denied, ok := c.spend(); !ok {
		return denied, nil
	}
	rep = op.handle(c)
	for name := range c.query {
		if rep.status == http.StatusOK && !c.asks[name] {
			refuse("the fake does not serve the query parameter %q here", name)
		}
	}
	return rep, nil
}

// q is a parameter of the query.
func (c *call) q(name string) string {
	c.asks[name] = true
	return c.query.Get(name)
}

// refuse gives up a handler over a breach of the contract.
func refuse(format string, args ...any) {
	panic(fmt.Errorf("%w: %s", errBreach, fmt.Sprintf(format, args...)))
}

// breach answers a request that no sound client makes, or a reply of ours that is wrong.
func (c *call) breach(w http.ResponseWriter, err error) {
	text := fmt.Sprintf("%s %s: %v", c.r.Method, c.r.URL.RequestURI(), err)
	c.record(http.StatusInternalServerError, text)
	c.s.problem(text)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(http.StatusInternalServerError)
	message, _ := json.Marshal(obj{"message": "fake GitHub: " + text})
	w.Write(message) //nolint:errcheck // the client has gone
}

// finish checks and writes a reply.
func (c *call) finish(w http.ResponseWriter, in *openapi3filter.RequestValidationInput, rep reply, f *planned) {
	header := c.headers(rep)
	text, raw := rep.body.(rawBody)
	out := []byte(text)
	if !raw && rep.body != nil {
		var err error
		if out, err = json.Marshal(rep.body); err != nil {
			c.breach(w, fmt.Errorf("writing the reply: %w", err))
			return
		}
	}
	if rep.status == http.StatusOK && c.r.Method == http.MethodGet {
		tag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(out))
		header.Set("ETag", tag)
		if c.r.Header.Get("If-None-Match") == tag {
			rep.status, out = http.StatusNotModified, nil
			c.refund()
		}
	}
	if rep.body == nil || rep.status == http.StatusNotModified {
		header.Del("Content-Type")
	}
	if err := c.s.contract.checkReply(in, rep.status, header, out); err != nil {
		c.breach(w, err)
		return
	}
	if f != nil && f.DropAfter {
		drop(w)
		c.record(0, "")
		return
	}
	c.record(rep.status, "")
	for k, v := range header {
		w.Header()[k] = v
	}
	if f != nil && f.TruncateAt > 0 && f.TruncateAt < len(out) {
		w.Header().Set("Content-Length", strconv.Itoa(len(out)))
		out = out[:f.TruncateAt]
	}
	w.WriteHeader(rep.status)
	w.Write(out) //nolint:errcheck // the client has gone
}

// headers are what GitHub sends with every reply, and the reply's own.
func (c *call) headers(rep reply) http.Header {
	h := http.Header{}
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Server", "github.com")
	h.Set("Date", c.s.now().UTC().Format(http.TimeFormat))
	h.Set("X-Github-Request-Id", "FAKE:1:2:3:4")
	h.Set("X-Github-Media-Type", "github.v3; format=json")
	if strings.HasSuffix(c.base, enterprisePrefix) {
		h.Set("X-Github-Enterprise-Version", enterpriseVersion)
	}
	c.s.mu.Lock()
	if c.token != nil {
		limit, used := c.token.limit(), c.token.Used
		h.Set("X-Ratelimit-Limit", strconv.Itoa(limit))
		h.Set("X-Ratelimit-Remaining", strconv.Itoa(max(limit-used, 0)))
		h.Set("X-Ratelimit-Used", strconv.Itoa(used))
		h.Set("X-Ratelimit-Resource", "core")
		h.Set("X-Ratelimit-Reset", strconv.FormatInt(c.s.reset().Unix(), 10))
	}
	c.s.mu.Unlock()
	for k, v := range rep.header {
		h[http.CanonicalHeaderKey(k)] = v
	}
	return h
}

// reset is when the window of the primary rate limit ends: the next full hour.
func (s *Server) reset() time.Time { return s.now().Truncate(time.Hour).Add(time.Hour) }

// rawBody is a body that is written as it is.
type rawBody string

// Replies that many handlers give, in GitHub's words.

func ok(body any) reply      { return reply{status: http.StatusOK, body: body} }
func created(body any) reply { return reply{status: http.StatusCreated, body: body} }
func noContent() reply       { return reply{status: http.StatusNoContent} }

func failed(status int, message string) reply {
	return reply{status: status, body: obj{"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status)}}
}

func notFound() reply { return failed(http.StatusNotFound, "Not Found") }

// unprocessable is the 422 of a field.
func unprocessable(resource, field, code, message string) reply {
	return reply{status: http.StatusUnprocessableEntity, body: obj{
		"message": "Validation Failed", "documentation_url": "https://docs.github.com/rest", "status": "422",
		"errors": []any{obj{"resource": resource, "field": field, "code": code, "message": message}},
	}}
}

// decode reads the body; the contract has been checked before.
func (c *call) decode(v any) {
	if err := json.Unmarshal(c.body, v); err != nil {
		refuse("decoding the body: %v", err)
	}
}

// number reads a variable of the path that the description says is an integer.
func (c *call) number(name string) int64 {
	n, err := strconv.ParseInt(c.vars[name], 10, 64)
	if err != nil {
		refuse("%s: %q is no number", name, c.vars[name])
	}
	return n
}
