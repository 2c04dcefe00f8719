package ghtest

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

//go:embed testdata/openapi.json
var description []byte

// contract is GitHub's description, ready to check against. It is loaded once a
// process and never changed after that.
type contract struct {
	doc       *openapi3.T
	templates []template
	examples  map[string]any
}

// template is a path of the description as an expression.
type template struct {
	path  string
	expr  *regexp.Regexp
	names []string
}

var loadContract = sync.OnceValues(func() (*contract, error) {
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(description)
	if err != nil {
		return nil, fmt.Errorf("reading GitHub's description: %w", err)
	}
	if err := doc.Validate(context.Background(), openapi3.DisableExamplesValidation()); err != nil {
		return nil, fmt.Errorf("checking GitHub's description: %w", err)
	}
	if err := addGraphQL(doc); err != nil {
		return nil, err
	}
	c := &contract{doc: doc, examples: map[string]any{}}
	for path := range doc.Paths.Map() {
		c.templates = append(c.templates, compile(path))
	}
	slices.SortFunc(c.templates, func(a, b template) int { return bySpecificity(a.path, b.path) })
	for name, ref := range doc.Components.Examples {
		c.examples[name] = ref.Value.Value
	}
	c.closeRequests()
	c.amend()
	return c, nil
})

var placeholder = regexp.MustCompile(`\\\{(\w+)\\\}`)

// compile turns a path into an expression over an escaped path. A ref, a
// compared pair and a file's path may hold slashes.
func compile(path string) template {
	t := template{path: path}
	expr := placeholder.ReplaceAllStringFunc(regexp.QuoteMeta(path), func(m string) string {
		name := placeholder.FindStringSubmatch(m)[1]
		t.names = append(t.names, name)
		if name == "ref" || name == "path" || name == "basehead" {
			return `(.+?)`
		}
		return `([^/]+)`
	})
	t.expr = regexp.MustCompile(`^` + expr + `$`)
	return t
}

// bySpecificity puts the path with more fixed segments first.
func bySpecificity(a, b string) int {
	fixed := func(p string) int { return strings.Count(p, "/") - strings.Count(p, "{") }
	if d := fixed(b) - fixed(a); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

// find gives the path of the description that an escaped path belongs to.
func (c *contract) find(method, escaped string) (*routers.Route, map[string]string, error) {
	known := false
	for _, t := range c.templates {
		m := t.expr.FindStringSubmatch(escaped)
		if m == nil {
			continue
		}
		known = true
		item := c.doc.Paths.Value(t.path)
		op := item.GetOperation(method)
		if op == nil {
			continue
		}
		vars := map[string]string{}
		for i, name := range t.names {
			v, err := url.PathUnescape(m[i+1])
			if err != nil {
				return nil, nil, fmt.Errorf("decoding %s of %s: %w", name, escaped, err)
			}
			vars[name] = v
		}
		return &routers.Route{Spec: c.doc, Path: t.path, PathItem: item, Method: method, Operation: op}, vars, nil
	}
	if known {
		return nil, nil, fmt.Errorf("GitHub's description, as cut here, has no %s of %s", method, escaped)
	}
	return nil, nil, fmt.Errorf("GitHub's description, as cut here, has no path like %s", escaped)
}

var options = &openapi3filter.Options{
	AuthenticationFunc:                openapi3filter.NoopAuthenticationFunc,
	IncludeResponseStatus:             true,
	RejectWhenRequestBodyNotSpecified: true,
}

// checkRequest says what is wrong with a request.
func (c *contract) checkRequest(r *http.Request, route *routers.Route, vars map[string]string, body []byte) (*openapi3filter.RequestValidationInput, error) {
	copied := r.Clone(r.Context())
	copied.Body, copied.ContentLength = http.NoBody, 0
	if nothing := string(bytes.TrimSpace(body)) == "null" && !required(route); len(body) > 0 && !nothing {
		copied.Body = readCloser(body)
		copied.ContentLength = int64(len(body))
	}
	in := &openapi3filter.RequestValidationInput{Request: copied, PathParams: vars, QueryParams: r.URL.Query(), Route: route, Options: options}
	if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil {
		return in, fmt.Errorf("request: %s", firstLines(err))
	}
	for name := range r.URL.Query() {
		if route.Operation.Parameters.GetByInAndName("query", name) == nil && route.PathItem.Parameters.GetByInAndName("query", name) == nil {
			return in, fmt.Errorf("request: GitHub's description declares no query parameter %q here", name)
		}
	}
	return in, nil
}

// required tells whether an operation must have a body. Where it need not,
// clients send null for none, and GitHub takes it.
func required(route *routers.Route) bool {
	b := route.Operation.RequestBody
	return b != nil && b.Value.Required
}

// checkReply says what is wrong with a reply. An error status that the
// description does not declare must be a basic-error.
func (c *contract) checkReply(in *openapi3filter.RequestValidationInput, status int, header http.Header, body []byte) error {
	if status == http.StatusNotModified {
		return nil // GitHub documents it once for all GETs
	}
	if status >= 500 && !strings.Contains(header.Get("Content-Type"), "json") {
		return nil // a page of GitHub's front end
	}
	if declared := in.Route.Operation.Responses.Status(status); declared == nil {
		if status < 400 {
			return fmt.Errorf("reply: the description declares no status %d here", status)
		}
		return c.checkError(status, body)
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: status, Header: header, Options: options}
	out.SetBodyBytes(body)
	if err := openapi3filter.ValidateResponse(context.Background(), out); err != nil {
		return fmt.Errorf("reply %d: %s", status, firstLines(err))
	}
	if status == http.StatusFound && header.Get("Location") == "" {
		return errors.New("reply 302: no Location")
	}
	return nil
}

// checkError checks an undeclared error.
func (c *contract) checkError(status int, body []byte) error {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return fmt.Errorf("reply %d: reading the error: %w", status, err)
	}
	if err := c.doc.Components.Schemas["basic-error"].Value.VisitJSON(v); err != nil {
		return fmt.Errorf("reply %d against basic-error: %s", status, firstLines(err))
	}
	if m, _ := v.(map[string]any)["message"].(string); m == "" {
		return fmt.Errorf("reply %d: an error of GitHub has a message", status)
	}
	return nil
}

// amend holds what GitHub is seen to do and its description denies: the head of
// a pull request has no repository once the fork is deleted; labels may be added
// as a bare list, which older descriptions declare and clients send.
func (c *contract) amend() {
	labels := c.doc.Paths.Value("/repos/{owner}/{repo}/issues/{issue_number}/labels").Post.RequestBody.Value.Content.Get("application/json").Schema.Value
	labels.OneOf = append(labels.OneOf, openapi3.NewArraySchema().WithItems(openapi3.NewStringSchema()).NewRef())
	for _, name := range []string{"pull-request", "pull-request-simple"} {
		repo := c.doc.Components.Schemas[name].Value.Properties["head"].Value.Properties["repo"]
		nullable := *repo.Value
		nullable.Nullable = true
		repo.Value = &nullable
	}
}

// closeRequests makes the bodies of requests refuse fields that are not declared.
func (c *contract) closeRequests() {
	no := false
	for _, item := range c.doc.Paths.Map() {
		for _, op := range item.Operations() {
			if op.RequestBody == nil {
				continue
			}
			for _, media := range op.RequestBody.Value.Content {
				closeSchema(media.Schema, &no)
			}
		}
	}
}

// closeSchema closes the objects below a schema, but none that are composed of several.
func closeSchema(ref *openapi3.SchemaRef, no *bool) {
	s := ref.Value
	composed := len(s.OneOf)+len(s.AnyOf)+len(s.AllOf) > 0
	if len(s.Properties) > 0 && !composed && s.AdditionalProperties.Has == nil && s.AdditionalProperties.Schema == nil {
		s.AdditionalProperties.Has = no
	}
	for _, p := range s.Properties {
		closeSchema(p, no)
	}
	if s.Items != nil {
		closeSchema(s.Items, no)
	}
}

// firstLines keeps the reason and the place of a validator's error, not the
// whole schema that it prints.
func firstLines(err error) string {
	var se *openapi3.SchemaError
	if errors.As(err, &se) {
		return fmt.Sprintf("/%s: %s", strings.Join(se.JSONPointer(), "/"), se.Reason)
	}
	head, _, _ := strings.Cut(err.Error(), "\nSchema:")
	return head
}

type body struct{ *bytes.Reader }

func (body) Close() error { return nil }

func readCloser(b []byte) body { return body{bytes.NewReader(b)} }
