// Package gotest is the adapter for Go's own test runner.
//
// It reads what a red CI run left behind ([ReadJSON], [ReadJUnit], [ReadLog]),
// builds the command that runs one test again ([Adapter]), and reads what that
// command printed. It starts no process itself: whoever calls it injects a
// [triage.Exec].
//
// All readers and [Adapter.Results] feed one model of a package's run, and
// every signature is made by the same code from the same kinds of text. That is
// what makes the failure in a CI log equal to the failure measured here.
package gotest
