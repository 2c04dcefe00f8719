package triage

// Target names one test of one suite. It is comparable and may key a map.
type Target struct {
	// Suite is the name of the suite in the configuration ("go" when detected).
	Suite string `json:"suite"`
	// Framework is the adapter that runs it, for example "gotest".
	Framework string `json:"framework"`
	// Package is the framework's unit of building or loading: an import path for
	// Go, a file for the others.
	Package string `json:"package"`
	// Test is the framework's own id of the test, parameters included, for
	// example "TestParse/empty". Empty means the command itself: a compile
	// error, a crash in set-up, a run without a report.
	Test string `json:"test"`
}

// IsCommand reports whether the target is the command itself, not a test.
func (t Target) IsCommand() bool { return t.Test == "" }

// String is the target as people read it: the package, then the test.
func (t Target) String() string {
	switch {
	case t.Test == "":
		return t.Package
	case t.Package == "":
		return t.Test
	}
	return t.Package + " " + t.Test
}
