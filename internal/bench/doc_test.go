// Package bench measures, side by side in one run, what triagebot promises of
// Go: what the ladder reveals beside plain re-runs in the same time, whether the
// cause is named right, and what a check costs beside the bare test binary.
//
// It has tests only. An ordinary run holds the facts that no load can change, on
// a part of the corpus; TestBench with -bench-table measures everything and, with
// -bench-write, writes docs/benchmarks.md.
package bench
