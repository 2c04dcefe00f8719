package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/workspace"
)

// general are the findings that have nothing to do with a language.
func (d *diagnosis) general() []finding {
	return []finding{d.machine(), oneAtATimeHere(), d.git(), d.depth(), d.findBase()}
}

// oneAtATimeHere tells whose runs wait for each other.
func oneAtATimeHere() finding {
	f := finding{what: "other runs", found: "only those of the same user are waited for", fix: "name a file that every user can write with " + workspace.LockVar}
	if path := workspace.MachineLock(); path != "" {
		f = finding{what: "other runs", found: "those of every user are waited for, by " + path}
	}
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if isFile(mark) && os.Getenv(workspace.LockVar) == "" {
			f.fix = "runs outside of this container are not: share a folder with it, and name a file there with " + workspace.LockVar
		}
	}
	return f
}

func (d *diagnosis) machine() finding {
	return finding{what: "machine", found: fmt.Sprintf("%s/%s, %d cores", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())}
}

func (d *diagnosis) git() finding {
	v, err := d.run("git", "--version")
	if err != nil {
		return finding{"git", err.Error(), "install git", true}
	}
	if _, err := d.run("git", "rev-parse", "--show-toplevel"); err != nil {
		return finding{"git", v + "; " + err.Error(), "run it in a checkout, or name one with --repo", true}
	}
	return finding{what: "git", found: v}
}

func (d *diagnosis) depth() finding {
	out, err := d.run("git", "rev-parse", "--is-shallow-repository")
	switch {
	case err != nil:
		return finding{what: "history", found: "not known: " + err.Error()}
	case out == "true":
		return finding{what: "history", found: "shallow", fix: "measure fetches what it needs from the remote; actions/checkout with fetch-depth: 0 spares that"}
	}
	return finding{what: "history", found: "whole"}
}

// findBase tells which commit measure would compare with, and keeps it.
func (d *diagnosis) findBase() finding {
	if out, err := d.run("git", "rev-parse", "--verify", "--quiet", "HEAD^2"); err == nil && out != "" {
		d.base = "HEAD^1"
		return finding{what: "base", found: "HEAD is a merge: its first parent"}
	}
	for _, ref := range []string{"origin/HEAD", "origin/main", "origin/master", "main", "master"} {
		out, err := d.run("git", "merge-base", "HEAD", ref)
		if err != nil {
			continue
		}
		if head, err := d.run("git", "rev-parse", "HEAD"); err == nil && head == out {
			return finding{what: "base", found: "HEAD is on " + ref, fix: "name the revision without the change with --base"}
		}
		d.base = out
		return finding{what: "base", found: fmt.Sprintf("merge base with %s: %.12s", ref, out)}
	}
	return finding{what: "base", found: "none found", fix: "name it with --base"}
}

// pinned tells whether both sides pin the same packages. A side that pins others
// is installed by a tool that has to be there, unless the project says how.
func (d *diagnosis) pinned(su *suite, pins []workspace.Pin, installed bool) finding {
	switch {
	case len(su.Setup) > 0:
		return finding{what: "packages", found: "set up in each tree by " + shellWords(su.Setup[0])}
	case len(pins) == 0:
		return finding{what: "packages", found: "nothing pins them: both sides use the same"}
	}
	var names, other []string
	for _, p := range pins {
		names = append(names, p.File)
		if !d.sameOnBase(p.File) {
			other = append(other, p.File)
		}
	}
	found := fmt.Sprintf("pinned by %s, the same on base", strings.Join(names, ", "))
	if d.base == "" {
		found = fmt.Sprintf("pinned by %s; without a base there is nothing to compare with", strings.Join(names, ", "))
	}
	if len(other) > 0 {
		found = fmt.Sprintf("pinned by %s, not the same on base, which is installed by %q", strings.Join(other, ", "), strings.Join(pins[0].Command, " "))
	} else if !installed {
		found += fmt.Sprintf("; not installed here: each tree is, by %q", strings.Join(pins[0].Command, " "))
	}
	if tool := pins[0].Tool; (len(other) > 0 || !installed) && !d.onPath(su, tool) {
		return finding{"packages", found + ", and there is no " + tool + " on the PATH", "install " + tool + ", or declare the project's own set-up command (--setup)", true}
	}
	return finding{what: "packages", found: found}
}

// sameOnBase reports whether a file of the checkout is the same on base.
func (d *diagnosis) sameOnBase(file string) bool {
	if d.base == "" {
		return true
	}
	path := ":(top)" + file
	listed, err := d.run("git", "ls-tree", "--full-tree", "--name-only", d.base, "--", file)
	if err != nil || listed == "" {
		return false
	}
	_, err = d.run("git", "diff", "--quiet", d.base, "--", path)
	return err == nil
}

func (d *diagnosis) onPath(su *suite, tool string) bool {
	for _, kv := range su.env {
		if list, ok := strings.CutPrefix(kv, "PATH="); ok {
			for _, dir := range filepath.SplitList(list) {
				if isFile(filepath.Join(dir, tool)) || isFile(filepath.Join(dir, tool+".exe")) {
					return true
				}
			}
		}
	}
	return false
}

// lagFinding lists the rungs of a lag engine, and what it cannot move.
func lagFinding(su *suite, engine string, c lag.Capabilities, limits string) finding {
	c.Seams = su.seams
	plans, err := lag.Ladder(c, config.Defaults().Seed, "auto")
	if err != nil {
		return finding{"lag", err.Error(), "", true}
	}
	var names []string
	for _, p := range plans {
		names = append(names, p.Name)
	}
	return finding{what: "lag", found: fmt.Sprintf("%s engine, rungs: %s", engine, strings.Join(names, ", ")), fix: limits}
}
