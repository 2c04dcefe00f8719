package gh

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// maxFile is the largest file that is read through the API, as GitHub's
// contents endpoint gives it.
const maxFile = 1 << 20

// File reads a file of the repository as it is in a commit or branch; ref ""
// is the default branch. It is how the halves that check nothing out read the
// configuration. [ErrNotFound] when there is no such file.
func (c *Client) File(ctx context.Context, name, ref string) ([]byte, error) {
	o := op{doing: fmt.Sprintf("reading %s of %s", oneLine(name), c.full()), needs: "contents: read"}
	if name == "" || path.Clean(name) != name || path.IsAbs(name) || strings.HasPrefix(name, "..") {
		return nil, &Error{Doing: o.doing, Message: "this is no path within the repository", kind: ErrInvalid}
	}
	escaped := strings.ReplaceAll(url.PathEscape(name), "%2F", "/")
	at := c.path("contents/%s", escaped)
	if ref != "" {
		at += "?ref=" + url.QueryEscape(ref)
	}
	var answer struct {
		Type     string `json:"type"`
		Encoding string `json:"encoding"`
		Content  []byte `json:"content"` // the JSON package reads base64, line breaks and all
	}
	res, err := c.get(ctx, at, &answer)
	switch {
	case err != nil && res != nil && res.StatusCode == http.StatusOK:
		return nil, &Error{Doing: o.doing, Message: "it is a folder", kind: ErrInvalid} // a list, where a file is an object
	case err != nil:
		return nil, c.fail(o, res, err)
	case answer.Type != "file" || answer.Encoding != "base64":
		return nil, &Error{Doing: o.doing, Message: "it is no plain file, or too large", kind: ErrInvalid}
	case len(answer.Content) > maxFile:
		return nil, &Error{Doing: o.doing, Message: fmt.Sprintf("it has more than %d bytes", maxFile), kind: ErrTooLong}
	}
	return answer.Content, nil
}
