// Package stats has the statistics of a verdict: exact tests and intervals for
// small counts, and two sequential tests that may be looked at after every
// round. All of it is pure: numbers in, numbers out.
//
// # Sequential tests
//
// Trials come in rounds, one on head and one on base. [Worse] and [NotMuchWorse]
// are e-processes over rounds: under their null hypothesis the expected growth
// in each round is at most 1 whatever happened before, so by Ville's inequality
// the chance that the value ever reaches 1/a is at most a, no matter when one
// looks and stops. The construction is that of Turner, Ly and Grünwald,
// "Generic E-variables for exact sequential k-sample tests that allow for
// optional stopping" (2021), for blocks of one observation per arm. The null is
// only about the two trials within a round, so a failure rate that drifts from
// round to round (a machine that gets slower) does no harm.
package stats
