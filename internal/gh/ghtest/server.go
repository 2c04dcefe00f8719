package ghtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// enterprisePrefix is where GitHub Enterprise Server has its API.
const (
	enterprisePrefix  = "/api/v3"
	enterpriseVersion = "3.19.0"
)

// Server is a fake GitHub. All its methods may be called from any goroutine.
type Server struct {
	contract *contract
	problem  func(string) // a breach of the contract, a programming error of the caller
	now      func() time.Time

	url, blobURL string

	mu       sync.Mutex
	state    State
	issued   []Token // installation tokens
	blobs    map[string]blob
	faults   []*planned
	journal  []Request
	writing  int
	writers  int // most writes in flight at once
	observer func(Request)
}

// Option changes a server before it starts.
type Option func(*Server)

// WithClock replaces the clock, which stamps comments and lets links and tokens expire.
func WithClock(now func() time.Time) Option { return func(s *Server) { s.now = now } }

// WithState replaces [Default].
func WithState(st State) Option { return func(s *Server) { s.state = clone(st) } }

// New starts a fake GitHub that ends with the test. Unless [WithState] is given
// it knows what [Default] says. What is wrong is an error of the test.
func New(t testing.TB, opts ...Option) *Server {
	t.Helper()
	s, err := newServer(Default(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	s.problem = func(text string) { t.Errorf("fake GitHub: %s", text) }
	api, blobs := httptest.NewServer(s), httptest.NewServer(http.HandlerFunc(s.serveBlob))
	s.url, s.blobURL = api.URL, blobs.URL
	t.Cleanup(func() {
		api.CloseClientConnections() // a slow reply is not waited for
		api.Close()
		blobs.Close()
		s.reportUnmet()
	})
	return s
}

func newServer(st State, opts ...Option) (*Server, error) {
	c, err := loadContract()
	if err != nil {
		return nil, err
	}
	s := &Server{contract: c, now: time.Now, state: clone(st), blobs: map[string]blob{}, problem: func(string) {}}
	for _, o := range opts {
		o(s)
	}
	return s, nil
}

// URL is the root of the API in the shape of github.com; it has no slash at the end.
func (s *Server) URL() string { return s.url }

// EnterpriseURL is the root of the API in the shape of GitHub Enterprise Server.
func (s *Server) EnterpriseURL() string { return s.url + enterprisePrefix }

// Blobs serves the downloads that the API redirects to.
func (s *Server) Blobs() http.Handler { return http.HandlerFunc(s.serveBlob) }

// State is a copy of what the server knows now.
func (s *Server) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return clone(s.state)
}

// Update changes what the server knows. The state must not be kept.
func (s *Server) Update(change func(*State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.state)
}

// clone copies deeply, by way of the JSON form that the state has anyway.
func clone(st State) State {
	text, err := json.Marshal(st)
	if err != nil {
		panic(fmt.Sprintf("ghtest: writing the state: %v", err))
	}
	var out State
	if err := json.Unmarshal(text, &out); err != nil {
		panic(fmt.Sprintf("ghtest: reading the state: %v", err))
	}
	return out
}

// nextID hands out an identity. The caller holds the lock.
func (s *Server) nextID() int64 {
	s.state.LastID = max(s.state.LastID, 1_000_000) + 1
	return s.state.LastID
}

// stamp is the time as GitHub writes it: whole seconds, UTC.
func (s *Server) stamp() time.Time { return s.now().UTC().Truncate(time.Second) }
