package pytest

import (
	"path"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// ParseID reads a node id, as pytest prints it and as a user names a test:
// "tests/test_a.py::TestB::test_c[x::y]". An id without "::" names a whole file.
func ParseID(id string, o Options) triage.Target {
	file, test := splitID(id)
	return o.target(file, test)
}

// splitID parts a node id at its first "::", for a file's name holds none.
func splitID(id string) (file, test string) {
	file, test, _ = strings.Cut(id, "::")
	return strings.ReplaceAll(file, `\`, "/"), test
}

// testFunc is the function of a test, without its parameters, with its classes.
func testFunc(test string) string {
	name, _ := splitParams(test)
	return strings.ReplaceAll(name, "::", ".")
}

// splitParams parts a test's name from "[" on.
func splitParams(test string) (name, params string) {
	if i := strings.IndexByte(test, '['); i >= 0 {
		return test[:i], test[i:]
	}
	return test, ""
}

// fromClassname undoes what pytest's JUnit report does to a node id: the file's
// slashes, its ".py" and the "::" of classes all became dots. The longest
// beginning that is a file of the tree is the file.
func (o Options) fromClassname(classname, name string) triage.Target {
	dotted := classname
	if classname == "" { // a file that could not be collected
		dotted, name = name, ""
	}
	parts := strings.Split(dotted, ".")
	for n := len(parts); n > 0; n-- {
		if file, ok := o.findFile(parts[:n]); ok {
			return o.target(file, joinTest(parts[n:], name))
		}
	}
	n := guessFile(parts)
	return o.target(strings.Join(parts[:n], "/")+".py", joinTest(parts[n:], name))
}

func joinTest(classes []string, name string) string {
	if name == "" {
		return ""
	}
	return strings.Join(append(append([]string{}, classes...), name), "::")
}

// Bounds on the search for the file of a JUnit name: parts at all, and gaps that
// may have been dots of the name.
const (
	maxParts = 40
	maxDots  = 8
)

// findFile looks for the file that these parts are: joined by slashes, or, as
// names may hold dots, by dots at some places.
func (o Options) findFile(parts []string) (string, bool) {
	if o.Exists == nil || len(parts) > maxParts {
		return "", false
	}
	gaps := min(len(parts)-1, maxDots)
	for mask := range 1 << gaps {
		var b strings.Builder
		for i, p := range parts {
			switch {
			case i == 0:
			case i <= gaps && mask&(1<<(i-1)) != 0:
				b.WriteByte('.')
			default:
				b.WriteByte('/')
			}
			b.WriteString(p)
		}
		for _, file := range []string{b.String() + ".py", b.String()} {
			if o.exists(file) || o.Dir != "" && o.exists(path.Join(o.Dir, file)) {
				return file, true
			}
		}
	}
	return "", false
}

// guessFile is the number of leading parts that make the file, told by names: up
// to the last part named like a test file, else up to the first class.
func guessFile(parts []string) int {
	for i := len(parts); i > 0; i-- {
		if p := parts[i-1]; strings.HasPrefix(p, "test_") || strings.HasSuffix(p, "_test") || p == "tests" && i == len(parts) {
			return i
		}
	}
	for i, p := range parts {
		if i > 0 && p != "" && p[0] >= 'A' && p[0] <= 'Z' {
			return i
		}
	}
	return len(parts)
}
