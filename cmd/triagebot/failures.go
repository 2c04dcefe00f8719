package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/triagebot/triagebot/internal/framework"
	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/triage"
)

// collected are the failing tests and where they were found.
type collected struct {
	failures []triage.Failure
	source   string
	warnings []string
}

// add keeps each target once; the first word on it counts.
func (c *collected) add(fs []triage.Failure) {
	known := map[triage.Target]bool{}
	for _, f := range c.failures {
		known[f.Target] = true
	}
	for _, f := range fs {
		if !known[f.Target] {
			known[f.Target] = true
			c.failures = append(c.failures, f)
		}
	}
}

// collect reads the failing tests from the files that the flags name. It finds
// nothing when they name none.
func collect(f *measureFlags, opt gotest.Options) (collected, error) {
	var c collected
	for _, glob := range f.reports {
		paths, err := filepath.Glob(glob)
		if err != nil {
			return c, fmt.Errorf("reading --report %q: %w", glob, err)
		}
		if len(paths) == 0 {
			return c, fmt.Errorf("reading --report %q: no such file", glob)
		}
		for _, p := range paths {
			if err := c.readFile(p, opt, false); err != nil {
				return c, err
			}
		}
		c.source = "report"
	}
	for _, p := range f.logs {
		if err := c.readFile(p, opt, true); err != nil {
			return c, err
		}
		if c.source == "" {
			c.source = "log"
		}
	}
	if c.source != "" && len(c.failures) == 0 {
		return c, errors.New("no failing test found in the reports: is it the report of the red run?")
	}
	return c, nil
}

// readFile reads one report or log. A truncated file is a warning when it still
// tells something.
func (c *collected) readFile(path string, opt gotest.Options, log bool) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading a report: %w", err)
	}
	defer file.Close()
	fs, err := readReport(file, opt, log)
	c.add(fs)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, gotest.ErrTruncated) && len(fs) > 0:
		c.warnings = append(c.warnings, fmt.Sprintf("%s ends too early; the %d failing tests before its end are triaged", filepath.Base(path), len(fs)))
		return nil
	}
	return fmt.Errorf("reading %s: %w", path, err)
}

func readReport(r io.Reader, opt gotest.Options, log bool) ([]triage.Failure, error) {
	if log {
		return gotest.ReadLog(r, opt)
	}
	_, fs, err := framework.ReadReport(r, opt)
	return fs, err
}

// testID is "import/path.TestName/sub", "import/path TestName/sub", "./dir.TestName" or "TestName".
var testID = regexp.MustCompile(`^(?:(.+?)[. ])?((?:Test|Example|Fuzz).*)$`)

// named makes failures of --test. A bare name has an empty package still.
func named(ids []string, opt gotest.Options) ([]triage.Failure, error) {
	var out []triage.Failure
	for _, id := range ids {
		m := testID.FindStringSubmatch(id)
		if m == nil {
			return nil, fmt.Errorf("reading --test %q: not the name of a Go test (TestName, or import/path.TestName/sub)", id)
		}
		out = append(out, triage.Failure{
			Target:  triage.Target{Suite: opt.Suite, Framework: gotest.Name, Package: strings.TrimSuffix(m[1], "/"), Test: gotest.RewriteName(m[2])},
			Outcome: triage.Fail,
		})
	}
	return out, nil
}
