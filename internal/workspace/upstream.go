package workspace

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// deepenSteps are how many commits are asked for, one after the other; after
// the last the whole history is. Most branches are younger than 50 commits.
var deepenSteps = []int{50, 250, 1000, 5000}

// branch is the upstream's default branch.
type branch struct{ name, sha string }

// remote is the one that the current branch follows, else origin, else the only one.
func (w *Workspace) remote(ctx context.Context) string {
	out, err := w.git.line(ctx, "remote")
	if err != nil || out == "" {
		return ""
	}
	all := strings.Split(out, "\n")
	if b, err := w.git.line(ctx, "symbolic-ref", "--quiet", "--short", "HEAD"); err == nil {
		if r, err := w.git.line(ctx, "config", "branch."+b+".remote"); err == nil && slices.Contains(all, r) {
			return r
		}
	}
	if slices.Contains(all, "origin") {
		return "origin"
	}
	if len(all) == 1 {
		return all[0]
	}
	return ""
}

// upstream finds the default branch: what the clone recorded, what the remote
// says, then the usual names.
func (w *Workspace) upstream(ctx context.Context, head string) (branch, error) {
	var names []string
	remote := w.remote(ctx)
	if remote != "" {
		names = append(names, remote+"/HEAD", remote+"/main", remote+"/master")
	}
	if remote != "" && w.lookUp(ctx, "refs/remotes/"+names[0]) == "" && w.isShallow(ctx) {
		if b, ok := w.askRemote(ctx, remote); ok {
			return b, w.need(ctx, b.sha)
		}
	}
	for _, n := range names {
		if sha := w.lookUp(ctx, "refs/remotes/"+n); sha != "" {
			return branch{w.shortRef(ctx, n), sha}, nil
		}
	}
	for _, n := range []string{"main", "master", "trunk", "develop"} {
		if sha := w.lookUp(ctx, "refs/heads/"+n); sha != "" {
			return branch{n, sha}, nil
		}
	}
	return branch{}, &Error{ErrNoBase, fmt.Sprintf("no base found for %s: it is no merge commit and the repository has no default branch to compare with", short(head)),
		"name the other tree with --base"}
}

// shortRef replaces origin/HEAD by the branch that it stands for.
func (w *Workspace) shortRef(ctx context.Context, name string) string {
	if s, err := w.git.line(ctx, "symbolic-ref", "--quiet", "--short", "refs/remotes/"+name); err == nil {
		return s
	}
	return name
}

// askRemote asks which branch HEAD is: a checkout made by CI has only one ref.
func (w *Workspace) askRemote(ctx context.Context, remote string) (branch, bool) {
	out, err := w.git.run(ctx, remoteTime, []string{"ls-remote", "--symref", "--quiet", remote, "HEAD"})
	if err != nil {
		return branch{}, false
	}
	b := branch{name: remote + "/HEAD"}
	for line := range strings.Lines(out) {
		value, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if ref, ok := strings.CutPrefix(value, "ref: refs/heads/"); ok && name == "HEAD" {
			b.name = remote + "/" + ref
		} else if name == "HEAD" {
			b.sha = value
		}
	}
	return b, fullSHA.MatchString(b.sha)
}

// remoteRef asks for the commit of one ref, empty when the remote has none of that name.
func (w *Workspace) remoteRef(ctx context.Context, remote, ref string) (string, error) {
	out, err := w.git.run(ctx, remoteTime, []string{"ls-remote", "--quiet", remote, ref})
	if err != nil {
		return "", err
	}
	sha, name, _ := strings.Cut(strings.TrimSpace(out), "\t")
	if name != ref {
		return "", nil
	}
	return sha, nil
}

// need fetches a commit that is not here, alone.
func (w *Workspace) need(ctx context.Context, sha string) error {
	if w.has(ctx, sha) {
		return nil
	}
	remote := w.remote(ctx)
	if remote == "" {
		return unreachable(fmt.Sprintf("commit %s is not in this clone, and there is no remote to fetch it from", short(sha)))
	}
	args := []string{sha}
	if w.isShallow(ctx) {
		args = []string{"--depth=1", sha}
	}
	if err := w.fetch(ctx, remote, args); err != nil {
		return err
	}
	w.warn("fetched commit %s from %s: the clone did not have it", short(sha), remote)
	return nil
}

// fetch gets objects and nothing else: no ref, tag or FETCH_HEAD is written.
func (w *Workspace) fetch(ctx context.Context, remote string, args []string) error {
	cmd := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", "--no-recurse-submodules"}
	var wants []string
	for _, a := range args {
		if strings.HasPrefix(a, "-") {
			cmd = append(cmd, a)
		} else {
			wants = append(wants, a)
		}
	}
	w.opt.Logf("fetching from %s: %s", remote, strings.Join(args, " "))
	_, err := w.git.run(ctx, remoteTime, append(append(cmd, remote), wants...))
	if ge, ok := err.(*gitError); ok {
		return unreachable(fmt.Sprintf("fetching %s from %s: %s", strings.Join(args, " "), remote, lastLine(ge.stderr)))
	}
	return err
}

// mergeBase is where head left the upstream. In a shallow clone the answer is
// sure only when everything that was cut off lies behind it; until then more
// history is fetched.
func (w *Workspace) mergeBase(ctx context.Context, head string, up branch) (string, error) {
	for step := 0; ; step++ {
		bases, cut, err := w.visibleBases(ctx, head, up.sha)
		if err != nil {
			return "", err
		}
		if len(cut) == 0 {
			if len(bases) == 0 {
				return "", &Error{ErrNoBase, fmt.Sprintf("%s and %s have no common history", short(head), up.name), "name the other tree with --base"}
			}
			if len(bases) > 1 {
				w.warn("%d merge bases with %s: the first is taken", len(bases), up.name)
			}
			return bases[0], nil
		}
		if step > len(deepenSteps) {
			return "", unreachable("the history of this shallow clone does not reach the merge base with " + up.name)
		}
		if err := w.deepen(ctx, step, cut); err != nil {
			return "", err
		}
	}
}

// visibleBases returns the merge bases that can be seen, and the commits with
// cut-off parents that are not behind them. While there is one of those, a
// better base may be hidden: a plain `git merge-base` would name an older commit
// without a word.
func (w *Workspace) visibleBases(ctx context.Context, head, up string) (bases, cut []string, err error) {
	out, err := w.git.line(ctx, "merge-base", "--all", head, up)
	if err == nil && out != "" {
		bases = strings.Split(out, "\n")
	} else if ge, ok := err.(*gitError); err != nil && (!ok || ge.exit != 1) {
		return nil, nil, err
	}
	boundary, err := w.shallowCommits(ctx)
	if err != nil || len(boundary) == 0 {
		return bases, nil, err
	}
	args := []string{"rev-list", head, up}
	if len(bases) > 0 {
		args = append(append(args, "--not"), bases...)
	}
	out, err = w.git.line(ctx, args...)
	if err != nil {
		return nil, nil, err
	}
	for sha := range strings.SplitSeq(out, "\n") {
		if boundary[sha] {
			cut = append(cut, sha)
		}
	}
	return bases, cut, nil
}

// deepen fetches more history behind the given boundary. The boundary's own
// commits are asked for: the remote has them, which is not so sure of the head.
func (w *Workspace) deepen(ctx context.Context, step int, cut []string) error {
	remote := w.remote(ctx)
	if remote == "" {
		return unreachable("this clone is shallow and has no remote to fetch its history from")
	}
	how, said := "--unshallow", "the whole history"
	if step < len(deepenSteps) {
		n := strconv.Itoa(deepenSteps[step])
		how, said = "--deepen="+n, n+" more commits of history"
	}
	if err := w.fetch(ctx, remote, append([]string{how}, cut...)); err != nil {
		return err
	}
	w.warn("fetched %s from %s: the clone was too shallow to be sure of the base", said, remote)
	return nil
}

func (w *Workspace) isShallow(ctx context.Context) bool {
	s, err := w.git.line(ctx, "rev-parse", "--is-shallow-repository")
	return err == nil && s == "true"
}

// shallowCommits are those whose parents were cut off.
func (w *Workspace) shallowCommits(ctx context.Context) (map[string]bool, error) {
	if !w.isShallow(ctx) {
		return nil, nil
	}
	path, err := w.git.line(ctx, "rev-parse", "--git-path", "shallow")
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(w.abs(path))
	if err != nil {
		return nil, fmt.Errorf("reading the clone's boundary: %w", err)
	}
	found := map[string]bool{}
	for _, sha := range strings.Fields(string(b)) {
		found[sha] = true
	}
	return found, nil
}
