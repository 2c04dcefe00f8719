package ghtest

import "time"

// Request is an entry of the journal.
type Request struct {
	Time   time.Time `json:"time"`
	Method string    `json:"method"`
	// Path is escaped, without the prefix of GitHub Enterprise Server. Downloads have the path "/blob/…".
	Path  string `json:"path"`
	Query string `json:"query,omitempty"`
	// Operation is method and path as the description writes them; "" for downloads and unknown paths.
	Operation string `json:"operation,omitempty"`
	// Token is the name of the token; "app" for an App's JWT, "" for none, "?" for an unknown one.
	Token       string `json:"token,omitempty"`
	Body        string `json:"body,omitempty"`
	Conditional bool   `json:"conditional,omitempty"`
	// Status of the answer; 0 when the connection was broken.
	Status int `json:"status"`
	// Problem is a breach of the contract.
	Problem string `json:"problem,omitempty"`
}

// record ends the entry of a call.
func (c *call) record(status int, problem string) {
	c.entry.Status, c.entry.Problem = status, problem
	c.s.note(c.entry)
}

func (s *Server) note(e Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.journal = append(s.journal, e)
	if s.observer != nil {
		s.observer(e)
	}
}

// Requests is the journal: every request that was answered, in the order of the answers.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.journal...)
}

// Calls are the requests of the journal as "METHOD /path", without the query.
func (s *Server) Calls() []string {
	var out []string
	for _, r := range s.Requests() {
		out = append(out, r.Method+" "+r.Path)
	}
	return out
}

// ForgetRequests empties the journal.
func (s *Server) ForgetRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.journal = nil
}

// ConcurrentWrites is the most writes that were in flight at once.
func (s *Server) ConcurrentWrites() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writers
}
