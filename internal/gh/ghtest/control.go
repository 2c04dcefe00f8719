package ghtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// controlPrefix begins the paths that steer a standalone server. GitHub has none like it.
const controlPrefix = "/_"

// Standalone makes a server that a caller serves itself, for clients in other
// processes. apiURL and blobURL are where they reach [Server.Handler] and
// [Server.Blobs]. Each request is told to observe once answered, which must not
// call the server. Breaches of the contract are answered 500 and are the Problem
// of the request.
func Standalone(st State, apiURL, blobURL string, observe func(Request)) (*Server, error) {
	s, err := newServer(st)
	if err != nil {
		return nil, err
	}
	s.url, s.blobURL, s.observer = apiURL, blobURL, observe
	return s, nil
}

// ReadState reads the JSON form of a state. An unknown key is an error.
func ReadState(r io.Reader) (State, error) {
	var st State
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&st); err != nil {
		return State{}, fmt.Errorf("reading the state: %w", err)
	}
	return st, nil
}

// Handler serves the API, and below it what steers the server:
//
//	GET  /_state                     the state as JSON
//	PUT  /_state                     replaces it
//	GET  /_requests                  the journal as JSON
//	POST /_artifacts?run=42&name=x   uploads the body, a zip, to a run
//	POST /_faults                    plans a fault: {"match": "GET …", "status": 503, "times": 2, …}
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_state", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.State()) })
	mux.HandleFunc("GET /_requests", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.Requests()) })
	mux.HandleFunc("PUT /_state", s.putState)
	mux.HandleFunc("POST /_artifacts", s.postArtifact)
	mux.HandleFunc("POST /_faults", s.postFault)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, controlPrefix) {
			mux.ServeHTTP(w, r)
			return
		}
		s.ServeHTTP(w, r)
	})
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.Encode(v) //nolint:errcheck // the client has gone
}

func (s *Server) putState(w http.ResponseWriter, r *http.Request) {
	st, err := ReadState(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.Update(func(old *State) { *old = st })
}

func (s *Server) postArtifact(w http.ResponseWriter, r *http.Request) {
	run, err := strconv.ParseInt(r.URL.Query().Get("run"), 10, 64)
	if err != nil {
		http.Error(w, "reading the run: "+err.Error(), http.StatusBadRequest)
		return
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		http.Error(w, "reading the zip: "+err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, found := s.run(run); !found {
		http.Error(w, fmt.Sprintf("run %d is not in the state", run), http.StatusNotFound)
		return
	}
	a := Artifact{ID: s.nextID(), Run: run, Name: r.URL.Query().Get("name"), Zip: data, Created: s.stamp()}
	s.state.Artifacts = append(s.state.Artifacts, a)
	writeJSON(w, obj{"id": a.ID})
}

func (s *Server) postFault(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Match  string            `json:"match"`
		Status int               `json:"status"`
		Header map[string]string `json:"header"`
		Body   string            `json:"body"`
		Drop   bool              `json:"drop"`
		Delay  int               `json:"delay_ms"`
		Skip   int               `json:"skip"`
		Times  int               `json:"times"`
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil || in.Match == "" {
		http.Error(w, fmt.Sprintf("reading the fault: a match is needed: %v", err), http.StatusBadRequest)
		return
	}
	s.Fail(in.Match, Fault{Status: in.Status, Header: in.Header, Body: in.Body, Drop: in.Drop, Delay: time.Duration(in.Delay) * time.Millisecond, Skip: in.Skip, Times: in.Times})
}
