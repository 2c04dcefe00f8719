// Package pytest is the adapter for pytest, and through it for unittest.
//
// It reads what a red CI run left behind ([ReadJUnit], [ReadReportLog],
// [ReadLog]), builds the command that runs one test again ([Adapter]), and
// reads what that command told. It starts no process itself: whoever calls it
// injects a [triage.Exec].
//
// # Ids
//
// The package of a target is the test's file, relative to the tree with forward
// slashes; its test is what follows the file in pytest's node id, parameters
// included: "TestParse::test_empty[a::b]". An empty test is the file as a
// whole: it cannot be imported, or its process died between tests.
//
// # Signatures
//
// The message of a signature is the first line of the exception as pytest
// prints it, normalised ([Normalise]), without "AssertionError:". That line is
// what a JUnit report, a report log, a raw log in each traceback style and our
// own plugin have in common. The function is the test's own, for no other is
// named in all of them.
//
// # Results
//
// A trial's results come from a small plugin of ours (plugin/zztriagebot.py),
// which prints them between the lines of pytest itself, each behind a random
// word that the test process does not know.
package pytest
