// Package zzlag is the part of triagebot that runs inside a test process. Its
// files are laid over the module under test by package golag and exist nowhere
// else in it.
//
// It must not be noticed: it starts no goroutine, opens the log only when there
// is something to log, blocks the thread and not the goroutine (a time.Sleep
// would move the clock of a testing/synctest bubble), and hides its own atomics
// from the race detector, which would otherwise see an order between goroutines
// that the program does not have. Without a plan in TRIAGEBOT_LAG_PLAN every
// entry point is the test of one bool.
//
// It is compiled with the language version of the module under test, so it
// keeps to go1.12 and imports only what package testing imports anyway; the one
// generic function is a file of its own.
package zzlag
