package workspace

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestBaseIsTheFirstParentOfAMergeCommit(t *testing.T) {
	r := linear(t, 2)
	main := r.git("rev-parse", "HEAD")
	r.git("checkout", "-q", "-b", "feature", "HEAD~1")
	r.commit("g", "1")
	r.git("checkout", "-q", "--detach", "main")
	r.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
	r.wantRevs(r.open(r.options()), r.git("rev-parse", "HEAD"), main, "first parent")
}

func TestBaseIsTheFirstParentOfAnOctopus(t *testing.T) {
	r := linear(t, 2)
	main := r.git("rev-parse", "HEAD")
	for _, b := range []string{"x", "y", "z"} {
		r.git("checkout", "-q", "-b", b, main)
		r.commit(b, "1")
	}
	r.git("checkout", "-q", "main")
	r.git("merge", "-q", "--no-ff", "-m", "octopus", "x", "y", "z")
	w := r.open(r.options())
	r.wantRevs(w, r.git("rev-parse", "HEAD"), main, "first parent")
	if got := strings.Join(w.Diff(), " "); got != "x y z" {
		t.Errorf("diff is %q", got)
	}
}

func TestBranchThatTookInTheUpstreamIsComparedWithIt(t *testing.T) {
	r := linear(t, 1)
	r.git("checkout", "-q", "-b", "feature")
	r.commit("g", "1")
	r.git("checkout", "-q", "main")
	main := r.commit("h", "1")
	r.git("checkout", "-q", "feature")
	r.git("merge", "-q", "--no-ff", "-m", "take in main", "main")
	r.wantRevs(r.open(r.options()), r.git("rev-parse", "HEAD"), main, "merge base with main")
}

// As actions/checkout does with ref: the head of the pull request.
func TestDetachedBranchThatTookInTheUpstreamIsComparedWithIt(t *testing.T) {
	r := linear(t, 1)
	r.git("checkout", "-q", "-b", "feature")
	r.commit("g", "1")
	r.git("checkout", "-q", "main")
	main := r.commit("h", "1")
	r.git("checkout", "-q", "feature")
	r.git("merge", "-q", "--no-ff", "-m", "take in main", "main")
	head := r.git("rev-parse", "HEAD")
	r.git("checkout", "-q", "main")
	r.commit("i", "1") // main has gone on
	r.git("checkout", "-q", "--detach", head)
	r.wantRevs(r.open(r.options()), head, main, "merge base with main")
	r.git("checkout", "-q", "main")
	o := r.options()
	o.Head = head
	r.wantRevs(r.open(o), head, main, "merge base with main")

	c := &repo{t, filepath.Join(t.TempDir(), "ci")}
	r.git("init", "-q", c.dir)
	c.git("remote", "add", "origin", "file://"+r.dir)
	c.git("fetch", "-q", "--no-tags", "--depth=1", "origin", head)
	c.git("checkout", "-q", "--detach", head)
	c.wantRevs(c.open(c.options()), head, main, "merge base with origin/main")
}

// A pull request that brings main back into a release: the words of GitHub's
// merge tell it.
func TestGitHubsMergeOfTheUpstreamIntoAReleaseHasItsFirstParent(t *testing.T) {
	r := linear(t, 2)
	main := r.git("rev-parse", "HEAD")
	r.git("checkout", "-q", "-b", "release", "HEAD~1")
	release := r.commit("r", "1")
	r.git("checkout", "-q", "--detach")
	r.git("merge", "-q", "--no-ff", "-m", "Merge "+main+" into "+release, main)
	r.wantRevs(r.open(r.options()), r.git("rev-parse", "HEAD"), release, "first parent")
}

func TestBaseIsTheMergeBaseWithTheUpstream(t *testing.T) {
	r := linear(t, 3)
	fork := r.git("rev-parse", "HEAD~1")
	r.git("branch", "feature", fork)
	for name, tc := range map[string]struct {
		prepare func(c *repo)
		ref     string
	}{
		"what origin/HEAD stands for": {func(c *repo) {}, "merge base with origin/main"},
		"origin/main without a HEAD":  {func(c *repo) { c.git("remote", "set-head", "origin", "-d") }, "merge base with origin/main"},
		"the only remote":             {func(c *repo) { c.git("remote", "rename", "origin", "up") }, "merge base with up/main"},
		"local main without a remote": {func(c *repo) { c.git("remote", "remove", "origin") }, "merge base with main"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &repo{t, r.clone().dir}
			c.git("checkout", "-q", "-b", "feature", fork)
			head := c.commit("g", "1")
			tc.prepare(c)
			c.wantRevs(c.open(c.options()), head, fork, tc.ref)
		})
	}
}

func TestNamedRevisionsAreTakenExactly(t *testing.T) {
	r := linear(t, 4)
	r.git("tag", "-a", "-m", "x", "v1", "HEAD~3")
	o := r.options()
	o.Head, o.Base = "HEAD~1", "v1"
	w := r.open(o)
	r.wantRevs(w, r.git("rev-parse", "HEAD~1"), r.git("rev-parse", "v1^{commit}"), "v1")
	if got := w.Tree(triage.Head).Rev.Ref; got != "HEAD~1" {
		t.Errorf("head is named %q", got)
	}
}

func TestMistakesAreOneLineWithTheFix(t *testing.T) {
	r := linear(t, 2)
	lone := strings.Repeat("0123456789", 4)
	for name, tc := range map[string]struct {
		head, base string
		kind       error
		says       string
	}{
		"same commit":           {"HEAD", "main", ErrSameRevision, "--base HEAD~1"},
		"main against itself":   {"", "", ErrSameRevision, "merge base with main"},
		"unknown head":          {"nope", "", ErrUnknownRevision, `"nope"`},
		"unknown base":          {"", "nope", ErrUnknownRevision, `"nope"`},
		"an option as revision": {"--all", "", ErrUnknownRevision, `"--all"`},
		"broken expression":     {"", "HEAD~99", ErrUnknownRevision, `"HEAD~99"`},
		"a tree, no commit":     {"HEAD^{tree}", "", ErrUnknownRevision, ""},
		"hash that is not here": {"", lone, ErrBaseUnreachable, "fetch-depth: 0"},
	} {
		t.Run(name, func(t *testing.T) {
			at := &repo{t, r.dir}
			o := at.options()
			o.Head, o.Base = tc.head, tc.base
			at.unchanged(func() { at.wantError(o, tc.kind, tc.says) })
		})
	}
}

func TestOneTreeIsEnoughWhereNothingIsCompared(t *testing.T) {
	r := linear(t, 2)
	o := r.options()
	o.Head, o.Base, o.OneTree = "HEAD", "HEAD", true
	w := r.open(o)
	r.wantRevs(w, r.git("rev-parse", "HEAD"), r.git("rev-parse", "HEAD"), "HEAD")
}

func TestNoDefaultBranchAsksForTheBase(t *testing.T) {
	r := linear(t, 2)
	r.git("branch", "-m", "odd-name")
	r.wantError(r.options(), ErrNoBase, "--base")
}

func TestUnrelatedHistoriesHaveNoBase(t *testing.T) {
	r := linear(t, 1)
	r.git("checkout", "-q", "--orphan", "other")
	r.commit("g", "1")
	r.wantError(r.options(), ErrNoBase, "no common history")
}

func TestRepositoryNameHasNoCredentials(t *testing.T) {
	for raw, want := range map[string]string{
		"https://github.com/owner/name.git":        "owner/name",
		"https://user:tok@github.com/owner/name":   "owner/name",
		"https://x-access-token:t@ghe.example/o/n": "o/n",
		"git@github.com:owner/name.git":            "owner/name",
		"ssh://git@host:2222/owner/name.git/":      "owner/name",
		"https://gitlab.example/a/b/c.git":         "a/b/c",
		"file:///srv/git/name.git":                 "",
		"/srv/git/name.git":                        "",
		"../name":                                  "",
		`C:\git\name`:                              "",
	} {
		if got := nameFromURL(raw); got != want {
			t.Errorf("%q gives %q, want %q", raw, got, want)
		}
	}
	r := linear(t, 2)
	r.git("remote", "add", "origin", "https://user:secret@git.example/owner/name.git")
	o := r.options()
	o.Base = "HEAD~1"
	if got := r.open(o).RepoName(); got != "owner/name" {
		t.Errorf("name is %q", got)
	}
	if got := scrub("fatal: 'https://u:p@h/x' and ssh://t@h/y"); got != "fatal: 'https://h/x' and ssh://h/y" {
		t.Errorf("scrubbed to %q", got)
	}
}
