package gh

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/golang-jwt/jwt/v4"
	"github.com/google/go-github/v62/github"
)

// workflowBot is who a workflow's own token writes as.
const workflowBot = "github-actions[bot]"

// identity is what the client authenticates as.
type identity struct {
	token string
	app   *appIdentity

	mu    sync.Mutex
	login string // "" until it was asked for
}

// appIdentity is a GitHub App, with a transport of its own: a token is fetched
// while a request holds the right to write.
type appIdentity struct {
	tokens      *ghinstallation.AppsTransport
	api         *github.Client // authenticates as the App itself
	owner, name string

	mu           sync.Mutex
	id           int64
	installation *ghinstallation.Transport
}

func newIdentity(o Options, owner, name string, t *transport) (*identity, error) {
	who := &identity{token: o.Token, login: o.Login}
	if strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the token has spaces or line breaks in it; pass it as it is")
	}
	if o.App == nil {
		return who, nil
	}
	if o.Token != "" {
		return nil, errors.New("a token and an App are given; pass one of them")
	}
	key := o.App.Key
	if !bytes.Contains(key, []byte("\n")) {
		key = bytes.ReplaceAll(key, []byte(`\n`), []byte("\n")) // as secrets often hold it
	}
	rsa, err := jwt.ParseRSAPrivateKeyFromPEM(key)
	if err != nil || o.App.ID < 1 {
		return nil, errors.New("the App's id or private key is none; pass the number, and the PEM file's content")
	}
	// Each attempt is signed anew: a signature holds for two minutes, and there
	// may be a limit to wait for.
	own := newTransport(o, t.api)
	own.repeatable = true // fetching a token twice does no harm
	sign := ghinstallation.WithSigner(signer{ghinstallation.NewRSASigner(jwt.SigningMethodRS256, rsa), own.clock})
	if own.base, err = ghinstallation.NewAppsTransportWithOptions(own.base, o.App.ID, sign); err != nil {
		return nil, err
	}
	tokens, err := ghinstallation.NewAppsTransportWithOptions(own, o.App.ID, sign)
	if err != nil {
		return nil, err
	}
	tokens.BaseURL = t.api.String()
	who.app = &appIdentity{tokens: tokens, api: library(own, t.api), owner: owner, name: name, id: o.App.Installation}
	return who, nil
}

// signer signs with the times of our clock; the library takes the machine's.
type signer struct {
	ghinstallation.Signer
	clock Clock
}

// Sign implements [ghinstallation.Signer]. GitHub takes ten minutes at most, and
// a machine whose clock is a little ahead should be understood too.
func (s signer) Sign(claims jwt.Claims) (string, error) {
	if c, ok := claims.(*jwt.RegisteredClaims); ok {
		issued := s.clock.Now().Add(-30 * time.Second).Truncate(time.Second)
		c.IssuedAt, c.ExpiresAt = jwt.NewNumericDate(issued), jwt.NewNumericDate(issued.Add(2*time.Minute))
	}
	return s.Signer.Sign(claims)
}

// authorize gives the Authorization header of a request.
func (who *identity) authorize(ctx context.Context) (string, error) {
	token := who.token
	if who.app != nil {
		var err error
		if token, err = who.app.token(ctx); err != nil {
			return "", err
		}
	}
	if token == "" {
		return "", nil
	}
	return "Bearer " + token, nil
}

// token gets an installation's token, for this repository only; the library
// renews it before it expires.
func (a *appIdentity) token(ctx context.Context) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.installation == nil {
		if a.id == 0 {
			i, res, err := a.api.Apps.FindRepositoryInstallation(ctx, a.owner, a.name)
			if err != nil {
				return "", fail(op{doing: fmt.Sprintf("finding the App's installation on %s/%s", a.owner, a.name), fix: "install the App on the repository"}, res, err)
			}
			a.id = i.GetID()
		}
		a.installation = ghinstallation.NewFromAppsTransport(a.tokens, a.id)
		a.installation.InstallationTokenOptions = &github.InstallationTokenOptions{Repositories: []string{a.name}}
	}
	token, err := a.installation.Token(ctx)
	if err != nil {
		return "", appError(fmt.Sprintf("getting a token of App installation %d", a.id), err)
	}
	return token, nil
}

// appError reads the error of ghinstallation, whose text holds no more than the
// status.
func appError(doing string, err error) error {
	var e *ghinstallation.HTTPError
	if !errors.As(err, &e) || e.Response == nil {
		return fail(op{doing: doing}, nil, err)
	}
	defer e.Response.Body.Close()
	var basic struct{ Message string }
	data, _ := io.ReadAll(io.LimitReader(e.Response.Body, 1<<16))
	_ = json.Unmarshal(data, &basic) // no message is no harm
	return refusal(op{doing: doing, fix: "check the App's id, key and installation"}, e.Response.StatusCode, basic.Message)
}

// Login is the account that the client's comments appear under: Options.Login,
// the App's "SLUG[bot]", the user of a personal token, and for a workflow's own
// token "github-actions[bot]". Asked once.
func (c *Client) Login(ctx context.Context) (string, error) {
	c.who.mu.Lock()
	defer c.who.mu.Unlock()
	if c.who.login == "" {
		login, err := c.findLogin(ctx)
		if err != nil {
			return "", err
		}
		c.who.login = login
	}
	return c.who.login, nil
}

func (c *Client) findLogin(ctx context.Context) (string, error) {
	o := op{doing: "asking who the token belongs to"}
	switch {
	case c.who.app != nil:
		app, res, err := c.who.app.api.Apps.Get(ctx, "")
		if err != nil {
			return "", fail(op{doing: "asking for the App's name"}, res, err)
		}
		return app.GetSlug() + "[bot]", nil
	case c.who.token == "":
		return "", &Error{Doing: o.doing, Fix: "pass a token", kind: ErrUnauthorized}
	case strings.HasPrefix(c.who.token, "ghs_"):
		return c.viewer(ctx)
	}
	user, res, err := c.api.Users.Get(ctx, "")
	err = c.fail(o, res, err)
	switch {
	case err == nil:
		return user.GetLogin(), nil
	case errors.Is(err, ErrForbidden), errors.Is(err, ErrNotFound):
		return workflowBot, nil // a token of an installation is no user's
	}
	return "", err
}

// viewer asks who an installation's token is: the workflow's own, or that of an
// App which the workflow got by itself. Only GraphQL tells.
func (c *Client) viewer(ctx context.Context) (string, error) {
	url := strings.TrimSuffix(strings.TrimSuffix(c.api.BaseURL.String(), "/"), "/v3") + "/graphql"
	req, err := c.api.NewRequest(http.MethodPost, url, map[string]string{"query": "query{viewer{login}}"})
	if err != nil {
		return "", err
	}
	var answer struct {
		Data struct{ Viewer struct{ Login string } }
	}
	res, err := c.api.Do(ctx, req, &answer)
	err = c.fail(op{doing: "asking who the token belongs to"}, res, err)
	var limit *RateLimited
	switch {
	case errors.As(err, &limit), errors.Is(err, ErrUnauthorized), ctx.Err() != nil:
		return "", err
	case err != nil || !login.MatchString(answer.Data.Viewer.Login):
		return workflowBot, nil
	}
	return answer.Data.Viewer.Login, nil
}
