// Package rerun carries out trials: it builds what has to be built, starts one
// fresh process for each trial, sweeps what the process leaves, and reads what
// it said. It has no opinion on results.
//
// One build serves a side, a package and a family (plain, under a detector, or
// instrumented for lag); the lag plan is chosen at run time, so a probe costs
// only one run of the test.
package rerun
