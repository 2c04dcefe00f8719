package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// handOver gives the child what it measures, and returns its flags. As our own
// user it works on the checkout. As another it gets a repository of its own, for
// it must write to one, and the files of the red run as copies.
func (c *child) handOver(ctx context.Context, in inputs) ([]string, error) {
	if st, err := os.Stat(c.dir); err != nil || !st.IsDir() {
		return nil, fmt.Errorf("looking for the checkout: %q is not a directory: check the repository out first, and see the input working-directory", c.dir)
	}
	if c.acc == nil {
		return in.measureArgs(), nil
	}
	for _, name := range []string{"reports", "logs"} {
		copies, err := c.copyFiles(name, lines(in[name]))
		if err != nil {
			return nil, err
		}
		in = in.with(name, strings.Join(copies, "\n"))
	}
	past, err := c.copyHistory(in["history"])
	if err != nil {
		return nil, err
	}
	in = in.with("history", past)
	top, err := c.top()
	if err != nil {
		return nil, err
	}
	if err := c.clone(ctx, top); err != nil {
		return nil, err
	}
	below, err := filepath.Rel(top, c.dir)
	if err != nil {
		return nil, fmt.Errorf("finding the checkout: %w", err)
	}
	c.dir = filepath.Join(c.scratch, childRepo, below)
	return in.measureArgs(), nil
}

// Limits of what is copied for another user.
const (
	maxCopies = 500
	maxCopied = 1 << 30 // bytes in all
)

// copyFiles copies the files of globs of the workspace. We may read more than the
// tests may: a link that leads out of the workspace, or into the repository's own
// files, is refused.
func (c *child) copyFiles(input string, globs []string) ([]string, error) {
	if len(globs) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(c.workspace)
	if err != nil {
		return nil, fmt.Errorf("reading input %s: %w", input, err)
	}
	defer root.Close()
	var out []string
	room := int64(maxCopied)
	for _, glob := range globs {
		found, err := c.glob(root, glob)
		if err != nil {
			return nil, fmt.Errorf("reading input %s: %w", input, err)
		}
		for _, path := range found {
			if len(out) == maxCopies {
				return nil, fmt.Errorf("reading input %s: more than %d files", input, maxCopies)
			}
			// The folders stay: they tell which suite's report it is.
			to := c.path(filepath.Join(fmt.Sprintf("%s-%d", input, len(out)), filepath.FromSlash(unpatterned.Replace(path))))
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return nil, fmt.Errorf("reading input %s: %w", input, err)
			}
			n, err := copyRegular(root, path, to, room)
			if err != nil {
				return nil, fmt.Errorf("reading input %s: %w", input, err)
			}
			room -= n
			out = append(out, to)
		}
	}
	return out, nil
}

// unpatterned takes out of a name what would make it a pattern.
var unpatterned = strings.NewReplacer("*", "_", "?", "_", "[", "_", "]", "_", `\`, "_")

// errNoFile: a pattern matches nothing.
var errNoFile = errors.New("no such file in the workspace")

// glob finds files relative to the workspace; a pattern is relative to the
// working directory.
func (c *child) glob(root *os.Root, pattern string) ([]string, error) {
	if filepath.IsAbs(pattern) {
		rel, err := filepath.Rel(c.workspace, pattern)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", pattern, err)
		}
		pattern = rel
	} else {
		below, err := filepath.Rel(c.workspace, c.dir)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", pattern, err)
		}
		pattern = filepath.Join(below, pattern)
	}
	if !filepath.IsLocal(pattern) {
		return nil, fmt.Errorf("%q is not in the workspace: write the reports there", pattern)
	}
	found, err := fs.Glob(root.FS(), filepath.ToSlash(pattern))
	if err != nil {
		return nil, fmt.Errorf("%q: %w", pattern, err)
	}
	found = slices.DeleteFunc(found, func(p string) bool {
		real, err := filepath.EvalSymlinks(filepath.Join(c.workspace, p))
		return err == nil && slices.Contains(strings.Split(real, string(filepath.Separator)), ".git")
	})
	if len(found) == 0 {
		return nil, fmt.Errorf("%q: %w", pattern, errNoFile)
	}
	return found, nil
}

// copyRegular copies one file, which must be a file.
func copyRegular(root *os.Root, from, to string, room int64) (int64, error) {
	f, err := root.OpenFile(filepath.FromSlash(from), os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return 0, fmt.Errorf("%q: %w", from, bare(err))
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q: %w", from, bare(err))
	case !st.Mode().IsRegular():
		return 0, fmt.Errorf("%q is not a file", from)
	case st.Size() > room:
		return 0, fmt.Errorf("%q: the files are larger than %d bytes together", from, maxCopied)
	}
	w, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, fmt.Errorf("copying %q: %w", from, err)
	}
	n, err := io.Copy(w, io.LimitReader(f, room))
	if err = errors.Join(err, w.Close()); err != nil {
		return n, fmt.Errorf("copying %q: %w", from, err)
	}
	return n, nil
}

// bare is the cause of an error of a file, without the name.
func bare(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// top is the root of the checkout: the directory with .git, in the workspace.
func (c *child) top() (string, error) {
	for dir := c.dir; ; dir = filepath.Dir(dir) {
		st, err := os.Lstat(filepath.Join(dir, ".git"))
		if err == nil && st.IsDir() {
			return dir, nil
		}
		if err == nil {
			return "", fmt.Errorf("reading the checkout: %s is not a directory, so another user cannot get a copy: set test-user to none", filepath.Join(dir, ".git"))
		}
		if dir == c.workspace || dir == filepath.Dir(dir) {
			return "", fmt.Errorf("looking for the checkout: %q is not in a git repository: check it out first", c.dir)
		}
	}
}

// readsCredentials reports whether the tests can read what the checkout logs in with.
func (c *child) readsCredentials() bool {
	if c.acc != nil {
		return false
	}
	top, err := c.top()
	if err != nil {
		return false
	}
	from, err := os.OpenRoot(filepath.Join(top, ".git"))
	if err != nil {
		return false
	}
	defer from.Close()
	settings, err := readSmall(from, "config")
	settings = strings.ToLower(settings)
	// actions/checkout has kept them there, and since its version 6 in a file of
	// the runner's that the settings include.
	return err == nil && (strings.Contains(settings, "extraheader") || strings.Contains(settings, "git-credentials-"))
}

// clone makes a repository for the child's user that borrows the objects of the
// checkout. It does not run git on the checkout: its settings are the pull
// request's to write, and hold the checkout's credentials. What it costs: one
// more copy of the working tree, without uncommitted changes and submodules.
func (c *child) clone(ctx context.Context, top string) error {
	from, err := os.OpenRoot(filepath.Join(top, ".git"))
	if err != nil {
		return fmt.Errorf("reading the checkout: %w", err)
	}
	defer from.Close()
	settings, err := readSmall(from, "config")
	if err != nil {
		return err
	}
	files := map[string]string{
		"config":                  ownSettings(settings),
		"objects/info/alternates": filepath.Join(top, ".git", "objects") + "\n",
	}
	if err := readRefs(from, files); err != nil {
		return err
	}
	// Nobody else gets at the directory before it is whole.
	repo := filepath.Join(c.scratch, childRepo)
	if err := os.Chown(repo, os.Geteuid(), os.Getegid()); err != nil {
		return fmt.Errorf("copying the checkout: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(repo, ".git", filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(files[name]), 0o644)); err != nil {
			return fmt.Errorf("copying the checkout: %w", err)
		}
	}
	if err := c.giveAway(repo); err != nil {
		return err
	}
	return c.git(ctx, "reset", "-q", "--hard")
}

// ownSettings are those of the child's repository.
func ownSettings(settings string) string {
	text := "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
	if sha256Objects.MatchString(settings) {
		text = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = sha256\n"
	}
	if remote := originURL(settings); remote != "" {
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(remote)
		text += "[remote \"origin\"]\n\turl = \"" + quoted + "\"\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
	}
	return text
}

// readRefs reads what names commits.
func readRefs(from *os.Root, files map[string]string) error {
	names := []string{"HEAD", "packed-refs", "shallow"}
	err := fs.WalkDir(from.FS(), "refs", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("reading the checkout: %w", bare(err))
	}
	for _, name := range names {
		text, err := readSmall(from, name)
		if err != nil {
			return err
		}
		if text != "" {
			files[name] = text
		}
	}
	files["refs/.keep"] = "" // a repository has the directory, also when all refs are packed
	return nil
}

// giveAway makes a directory and all in it the child's, itself last.
func (c *child) giveAway(dir string) error {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	for _, path := range slices.Backward(paths) {
		err = errors.Join(err, os.Lchown(path, c.acc.uid, c.acc.gid))
	}
	if err != nil {
		return fmt.Errorf("copying the checkout: %w", err)
	}
	return nil
}

// maxSmall bounds a file that names commits; large repositories have some MB of packed-refs.
const maxSmall = 64 << 20

// readSmall reads a file of the checkout, nothing when it is not there.
func readSmall(root *os.Root, name string) (string, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading .git/%s of the checkout: %w", name, bare(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSmall))
	if err != nil {
		return "", fmt.Errorf("reading .git/%s of the checkout: %w", name, bare(err))
	}
	return string(b), nil
}

// git runs git as the child's user in its repository.
func (c *child) git(ctx context.Context, args ...string) error {
	said := &tail{most: saidCap}
	out := &oneAtATime{w: said}
	copied := *c
	copied.env = append(slices.Clone(c.env), "GIT_LFS_SKIP_SMUDGE=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	program, err := lookPath("git", c.env)
	if err != nil {
		return fmt.Errorf("copying the checkout: %w", err)
	}
	code, err := copied.start(ctx, filepath.Join(c.scratch, childRepo), out, out, program, append([]string{"git"}, args...))
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case code != 0:
		return fmt.Errorf("copying the checkout for the user %d: git %s: %s: if that user cannot read the workspace, set test-user to none", c.acc.uid, args[0], strconv.Quote(lastLine(said.String())))
	}
	return nil
}

var (
	originSection = regexp.MustCompile(`(?ms)^\s*\[remote "origin"\]\s*$(.*?)(^\s*\[|\z)`)
	sha256Objects = regexp.MustCompile(`(?im)^\s*objectformat\s*=\s*sha256\s*$`)
	shortSSH      = regexp.MustCompile(`^[A-Za-z0-9_.-]+@([A-Za-z0-9.-]+):([A-Za-z0-9_./-]+)$`)
	urlLine       = regexp.MustCompile(`(?m)^\s*url\s*=\s*(\S+)\s*$`)
)

// originURL is the address of the checkout's remote, without credentials. It
// names the repository; what is not a plain address is left out.
func originURL(settings string) string {
	section := originSection.FindStringSubmatch(settings)
	if section == nil {
		return ""
	}
	line := urlLine.FindStringSubmatch(section[1])
	if line == nil || strings.HasPrefix(line[1], "-") {
		return ""
	}
	if m := shortSSH.FindStringSubmatch(line[1]); m != nil {
		return "https://" + m[1] + "/" + m[2] // nobody has a key in there
	}
	u, err := url.Parse(line[1])
	switch {
	case err != nil:
		return ""
	case u.Scheme == "https" || u.Scheme == "http" || u.Scheme == "ssh":
		u.User, u.RawQuery, u.Fragment = nil, "", ""
		return u.String()
	case u.Scheme == "" && filepath.IsAbs(line[1]):
		return line[1]
	}
	return ""
}

// lookPath finds a program on the PATH of an environment.
func lookPath(name string, env []string) (string, error) {
	for _, kv := range env {
		list, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			path := filepath.Join(dir, name)
			if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 && filepath.IsAbs(path) {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("there is no %s on the PATH", name)
}
