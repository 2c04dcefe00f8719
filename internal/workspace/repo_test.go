package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

// repo is a real repository in a temporary directory.
type repo struct {
	t   *testing.T
	dir string
}

// gitEnv makes commits the same on every machine and keeps the developer's own
// configuration out.
func gitEnv(home string) []string {
	env := []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "TZ=UTC",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z",
		"GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@example.com", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
	}
	return env
}

func newRepo(t *testing.T, dir string) *repo {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	r := &repo{t, dir}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.git("init", "-q", "-b", "main")
	return r
}

// linear has n commits on main, each with the file f set to its number.
func linear(t *testing.T, n int) *repo {
	t.Helper()
	r := newRepo(t, filepath.Join(t.TempDir(), "repo"))
	for i := range n {
		r.commit("f", string(rune('a'+i%26)))
	}
	return r
}

func (r *repo) try(args ...string) (string, error) {
	c := exec.Command("git", append([]string{"-c", "protocol.file.allow=always"}, args...)...)
	c.Dir = r.dir
	c.Env = gitEnv(os.Getenv("HOME"))
	out, err := c.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (r *repo) git(args ...string) string {
	r.t.Helper()
	out, err := r.try(args...)
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (r *repo) write(path, text string) {
	r.t.Helper()
	full := filepath.Join(r.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// commit writes one file, commits it and returns the commit.
func (r *repo) commit(path, text string) string {
	r.t.Helper()
	r.write(path, text)
	r.git("add", "--all")
	r.git("commit", "-q", "--allow-empty", "-m", "set "+path)
	return r.git("rev-parse", "HEAD")
}

// clone makes a clone over file://, which honours depth.
func (r *repo) clone(args ...string) *repo {
	r.t.Helper()
	dir := filepath.Join(r.t.TempDir(), "clone")
	r.git(append(append([]string{"clone", "-q"}, args...), "file://"+r.dir, dir)...)
	return &repo{r.t, dir}
}

func (r *repo) options() Options {
	return Options{
		Repo: r.dir, Dir: filepath.Join(r.t.TempDir(), "trees"), Lock: filepath.Join(r.t.TempDir(), "lock"),
		Logf: func(format string, args ...any) { r.t.Logf(format, args...) },
	}
}

func (r *repo) open(o Options) *Workspace {
	r.t.Helper()
	w, err := Open(context.Background(), o)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := w.Close(); err != nil {
			r.t.Error(err)
		}
	})
	return w
}

// wantError opens and expects one clear line of the given kind.
func (r *repo) wantError(o Options, kind error, parts ...string) {
	r.t.Helper()
	w, err := Open(context.Background(), o)
	if err == nil {
		w.Close()
		r.t.Fatalf("opened, want %v", kind)
	}
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, kind) {
		r.t.Fatalf("got error %q (%T), want kind %q", err, err, kind)
	}
	if strings.Contains(err.Error(), "\n") || e.Fix == "" {
		r.t.Errorf("not one line with a fix: %q", err)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			r.t.Errorf("error %q does not say %q", err, p)
		}
	}
	if _, err := os.Lstat(o.Dir); !errors.Is(err, fs.ErrNotExist) {
		r.t.Errorf("left behind: %s", o.Dir)
	}
}

func (r *repo) wantRevs(w *Workspace, head, base, baseRef string) {
	r.t.Helper()
	h, b := w.Tree(triage.Head).Rev, w.Tree(triage.Base).Rev
	if h.SHA != head || b.SHA != base || b.Ref != baseRef {
		r.t.Errorf("head %s (%s), base %s (%s); want head %s, base %s (%s)", h.SHA, h.Ref, b.SHA, b.Ref, head, base, baseRef)
	}
	for _, s := range []triage.Side{triage.Head, triage.Base} {
		t := w.Tree(s)
		at := &repo{r.t, t.Dir}
		if got := at.git("rev-parse", "HEAD"); got != t.Rev.SHA {
			r.t.Errorf("%s tree stands at %s, want %s", s, got, t.Rev.SHA)
		}
		if t.Side != s || !filepath.IsAbs(t.Dir) {
			r.t.Errorf("tree is %+v", t)
		}
	}
}

// snapshot is every file of a directory with its content, objects excepted:
// fetching adds objects, and nothing points at them.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	m := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		switch {
		case rel == filepath.Join(".git", "objects"):
			return fs.SkipDir
		case d.IsDir():
			m[rel] = "directory"
		case d.Type().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			m[rel] = string(b)
		default:
			m[rel] = d.Type().String()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// unchanged runs f and expects the repository to be the same afterwards, byte for byte.
func (r *repo) unchanged(f func()) {
	r.t.Helper()
	before := snapshot(r.t, r.dir)
	f()
	if diff := cmp.Diff(before, snapshot(r.t, r.dir)); diff != "" {
		r.t.Errorf("the user's repository changed (-before +after):\n%s", diff)
	}
}

func content(t *testing.T, w *Workspace, s triage.Side, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(w.Tree(s).Dir, path))
	if errors.Is(err, fs.ErrNotExist) {
		return "<none>"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func hasWarning(w *Workspace, part string) bool {
	return strings.Contains(strings.Join(w.Warnings(), "\n"), part)
}
