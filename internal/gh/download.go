package gh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/google/go-github/v62/github"
)

// Log is what was read of a job's log.
type Log struct {
	Bytes int64
	// Truncated is set when the log is longer than the limit.
	Truncated bool
}

// JobLog writes the log of a finished job to w, at most limit bytes of it.
// There is none while the job runs, after it expired, or when the runner was
// lost: [ErrNoLog], which is a normal answer. The log is hostile text.
func (c *Client) JobLog(ctx context.Context, jobID int64, w io.Writer, limit int64) (Log, error) {
	o := op{doing: fmt.Sprintf("downloading the log of job %d", jobID), needs: "actions: read"}
	var log Log
	err := c.download(ctx, o, func() (*url.URL, *github.Response, error) {
		return c.api.Actions.GetWorkflowJobLogs(ctx, c.owner, c.name, jobID, maxHops)
	}, func(body io.Reader) (err error) {
		log, err = copyLog(w, body, limit)
		return err
	})
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrGone) {
		return log, fmt.Errorf("%w: %w", ErrNoLog, err)
	}
	return log, err
}

// copyLog copies at most limit bytes, and looks whether there are more.
func copyLog(w io.Writer, r io.Reader, limit int64) (Log, error) {
	n, err := io.Copy(w, io.LimitReader(r, limit))
	log := Log{Bytes: n}
	if err != nil || n < limit {
		return log, err
	}
	_, err = io.ReadFull(r, make([]byte, 1))
	log.Truncated = err == nil
	return log, nil
}

const (
	// maxHops is how many redirects a download takes.
	maxHops = 3
	// downloadTime is the longest that a download may take.
	downloadTime = 5 * time.Minute
)

// download reads what the API redirects to. The link holds for a minute; one
// that has expired is asked for once more. The host that it leads to gets no
// credentials.
func (c *Client) download(ctx context.Context, o op, link func() (*url.URL, *github.Response, error), read func(io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, downloadTime)
	defer cancel()
	var status int
	var lost error
	for range 2 {
		at, res, err := link()
		if err != nil {
			return c.fail(o, res, err)
		}
		var body io.ReadCloser
		if status, body, lost = c.fetch(ctx, at); body != nil {
			defer body.Close()
			return c.fail(o, nil, read(body))
		}
		c.logf("%s: the link answered %d", o.doing, status)
	}
	if lost != nil {
		return c.fail(o, nil, lost)
	}
	if status == http.StatusForbidden || status == http.StatusUnauthorized {
		// A refusal of the storage is no word on our token.
		return &Error{Doing: o.doing, Status: status, Message: "the link that GitHub gave is refused", kind: ErrUnavailable, Fix: "try again later"}
	}
	return refusal(o, status, "the link that GitHub gave leads nowhere")
}

// fetch opens a link without credentials; there is a body only when it is good.
func (c *Client) fetch(ctx context.Context, at *url.URL) (int, io.ReadCloser, error) {
	if at == nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" {
		return 0, nil, errors.New("GitHub gave a link that is none")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return 0, nil, errors.New("GitHub gave a link that is none")
	}
	res, err := c.blobs.Do(req)
	if err != nil {
		return 0, nil, hideQuery(err)
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close()
		return res.StatusCode, nil, nil
	}
	return res.StatusCode, res.Body, nil
}

// hideQuery drops the link from an error: its query is a credential.
func hideQuery(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// downloadRedirect is the redirect rule of downloads: few, and never out of TLS.
func downloadRedirect(req *http.Request, via []*http.Request) error {
	switch {
	case len(via) >= maxHops:
		return errors.New("too many redirects")
	case via[0].URL.Scheme == "https" && req.URL.Scheme != "https":
		return errors.New("refusing to leave TLS")
	}
	return nil
}
