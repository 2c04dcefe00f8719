package jstest

import (
	"regexp"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// Dialect is what is particular to one framework.
type Dialect struct {
	// Name is the framework's name in a [triage.Target].
	Name string
	// Package is the npm package whose first binary runs the tests, empty for Node itself.
	Package string
	// Separator joins the names of describes and test to an id.
	Separator string
	// Reporter is the file name of our reporter.
	Reporter string
	// Arguments are those of one trial, behind the binary.
	Arguments func(t Trial) []string
}

// Trial is what a dialect needs to know to name a trial's arguments.
type Trial struct {
	Run triage.RunSpec
	// Reporter is the absolute path of our reporter.
	Reporter string
	// Cache is an absolute directory outside the tree, kept for all trials of a package.
	Cache string
	// File is relative to the directory of the run, empty for the whole suite.
	File string
	// Before are files, as File is one, that run before it in the same process.
	Before []string
	// Test is the id to select, empty for the whole file; Pattern is the regular
	// expression for it, as [Dialect.Pattern] makes it.
	Test, Pattern string
	// With are the ids of other tests of the file to select too.
	With []string
	// Nested is set when tests of the file may be made by others while these run.
	Nested bool
	// Major is the major version of Node.
	Major int
}

// JoinedSince is the first major version of Node whose own runner matches a name
// pattern against the names joined from the outermost on, without the spaces at
// the ends, not against each alone.
const JoinedSince = 22

// ID joins the names of describes and test.
func (d Dialect) ID(names []string) string {
	return strings.Join(names, d.Separator)
}

func (d Dialect) target(o Options, file, test string) triage.Target {
	suite := o.Suite
	if suite == "" {
		suite = d.Name
	}
	return triage.Target{Suite: suite, Framework: d.Name, Package: file, Test: test}
}

// Pattern is a JavaScript regular expression for exactly the test of an id. The
// frameworks match it against the names joined by one space, so a separator
// stands for itself and for that.
func (d Dialect) Pattern(id string) string {
	if d.Separator == " " {
		return "^" + Quote(id) + "$"
	}
	names := strings.Split(id, d.Separator)
	for i, n := range names {
		names[i] = Quote(n)
	}
	return "^" + strings.Join(names, "(?: |"+Quote(d.Separator)+")") + "$"
}

// AnyPattern is one for any of the tests of these ids.
func (d Dialect) AnyPattern(ids []string) string {
	patterns := make([]string, len(ids))
	for i, id := range ids {
		patterns[i] = strings.TrimSuffix(strings.TrimPrefix(d.Pattern(id), "^"), "$")
	}
	return "^(?:" + strings.Join(patterns, "|") + ")$"
}

var special = regexp.MustCompile(`[\\^$.*+?()[\]{}|/]`)

// Quote escapes what a JavaScript regular expression takes for more than itself.
// White space becomes a class: an argument with a line break is easily lost.
func Quote(s string) string {
	s = special.ReplaceAllString(s, `\$0`)
	return strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s)
}
