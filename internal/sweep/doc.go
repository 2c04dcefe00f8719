// Package sweep is the sweep of a whole suite, and what a check or a sweep needs
// once it outgrows one machine or one run: the deterministic plan of shards, the
// joining of their reports, and the ledger of known reds that only shrinks.
//
// [Sweep] runs a suite without lag and under lag, the cheapest rung over everything
// first. A test that is red under lag only is a lead until runs of it alone, with
// and without the lag, confirm it, and a finding only once its cause is named: an
// honest deadline is none.
//
// Shards are planned by known durations and need no word between the machines:
// each computes the whole plan and takes its part. [Merge] reads their reports
// as a stranger's, one at a time; what is missing or spoilt it says, and what
// contradicts itself it refuses.
package sweep
