package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// fillSubmodules fills the submodules of both trees from the user's checkout.
func (w *Workspace) fillSubmodules(ctx context.Context) error {
	for _, side := range []triage.Side{triage.Head, triage.Base} {
		t := w.trees[side]
		empty, err := w.fill(ctx, w.top, t.Dir, t.Rev.Dirty)
		if err != nil {
			return err
		}
		if len(empty) > 0 {
			w.warn("%d submodules are empty on %s (first: %s); run `git submodule update --init --recursive` in the checkout", len(empty), side, empty[0])
		}
	}
	return nil
}

// fill checks the submodules of tree out of those that are initialised in
// source, recursively, and returns the paths of the others. `git submodule`
// itself would write to the configuration that all worktrees share. With asIs
// they stand at the commits that source has checked out, not at the recorded ones.
func (w *Workspace) fill(ctx context.Context, source, tree string, asIs bool) (empty []string, err error) {
	links, err := w.submodules(ctx, tree)
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		from, to := filepath.Join(source, filepath.FromSlash(l.path)), filepath.Join(tree, filepath.FromSlash(l.path))
		if asIs {
			l.sha = w.currentCommit(ctx, from, l)
		}
		if !w.checkOutSubmodule(ctx, from, to, l.sha) {
			if err := ctx.Err(); err != nil {
				return nil, context.Cause(ctx)
			}
			empty = append(empty, l.path)
			continue
		}
		below, err := w.fill(ctx, from, to, asIs)
		if err != nil {
			return nil, err
		}
		for _, b := range below {
			empty = append(empty, l.path+"/"+b)
		}
	}
	return empty, nil
}

// currentCommit is what the checkout has in place of a submodule's recorded commit.
func (w *Workspace) currentCommit(ctx context.Context, from string, l gitlink) string {
	if _, err := os.Stat(filepath.Join(from, ".git")); err != nil {
		return l.sha
	}
	g := w.git.in(from)
	if out, err := g.out(ctx, "status", "--porcelain", "--ignore-submodules=all"); err == nil && out != "" {
		w.warn("uncommitted changes inside submodule %s are not in the head tree", l.path)
	}
	sha, err := g.line(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return l.sha
	}
	return sha
}

// checkOutSubmodule reports whether the commit was to be had from the local clone.
func (w *Workspace) checkOutSubmodule(ctx context.Context, from, to, sha string) bool {
	if _, err := os.Stat(filepath.Join(from, ".git")); err != nil {
		return false
	}
	g := w.git.in(from)
	if _, err := g.out(ctx, "cat-file", "-e", sha+"^{commit}"); err != nil {
		return false
	}
	if _, err := g.out(ctx, "clone", "--quiet", "--shared", "--no-checkout", "--template=", from, to); err != nil {
		return false
	}
	_, err := w.git.in(to).out(ctx, "checkout", "--quiet", "--detach", sha)
	return err == nil
}

// gitlink is a submodule as its parent records it.
type gitlink struct{ path, sha string }

func (w *Workspace) submodules(ctx context.Context, tree string) ([]gitlink, error) {
	if _, err := os.Lstat(filepath.Join(tree, ".gitmodules")); err != nil {
		return nil, nil
	}
	entries, err := w.git.in(tree).list(ctx, "ls-tree", "-r", "-z", "HEAD")
	if err != nil {
		return nil, err
	}
	var links []gitlink
	for _, e := range entries {
		// "160000 commit SHA\tPATH"
		if meta, path, ok := strings.Cut(e, "\t"); ok && strings.HasPrefix(meta, "160000 ") {
			links = append(links, gitlink{path, meta[strings.LastIndexByte(meta, ' ')+1:]})
		}
	}
	return links, nil
}

// neutraliseFilters switches off the smudge and clean filters that the user
// configured: they are programs, some of them ask for a password or the network.
func (w *Workspace) neutraliseFilters(ctx context.Context) error {
	names := []string{"lfs"}
	out, err := w.git.line(ctx, "config", "--name-only", "--get-regexp", `^filter\..*\.(smudge|clean|process|required)$`)
	if err == nil {
		for key := range strings.SplitSeq(out, "\n") {
			name := strings.TrimPrefix(key[:max(strings.LastIndexByte(key, '.'), 0)], "filter.")
			if name != "" && !strings.Contains(name, "=") {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	w.filters = slices.Compact(names)
	for _, n := range w.filters {
		for _, kv := range []string{"smudge=", "clean=", "process=", "required=false"} {
			w.git.config = append(w.git.config, "filter."+n+"."+kv)
		}
	}
	return nil
}

// noticeFilters tells of files that are not what the user's checkout shows,
// because the filter that would make them so was not run.
func (w *Workspace) noticeFilters(ctx context.Context) error {
	for _, side := range []triage.Side{triage.Head, triage.Base} {
		g := w.git.in(w.trees[side].Dir)
		for _, name := range w.filters {
			files, err := g.list(ctx, "ls-files", "-z", "--", fmt.Sprintf(":(top,attr:filter=%s)", name))
			if err != nil || len(files) == 0 {
				continue // a name that the pathspec cannot carry
			}
			what := "as they are stored, filter " + name + " was not run"
			if name == "lfs" {
				what = "Git LFS pointers, not the files themselves: fetch them with a set-up command such as `git lfs pull`"
			}
			w.warn("%d files on %s are %s (first: %s)", len(files), side, what, files[0])
		}
	}
	return nil
}
