package pytest

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
)

// The lines of an exception group, as the traceback module prints it in every
// style of pytest: each member behind a rule with its number, all behind a bar.
var (
	reGroupTop    = regexp.MustCompile(`^ *\+ Exception Group Traceback \(most recent call last\):$`)
	reGroupHeader = regexp.MustCompile(`^(?:Exception Group )?Traceback \(most recent call last\):$`)
	reGroupMember = regexp.MustCompile(`^ *\+[-+]*-{4,} (?:\d+|\.\.\.) -{4,}$`)
	reGroupLine   = regexp.MustCompile(`^ *\| (\S.*)$`)
	reCount       = regexp.MustCompile(`(?m) \(\d+ sub-exceptions?\)$`)
	reNamed       = regexp.MustCompile(`^(?:exceptiongroup\.)?(?:Base)?ExceptionGroup\b`)
	// reSingle is how pytest words a group of one in its messages, though not in
	// its tracebacks.
	reSingle = regexp.MustCompile(` \[single exception in \w+\]$`)
)

// group is an exception group that a text shows.
type group struct {
	// name is its own line, the first one.
	name string
	// members are the lines of the exceptions in it that are no groups.
	members []string
}

// exceptions is the exception group that the crash is of; ok is false when it is of
// none. A message of several lines may hold the words of a group without being one.
func (c crash) exceptions() (g group, ok bool) {
	first, _, _ := strings.Cut(strings.TrimSpace(c.message), "\n")
	sure := reCount.MatchString(first) || reSingle.MatchString(first) || reNamed.MatchString(first)
	shown := c.group.name != "" && c.message == c.group.name
	if !sure && !shown && !reCount.MatchString(c.message) {
		return group{}, false
	}
	if g = c.group; g.name == "" {
		g = readGroup(c.text)
	}
	return g, sure || g.name != ""
}

// readGroup finds the last exception group of a text, without what was captured. A
// text that lost its beginning has none: its members would be a part of them.
func readGroup(text string) group {
	var g group
	line, naming, expecting := "", false, false
	member := func() {
		if line != "" && !reCount.MatchString(line) {
			g.members = append(g.members, line)
		}
		line = ""
	}
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\r\n")
		m := reGroupLine.FindStringSubmatch(l)
		switch {
		case strings.HasPrefix(l, "-") && reRule.MatchString(l):
			member()
			return g.known()
		case reGroupTop.MatchString(l):
			g, line, naming = group{}, "", true
		case reGroupMember.MatchString(l):
			member()
			naming, expecting = false, true
		case m == nil:
		case naming:
			g.name, naming = m[1], false
		case reGroupHeader.MatchString(m[1]):
			expecting = true // of a chain the last exception is the member
		case expecting:
			line, expecting = m[1], false
		}
	}
	member()
	return g.known()
}

// known is the group, or none when its own line is not there.
func (g group) known() group {
	if g.name == "" {
		return group{}
	}
	return g
}

// message is what the group says for its signature, for "2 sub-exceptions" are the
// same words whatever failed. The members are sorted and each is there once: which
// of them comes first, and how many fail alike, is up to the scheduler. A group of
// one says what that one does. It is empty when nothing is known of the members.
func (g group) message() string {
	if len(g.members) == 0 {
		return ""
	}
	var said []string
	for _, m := range g.members {
		said = append(said, Normalise(m))
	}
	slices.Sort(said)
	if len(said) == 1 {
		return said[0]
	}
	inside := strings.Join(slices.Compact(said), "; ")
	name := strings.TrimPrefix(reCount.ReplaceAllString(g.name, ""), "exceptiongroup.") // the backport for older versions
	s := Normalise(name) + ": [" + inside + "]"
	if len(s) > maxMessage { // what is cut off must tell two groups apart as well
		sum := sha256.Sum256([]byte(inside))
		s = truncate(s, maxMessage-12) + "… " + hex.EncodeToString(sum[:4])
	}
	return s
}
