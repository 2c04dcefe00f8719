package gotest

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// summary reads the list of failures at the end of gotestsum's terminal output:
// in most of its formats that is all a log has of them.
//
//	=== FAIL: pkg TestX (0.00s)
//	    x_test.go:3: boom
//
//	DONE 12 tests, 1 failure in 0.4s
type summary struct {
	opt    Options
	suites map[string]*junitSuite
	order  []string
	cur    *junitCase
	pkg    string
	// seen are full import paths that the log names.
	seen []string
}

// line takes a line that belongs to the list; false when it does not.
func (s *summary) line(line []byte) bool {
	if bytes.HasPrefix(line, []byte("=== FAIL: ")) {
		if pkg, c, ok := parseFailHeader(string(line)); ok {
			s.closeCase()
			s.pkg, s.cur = pkg, c
			return true
		}
	}
	if s.cur == nil {
		return false
	}
	if bytes.HasPrefix(line, []byte("DONE ")) || bytes.HasPrefix(line, []byte("=== Skipped")) || bytes.HasPrefix(line, []byte("=== Errors")) {
		s.closeCase()
		return true
	}
	if pkg, _, ok := parseSummary(line); ok {
		s.see(pkg)
	}
	s.cur.text.add(line)
	return true
}

// see notes a full import path.
func (s *summary) see(pkg string) {
	if len(s.seen) < maxPackages && strings.Contains(pkg, "/") {
		s.seen = append(s.seen, pkg)
	}
}

// parseFailHeader reads "=== FAIL: pkg TestX (0.00s)" and, for the package
// itself, "=== FAIL: pkg  (0.00s)". The time is "(unknown)" for a test without
// an end; a rerun has "(re-run 1)" before it.
func parseFailHeader(line string) (pkg string, c *junitCase, ok bool) {
	rest := strings.TrimPrefix(line, "=== FAIL: ")
	head, last, found := cutLast(strings.TrimRight(rest, " "), " (")
	if !found || !strings.HasSuffix(last, ")") {
		return "", nil, false
	}
	if before, rerun, again := cutLast(head, " ("); again && strings.HasPrefix(rerun, "re-run ") {
		head = before
	}
	pkg, test, _ := strings.Cut(head, " ")
	test = strings.TrimSpace(test)
	if pkg == "" || strings.Contains(test, " ") {
		return "", nil, false
	}
	c = &junitCase{class: pkg, name: test, kind: "failure", ended: true}
	if last == "unknown)" {
		c.ended, c.message = false, noResult
	}
	if test == "" {
		c.class = ""
	}
	return pkg, c, true
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// closeCase gives the open entry to its package.
func (s *summary) closeCase() {
	if s.cur == nil {
		return
	}
	suite := s.suites[s.pkg]
	if suite == nil && len(s.suites) < maxPackages {
		if s.suites == nil {
			s.suites = map[string]*junitSuite{}
		}
		suite = &junitSuite{name: s.pkg, run: newPkgRun(s.opt, false)}
		suite.run.pkg = s.pkg
		s.suites[s.pkg] = suite
		s.order = append(s.order, s.pkg)
	}
	if suite != nil {
		suite.take(s.cur)
	}
	s.cur = nil
}

// close adds what the list has to out. What the package lines before it only
// hinted at, a package that failed without a word, is taken out. The error is
// for a list that ends without gotestsum's last line.
func (s *summary) close(out *collector) error {
	var err error
	if s.cur != nil {
		err = fmt.Errorf("reading log: %w: within gotestsum's list of failures", ErrTruncated)
	}
	s.closeCase()
	if len(s.order) == 0 {
		return err
	}
	told := map[string]bool{}
	var fs []triage.Failure
	for _, name := range s.order {
		suite := s.suites[name]
		suite.run.pkg = s.resolve(name)
		told[suite.run.pkg] = true
		fs = append(fs, suite.close()...)
	}
	out.drop(func(f triage.Failure) bool {
		return told[f.Target.Package] && f.Target.IsCommand() && (f.Signature.IsZero() || f.Signature.Message == exitMessage)
	})
	out.add(fs...)
	return err
}

// resolve is the import path of a package that gotestsum names relative to the module.
func (s *summary) resolve(name string) string {
	m := s.opt.Module
	switch {
	case m != "" && name == ".":
		return m
	case m != "" && name != m && !strings.HasPrefix(name, m+"/"):
		return m + "/" + name
	}
	for _, full := range s.seen {
		if strings.HasSuffix(full, "/"+name) {
			return full
		}
	}
	return name
}
