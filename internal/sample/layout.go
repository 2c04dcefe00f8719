package sample

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// Shape is how head and base hang together in git.
type Shape string

// The shapes. Plain is base on main and head on a branch of it.
const (
	Plain Shape = "plain"
	// Merge: main moved on after the branch; head is the merge commit of main and the branch.
	Merge Shape = "merge"
	// Shallow: a clone of depth one that has head and does not have base.
	Shallow Shape = "shallow"
	// Dirty: head's worktree has uncommitted changes.
	Dirty Shape = "dirty"
)

// Layout is the content of a repository before it is one. Files are keyed by
// their slash-separated path below the repository's root.
type Layout struct {
	Shape Shape
	Base  map[string][]byte
	// Head is laid over Base; Delete is removed from it.
	Head   map[string][]byte
	Delete []string
	// Main is the later commit of main, for Merge only.
	Main map[string][]byte
	// Uncommitted is what the worktree has beyond head, for Dirty only.
	Uncommitted map[string][]byte
}

// Parse reads the layout out of an archive. Files outside the four roots are
// returned by their name as the rest.
func Parse(a *txtar.Archive, shape Shape, remove []string) (Layout, map[string][]byte, error) {
	if shape == "" {
		shape = Plain
	}
	l := Layout{Shape: shape, Delete: remove, Base: map[string][]byte{}, Head: map[string][]byte{}, Main: map[string][]byte{}, Uncommitted: map[string][]byte{}}
	roots := map[string]map[string][]byte{"base": l.Base, "head": l.Head, "main": l.Main, "dirty": l.Uncommitted}
	rest := map[string][]byte{}
	for _, f := range a.Files {
		root, name, _ := strings.Cut(f.Name, "/")
		files, ok := roots[root]
		if !ok || name == "" {
			files, name = rest, f.Name
		}
		if path.IsAbs(name) || path.Clean(name) != name || strings.HasPrefix(name, "..") {
			return Layout{}, nil, fmt.Errorf("reading archive: file %q leaves its root", f.Name)
		}
		if _, twice := files[name]; twice {
			return Layout{}, nil, fmt.Errorf("reading archive: file %q stands there twice", f.Name)
		}
		files[name] = f.Data
	}
	return l, rest, l.check()
}

// check holds the layout to its shape, so that a misspelt root is an error and
// not a file that is silently missing.
func (l Layout) check() error {
	switch {
	case !slices.Contains([]Shape{Plain, Merge, Shallow, Dirty}, l.Shape):
		return fmt.Errorf("checking layout: unknown shape %q", l.Shape)
	case len(l.Base) == 0:
		return fmt.Errorf("checking layout: no file under base/")
	case len(l.Head)+len(l.Delete) == 0:
		return fmt.Errorf("checking layout: head changes nothing")
	case (len(l.Main) > 0) != (l.Shape == Merge):
		return fmt.Errorf("checking layout: files under main/ go with the shape %q and only with it", Merge)
	case (len(l.Uncommitted) > 0) != (l.Shape == Dirty):
		return fmt.Errorf("checking layout: files under dirty/ go with the shape %q and only with it", Dirty)
	}
	for _, name := range l.Delete {
		if _, ok := l.Base[name]; !ok {
			return fmt.Errorf("checking layout: head deletes %q, which base does not have", name)
		}
	}
	return nil
}
