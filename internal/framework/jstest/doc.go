// Package jstest is what the adapters of the JavaScript test frameworks share:
// [Project] prepares a tree and reads the records of a trial, and the readers
// take what a red CI run left behind ([ReadJSON], [ReadJUnit], [ReadLog]). The
// packages vitest, jest, mocha and nodetest add what is particular to one, as a
// [Dialect]. It starts no process itself.
//
// # Ids
//
// The package of a target is the test's file, relative to the tree with forward
// slashes. Its test is the names of the describes and of the test, joined as the
// framework itself shows them: by " > " (vitest, node:test) or by a space (jest,
// mocha). An empty test is the file as a whole: it cannot be imported, or a hook
// of it broke.
//
// # Signatures
//
// The message is the first line of the error, normalised ([Normalise]), with
// the line of what was expected where the first says nothing. The function is
// the test's id, for no other is named in every sort of report.
//
// # Results
//
// A trial's results come from a small reporter of ours (reporters/), which prints
// them on the standard output, each behind a random word that the tests do not
// know. Selecting nothing is no error to these frameworks, so a target without a
// record is Absent, whatever the exit code. Of a test that asks for retries the
// first attempt is the result, and where that can be, the only one.
//
// # Suites
//
// [Detect] takes the root for the suite, or each package of its workspace that has
// a test script or a configuration of its own, unless the root's configuration
// gathers them. A root with a configuration or a test script is a suite beside them.
package jstest
