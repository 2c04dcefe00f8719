package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

// DefaultSetupTimeout caps one set-up command: a cold install of a large
// project's dependencies takes minutes.
const DefaultSetupTimeout = 15 * time.Minute

// Options says which two trees to make.
type Options struct {
	// Repo is a directory in a working tree; empty is the current one.
	Repo string
	// Head is a revision; empty is HEAD, or the working tree as it is when it has
	// uncommitted changes.
	Head string
	// Base is a revision, taken exactly as named; empty finds it: the first parent
	// of a merge commit, else the merge base with the upstream's default branch.
	Base string
	// Ignore are absolute paths of files and directories whose contents are never
	// part of the head tree: reports of the red run, the directory of our own output.
	Ignore []string
	// TrackedOnly leaves untracked files out of the head tree, as in CI, where they
	// are what the build and the tests left behind and no one's edit.
	TrackedOnly bool
	// Setup are argument lists, run one after the other at the root of each tree.
	Setup [][]string
	// SetupTimeout caps one of them; 0 is [DefaultSetupTimeout].
	SetupTimeout time.Duration
	// Env is the whole environment of Setup as KEY=VALUE; nil is a clean one
	// made from this process's own.
	Env []string
	// Dir is where the trees are put, as Dir/head and Dir/base; empty is a
	// directory for this repository in the user's cache.
	Dir string
	// Lock is the file that keeps two runs apart; empty is [MachineLock] and one
	// in the user's cache.
	Lock string
	// OneTree allows head and base to be the same commit, for runs that compare
	// nothing.
	OneTree bool
	// NoWait fails with [ErrBusy] where Open would wait for another run.
	NoWait bool
	// Logf tells of progress (waiting, fetching, set-up); nil is silent.
	Logf func(format string, args ...any)
}

// Tree is one side of the check.
type Tree struct {
	Side triage.Side
	// Dir is the absolute root of the worktree.
	Dir string
	Rev triage.Rev
	// Unbuildable says why nothing can be run here (its set-up failed), empty
	// when something can. Rev carries the same text.
	Unbuildable string
	// Setup is how long the set-up took.
	Setup time.Duration
}

// Workspace is the two trees, and the lock on the machine while they stand.
type Workspace struct {
	git    *git
	opt    Options
	top    string
	common string // the repository's own directory: .git
	prefix string
	dir    string
	// madeDir is set when the directory of the trees goes with them.
	madeDir  bool
	name     string
	trees    [2]Tree
	diff     []string
	dirty    []string // uncommitted paths of the checkout
	filters  []string
	warnings []string
	// saidUntracked is set once the warning of TrackedOnly was given.
	saidUntracked bool
	locks         []*lock
}

// Open makes the two trees. An [*Error] is for the user to put right. When it
// fails, or ctx is cancelled, nothing is left behind.
func Open(ctx context.Context, opt Options) (*Workspace, error) {
	if opt.Logf == nil {
		opt.Logf = func(string, ...any) {}
	}
	w := &Workspace{opt: opt}
	if err := w.build(ctx); err != nil {
		if cerr := w.Close(); cerr != nil {
			err = errors.Join(err, cerr)
		}
		return nil, err
	}
	return w, nil
}

func (w *Workspace) build(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		w.locate, w.lockUp, w.removeStale, w.neutraliseFilters, w.chooseRevisions, w.addTrees,
		w.fillHead, w.listDiff, w.fillSubmodules, w.noticeFilters, w.setUp,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Tree is one of the two.
func (w *Workspace) Tree(side triage.Side) Tree { return w.trees[side] }

// Warnings are what a reader of the report should know: uncommitted changes,
// fetched history, pointers in place of files, submodules left empty.
func (w *Workspace) Warnings() []string { return slices.Clone(w.warnings) }

// Diff lists the files that differ between base and head, sorted, relative to
// the root, with forward slashes; both names of a renamed file.
func (w *Workspace) Diff() []string { return slices.Clone(w.diff) }

// RepoName is "owner/name" from the remote's URL, else the folder's name.
func (w *Workspace) RepoName() string { return w.name }

// Top is the absolute root of the user's own checkout.
func (w *Workspace) Top() string { return w.top }

// Prefix is where Options.Repo stands below the root, with forward slashes;
// empty for the root itself.
func (w *Workspace) Prefix() string { return w.prefix }

// Close removes both trees and git's notes about them, and gives the lock back.
// It may be called more than once, also after ctx of Open was cancelled.
func (w *Workspace) Close() error {
	var err error
	if w.owns() {
		err = w.removeTrees(context.Background())
	}
	for _, l := range slices.Backward(w.locks) {
		l.release()
	}
	w.locks = nil
	return err
}

func (w *Workspace) warn(format string, args ...any) {
	w.warnings = append(w.warnings, fmt.Sprintf(format, args...))
}

// addTrees checks both revisions out, whole: a sparse checkout is the user's
// view of the repository, not CI's.
func (w *Workspace) addTrees(ctx context.Context) error {
	whole := *w.git
	whole.config = append(slices.Clone(w.git.config), "core.sparseCheckout=false")
	for i := range w.trees {
		t := &w.trees[i]
		t.Side = triage.Side(i)
		t.Dir = w.treeDir(t.Side)
		_, err := whole.out(ctx, "worktree", "add", "--force", "--detach", "--quiet", t.Dir, t.Rev.SHA)
		if err != nil {
			return explainAdd(t, err)
		}
	}
	return nil
}

func explainAdd(t *Tree, err error) error {
	var ge *gitError
	if errors.As(err, &ge) && ge.says("Permission denied", "Read-only file system") {
		return &Error{ErrForeignDir, "making the " + t.Side.String() + " tree: " + lastLine(ge.stderr), "git must be able to write .git/worktrees and the directory of the trees"}
	}
	return err
}

func (w *Workspace) treeDir(s triage.Side) string { return filepath.Join(w.dir, s.String()) }

// listDiff compares the two commits and adds what was uncommitted.
func (w *Workspace) listDiff(ctx context.Context) error {
	files, err := w.git.list(ctx, "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=none",
		w.trees[triage.Base].Rev.SHA, w.trees[triage.Head].Rev.SHA)
	if err != nil {
		return err
	}
	w.diff = append(w.diff, files...)
	slices.Sort(w.diff)
	w.diff = slices.Compact(w.diff)
	return nil
}

// removeTree deletes a directory, also one with read-only directories in it (a
// Go module cache), which would resist.
func removeTree(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing tree: %w", err)
	}
	return nil
}
