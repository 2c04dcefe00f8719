package workspace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// chooseRevisions fills in what the two trees are made of.
func (w *Workspace) chooseRevisions(ctx context.Context) error {
	head, base := &w.trees[triage.Head].Rev, &w.trees[triage.Base].Rev
	if err := w.chooseHead(ctx, head); err != nil {
		return err
	}
	var err error
	if w.opt.Base != "" {
		base.Ref = w.opt.Base
		base.SHA, err = w.resolve(ctx, w.opt.Base)
		err = w.asBase(ctx, err)
	} else {
		err = w.chooseBase(ctx, *head, base)
	}
	if err != nil {
		return err
	}
	if head.SHA == base.SHA && !head.Dirty && !w.opt.OneTree {
		return &Error{ErrSameRevision, fmt.Sprintf("head (%s) and base (%s) are the same commit %s", head.Ref, base.Ref, short(head.SHA)),
			"name another tree with --base, for example --base HEAD~1"}
	}
	return nil
}

// chooseHead resolves the head; without a name it is what stands in the checkout.
func (w *Workspace) chooseHead(ctx context.Context, head *triage.Rev) error {
	head.Ref = w.opt.Head
	if head.Ref == "" {
		head.Ref = "HEAD"
	}
	var err error
	if head.SHA, err = w.resolve(ctx, head.Ref); err != nil {
		return err
	}
	current, err := w.resolve(ctx, "HEAD")
	if err != nil || current != head.SHA {
		return err
	}
	dirty, err := w.dirtyFiles(ctx)
	w.dirty = dirty
	if err != nil || len(dirty) == 0 {
		return err
	}
	if w.opt.Head != "" {
		w.warn("the checkout has %d uncommitted changes; head is commit %s without them, as named", len(dirty), short(head.SHA))
		return nil
	}
	head.Ref, head.Dirty = "working tree", true
	w.warn("head is the working tree as it is, with %d uncommitted changes over commit %s (first: %s)", len(dirty), short(head.SHA), dirty[0])
	return nil
}

// chooseBase finds the tree without the pull request.
func (w *Workspace) chooseBase(ctx context.Context, head triage.Rev, base *triage.Rev) error {
	parents, err := w.parents(ctx, head.SHA)
	if err != nil {
		return err
	}
	var up branch
	if len(parents) > 1 {
		var back bool
		if up, back = w.mergedBack(ctx, head.SHA, parents); !back {
			base.SHA, base.Ref = parents[0], "first parent"
			return w.need(ctx, base.SHA)
		}
	} else if up, err = w.upstream(ctx, head.SHA); err != nil {
		return err
	}
	base.Ref = "merge base with " + up.name
	base.SHA, err = w.mergeBase(ctx, head.SHA, up)
	return err
}

// mergedBack tells a branch that has just taken in the upstream from the merge
// commit that CI makes: its first parent is not in the upstream while another one
// is. That parent is the branch's own last state, and no base: what the branch
// broke is broken there too. CI may check out such a branch detached, so that
// only GitHub's own words tell its merge for sure. It returns the upstream too.
func (w *Workspace) mergedBack(ctx context.Context, head string, parents []string) (up branch, back bool) {
	subject, err := w.git.line(ctx, "show", "--no-patch", "--format=%s", head)
	if err == nil && len(parents) == 2 && subject == "Merge "+parents[1]+" into "+parents[0] {
		return up, false
	}
	if up, err = w.upstream(ctx, ""); err != nil {
		return up, false
	}
	in := func(sha string) bool {
		if w.need(ctx, sha) != nil {
			return false
		}
		base, err := w.mergeBase(ctx, sha, up) // gets what a shallow clone lacks
		return err == nil && base == sha
	}
	return up, !in(parents[0]) && slices.ContainsFunc(parents[1:], in)
}

// parents reads the commit itself: a shallow clone pretends that there are none.
func (w *Workspace) parents(ctx context.Context, sha string) ([]string, error) {
	raw, err := w.git.out(ctx, "cat-file", "commit", sha)
	if err != nil {
		return nil, err
	}
	var parents []string
	for line := range strings.Lines(raw) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			break
		}
		if p, ok := strings.CutPrefix(line, "parent "); ok {
			parents = append(parents, p)
		}
	}
	return parents, nil
}

var fullSHA = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// resolve turns a name into a commit. One that is not here is fetched when it is
// a full hash or a branch of the remote.
func (w *Workspace) resolve(ctx context.Context, name string) (string, error) {
	if sha := w.lookUp(ctx, name); sha != "" {
		return sha, nil
	}
	if err := ctx.Err(); err != nil {
		return "", context.Cause(ctx)
	}
	if name == "HEAD" {
		return "", &Error{ErrUnknownRevision, "the repository has no commit yet", "commit something first"}
	}
	unknown := &Error{ErrUnknownRevision, fmt.Sprintf("unknown revision %q", name), "name a commit, branch or tag of this repository"}
	remote := w.remote(ctx)
	if remote == "" || strings.HasPrefix(name, "-") {
		return "", unknown
	}
	if !plainName.MatchString(name) {
		return w.resolveBehind(ctx, name, unknown)
	}
	if fullSHA.MatchString(name) {
		if err := w.need(ctx, name); err != nil {
			return "", err
		}
		return name, nil
	}
	branch := strings.TrimPrefix(name, remote+"/")
	tip, err := w.remoteRef(ctx, remote, "refs/heads/"+branch)
	if err != nil || tip == "" {
		return "", unknown
	}
	return tip, w.need(ctx, tip)
}

// resolveBehind resolves an expression such as HEAD~3 whose commit was cut off.
// Where the name in it is unknown too, more history would not help.
func (w *Workspace) resolveBehind(ctx context.Context, name string, unknown error) (string, error) {
	end := strings.IndexAny(name, "~^")
	if end <= 0 || w.lookUp(ctx, name[:end]) == "" {
		return "", unknown
	}
	for step := range len(deepenSteps) + 1 {
		boundary, err := w.shallowCommits(ctx)
		if err != nil {
			return "", err
		}
		if len(boundary) == 0 {
			break
		}
		if err := w.deepen(ctx, step, slices.Sorted(maps.Keys(boundary))); err != nil {
			return "", err
		}
		if sha := w.lookUp(ctx, name); sha != "" {
			return sha, nil
		}
	}
	return "", unknown
}

// plainName is a name without the operators of a revision expression.
var plainName = regexp.MustCompile(`^[^\s~^:?*\[\\@]+$`)

// lookUp resolves a name with what is here; empty when that is not enough.
func (w *Workspace) lookUp(ctx context.Context, name string) string {
	if name == "" || strings.HasPrefix(name, "-") {
		return ""
	}
	sha, err := w.git.line(ctx, "rev-parse", "--verify", "--quiet", name+"^{commit}")
	// A full hash may resolve to itself, here or not.
	if err != nil || fullSHA.MatchString(name) && !w.has(ctx, sha) {
		return ""
	}
	return sha
}

func (w *Workspace) has(ctx context.Context, sha string) bool {
	_, err := w.git.out(ctx, "cat-file", "-e", sha+"^{commit}")
	return err == nil
}

// asBase words an unknown revision for the base: in a shallow clone the reason
// is most often that it was not fetched.
func (w *Workspace) asBase(ctx context.Context, err error) error {
	var e *Error
	if errors.As(err, &e) && e.Kind == ErrUnknownRevision && (fullSHA.MatchString(w.opt.Base) || w.isShallow(ctx)) {
		return unreachable(fmt.Sprintf("base %q is not in this clone", w.opt.Base))
	}
	return err
}

func unreachable(problem string) error {
	return &Error{ErrBaseUnreachable, problem, "run `git fetch --unshallow`, or set fetch-depth: 0 for actions/checkout, or name a base that is here with --base"}
}

func short(sha string) string { return sha[:min(len(sha), 12)] }
