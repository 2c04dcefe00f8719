package ghtest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// blobLife is how long GitHub's links to logs and archives are good for.
const blobLife = time.Minute

// blob is a download that a redirect leads to.
type blob struct {
	mime    string
	data    []byte
	lost    bool // the storage does not have it
	expires time.Time
}

// redirect makes a link to a download. The caller holds the lock.
func (c *call) redirect(b blob) reply {
	b.expires = c.s.now().Add(blobLife)
	name := fmt.Sprintf("/blob/%d", len(c.s.blobs)+1)
	c.s.blobs[name] = b
	h := http.Header{}
	h.Set("Location", fmt.Sprintf("%s%s?se=%s&sig=fake%%2Bsignature", c.s.blobURL, name, b.expires.UTC().Format("2006-01-02T15%3A04%3A05Z")))
	return reply{status: http.StatusFound, header: h}
}

// serveBlob is the storage: another host, which must not see a token.
func (s *Server) serveBlob(w http.ResponseWriter, r *http.Request) {
	e := Request{Time: s.now(), Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery}
	if r.Header.Get("Authorization") != "" {
		e.Token = "?"
		e.Problem = fmt.Sprintf("%s %s: the token was sent to the storage", r.Method, r.URL.Path)
	} else if r.Method != http.MethodGet && r.Method != http.MethodHead {
		e.Problem = fmt.Sprintf("%s %s: the storage is only read", r.Method, r.URL.Path)
	}
	if e.Problem != "" {
		s.problem(e.Problem)
		e.Status = http.StatusInternalServerError
		s.note(e)
		http.Error(w, "fake GitHub: "+e.Problem, e.Status)
		return
	}
	f := s.meetPath(r.Method, r.URL.Path, "")
	if f != nil && f.Before != nil {
		f.Before()
	}
	if f != nil && f.breaks(w, r) {
		s.note(e)
		return
	}
	s.mu.Lock()
	b, found := s.blobs[r.URL.Path]
	s.mu.Unlock()
	e.Status, b = b.answer(found, s.now())
	header := w.Header()
	if f != nil && f.Status != 0 {
		rep := f.reply(s.now())
		e.Status, b = rep.status, blob{mime: "application/xml", data: []byte(f.Body)}
		for k, v := range rep.header {
			header[k] = v
		}
	}
	s.note(e)
	header.Set("Content-Type", b.mime)
	header.Set("Content-Length", fmt.Sprint(len(b.data)))
	w.WriteHeader(e.Status)
	if f != nil && f.TruncateAt > 0 {
		b.data = b.data[:min(f.TruncateAt, len(b.data))]
	}
	w.Write(b.data) //nolint:errcheck // the client has gone
}

// answer is what the storage says: the bytes, or XML.
func (b blob) answer(found bool, now time.Time) (int, blob) {
	refusal := func(status int, code, message string) (int, blob) {
		return status, blob{mime: "application/xml", data: []byte("\ufeff" + `<?xml version="1.0" encoding="utf-8"?><Error><Code>` + code + `</Code><Message>` + message + `</Message></Error>`)}
	}
	switch {
	case !found || b.lost:
		return refusal(http.StatusNotFound, "BlobNotFound", "The specified blob does not exist.")
	case now.After(b.expires):
		return refusal(http.StatusForbidden, "AuthenticationFailed", "Server failed to authenticate the request. Signed expiry time has passed.")
	}
	return http.StatusOK, b
}

// Zip packs files into an archive, sorted by name.
func Zip(files map[string]string) []byte {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.SortFunc(names, strings.Compare)
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range names {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(files[name]))
		}
		if err != nil {
			panic(fmt.Sprintf("ghtest: packing %q: %v", name, err))
		}
	}
	if err := z.Close(); err != nil {
		panic(fmt.Sprintf("ghtest: packing: %v", err))
	}
	return out.Bytes()
}
