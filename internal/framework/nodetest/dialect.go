package nodetest

import (
	"slices"
	"strings"
	"unicode"

	"github.com/triagebot/triagebot/internal/framework/jstest"
)

const separator = " > "

var dialect = jstest.Dialect{Name: Name, Separator: separator, Reporter: "nodetest.mjs", Arguments: arguments}

// arguments are those of one trial.
func arguments(t jstest.Trial) []string {
	args := []string{"--test", "--test-reporter=" + t.Reporter, "--test-reporter-destination=stdout"}
	if t.Test != "" {
		for _, id := range append(slices.Clone(t.With), t.Test) {
			for _, p := range patterns(strings.Split(id, separator), t.Nested, t.Major) {
				args = append(args, "--test-name-pattern="+p)
			}
		}
	}
	if t.File != "" {
		args = append(args, t.File)
	}
	return args
}

// patterns match the test of these names and, when it may be nested in another
// test, its parents too: a test that is left out makes no subtests. A parent that
// is a suite then runs as a whole, so this is not done without need.
//
// A name may hold the separator itself, so every end of the id may be the name.
func patterns(names []string, nested bool, major int) []string {
	exact := func(names []string) string { return dialectPattern(trim(strings.Join(names, separator))) }
	var out []string
	for i := range names {
		if major >= jstest.JoinedSince {
			if nested || i == len(names)-1 {
				out = append(out, exact(names[:i+1]))
			}
			continue
		}
		out = append(out, "^"+jstest.Quote(strings.Join(names[i:], separator))+"$")
		if nested && i < len(names)-1 {
			out = append(out, "^"+jstest.Quote(names[i])+"$")
		}
	}
	return out
}

// trim is JavaScript's String.prototype.trim.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r == '\ufeff' || r != '\u0085' && unicode.IsSpace(r) })
}

func dialectPattern(id string) string {
	return jstest.Dialect{Separator: separator}.Pattern(id)
}
