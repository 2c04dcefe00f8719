package sample

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Repo is a repository that was built.
type Repo struct {
	// Dir is the absolute root of the worktree, with head checked out.
	Dir string
	// Head and Base are commit ids. Of a merge, Base is the first parent.
	Head, Base string
}

// Build makes the repository in dir/repo; dir must exist and be empty. The
// shallow shape also makes dir/origin, which the clone knows as its remote.
func Build(dir string, l Layout) (Repo, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Repo{}, fmt.Errorf("building sample: %w", err)
	}
	first := "repo"
	if l.Shape == Shallow {
		first = "origin"
	}
	g := &git{dir: filepath.Join(dir, first)}
	if g.err = os.Mkdir(g.dir, 0o755); g.err != nil {
		return Repo{}, fmt.Errorf("building sample: %w", g.err)
	}
	r := g.commits(l)
	if l.Shape == Shallow {
		r.Dir = filepath.Join(dir, "repo")
		g.run("config", "uploadpack.allowAnySHA1InWant", "true") // as the forges do
		g.run("clone", "--quiet", "--depth=1", "--branch=change", "file://"+g.dir, r.Dir)
	}
	if g.err != nil {
		return Repo{}, fmt.Errorf("building sample: %w", g.err)
	}
	return r, nil
}

// commits writes the history of a layout and leaves head checked out.
func (g *git) commits(l Layout) Repo {
	r := Repo{Dir: g.dir}
	g.run("init", "--quiet", "--initial-branch=main")
	g.write(l.Base)
	r.Base = g.commit("Base")
	g.run("checkout", "--quiet", "-b", "change")
	for _, name := range l.Delete {
		g.run("rm", "--quiet", "--", name)
	}
	g.write(l.Head)
	r.Head = g.commit("Change")
	switch l.Shape {
	case Merge:
		g.run("checkout", "--quiet", "main")
		g.write(l.Main)
		r.Base = g.commit("Main moves on")
		g.run("checkout", "--quiet", "--detach")
		g.run("merge", "--quiet", "--no-ff", "-m", "Merge change into main", "change")
		r.Head = g.run("rev-parse", "HEAD")
	case Dirty:
		g.write(l.Uncommitted)
	}
	return r
}

// git runs git in one directory and stops at the first error.
type git struct {
	dir string
	err error
}

const date = "2026-01-05T09:00:00Z"

func (g *git) run(args ...string) string {
	if g.err != nil {
		return ""
	}
	c := exec.Command("git", args...)
	c.Dir = g.dir
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + g.dir, "LC_ALL=C",
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Sample", "GIT_AUTHOR_EMAIL=sample@example.com", "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=Sample", "GIT_COMMITTER_EMAIL=sample@example.com", "GIT_COMMITTER_DATE=" + date,
	}
	out, err := c.CombinedOutput()
	if err != nil {
		g.err = fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return strings.TrimSpace(string(out))
}

func (g *git) commit(message string) string {
	g.run("add", "--all")
	g.run("commit", "--quiet", "-m", message)
	return g.run("rev-parse", "HEAD")
}

func (g *git) write(files map[string][]byte) {
	if g.err == nil {
		g.err = Write(g.dir, files)
	}
}

// Write puts files below dir, making folders as needed. Files that begin with
// "#!" may be executed.
func Write(dir string, files map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return fmt.Errorf("writing sample: %w", err)
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(string(files[name]), "#!") {
			mode = 0o755
		}
		if err := os.WriteFile(p, files[name], mode); err != nil {
			return fmt.Errorf("writing sample: %w", err)
		}
	}
	return nil
}
