package workspace

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// Unmade lists what the checkout has beside its commit and head's tree has not: files
// that git ignores, and those that it does not know where they are no part of head.
// Paths are relative to the root; a directory in which git knows nothing stands for
// all that is in it, and ends in a slash. What a package manager has installed, and
// Options.Ignore, are left out.
func (w *Workspace) Unmade(ctx context.Context) ([]string, error) {
	all, err := w.git.list(ctx, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
	if err != nil {
		return nil, err
	}
	if w.opt.TrackedOnly {
		unknown, err := w.git.list(ctx, "ls-files", "--others", "--exclude-standard", "--directory", "-z")
		if err != nil {
			return nil, err
		}
		all = append(all, unknown...)
	}
	head := w.trees[triage.Head].Dir
	all = slices.DeleteFunc(w.withoutInstalled(all), func(p string) bool {
		_, err := os.Lstat(filepath.Join(head, filepath.FromSlash(strings.TrimSuffix(p, "/"))))
		return err == nil || w.ignored(strings.TrimSuffix(p, "/"))
	})
	slices.Sort(all)
	return slices.Compact(all), nil
}
