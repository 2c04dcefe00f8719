package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
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
			kind, err := c.readFile("--report", p, opt)
			if err != nil {
				return c, err
			}
			read = append(read, fmt.Sprintf("%s (read as %s)", p, kind))
		}
		c.source = "report"
	}
	for _, p := range f.logs {
		if _, err := c.readFile("--log", p, opt); err != nil {
			return c, err
		}
		read = append(read, p)
		if c.source == "" {
			c.source = "log"
		}
	}
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
func (c *collected) readFile(flag, path string, opt gotest.Options) (framework.Kind, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("reading %s %w", flag, reason(err, path))
	}
	defer file.Close()
	if st, err := file.Stat(); err == nil && st.IsDir() {
		return 0, fmt.Errorf("reading %s %q: it is a directory: name its files, as in %q", flag, path, filepath.Join(path, "*.xml"))
	}
	kind, fs, err := readReport(file, opt, flag == "--log")
	c.add(fs)
	switch {
	case err == nil:
	case errors.Is(err, gotest.ErrTruncated) && len(fs) > 0:
		c.warnings = append(c.warnings, fmt.Sprintf("%s ends too early; the %d failing tests before its end are triaged", filepath.Base(path), len(fs)))
	case errors.Is(err, gotest.ErrTruncated):
		return kind, fmt.Errorf("reading %s %q: it ends too early, before any failing test: give the whole report, or name the tests with --test", flag, path)
	case errors.Is(err, gotest.ErrEmpty):
		return kind, fmt.Errorf("reading %s %q: it is empty: did the red run write it?", flag, path)
	default:
		return kind, fmt.Errorf("reading %s %q: %w", flag, path, err)
	}
	return kind, nil
}

// reason is why a file cannot be opened, with its name quoted and once.
func reason(err error, path string) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%q: %w", path, pe.Err)
	}
	return err
}

func readReport(r io.Reader, opt gotest.Options, log bool) (framework.Kind, []triage.Failure, error) {
	if log {
		fs, err := gotest.ReadLog(r, opt)
		return framework.Log, fs, err
	}
	return framework.ReadReport(r, opt)
}

// testID is "import/path.TestName/sub", "import/path TestName/sub" or
// "./dir.TestName"; bareID is "TestName/sub". What begins like a test is one: its
// subtests may have spaces and dots before another such word.
var (
	testID = regexp.MustCompile(`^(.+?)[. ]((?:Test|Example|Fuzz)(?:\P{Ll}.*)?)$`)
	bareID = regexp.MustCompile(`^()((?:Test|Example|Fuzz)(?:\P{Ll}.*)?)$`)
)

// named makes failures of --test. A bare name has an empty package still.
func named(ids []string, opt gotest.Options) ([]triage.Failure, error) {
	var out []triage.Failure
	for _, id := range ids {
		m := bareID.FindStringSubmatch(id)
		if m == nil {
			m = testID.FindStringSubmatch(id)
		}
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
