package jstest

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// ErrEmpty is returned by the readers for a report of 0 bytes or of white space only.
var ErrEmpty = errors.New("the report is empty")

// ErrTruncated is returned with the failures found so far when a report ends
// before it is complete.
var ErrTruncated = errors.New("the report ends too early")

// ErrKind is returned for a report that is of another kind than expected.
var ErrKind = errors.New("not a report of this kind")

// maxReds bounds the red tests kept of one report.
const maxReds = 10_000

// Options tell a reader what its report leaves out.
type Options struct {
	// Suite is the suite's name in the targets; the framework's when empty.
	Suite string
	// Dir is the directory below the tree's root that the report's paths are
	// relative to, with forward slashes; empty for the root.
	Dir string
	// Root is the absolute root of the tree that the report was made in, when it
	// is known: absolute paths below it become relative.
	Root string
	// Exists tells whether a file is in the tree, given its path relative to the
	// root with forward slashes. With it absolute paths of a tree that is not
	// here, as CI has them, are made relative too.
	Exists func(file string) bool
}

// file is a path of the report as a path of the tree.
func (o Options) file(name string) string {
	if name == "" {
		return ""
	}
	name = strings.TrimPrefix(filepath.ToSlash(name), "file://")
	if !path.IsAbs(name) && !isDrive(name) {
		return o.below(path.Clean(name))
	}
	if rel, ok := strings.CutPrefix(name, strings.TrimSuffix(filepath.ToSlash(o.Root), "/")+"/"); ok && o.Root != "" {
		return path.Clean(rel)
	}
	if o.Exists == nil {
		return path.Clean(name)
	}
	for rest := name; ; { // the longest end that is in the tree
		_, after, ok := strings.Cut(rest, "/")
		if !ok {
			return path.Clean(name)
		}
		if rest = after; rest != "" && o.Exists(rest) {
			return rest
		}
	}
}

// below puts a relative path into the suite's directory. A report may have been
// written in the root although Dir is set, so what exists decides.
func (o Options) below(name string) string {
	if o.Dir == "" || o.Dir == "." {
		return name
	}
	if in := path.Join(o.Dir, name); o.Exists == nil || !o.Exists(name) || o.Exists(in) {
		return in
	}
	return name
}

func isDrive(name string) bool { return len(name) > 2 && name[1] == ':' && name[2] == '/' }

// collector gathers failures: each target once, in the order they came.
type collector struct {
	list []triage.Failure
	at   map[triage.Target]int
	left int
}

// add keeps the first failure of a target, but prefers one with a signature.
func (c *collector) add(f triage.Failure) {
	if c.at == nil {
		c.at = map[triage.Target]int{}
	}
	if i, ok := c.at[f.Target]; ok {
		if c.list[i].Signature.IsZero() && !f.Signature.IsZero() {
			c.list[i] = f
		}
		return
	}
	if len(c.list) >= maxReds {
		c.left++
		return
	}
	c.at[f.Target] = len(c.list)
	c.list = append(c.list, f)
}

// done is the list, with an error when it had to be cut.
func (c *collector) done(err error) ([]triage.Failure, error) {
	if c.left > 0 && err == nil {
		err = fmt.Errorf("reading failures: more than %d, %d left out", maxReds, c.left)
	}
	return c.list, err
}
