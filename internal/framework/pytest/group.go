package pytest

import (
	"regexp"
	"slices"
	"strings"
)

// The lines of an exception group, as the traceback module prints it in every
// style of pytest: each member behind a rule with its number, all behind a bar.
var (
	reGroup       = regexp.MustCompile(`^(.*) \(\d+ sub-exceptions?\)$`)
	reGroupMember = regexp.MustCompile(`^ *\+[-+]*-{4,} (?:\d+|\.\.\.) -{4,}$`)
	reGroupLine   = regexp.MustCompile(`^ *\| (\S.*)$`)
	reGroupHeader = regexp.MustCompile(`^(?:Exception Group )?Traceback \(most recent call last\):$`)
)

// maxMembers bounds the members of a group that are told apart.
const maxMembers = 64

// groupMessage is the message of an exception group with what is in it, for "2
// sub-exceptions" are the same words whatever failed. The members are sorted and
// each is there once: which of them comes first, and how many fail alike, is up to
// the scheduler. ok is false when the text has none of them.
func groupMessage(first, text string) (message string, ok bool) {
	var members []string
	last, expecting := "", false
	add := func() {
		if last != "" && !reGroup.MatchString(last) && len(members) < maxMembers {
			members = append(members, last)
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if reGroupMember.MatchString(line) {
			add()
			last, expecting = "", true
			continue
		}
		m := reGroupLine.FindStringSubmatch(line)
		switch {
		case m == nil:
		case reGroupHeader.MatchString(m[1]):
			expecting = true // of a chain the last exception is the member
		case expecting:
			last, expecting = m[1], false
		}
	}
	add()
	if len(members) == 0 {
		return "", false
	}
	for i, m := range members {
		members[i] = Normalise(m)
	}
	slices.Sort(members)
	return reGroup.FindStringSubmatch(first)[1] + ": [" + strings.Join(slices.Compact(members), "; ") + "]", true
}
