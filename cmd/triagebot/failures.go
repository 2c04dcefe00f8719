package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/framework"
	"github.com/triagebot/triagebot/internal/framework/jstest"
	"github.com/triagebot/triagebot/internal/triage"
)

// collected are the failing tests and where they were found.
type collected struct {
	failures []triage.Failure
	source   string
	warnings []string
	// seeds are those that logs print which name no failure of their framework;
	// settled are the targets whose seed is that of their own run.
	seeds   framework.Seeds
	settled map[triage.Target]bool
}

// add keeps each target once; the first word on it counts. Only a seed is taken
// from a later one, for a report has none: that of the run with the same failure,
// or else of the first that has one.
func (c *collected) add(fs []triage.Failure) {
	known := map[triage.Target]int{}
	for i, f := range c.failures {
		known[f.Target] = i
	}
	for _, f := range fs {
		i, ok := known[f.Target]
		if !ok {
			known[f.Target] = len(c.failures)
			c.failures = append(c.failures, f)
			continue
		}
		if f.Seed != 0 && !c.settled[f.Target] {
			first := &c.failures[i]
			same := first.Signature == f.Signature
			if first.Seed == 0 || same {
				first.Seed = f.Seed
			}
			c.settle(f.Target, same)
		}
	}
}

func (c *collected) settle(t triage.Target, known bool) {
	if c.settled == nil {
		c.settled = map[triage.Target]bool{}
	}
	c.settled[t] = known
}

// seed gives the failures without a seed the one of their framework's only run.
func (c *collected) seed(seed func(framework string) int64) {
	for i, f := range c.failures {
		if f.Seed == 0 && !c.settled[f.Target] {
			c.failures[i].Seed = seed(f.Target.Framework)
		}
	}
}

// collect reads the failing tests from the files that the flags name. It finds
// nothing when they name none.
func collect(f *measureFlags, in framework.Reading) (collected, error) {
	var c collected
	var read []string
	for _, glob := range f.reports {
		paths, err := filepath.Glob(glob)
		if err != nil {
			return c, fmt.Errorf("reading --report %q: %w", glob, err)
		}
		if len(paths) == 0 {
			return c, fmt.Errorf("reading --report %q: no such file", glob)
		}
		for _, p := range paths {
			kind, err := c.readFile("--report", p, in)
			if err != nil {
				return c, err
			}
			read = append(read, fmt.Sprintf("%s (read as %s)", p, kind))
		}
		c.source = "report"
	}
	for _, p := range f.logs {
		if _, err := c.readFile("--log", p, in); err != nil {
			return c, err
		}
		read = append(read, p)
		if c.source == "" {
			c.source = "log"
		}
	}
	c.seed(c.seeds.Only)
	if c.source != "" && len(c.failures) == 0 {
		return c, fmt.Errorf("no failing test found in %s: is it the report of the red run?", several(read))
	}
	return c, nil
}

// several names the first of a list, and tells how many more there are.
func several(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
}

// readFile reads one report or log. A truncated file is a warning when it still
// tells something.
func (c *collected) readFile(flag, path string, in framework.Reading) (framework.Kind, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("reading %s %w", flag, reason(err, path))
	}
	defer file.Close()
	if st, err := file.Stat(); err == nil && st.IsDir() {
		return 0, fmt.Errorf("reading %s %q: it is a directory: name its files, as in %q", flag, path, filepath.Join(path, "*.xml"))
	}
	in.At = placeOf(path, in.Root)
	in.Doubt = func(doubt string) {
		if !slices.Contains(c.warnings, doubt) {
			c.warnings = append(c.warnings, doubt)
		}
	}
	var printed framework.Seeds
	kind, fs, err := readReport(io.TeeReader(file, &printed), in, flag == "--log")
	if kind == framework.Log && len(fs) == 0 {
		if _, seek := file.Seek(0, io.SeekStart); seek == nil {
			if told, _ := framework.ReadPrefixed(file, in, folderOf(in)); len(told) > 0 {
				fs, err = told, nil
			}
		}
	}
	before := len(c.failures)
	c.add(fs)
	if kind == framework.Log {
		for _, f := range fs {
			printed.Drop(f.Target.Framework)
		}
		for _, f := range c.failures[before:] { // a log tells of its run's order too
			c.settle(f.Target, true)
		}
		c.seeds.Merge(&printed)
	}
	switch {
	case err == nil:
	case framework.IsTruncated(err) && len(fs) > 0:
		c.warnings = append(c.warnings, fmt.Sprintf("%s ends too early; the %d failing tests before its end are triaged", filepath.Base(path), len(fs)))
	case framework.IsTruncated(err):
		return kind, fmt.Errorf("reading %s %q: it ends too early, before any failing test: give the whole report, or name the tests with --test", flag, path)
	case framework.IsEmpty(err):
		return kind, fmt.Errorf("reading %s %q: it is empty: did the red run write it?", flag, path)
	default:
		return kind, fmt.Errorf("reading %s %q: %w", flag, path, err)
	}
	return kind, nil
}

// folderOf finds the folder of a package by its name, among those of the suites.
func folderOf(in framework.Reading) func(name string) string {
	files := treeFS(in.Root)
	return func(name string) string {
		for _, s := range in.Suites {
			if jstest.PackageName(files, s.Dir) == name {
				return s.Dir
			}
		}
		return ""
	}
}

// reCopied is where the action puts a copy of a report, with its folders below that.
var reCopied = regexp.MustCompile(`/` + childIn + `/reports-\d+/(.+)$`)

// placeOf is the directory that a file lies in, relative to a root that it is below;
// empty for any other but a copy that the action made of one there.
func placeOf(file, root string) string {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	if rel, err := filepath.Rel(root, dir); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	if m := reCopied.FindStringSubmatch(filepath.ToSlash(dir)); m != nil {
		return m[1]
	}
	return ""
}

// reason is why a file cannot be opened, with its name quoted and once.
func reason(err error, path string) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%q: %w", path, pe.Err)
	}
	return err
}

func readReport(r io.Reader, in framework.Reading, log bool) (framework.Kind, []triage.Failure, error) {
	if log {
		fs, err := framework.ReadLog(r, in)
		return framework.Log, fs, err
	}
	return framework.ReadReport(r, in)
}
