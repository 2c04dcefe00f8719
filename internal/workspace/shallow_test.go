package workspace

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// forked has a feature branch that leaves main at the given number of commits
// before both tips.
func forked(t *testing.T, before, onMain, onFeature int) (r *repo, fork string) {
	t.Helper()
	r = linear(t, before)
	fork = r.git("rev-parse", "HEAD")
	r.git("checkout", "-q", "-b", "feature")
	for i := range onFeature {
		r.commit("g", strconv.Itoa(i))
	}
	r.git("checkout", "-q", "main")
	for i := range onMain {
		r.commit("h", strconv.Itoa(i))
	}
	return r, fork
}

func refs(r *repo) string {
	out, _ := r.try("for-each-ref")
	return out
}

func TestShallowCloneIsDeepenedUntilTheBaseIsSure(t *testing.T) {
	r, fork := forked(t, 3, 6, 4)
	tip := r.git("rev-parse", "feature")
	c := r.clone("--depth=1", "--no-single-branch", "--branch=feature")
	before := refs(c)
	w := c.open(c.options())
	c.wantRevs(w, tip, fork, "merge base with origin/main")
	if !hasWarning(w, "fetched 50 more commits") {
		t.Errorf("what was fetched is not said: %q", w.Warnings())
	}
	if after := refs(c); after != before {
		t.Errorf("refs changed:\n%s\nto\n%s", before, after)
	}
	if out, err := c.try("tag"); err != nil || out != "" {
		t.Errorf("tags came along: %q", out)
	}
}

func TestShallowMergeBaseThatCannotBeSureIsNotBelieved(t *testing.T) {
	// main: 1─2─3─4; feature forks at 2, and later takes in 4. A clone that holds
	// the fork at 2 but not the merge's way to 4 answers 2, in silence.
	r := linear(t, 2)
	r.git("checkout", "-q", "-b", "feature")
	r.commit("g", "1")
	r.git("checkout", "-q", "main")
	r.commit("h", "1")
	four := r.commit("h", "2")
	r.git("checkout", "-q", "feature")
	r.git("merge", "-q", "--no-ff", "-m", "take in", "main")
	for i := range 3 {
		r.commit("g", "x"+strconv.Itoa(i))
	}
	r.git("checkout", "-q", "main")
	for i := range 3 {
		r.commit("h", "y"+strconv.Itoa(i))
	}
	c := r.clone("--no-single-branch", "--branch=feature")
	// Cut the second parent of the merge away, and main above 4, by hand.
	merge := c.git("rev-parse", "HEAD~3")
	cutMain := c.git("rev-parse", "origin/main~2")
	c.write(".git/shallow", merge+"\n"+cutMain+"\n")
	if out, err := c.try("merge-base", "HEAD", "origin/main"); err == nil {
		t.Fatalf("the clone is not cut: merge base %s", out)
	}
	c.wantRevs(c.open(c.options()), c.git("rev-parse", "HEAD"), four, "merge base with origin/main")
}

func TestVisibleButOlderMergeBaseIsReplaced(t *testing.T) {
	// The true base is 4, reached from feature by its second parent only. With
	// that one commit cut, 2 stays visible as a common ancestor.
	r := linear(t, 2)
	two := r.git("rev-parse", "HEAD")
	r.git("checkout", "-q", "-b", "side")
	r.commit("s", "1")
	r.git("checkout", "-q", "main")
	r.commit("h", "1")
	four := r.commit("h", "2")
	r.git("checkout", "-q", "side")
	r.git("merge", "-q", "--no-ff", "-m", "take in", "main")
	inner := r.git("rev-parse", "HEAD")
	r.git("checkout", "-q", "-b", "feature", two)
	r.commit("g", "1")
	r.git("merge", "-q", "--no-ff", "-m", "join", "side")
	r.git("checkout", "-q", "main")
	r.commit("h", "3")
	c := r.clone("--no-single-branch", "--branch=feature")
	c.write(".git/shallow", inner+"\n")
	if got := c.git("merge-base", "HEAD", "origin/main"); got != two {
		t.Fatalf("git sees merge base %s, the trap needs %s", got, two)
	}
	c.git("checkout", "-q", "--detach")
	o := c.options()
	c.git("checkout", "-q", "-b", "work")
	head := c.commit("g", "2")
	c.wantRevs(c.open(o), head, four, "merge base with origin/main")
}

func TestShallowMergeCommitFetchesItsFirstParent(t *testing.T) {
	r, _ := forked(t, 2, 2, 2)
	main := r.git("rev-parse", "main")
	r.git("checkout", "-q", "--detach", "main")
	r.git("merge", "-q", "--no-ff", "-m", "pull request", "feature")
	merge := r.git("rev-parse", "HEAD")
	r.git("update-ref", "refs/pull/1/merge", merge)
	// As actions/checkout does: one ref, one commit, detached.
	c := &repo{t, filepath.Join(t.TempDir(), "ci")}
	r.git("init", "-q", c.dir)
	c.git("remote", "add", "origin", "file://"+r.dir)
	c.git("fetch", "-q", "--no-tags", "--depth=1", "origin", merge+":refs/remotes/pull/1/merge")
	c.git("checkout", "-q", "--detach", "refs/remotes/pull/1/merge")
	before := refs(c)
	w := c.open(c.options())
	c.wantRevs(w, merge, main, "first parent")
	if !hasWarning(w, "fetched commit") || refs(c) != before {
		t.Errorf("warnings %q, refs %q", w.Warnings(), refs(c))
	}
}

func TestShallowCheckoutWithoutBranchesAsksTheRemote(t *testing.T) {
	r, fork := forked(t, 3, 2, 3)
	tip := r.git("rev-parse", "feature")
	c := &repo{t, filepath.Join(t.TempDir(), "ci")}
	r.git("init", "-q", c.dir)
	c.git("remote", "add", "origin", "file://"+r.dir)
	c.git("fetch", "-q", "--no-tags", "--depth=1", "origin", tip)
	c.git("checkout", "-q", "--detach", tip)
	c.wantRevs(c.open(c.options()), tip, fork, "merge base with origin/main")
}

func TestNamedBaseIsFetchedFromTheRemote(t *testing.T) {
	r, fork := forked(t, 3, 2, 3)
	for name, base := range map[string]string{"hash": fork, "branch": "main", "remote branch": "origin/main"} {
		t.Run(name, func(t *testing.T) {
			c := &repo{t, r.clone("--depth=1", "--branch=feature").dir}
			o := c.options()
			o.Base = base
			want := fork
			if base != fork {
				want = r.git("rev-parse", "main")
			}
			c.wantRevs(c.open(o), r.git("rev-parse", "feature"), want, base)
		})
	}
}

func TestExpressionBehindTheCutIsReached(t *testing.T) {
	r := linear(t, 4)
	c := r.clone("--depth=1")
	o := c.options()
	o.Base = "HEAD~2"
	c.wantRevs(c.open(o), r.git("rev-parse", "HEAD"), r.git("rev-parse", "HEAD~2"), "HEAD~2")
	c = r.clone("--depth=1")
	o = c.options()
	o.Base = "HEAD~9"
	c.wantError(o, ErrUnknownRevision, "HEAD~9")
	o.Base = "nope~1"
	c.wantError(o, ErrUnknownRevision, "nope~1")
}

func TestRemoteThatIsGoneIsAClearError(t *testing.T) {
	r, fork := forked(t, 3, 2, 3)
	c := r.clone("--depth=1", "--no-single-branch", "--branch=feature")
	c.git("remote", "set-url", "origin", "file:///no/such/place")
	c.wantError(c.options(), ErrBaseUnreachable, "git fetch --unshallow", "fetch-depth: 0")
	o := c.options()
	o.Base = fork
	c.wantError(o, ErrBaseUnreachable, "fetch-depth: 0")
	c.git("remote", "remove", "origin")
	c.wantError(o, ErrBaseUnreachable, "is not in this clone")
}

func TestCommitThatTheRemoteDoesNotHaveIsNotReachable(t *testing.T) {
	r, _ := forked(t, 2, 1, 1)
	c := r.clone("--depth=1", "--branch=feature")
	o := c.options()
	o.Base = strings.Repeat("ab", 20)
	c.wantError(o, ErrBaseUnreachable, "abababababab")
}

func TestHistoryDeeperThanOneStepIsReached(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 130 commits")
	}
	r, fork := forked(t, 1, 60, 60)
	c := r.clone("--depth=1", "--no-single-branch", "--branch=feature")
	w := c.open(c.options())
	c.wantRevs(w, r.git("rev-parse", "feature"), fork, "merge base with origin/main")
	if !hasWarning(w, "fetched 250 more commits") {
		t.Errorf("warnings are %q", w.Warnings())
	}
}
