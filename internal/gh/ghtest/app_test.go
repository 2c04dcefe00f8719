package ghtest_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v62/github"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

type key struct {
	private *rsa.PrivateKey
	public  string
}

func newKey(t *testing.T) key {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return key{private, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))}
}

// jwt signs what an App shows.
func jwt(t *testing.T, k key, issuer string, now time.Time, life time.Duration) string {
	t.Helper()
	return signed(t, k, "RS256", issuer, now, life)
}

// signed is a JWT that names an algorithm; it is signed as RS256 has it.
func signed(t *testing.T, k key, alg, issuer string, now time.Time, life time.Duration) string {
	t.Helper()
	part := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	text := part(map[string]string{"alg": alg, "typ": "JWT"}) + "." + part(map[string]any{"iss": issuer, "iat": now.Unix(), "exp": now.Add(life).Unix()})
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, k.private, crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func TestAnInstallationTokenWritesAsTheApp(t *testing.T) {
	s, k := everything(t)
	ctx := context.Background()
	app := github.NewClient(nil).WithAuthToken(jwt(t, k, "5000", time.Now(), time.Minute))
	app.BaseURL = as(t, s, "alice").BaseURL
	granted := must(app.Apps.CreateInstallationToken(ctx, 5, &github.InstallationTokenOptions{Permissions: &github.InstallationPermissions{PullRequests: github.String("write")}}))(t)
	if left := time.Until(granted.GetExpiresAt().Time); left < 50*time.Minute || left > time.Hour {
		t.Errorf("the token lasts %v", left)
	}
	bot := github.NewClient(nil).WithAuthToken(granted.GetToken())
	bot.BaseURL = app.BaseURL
	made := must(bot.Issues.CreateComment(ctx, owner, repo, 7, &github.IssueComment{Body: github.String("one")}))(t)
	if made.GetUser().GetLogin() != "triagebot[bot]" {
		t.Errorf("the author is %s", made.GetUser().GetLogin())
	}
	if _, _, err := bot.Issues.CreateComment(ctx, owner, repo, 9, &github.IssueComment{Body: github.String("no")}); status(err) != http.StatusForbidden {
		t.Errorf("pull_requests: write sufficed on an issue: %v", err)
	}
	if _, _, err := bot.Actions.GetWorkflowRunByID(ctx, owner, repo, 42); status(err) != http.StatusForbidden {
		t.Errorf("a permission that was not asked for is there: %v", err)
	}
	if _, _, err := app.PullRequests.Get(ctx, owner, repo, 7); status(err) != http.StatusUnauthorized {
		t.Errorf("a JWT is no token: %v", err)
	}
}

func TestATokenExpires(t *testing.T) {
	now := time.Now()
	k := newKey(t)
	s := ghtest.New(t, ghtest.WithClock(func() time.Time { return now }))
	s.Update(func(st *ghtest.State) {
		st.App = &ghtest.App{ID: 5000, Slug: "triagebot", InstallationID: 5, PublicKey: k.public, Permissions: ghtest.ReadOnly()}
	})
	ctx := context.Background()
	app := github.NewClient(nil).WithAuthToken(jwt(t, k, "5000", now, time.Minute))
	app.BaseURL = as(t, s, "workflow").BaseURL
	granted := must(app.Apps.CreateInstallationToken(ctx, 5, nil))(t)
	bot := github.NewClient(nil).WithAuthToken(granted.GetToken())
	bot.BaseURL = app.BaseURL
	must(bot.PullRequests.Get(ctx, owner, repo, 7))(t)
	now = now.Add(time.Hour)
	if _, _, err := bot.PullRequests.Get(ctx, owner, repo, 7); status(err) != http.StatusUnauthorized {
		t.Errorf("after an hour: %v", err)
	}
}

func TestAWrongJWTIsRefused(t *testing.T) {
	s, k := everything(t)
	now := time.Now()
	good := jwt(t, k, "5000", now, time.Minute)
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + good[strings.Index(good, "."):]
	for name, tc := range map[string]struct{ token, message string }{
		"of another App":     {jwt(t, k, "5001", now, time.Minute), "'Issuer' claim"},
		"of another key":     {jwt(t, newKey(t), "5000", now, time.Minute), "could not be decoded"},
		"another algorithm":  {signed(t, k, "RS384", "5000", now, time.Minute), "could not be decoded"},
		"signed by nobody":   {none, "could not be decoded"},
		"expired":            {jwt(t, k, "5000", now.Add(-time.Hour), time.Minute), "'Expiration time'"},
		"good for too long":  {jwt(t, k, "5000", now, time.Hour), "too far in the future"},
		"from the future":    {jwt(t, k, "5000", now.Add(5*time.Minute), time.Minute), "'Issued at'"},
		"a token, not a JWT": {s.Token("alice"), "could not be decoded"},
	} {
		t.Run(name, func(t *testing.T) {
			c := github.NewClient(nil).WithAuthToken(tc.token)
			c.BaseURL = as(t, s, "alice").BaseURL
			_, _, err := c.Apps.Get(context.Background(), "")
			if status(err) != http.StatusUnauthorized || !strings.Contains(err.Error(), tc.message) {
				t.Errorf("got %v, want 401 with %q", err, tc.message)
			}
		})
	}
}

// jwtNow is what the App of everything shows.
func jwtNow(t *testing.T, k key) string {
	t.Helper()
	return jwt(t, k, "5000", time.Now(), time.Minute)
}
