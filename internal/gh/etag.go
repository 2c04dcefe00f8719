package gh

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// maxCached is the size of all answers that are kept, in bytes.
const maxCached = 16 << 20

// etags remembers answers, so that asking again costs nothing of the quota when
// nothing has changed: GitHub does not count a 304.
type etags struct {
	mu    sync.Mutex
	known map[string]cached
	bytes int
}

type cached struct {
	tag    string
	header http.Header
	body   []byte
}

func newETags() *etags { return &etags{known: map[string]cached{}} }

func cacheKey(req *http.Request) string {
	return req.Header.Get("Accept") + " " + req.URL.String()
}

// ask makes a GET conditional when its answer is known, and gives that answer:
// it may be forgotten before the reply is there.
func (e *etags) ask(req *http.Request) (k cached) {
	if req.Method != http.MethodGet {
		return k
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if k = e.known[cacheKey(req)]; k.tag != "" {
		req.Header.Set("If-None-Match", k.tag)
	}
	return k
}

// answer is the answer to give: the known one for a 304, else the new one,
// which is remembered.
func (e *etags) answer(req *http.Request, res *http.Response, body []byte, known cached) *http.Response {
	switch {
	case res.StatusCode == http.StatusNotModified && known.tag != "":
		return known.answer(res)
	case res.StatusCode == http.StatusOK && req.Method == http.MethodGet:
		e.mu.Lock()
		defer e.mu.Unlock()
		e.keep(cacheKey(req), cached{res.Header.Get("Etag"), res.Header.Clone(), body})
	}
	return res
}

// answer is the known answer, with the limits that a 304 tells.
func (k cached) answer(res *http.Response) *http.Response {
	out := *res
	out.StatusCode, out.Status = http.StatusOK, "200 OK"
	out.Header = k.header.Clone()
	for _, name := range []string{"Date", "Retry-After", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"} {
		out.Header.Del(name)
		if v := res.Header.Get(name); v != "" {
			out.Header.Set(name, v)
		}
	}
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(k.body)), int64(len(k.body))
	return &out
}

// keep remembers an answer; when there is no room all others are forgotten.
func (e *etags) keep(key string, k cached) {
	if old, ok := e.known[key]; ok {
		e.bytes -= len(old.body)
		delete(e.known, key)
	}
	if k.tag == "" || len(k.body) > maxCached/4 {
		return
	}
	if e.bytes += len(k.body); e.bytes > maxCached {
		clear(e.known)
		e.bytes = len(k.body)
	}
	e.known[key] = k
}
