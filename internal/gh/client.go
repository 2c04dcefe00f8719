package gh

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"
)

// Options of a [Client].
type Options struct {
	// Repo is the repository, "owner/name".
	Repo string
	// Token authenticates; it is sent to the API's own host only. Empty with
	// App, and for reading public repositories.
	Token string
	// App authenticates as a GitHub App instead.
	App *App
	// APIURL is GITHUB_API_URL: "https://api.github.com", which is the default,
	// or "https://HOST/api/v3" on GitHub Enterprise Server.
	APIURL string
	// Login is the account that the client's comments appear under. Empty asks
	// GitHub when it is needed (see [Client.Login]).
	Login string
	// HTTP carries the requests; nil is a client with time-outs. Only its
	// Transport is used.
	HTTP *http.Client
	// Clock waits; nil is the machine's.
	Clock Clock
	// Logf is told of waits and repeats; nil is silent. It gets no token.
	Logf func(format string, args ...any)
	// MaxWait is the longest that one request waits in all for limits and
	// repeats, 0 for [DefaultMaxWait]; a call may make several. A longer wait
	// is [RateLimited] at once.
	MaxWait time.Duration
}

// DefaultMaxWait is how long a request waits in all: longer than the minute that
// GitHub asks for after a secondary limit, and twice that, but not the hour of
// a used-up quota, which would cost the job more than a comment is worth.
const DefaultMaxWait = 4 * time.Minute

// App is a GitHub App.
type App struct {
	ID int64
	// Key is the private key, PEM.
	Key []byte
	// Installation is the installation's id; 0 asks GitHub for the one of the
	// repository.
	Installation int64
}

// Clock is time as the client sees it.
type Clock interface {
	Now() time.Time
	// Sleep waits, or returns the context's error.
	Sleep(ctx context.Context, d time.Duration) error
}

// Client speaks to GitHub of one repository. It is safe for concurrent use;
// writes are made one at a time, at least a second apart.
type Client struct {
	owner, name string
	api         *github.Client
	// blobs downloads what the API redirects to; it has no credentials.
	blobs *http.Client
	clock Clock
	logf  func(string, ...any)
	who   *identity
}

// New makes a client. It sends nothing yet; a wrong URL, key or repository name
// is an error.
func New(o Options) (*Client, error) {
	owner, name, err := splitRepo(o.Repo)
	if err != nil {
		return nil, fmt.Errorf("making a GitHub client: %w", err)
	}
	base, err := apiURL(o.APIURL)
	if err != nil {
		return nil, fmt.Errorf("making a GitHub client: %w", err)
	}
	t := newTransport(o, base)
	who, err := newIdentity(o, owner, name, t)
	if err != nil {
		return nil, fmt.Errorf("making a GitHub client: %w", err)
	}
	t.authorize, t.cache = who.authorize, newETags()
	return &Client{
		owner: owner, name: name, clock: t.clock, logf: t.logf, who: who,
		api:   library(t, base),
		blobs: &http.Client{Transport: t.base, CheckRedirect: downloadRedirect},
	}, nil
}

// newTransport is a transport that does not authenticate yet.
func newTransport(o Options, api *url.URL) *transport {
	t := &transport{base: defaultTransport(), api: api, clock: o.Clock, logf: o.Logf, maxWait: o.MaxWait, writing: make(chan struct{}, 1)}
	if o.HTTP != nil && o.HTTP.Transport != nil {
		t.base = o.HTTP.Transport
	}
	if t.clock == nil {
		t.clock = systemClock{}
	}
	if t.logf == nil {
		t.logf = func(string, ...any) {}
	}
	if t.maxWait <= 0 {
		t.maxWait = DefaultMaxWait
	}
	return t
}

// library is go-github on a transport.
func library(t http.RoundTripper, api *url.URL) *github.Client {
	c := github.NewClient(&http.Client{Transport: t, CheckRedirect: sameHost})
	base := *api
	base.Path += "/"
	c.BaseURL, c.UserAgent = &base, "triagebot"
	return c
}

// repoName is one part of a repository's name. GitHub has no others, and none
// of them changes a path.
var repoName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`)

func splitRepo(full string) (owner, name string, err error) {
	owner, name, ok := strings.Cut(full, "/")
	for _, part := range []string{owner, name} {
		if !ok || !repoName.MatchString(part) || part == "." || part == ".." {
			return "", "", fmt.Errorf("%q is not a repository; write owner/name", full)
		}
	}
	return owner, name, nil
}

// apiURL reads GITHUB_API_URL; the result has no slash at its end.
func apiURL(text string) (*url.URL, error) {
	if text == "" {
		text = "https://api.github.com"
	}
	u, err := url.Parse(strings.TrimRight(text, "/"))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("the API's URL %q is none; write https://HOST/api/v3", text)
	}
	return u, nil
}

// Repo tells of the repository itself.
func (c *Client) Repo(ctx context.Context) (Repo, error) {
	r, res, err := c.api.Repositories.Get(ctx, c.owner, c.name)
	if err != nil {
		return Repo{}, c.fail(op{doing: "getting repository " + c.full(), needs: "contents: read"}, res, err)
	}
	return Repo{r.GetID(), r.GetOwner().GetLogin(), r.GetName(), r.GetDefaultBranch(), r.GetPrivate()}, nil
}

// full is "owner/name".
func (c *Client) full() string { return c.owner + "/" + c.name }

// path is a path of the API below the repository.
func (c *Client) path(format string, args ...any) string {
	return "repos/" + c.full() + "/" + fmt.Sprintf(format, args...)
}

// get reads what the library has no type for, or too narrow a one.
func (c *Client) get(ctx context.Context, path string, into any) (*github.Response, error) {
	req, err := c.api.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	return c.api.Do(ctx, req, into)
}

// perPage is the largest page that GitHub gives.
const perPage = 100

// pages reads a list to its end, or until it has read the given number of pages.
func pages[T any](most int, read func(github.ListOptions) ([]T, *github.Response, error)) (all []T, more bool, _ *github.Response, _ error) {
	at := github.ListOptions{PerPage: perPage}
	for range most {
		part, res, err := read(at)
		if err != nil {
			return nil, false, res, err
		}
		all = append(all, part...)
		if res.NextPage == 0 {
			return all, false, res, nil
		}
		at.Page = res.NextPage
	}
	return all, true, nil, nil
}
