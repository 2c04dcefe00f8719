package ghtest

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Times of GitHub: a JWT may last ten minutes, a token lasts an hour, and clocks
// may differ by a minute.
const (
	maxJWT    = 10 * time.Minute
	tokenLife = time.Hour
	drift     = time.Minute
)

// authorizeApp checks the JWT of an App. The caller holds the lock.
func (c *call) authorizeApp(token string) (reply, bool) {
	if c.s.state.App == nil || c.token != nil {
		return failed(http.StatusUnauthorized, "A JSON web token could not be decoded"), false
	}
	if wrong := c.s.state.App.verify(token, c.s.now()); wrong != "" {
		return failed(http.StatusUnauthorized, wrong), false
	}
	return reply{}, true
}

// verify reads a JWT on its own, so that a client's library is not its own judge.
// It gives GitHub's words for what is wrong, or "".
func (a App) verify(token string, now time.Time) string {
	const undecodable = "A JSON web token could not be decoded"
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return undecodable
	}
	var header struct{ Alg string }
	var claims struct {
		Iss      json.RawMessage
		Iat, Exp int64
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || readPart(parts[0], &header) != nil || readPart(parts[1], &claims) != nil || header.Alg != "RS256" {
		return undecodable
	}
	key, err := a.key()
	if err != nil {
		refuse("%v", err)
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	issued, expires := time.Unix(claims.Iat, 0), time.Unix(claims.Exp, 0)
	switch {
	case rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) != nil:
		return undecodable
	case strings.Trim(string(claims.Iss), `"`) != fmt.Sprint(a.ID):
		return "'Issuer' claim ('iss') must be an Integer"
	case !now.Before(expires):
		return "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires"
	case expires.After(now.Add(maxJWT + drift)):
		return "'Expiration time' claim ('exp') is too far in the future"
	case issued.After(now.Add(drift)):
		return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
	}
	return ""
}

func readPart(part string, into any) error {
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func (a App) key() (*rsa.PublicKey, error) {
	block, _ := pem.Decode([]byte(a.PublicKey))
	if block == nil {
		return nil, errors.New("reading the App's key: no PEM block")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("reading the App's key: %w", err)
	}
	public, is := key.(*rsa.PublicKey)
	if !is {
		return nil, errors.New("reading the App's key: it is no RSA key")
	}
	return public, nil
}

func (c *call) getApp() reply {
	a := c.s.state.App
	return ok(c.like(c.s.state.Repo, "integration", "", obj{"id": a.ID, "slug": a.Slug, "name": a.Slug, "permissions": words(a.Permissions), "html_url": "https://github.com/apps/" + a.Slug}))
}

func (c *call) getInstallation() reply {
	a := c.s.state.App
	if r, _ := c.repo(); r.ID != c.s.state.Repo.ID {
		return notFound() // the App is not installed in forks
	}
	return ok(c.like(c.s.state.Repo, "installation", "", obj{
		"id": a.InstallationID, "app_id": a.ID, "app_slug": a.Slug, "permissions": words(a.Permissions), "account": c.user(c.s.state.Repo.Owner),
		"access_tokens_url": fmt.Sprintf("%s/app/installations/%d/access_tokens", c.base, a.InstallationID),
	}))
}

// createToken issues a token for the installation, with all of its permissions or those asked for.
func (c *call) createToken() reply {
	a := c.s.state.App
	if c.number("installation_id") != a.InstallationID {
		return notFound()
	}
	var in struct {
		Permissions   map[string]string
		Repositories  []string
		RepositoryIDs []int64 `json:"repository_ids"`
	}
	if len(c.body) > 0 {
		c.decode(&in)
	}
	granted := in.Permissions
	if granted == nil {
		granted = a.Permissions
	}
	whole := &Token{Permissions: a.Permissions}
	for name, level := range granted {
		if !whole.grants(name, level) {
			return failed(http.StatusUnprocessableEntity, "The permissions requested are not granted to this installation.")
		}
	}
	t := Token{Name: fmt.Sprintf("installation-%d", len(c.s.issued)+1), User: a.Slug + "[bot]", Permissions: granted, Expires: c.s.stamp().Add(tokenLife)}
	c.s.issued = append(c.s.issued, t)
	o := c.like(c.s.state.Repo, "installation-token", "", obj{"token": t.Secret(), "expires_at": when(t.Expires), "repository_selection": "all"})
	delete(o, "repositories")
	o["permissions"] = words(granted)
	return created(o)
}

// words makes permissions an object that replaces the example's.
func words(permissions map[string]string) any {
	out := map[string]string{"metadata": "read"}
	for k, v := range permissions {
		out[strings.ReplaceAll(k, "-", "_")] = v
	}
	return out
}
