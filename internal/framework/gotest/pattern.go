package gotest

import (
	"regexp"
	"strconv"
	"strings"
)

// RunPattern is the value of -test.run that selects exactly one test.
//
// The testing package splits the pattern at each "/" outside brackets and
// matches element by element, so each element of the name is quoted and
// anchored on its own. A subtest whose own name has a "/" is matched the same
// way, because the testing package splits its name too; the price is that of two
// sibling subtests named "a/b" and "a/b/c" neither can be run without the other.
// Names are rewritten
// first as the testing package does it (white space to "_", what is not
// printable to an escape), so "TestX/a b" finds "TestX/a_b".
func RunPattern(test string) string {
	elems := strings.Split(RewriteName(test), "/")
	for i, e := range elems {
		elems[i] = "^" + regexp.QuoteMeta(e) + "$"
	}
	return strings.Join(elems, "/")
}

// anyOf selects top-level tests by their names.
func anyOf(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = regexp.QuoteMeta(n)
	}
	return "^(" + strings.Join(quoted, "|") + ")$"
}

// RewriteName is a test's name as the testing package reports it.
func RewriteName(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case isSpace(r):
			b.WriteByte('_')
		case !strconv.IsPrint(r):
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isSpace is the testing package's notion of white space.
func isSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000:
		return true
	}
	return r >= 0x2000 && r <= 0x200a
}
