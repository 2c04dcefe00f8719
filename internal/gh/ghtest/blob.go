package ghtest

import "net/http"

// blob is a download that a redirect leads to.
type blob struct{}

func (s *Server) serveBlob(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }
