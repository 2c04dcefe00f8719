package pytest

import (
	"errors"
	"fmt"
	"path"

	"github.com/triagebot/triagebot/internal/triage"
)

// Name is this framework's name in a [triage.Target].
const Name = "pytest"

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
	// Suite is the suite's name in the targets; "pytest" when empty.
	Suite string
	// Dir is the directory below the tree's root that the report's paths are
	// relative to, with forward slashes; empty for the root.
	Dir string
	// Exists tells whether a file is in the tree, given its path relative to the
	// root with forward slashes. Without it the end of a module's name in a JUnit
	// report is guessed from how test files and classes are named.
	Exists func(file string) bool
}

func (o Options) suite() string {
	if o.Suite == "" {
		return Name
	}
	return o.Suite
}

func (o Options) exists(file string) bool { return o.Exists != nil && o.Exists(file) }

// file is a path of the report as a path of the tree. A report may have been
// written in the root although Dir is set, so what exists decides.
func (o Options) file(name string) string {
	name = path.Clean(name)
	if o.Dir == "" || o.Dir == "." {
		return name
	}
	if in := path.Join(o.Dir, name); !o.exists(name) || o.exists(in) {
		return in
	}
	return name
}

func (o Options) target(file, test string) triage.Target {
	return triage.Target{Suite: o.suite(), Framework: Name, Package: o.file(file), Test: test}
}

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
