package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// hide shuts, as long as the child runs, what its user could read and must not:
// the runner's files, our home, and the settings of the checkouts, where their
// credentials stand.
func (c *child) hide(a *actionRun) error {
	if c.acc == nil {
		return nil
	}
	top, err := c.top()
	if err != nil {
		return nil // there is no checkout, and whoever hands it over will say so
	}
	paths := append(c.settings(top), a.env("RUNNER_TEMP"), a.env("HOME"))
	for _, name := range []string{"GITHUB_EVENT_PATH", "GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"} {
		if v := a.env(name); v != "" {
			paths = append(paths, filepath.Dir(v))
		}
	}
	for _, socket := range sockets(a.env("DOCKER_HOST")) {
		if mayOpen(socket, *c.acc) {
			paths = append(paths, filepath.Dir(socket))
		}
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return p == "" || c.needs(p) })
	for _, p := range paths {
		if o, err := owner(p); err == nil && o.uid == c.acc.uid {
			return fmt.Errorf("hiding %s from the tests: it is theirs: choose another user than %d with the input test-user", p, c.acc.uid)
		}
	}
	restore, err := closeOff(paths...)
	if err == nil {
		c.restore = append(c.restore, restore)
	}
	return err
}

// checkoutDepth is how far below the workspace a job checks out: owner/name/part.
const checkoutDepth = 4

// settings are the places in the workspace where credentials of checkouts stand:
// of the one that is measured all of .git, with the settings of its submodules,
// but for the objects, which the child borrows; and .git of each other one.
func (c *child) settings(top string) []string {
	var found []string
	_ = filepath.WalkDir(c.workspace, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what we cannot read, the tests cannot
		case !d.IsDir():
			return nil
		case path == filepath.Join(top, ".git"):
			entries, _ := os.ReadDir(path)
			for _, e := range entries {
				if e.Name() != "objects" {
					found = append(found, filepath.Join(path, e.Name()))
				}
			}
			return filepath.SkipDir
		case d.Name() == ".git":
			found = append(found, path)
			return filepath.SkipDir
		}
		if below, err := filepath.Rel(c.workspace, path); err == nil && strings.Count(below, string(filepath.Separator)) >= checkoutDepth {
			return filepath.SkipDir
		}
		return nil
	})
	// A link out of the workspace is the pull request's, and would have us shut
	// what is not ours.
	return slices.DeleteFunc(found, func(p string) bool {
		real, err := filepath.EvalSymlinks(p)
		return err != nil || !liesIn(c.workspace, real)
	})
}

// ownProgram gives the child a copy of this program where it could not start it:
// the composite action keeps it in a folder of the runner's, which is shut.
func (c *child) ownProgram(a *actionRun) error {
	if c.acc == nil || passable(c.exe) && !liesIn(a.env("RUNNER_TEMP"), c.exe) && !liesIn(a.env("HOME"), c.exe) {
		return nil
	}
	from, err := os.Open(c.exe)
	if err != nil {
		return fmt.Errorf("copying our own program: %w", err)
	}
	defer from.Close()
	copied := c.path("triagebot")
	to, err := os.OpenFile(copied, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return fmt.Errorf("copying our own program: %w", err)
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Close()); err != nil {
		return fmt.Errorf("copying our own program: %w", err)
	}
	c.exe = copied
	return nil
}

// passable reports whether everybody gets to a file.
func passable(path string) bool {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if st, err := os.Stat(dir); err != nil || st.Mode().Perm()&0o001 == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// liesIn reports whether a path is in a folder, which may be unknown.
func liesIn(dir, path string) bool {
	if dir == "" {
		return false
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// sockets are where a Docker engine listens.
func sockets(host string) []string {
	list := []string{"/var/run/docker.sock", "/run/docker.sock"}
	if path, ok := strings.CutPrefix(host, "unix://"); ok {
		list = append(list, path)
	}
	return list
}

// needs reports whether the child has to pass through a directory to get to
// what it needs: the workspace's objects, its own directory, this program.
func (c *child) needs(path string) bool {
	for _, p := range []string{c.workspace, c.scratch, c.exe} {
		if rel, err := filepath.Rel(path, p); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}
