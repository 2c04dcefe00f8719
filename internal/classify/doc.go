// Package classify decides what to run next for one red test, when to stop, and
// what the red is. It is pure: no clock, no random source, no I/O. [Next] and
// [Judge] derive everything from the [Case], so a recorded check replays to the
// same steps and the same verdict.
//
// The order of the questions is:
//
//  1. plain rounds, head against base: a regression, a flake that was there
//     before, a broken base, a broken environment;
//  2. when head passes (or is mixed while base is clean): the lag ladder, and
//     after some rungs one run with the whole package;
//  3. when nothing showed: a few more plain rounds, and the bound.
//
// Two errors are costly. The worst is to say "not this pull request" of a real
// regression; the second is to cry wolf. docs/decisions/0002-stopping-rule.md
// has the reasons for the rule, docs/simulation.md the measured error rates.
package classify
