package gh

import (
	"context"
	"errors"
	"net/http"
	"time"
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
	// ServerURL is GITHUB_SERVER_URL, for links; "https://github.com" by default.
	ServerURL string
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
	// MaxWait is the longest that one call waits in all for limits and
	// repeats, 0 for [DefaultMaxWait]. A longer wait is [RateLimited] at once.
	MaxWait time.Duration
}

// DefaultMaxWait is how long a call waits in all: longer than the minute that
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
}

var errNotBuilt = errors.New("not built yet")

// New makes a client. It sends nothing yet; a wrong URL, key or repository name
// is an error.
func New(o Options) (*Client, error) { return nil, errNotBuilt }

// Login is the account that the client's comments appear under: Options.Login,
// the App's "SLUG[bot]", the user of a personal token, and for a workflow's own
// token "github-actions[bot]". Asked once.
func (c *Client) Login(ctx context.Context) (string, error) { return "", errNotBuilt }

// Repo tells of the repository itself.
func (c *Client) Repo(ctx context.Context) (Repo, error) { return Repo{}, errNotBuilt }
