// Package bench measures, side by side in one run, what triagebot promises: what
// the ladder reveals beside plain re-runs in the same time, whether the cause is
// named right, and what a check or a trial costs beside the bare tests.
//
// It has tests only. An ordinary run holds the facts that no load can change, on
// a part of the corpus. With -bench-table TestBench measures all of Go,
// TestBenchScripts what is found in Python and Node and TestBenchScriptCosts what
// that costs; with -bench-write they write docs/benchmarks.md and
// docs/benchmarks-scripts.md, each of a whole run only, and docs/benchmarks-costs.md.
package bench
