package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/triagebot/triagebot/internal/triage"
)

// abs makes a path that git gave relative to the root absolute.
func (w *Workspace) abs(path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(w.top, path)
}

// dirtyFiles lists what the checkout has that its commit has not, or not so:
// tracked files that were changed or deleted, and untracked ones that are not
// ignored. Only the contents of submodules are left out. Git would write what it
// learns of the files back to the index, so it is shown a copy.
func (w *Workspace) dirtyFiles(ctx context.Context) ([]string, error) {
	index, err := w.git.line(ctx, "rev-parse", "--git-path", "index")
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "triagebot-index-")
	if err != nil {
		return nil, fmt.Errorf("copying index: %w", err)
	}
	defer os.RemoveAll(scratch)
	copied := filepath.Join(scratch, "index")
	if err := copyIndex(w.abs(index), copied); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("copying index: %w", err)
	}
	g := w.git.with("GIT_INDEX_FILE=" + copied)
	changed, err := g.list(ctx, "-c", "core.splitIndex=false", "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=dirty", "HEAD")
	if err != nil {
		return nil, err
	}
	untracked, err := g.list(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	if w.opt.TrackedOnly {
		if n := len(untracked); n > 0 && !w.saidUntracked {
			w.saidUntracked = true
			w.warn("%d untracked files are not in the head tree, as always in CI (first: %s)", n, untracked[0])
		}
		untracked = nil
	}
	untracked = w.withoutInstalled(untracked)
	all := slices.DeleteFunc(append(changed, untracked...), w.ignored)
	slices.Sort(all)
	return slices.Compact(all), nil
}

// ignored reports whether a path relative to the root is, or is below, one of
// Options.Ignore.
func (w *Workspace) ignored(path string) bool {
	return slices.ContainsFunc(w.opt.Ignore, func(skip string) bool {
		rel, err := filepath.Rel(skip, w.abs(path))
		return err == nil && filepath.IsLocal(rel)
	})
}

// withoutInstalled leaves out what a package manager has put into the checkout
// and git does not ignore: a virtual environment or a node_modules is no change of
// the head tree alone, and each tree gets its own.
func (w *Workspace) withoutInstalled(untracked []string) []string {
	known := map[string]bool{}
	installed := func(dir string) bool {
		is, ok := known[dir]
		if !ok {
			_, err := os.Stat(filepath.Join(w.abs(dir), "pyvenv.cfg"))
			is = err == nil || path.Base(dir) == modulesName
			known[dir] = is
		}
		return is
	}
	return slices.DeleteFunc(untracked, func(file string) bool {
		for at := path.Dir(strings.TrimSuffix(file, "/")); at != "."; at = path.Dir(at) {
			if installed(at) {
				return true
			}
		}
		return strings.HasSuffix(file, "/") && installed(strings.TrimSuffix(file, "/"))
	})
}

// copyIndex copies git's index with its time: git reads a file again when it is
// not older than the index, since a change within the clock's grain shows
// nowhere else. A younger copy would hide such a change.
func copyIndex(from, to string) error {
	st, err := os.Stat(from)
	if err != nil {
		return err
	}
	if err := copyFile(from, to, 0o600); err != nil {
		return err
	}
	return os.Chtimes(to, st.ModTime(), st.ModTime())
}

// fillHead brings the uncommitted changes into the head tree, file by file, so
// that neither the index nor the stash nor the object store is touched.
func (w *Workspace) fillHead(ctx context.Context) error {
	t := w.trees[triage.Head]
	if !t.Rev.Dirty {
		return nil
	}
	for _, f := range w.dirty {
		if strings.HasSuffix(f, "/") {
			w.warn("%s is a repository of its own and is not in the head tree", f)
			continue
		}
		w.diff = append(w.diff, f)
		skipped, err := mirror(w.abs(f), filepath.Join(t.Dir, filepath.FromSlash(f)))
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			return diskFull("copying uncommitted changes: " + err.Error())
		}
		if err != nil {
			return fmt.Errorf("copying uncommitted changes: %w", err)
		}
		if skipped != "" {
			w.warn("%s is not in the head tree: %s", f, skipped)
		}
	}
	return nil
}

// mirror makes to what from is: a file, a link, or nothing. It says why it left
// something else out.
func mirror(from, to string) (skipped string, err error) {
	st, err := os.Lstat(from)
	gone := errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	if err != nil && !gone {
		return "", err
	}
	if !gone && st.IsDir() {
		// A submodule, or a directory where a file was.
		if in, err := os.Lstat(to); err == nil && !in.IsDir() {
			return "", os.Remove(to)
		}
		return "", nil
	}
	if !gone && !st.Mode().IsRegular() && st.Mode()&os.ModeSymlink == 0 {
		return "it is neither a file nor a link", nil
	}
	if err := os.RemoveAll(to); err != nil && !errors.Is(err, syscall.ENOTDIR) {
		return "", err
	}
	if gone {
		return "", nil
	}
	if err := clearWay(filepath.Dir(to)); err != nil {
		return "", err
	}
	if st.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return "", err
		}
		return "", os.Symlink(target, to)
	}
	return "", copyFile(from, to, st.Mode().Perm())
}

// clearWay makes a directory, also where the commit had a file or a link: a
// link followed would lead out of the tree.
func clearWay(dir string) error {
	st, err := os.Lstat(dir)
	switch {
	case err == nil && st.IsDir():
		return nil
	case err == nil:
		if err := os.Remove(dir); err != nil {
			return err
		}
	}
	if err := clearWay(filepath.Dir(dir)); err != nil {
		return err
	}
	return os.Mkdir(dir, 0o755)
}

func copyFile(from, to string, perm os.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm|0o200)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return os.Chmod(to, perm)
}
