// Package sweep is what a check or a sweep needs once it outgrows one machine or
// one run: the deterministic plan of shards, the joining of their reports, and
// the ledger of known reds that only shrinks.
//
// Shards are planned by known durations and need no word between the machines:
// each computes the whole plan and takes its part. [Merge] reads their reports
// as a stranger's, one at a time; what is missing or spoilt it says, and what
// contradicts itself it refuses.
package sweep
