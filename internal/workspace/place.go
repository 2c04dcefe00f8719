package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// ownerFile marks a directory as ours; it is locked while its trees stand.
const ownerFile = ".triagebot"

// locate finds the repository and decides where the trees go.
func (w *Workspace) locate(ctx context.Context) error {
	repo, err := filepath.Abs(w.opt.Repo)
	if err != nil {
		return fmt.Errorf("finding repository: %w", err)
	}
	if st, err := os.Stat(repo); err != nil || !st.IsDir() {
		return &Error{ErrNotRepository, fmt.Sprintf("%q is not a directory", repo), "name the repository with --repo"}
	}
	w.git = newGit(repo)
	if err := w.findTop(ctx, repo); err != nil {
		return err
	}
	w.git = w.git.in(w.top)
	w.name = w.repoName(ctx)
	return w.choosePlace()
}

// findTop finds the root of the working tree. A repository of another user's
// is trusted for this run only, when it is the one we were pointed at.
func (w *Workspace) findTop(ctx context.Context, repo string) error {
	where := []string{"rev-parse", "--show-toplevel", "--git-common-dir", "--show-prefix"}
	out, err := w.git.out(ctx, where...)
	if ge := (*gitError)(nil); errors.As(err, &ge) {
		if dir := dubious(ge.stderr); dir != "" {
			if err := w.trust(dir); err != nil {
				return err
			}
			out, err = w.git.out(ctx, where...)
		}
	}
	if err != nil {
		return explainTop(repo, err)
	}
	lines := append(strings.Split(out, "\n"), "", "")
	w.top, w.common = filepath.FromSlash(lines[0]), filepath.FromSlash(lines[1])
	if !filepath.IsAbs(w.common) {
		w.common = filepath.Join(repo, w.common)
	}
	w.prefix = strings.TrimSuffix(lines[2], "/")
	return nil
}

func explainTop(repo string, err error) error {
	ge := (*gitError)(nil)
	switch {
	case !errors.As(err, &ge):
		return err
	case ge.says("must be run in a work tree"):
		return &Error{ErrBareRepository, fmt.Sprintf("%q is a bare repository or inside of one", repo), "name a clone with a working tree with --repo"}
	case ge.says("not a git repository"):
		return &Error{ErrNotRepository, fmt.Sprintf("%q is not in a git repository", repo), "name the repository with --repo"}
	}
	return &Error{ErrNotRepository, fmt.Sprintf("reading repository %q: %s", repo, lastLine(ge.stderr)), "see what `git status` says there"}
}

var dubiousText = regexp.MustCompile(`detected dubious ownership in repository at '(.*)'`)

func dubious(stderr string) string {
	if m := dubiousText.FindStringSubmatch(stderr); m != nil {
		return m[1]
	}
	return ""
}

// trust lets git read a repository that another user owns. Git before 2.38 takes
// safe.directory from files only, never from -c or the environment, so a file of
// our own stands in for the user's and includes it.
func (w *Workspace) trust(dir string) error {
	f, err := os.CreateTemp("", "triagebot-gitconfig-")
	if err != nil {
		return fmt.Errorf("trusting repository: %w", err)
	}
	w.locks = append(w.locks, &lock{temp: f.Name()})
	defer f.Close()
	for _, path := range userConfigs() {
		fmt.Fprintf(f, "[include]\n\tpath = %s\n", quoteConfig(path))
	}
	if _, err := fmt.Fprintf(f, "[safe]\n\tdirectory = %s\n", quoteConfig(dir)); err != nil {
		return fmt.Errorf("trusting repository: %w", err)
	}
	w.git = w.git.with("GIT_CONFIG_GLOBAL=" + f.Name())
	w.warn("%s belongs to another user: git was told to trust it for this run", dir)
	return nil
}

// userConfigs are the files that git reads as the global configuration; those
// that do not exist are skipped by git.
func userConfigs() []string {
	if path, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		if path == "" {
			return nil
		}
		return []string{path}
	}
	var paths []string
	home, err := os.UserHomeDir()
	switch xdg := os.Getenv("XDG_CONFIG_HOME"); {
	case xdg != "":
		paths = append(paths, filepath.Join(xdg, "git", "config"))
	case err == nil:
		paths = append(paths, filepath.Join(home, ".config", "git", "config"))
	}
	if err == nil {
		paths = append(paths, filepath.Join(home, ".gitconfig"))
	}
	return paths
}

// quoteConfig quotes a value of a git configuration file.
func quoteConfig(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// choosePlace sets the directory of the trees: by name for people, by a digest
// of the repository's own directory to keep two of one name apart.
func (w *Workspace) choosePlace() error {
	dir := w.opt.Dir
	if dir == "" {
		sum := sha256.Sum256([]byte(w.common))
		dir = filepath.Join(w.cacheDir(), "trees", filepath.Base(w.top)+"-"+hex.EncodeToString(sum[:4]))
	}
	dir, err := realPath(dir)
	if err != nil {
		return fmt.Errorf("making directory of the trees: %w", err)
	}
	if w.contains(dir) {
		return &Error{ErrForeignDir, fmt.Sprintf("%q is inside the repository", dir), "name a directory outside for the trees"}
	}
	w.dir = dir
	_, err = os.Lstat(dir)
	w.madeDir = w.opt.Dir == "" || errors.Is(err, os.ErrNotExist)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making directory of the trees: %w", err)
	}
	return nil
}

// contains reports whether a real path is in the user's checkout.
func (w *Workspace) contains(dir string) bool {
	return dir == w.top || strings.HasPrefix(dir, w.top+string(filepath.Separator))
}

// cacheDir is in the user's cache; below the temporary directory when there is
// none, when it cannot be written, or when it is in the checkout, where some CI
// systems put it.
func (w *Workspace) cacheDir() string {
	instead := filepath.Join(os.TempDir(), fmt.Sprintf("triagebot-%d", os.Getuid()))
	dir, err := os.UserCacheDir()
	if err != nil {
		return instead
	}
	dir, err = realPath(filepath.Join(dir, "triagebot"))
	if err != nil || w.contains(dir) || os.MkdirAll(dir, 0o755) != nil {
		return instead
	}
	return dir
}

// realPath resolves the links of a path of which the end need not exist: git
// records real paths.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if parent := filepath.Dir(path); errors.Is(err, os.ErrNotExist) && parent != path {
		if parent, err = realPath(parent); err == nil {
			real = filepath.Join(parent, filepath.Base(path))
		}
	}
	return real, err
}

// lockUp waits for other runs on this machine, then for those that share the
// user's cache from another one, such as a container, then for the directory.
func (w *Workspace) lockUp(ctx context.Context) error {
	path := w.opt.Lock
	if path == "" {
		if err := w.lockMachine(ctx); err != nil {
			return err
		}
		path = filepath.Join(w.cacheDir(), "lock")
	}
	if err := w.acquire(ctx, path, openLocked, false); err != nil {
		return err
	}
	own := filepath.Join(w.dir, ownerFile)
	if _, err := os.Lstat(own); errors.Is(err, os.ErrNotExist) {
		for _, side := range []triage.Side{triage.Head, triage.Base} {
			if _, err := os.Lstat(w.treeDir(side)); err == nil {
				return &Error{ErrForeignDir, fmt.Sprintf("%q is there already and not ours", w.treeDir(side)), "name another directory for the trees"}
			}
		}
	}
	return w.acquire(ctx, own, openLocked, true)
}

// owns reports whether this run holds the directory of the trees.
func (w *Workspace) owns() bool {
	for _, l := range w.locks {
		if l.path == filepath.Join(w.dir, ownerFile) {
			return true
		}
	}
	return false
}

// removeStale clears what a killed run left: the lock on the directory says
// that nobody else uses it.
func (w *Workspace) removeStale(ctx context.Context) error {
	if left, _ := w.registered(ctx); len(left) > 0 {
		w.opt.Logf("removing the trees of a run that was killed")
	}
	return w.removeTrees(ctx)
}

// removeTrees deletes the trees and git's notes about them. It never prunes: a
// worktree of the user's on a disk that is not mounted now is not ours to forget.
func (w *Workspace) removeTrees(ctx context.Context) error {
	var errs []error
	for _, side := range []triage.Side{triage.Head, triage.Base} {
		errs = append(errs, removeTree(w.treeDir(side)))
	}
	left, err := w.registered(ctx)
	errs = append(errs, err)
	for _, dir := range left {
		// Git refuses one whose making was cut off; then its note is removed below.
		_, _ = w.git.out(ctx, "worktree", "remove", "--force", "--force", dir)
	}
	errs = append(errs, w.removeNotes())
	// Git removes this directory with its last worktree, but leaves it when
	// making the first one fails. One that is not empty stays.
	_ = os.Remove(filepath.Join(w.common, "worktrees"))
	return errors.Join(errs...)
}

// halfMade are names that git gives to notes of our trees.
var halfMade = regexp.MustCompile(`^(head|base)[0-9]*$`)

// removeNotes deletes what git keeps of our trees and neither lists nor removes:
// the note of a worktree whose making was killed. In its first moments such a
// note has no HEAD and does not even say where its tree is.
func (w *Workspace) removeNotes() error {
	dir := filepath.Join(w.common, "worktrees")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // there are none
	}
	var errs []error
	for _, e := range entries {
		note := filepath.Join(dir, e.Name())
		at, err := os.ReadFile(filepath.Join(note, "gitdir"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			continue
		}
		_, noHead := os.Lstat(filepath.Join(note, "HEAD"))
		place := filepath.FromSlash(strings.TrimSpace(string(at)))
		ours := place == filepath.Join(w.treeDir(triage.Head), ".git") || place == filepath.Join(w.treeDir(triage.Base), ".git")
		if ours || place == "" && noHead != nil && halfMade.MatchString(e.Name()) {
			errs = append(errs, os.RemoveAll(note))
		}
	}
	return errors.Join(errs...)
}

// registered lists those of our trees that git has a note of.
func (w *Workspace) registered(ctx context.Context) ([]string, error) {
	out, err := w.git.out(ctx, "worktree", "list", "--porcelain")
	if err != nil {
		return nil, err
	}
	var found []string
	for line := range strings.Lines(out) {
		dir, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "worktree ")
		if dir = filepath.FromSlash(dir); ok && (dir == w.treeDir(triage.Head) || dir == w.treeDir(triage.Base)) {
			found = append(found, dir)
		}
	}
	return found, nil
}

// repoName makes a name from the remote's URL without its credentials.
func (w *Workspace) repoName(ctx context.Context) string {
	if remote := w.remote(ctx); remote != "" {
		if u, err := w.git.line(ctx, "remote", "get-url", remote); err == nil {
			if name := nameFromURL(u); name != "" {
				return name
			}
		}
	}
	return filepath.Base(w.top)
}

// nameFromURL is the path of a hosted repository; empty for one on this machine.
func nameFromURL(raw string) string {
	path := ""
	if u, err := url.Parse(raw); err == nil && u.Host != "" && u.Scheme != "file" {
		path = u.Path
	} else if host, p, ok := strings.Cut(raw, ":"); ok && !strings.ContainsAny(host, `/\`) && len(host) > 1 && !strings.Contains(raw, "://") {
		path = p // user@host:owner/name
	}
	return strings.TrimSuffix(strings.Trim(path, "/"), ".git")
}
