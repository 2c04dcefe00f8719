package actiontest

import (
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

// pull is a repository with a pull request that breaks a test, as actions/checkout
// leaves it: the merge commit is checked out, and its first parent is the base.
type pull struct {
	dir               string
	base, head, merge string
}

// The token of the workflow. It is one of the secrets that tests hunt for.
const workflowToken = "ghs_SECRETOFTHEINPUT"

// pullRequest makes pull request 7 of [ghtest.Default], with real commits. It
// brings one more test, of the caller's.
func pullRequest(t *testing.T, more string) *pull {
	t.Helper()
	p := &pull{dir: filepath.Join(t.TempDir(), "workspace")}
	for name, text := range map[string]string{
		"go.mod":       "module example.com/app\n\ngo 1.26\n",
		"app.go":       "package app\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n",
		"app_test.go":  "package app\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif got := Add(1, 2); got != 3 {\n\t\tt.Fatalf(\"Add(1, 2) = %d, want 3\", got)\n\t}\n}\n",
		"more_test.go": "package app\n",
		".gitignore":   "/test.json\n",
	} {
		write(t, filepath.Join(p.dir, name), text)
	}
	git(t, p.dir, "init", "-q", "-b", "main")
	p.base = commit(t, p.dir, "base")
	git(t, p.dir, "checkout", "-q", "-b", "fix")
	write(t, filepath.Join(p.dir, "app.go"), "package app\n\n// Add adds.\nfunc Add(a, b int) int { return a - b }\n")
	write(t, filepath.Join(p.dir, "more_test.go"), more)
	p.head = commit(t, p.dir, "fix")
	git(t, p.dir, "checkout", "-q", "--detach", "main")
	git(t, p.dir, "merge", "-q", "--no-ff", "-m", "merge", "fix")
	p.merge = git(t, p.dir, "rev-parse", "HEAD")
	return p
}

func commit(t *testing.T, dir, message string) string {
	t.Helper()
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", message)
	return git(t, dir, "rev-parse", "HEAD")
}

// state is what GitHub knows of it: [ghtest.Default] with the real commits.
func (p *pull) state() ghtest.State {
	st := ghtest.Default()
	real := map[string]string{ghtest.SHA("base"): p.base, ghtest.SHA("head"): p.head, ghtest.SHA("merge"): p.merge}
	swap := func(sha *string) {
		if r, ok := real[*sha]; ok {
			*sha = r
		}
	}
	for name, sha := range st.Refs {
		swap(&sha)
		st.Refs[name] = sha
	}
	for i := range st.Commits {
		swap(&st.Commits[i].SHA)
		for j := range st.Commits[i].Parents {
			swap(&st.Commits[i].Parents[j])
		}
	}
	for i := range st.Pulls {
		swap(&st.Pulls[i].Head.SHA)
		swap(&st.Pulls[i].Base.SHA)
		swap(&st.Pulls[i].Merge)
	}
	for i := range st.Runs {
		swap(&st.Runs[i].HeadSHA)
		st.Runs[i].Created = time.Now().Add(-time.Hour) // GitHub starts no old run again
	}
	st.Tokens[0].Value = workflowToken
	return st
}

// serveOn starts a fake GitHub that knows the pull request on an address of this
// machine. What is against GitHub's contract fails the test.
func (p *pull) serveOn(t *testing.T, address string) *ghtest.Server {
	t.Helper()
	listen := func() net.Listener {
		l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	api, blobs := listen(), listen()
	fake, err := ghtest.Standalone(p.state(), "http://"+api.Addr().String(), "http://"+blobs.Addr().String(), func(r ghtest.Request) {
		if r.Problem != "" {
			t.Errorf("fake GitHub: %s %s: %s", r.Method, r.Path, r.Problem)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for l, h := range map[net.Listener]http.Handler{api: fake, blobs: fake.Blobs()} {
		s := &http.Server{Handler: h}
		go s.Serve(l)
		t.Cleanup(func() { s.Close() })
	}
	return fake
}
