package gotest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/triagebot/triagebot/internal/triage"
)

// Name is this framework's name in a [triage.Target].
const Name = "gotest"

// ErrEmpty is returned by the readers for a report of 0 bytes or of white space only.
var ErrEmpty = errors.New("the report is empty")

// ErrTruncated is returned with the failures found so far when a report ends
// before it is complete.
var ErrTruncated = errors.New("the report ends too early")

// ErrKind is returned for a report that is of another kind than expected.
var ErrKind = errors.New("not a report of this kind")

// Options tell a reader what its report leaves out.
type Options struct {
	// Suite is the suite's name in the targets; "go" when empty.
	Suite string
	// Package is the import path for reports that name none.
	Package string
	// Module is the path of the module that the tests ran in. gotestsum's
	// terminal output names packages relative to it.
	Module string
	// PackageDir maps an import path to its directory relative to the
	// repository's root, with forward slashes. Without it a location has the
	// base name of its file only.
	PackageDir func(importPath string) (dir string, ok bool)
	// root is the tree that absolute paths are relative to, when it is known.
	root string
}

func (o Options) suite() string {
	if o.Suite == "" {
		return "go"
	}
	return o.Suite
}

// collector gathers failures: each target once, in the order they came.
type collector struct {
	list []triage.Failure
	at   map[triage.Target]int
	left int
}

// add keeps the first failure of a target, but prefers one with a signature.
func (c *collector) add(fs ...triage.Failure) {
	if c.at == nil {
		c.at = map[triage.Target]int{}
	}
	for _, f := range fs {
		if i, ok := c.at[f.Target]; ok {
			if c.list[i].Signature.IsZero() && !f.Signature.IsZero() {
				c.list[i] = f
			}
			continue
		}
		if len(c.list) >= maxReds {
			c.left++
			continue
		}
		c.at[f.Target] = len(c.list)
		c.list = append(c.list, f)
	}
}

// drop removes the failures that match.
func (c *collector) drop(match func(triage.Failure) bool) {
	c.list = slices.DeleteFunc(c.list, match)
	clear(c.at)
	for i, f := range c.list {
		c.at[f.Target] = i
	}
}

// done is the list, with an error when it had to be cut.
func (c *collector) done(err error) ([]triage.Failure, error) {
	if c.left > 0 && err == nil {
		err = fmt.Errorf("reading failures: more than %d, %d left out", maxReds, c.left)
	}
	return c.list, err
}
