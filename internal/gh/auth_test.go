package gh

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

var appKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func keys(t *testing.T) (private []byte, public string) {
	t.Helper()
	key, err := appKey()
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	private = pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return private, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// newAppFake is a fake GitHub with a client that is an App. The library that
// renews its token goes by the machine's clock, so the fake starts there too.
func newAppFake(t *testing.T, change ...func(*Options)) fake {
	t.Helper()
	private, public := keys(t)
	k := &fakeClock{now: time.Now()}
	s := ghtest.New(t, ghtest.WithClock(k.Now))
	s.Update(func(st *ghtest.State) {
		st.App = &ghtest.App{ID: 55, Slug: "triage", InstallationID: 66, PublicKey: public, Permissions: ghtest.ReadWrite()}
	})
	o := Options{Repo: "acme/widgets", APIURL: s.URL(), Clock: k, App: &App{ID: 55, Key: private}}
	for _, f := range change {
		f(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return fake{s, c, k, &strings.Builder{}}
}

func TestAnAppActsAsItsInstallation(t *testing.T) {
	f := newAppFake(t)
	r, err := f.Upsert(ctx, 7, ours)
	if err != nil || r.Action != Created {
		t.Fatalf("%+v %v", r, err)
	}
	if c := f.Server.Comments(7); c[0].User != "triage[bot]" {
		t.Errorf("%+v", c)
	}
	if r, err = f.Upsert(ctx, 7, ours); err != nil || r.Action != Unchanged {
		t.Errorf("again: %+v %v", r, err)
	}
	var tokens int
	for _, q := range f.Requests() {
		if strings.HasSuffix(q.Path, "/access_tokens") {
			tokens++
			if !strings.Contains(q.Body, `"repositories":["widgets"]`) {
				t.Errorf("the token is for %s", q.Body)
			}
		}
	}
	if tokens != 1 {
		t.Errorf("%d tokens were fetched", tokens)
	}
}

func TestAnAppsInstallationMayBeNamed(t *testing.T) {
	f := newAppFake(t, func(o *Options) {
		o.App.Installation = 66
		o.App.Key = []byte(strings.ReplaceAll(string(o.App.Key), "\n", `\n`)) // as secrets often hold it
	})
	if _, err := f.Pull(ctx, 7); err != nil {
		t.Error(err)
	}
	for _, call := range f.Calls() {
		if strings.HasSuffix(call, "/installation") {
			t.Errorf("it is asked for all the same: %s", call)
		}
	}
}

func TestAppsThatAreRefusedSaySo(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Options)
		is     error
		want   string
	}{
		"another App's id":     {func(o *Options) { o.App.ID = 56 }, ErrUnauthorized, "install the App"},
		"another installation": {func(o *Options) { o.App.Installation = 67 }, ErrNotFound, "check the App's id, key and installation"},
	} {
		f := newAppFake(t, c.change)
		_, err := f.Pull(ctx, 7)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "PRIVATE") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestATokenIsFetchedAgainAfterABadGateway(t *testing.T) {
	f := newAppFake(t)
	f.Fail("POST /app/installations/{installation_id}/access_tokens", ghtest.BadGateway().Repeat(2))
	if _, err := f.Pull(ctx, 7); err != nil {
		t.Error(err)
	}
	f = newAppFake(t)
	f.Fail("POST /app/installations/{installation_id}/access_tokens", ghtest.PrimaryLimit(429, time.Hour))
	var limit *RateLimited
	if _, err := f.Pull(ctx, 7); !errors.As(err, &limit) {
		t.Errorf("limited: %v", err)
	}
}

func TestATokenMayBeWaitedForLongerThanAnAttempt(t *testing.T) {
	f := newAppFake(t)
	f.Fail("POST /app/installations/{installation_id}/access_tokens", ghtest.SecondaryLimit(403, 3*time.Minute))
	if _, err := f.Pull(ctx, 7); err != nil {
		t.Error(err)
	}
}

func TestTheJWTIsSignedAndShort(t *testing.T) {
	private, _ := keys(t)
	key, err := appKey()
	if err != nil {
		t.Fatal(err)
	}
	var seen jwt.RegisteredClaims
	c, k := served(t, func(w http.ResponseWriter, r *http.Request) {
		text := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithoutClaimsValidation())
		_, err := parser.ParseWithClaims(text, &seen, func(*jwt.Token) (any, error) { return &key.PublicKey, nil })
		if err != nil {
			t.Errorf("%s: %v", r.URL, err)
		}
		w.WriteHeader(http.StatusTeapot)
	}, func(o *Options) { o.Token, o.App = "", &App{ID: 55, Key: private} })
	if _, err := c.Pull(ctx, 7); err == nil {
		t.Error("a teapot gives tokens")
	}
	if now := k.Now(); seen.Issuer != "55" || !seen.IssuedAt.Before(now) || !seen.ExpiresAt.After(now) || seen.ExpiresAt.Sub(seen.IssuedAt.Time) > 10*time.Minute {
		t.Errorf("%+v", seen)
	}
}

func TestWhoTheTokenBelongsTo(t *testing.T) {
	f := newFake(t, "workflow")
	if got, err := f.Login(ctx); err != nil || got != botName {
		t.Errorf("a workflow's token: %q %v", got, err)
	}
	f.Update(func(s *ghtest.State) {
		s.Tokens = append(s.Tokens, ghtest.Token{Name: "bob", User: "bob", Permissions: ghtest.ReadWrite()})
	})
	c, err := New(Options{Repo: "acme/widgets", APIURL: f.URL(), Token: f.Token("bob")})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := c.Login(ctx); err != nil || got != "bob" {
			t.Errorf("a person's token: %q %v", got, err)
		}
	}
	asked := 0
	for _, q := range f.Requests() {
		if q.Path == "/user" && q.Token == "bob" {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	if got, err := newAppFake(t).Login(ctx); err != nil || got != "triage[bot]" {
		t.Errorf("an App: %q %v", got, err)
	}
	if got, err := newFake(t, "workflow", func(o *Options) { o.Login = "me" }).Login(ctx); err != nil || got != "me" {
		t.Errorf("a name that is given: %q %v", got, err)
	}
	if _, err := newFake(t, "").Login(ctx); !errors.Is(err, ErrUnauthorized) {
		t.Errorf("no token: %v", err)
	}
	if _, err := newFake(t, "workflow", func(o *Options) { o.Token = "wrong" }).Login(ctx); !errors.Is(err, ErrUnauthorized) {
		t.Errorf("a wrong token: %v", err)
	}
}

func TestTheCommentOfAnAppsOwnTokenIsFoundAgain(t *testing.T) {
	f := newFake(t, "workflow")
	f.Update(func(s *ghtest.State) {
		s.Tokens = append(s.Tokens, ghtest.Token{Name: "app", Value: "ghs_0123", User: "my-app[bot]", Permissions: ghtest.ReadWrite()})
	})
	c, err := New(Options{Repo: "acme/widgets", APIURL: f.URL(), Token: "ghs_0123", Clock: f.clock})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []Action{Created, Unchanged} {
		if r, err := c.Upsert(ctx, 7, ours); err != nil || r.Action != want {
			t.Errorf("%+v %v, want %s", r, err, want)
		}
	}
}

// An installation's token that a workflow got by itself: only GraphQL tells
// whose it is.
func TestWhoAnInstallationsTokenBelongsTo(t *testing.T) {
	for name, c := range map[string]struct {
		status       int
		answer, want string
	}{
		"the workflow's own": {200, `{"data":{"viewer":{"login":"github-actions[bot]"}}}`, botName},
		"an App's":           {200, `{"data":{"viewer":{"login":"my-app[bot]"}}}`, "my-app[bot]"},
		"not told":           {200, `{"errors":[{"message":"no"}]}`, botName},
		"not a name":         {200, `{"data":{"viewer":{"login":"<script>"}}}`, botName},
		"forbidden":          {403, `{"message":"no"}`, botName},
		"no GraphQL":         {404, `{"message":"Not Found"}`, botName},
		"a wrong token":      {401, `{"message":"Bad credentials"}`, ""},
	} {
		for _, prefix := range []string{"", "/api/v3"} {
			var path string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				path = r.Method + " " + r.URL.Path
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.answer)
			}))
			client, err := New(Options{Repo: "acme/widgets", APIURL: s.URL + prefix, Token: "ghs_x", Clock: newClock()})
			if err != nil {
				t.Fatal(err)
			}
			got, err := client.Login(ctx)
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("%s: %q %v, want %q", name, got, err, c.want)
			}
			if want := map[string]string{"": "POST /graphql", "/api/v3": "POST /api/graphql"}[prefix]; path != want {
				t.Errorf("%s: asked %s, want %s", name, path, want)
			}
			s.Close()
		}
	}
}
