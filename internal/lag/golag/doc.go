// Package golag is the dispatch-lag engine for go test.
//
// It rewrites the sources that a package's test is built from and hands the go
// command an overlay: nothing in the user's tree is touched, no requirement is
// added, and line numbers stay what they are because every insertion stands on
// a line that is there already. The rewritten code imports package zzlag, which
// exists only in the overlay, as a package of the main module. One build serves
// every lag plan; without a plan each lag point is the test of one bool.
//
// What is inserted, by the kind of the site:
//
//	start    first in a goroutine's body; go f(x) becomes go W(f)(x)
//	wake     after a receive or Wait, at the start of a select or range-over-channel body
//	signal   after a send, close, unlock, Done, cancel or atomic store; for a
//	         deferred unlock, right after it
//	return   after a statement that calls an interface method or function value
//	call     on entry of a function
//	double   when a method of a test-declared type or a function literal of a
//	         test has returned: a defer that is the first statement and so runs last
//	step     before any other statement
//	timeout  around a duration or moment that bounds a wait (stretched, never delayed)
//	sleep    around the duration of a sleep outside loops (stretched, never delayed)
//	cleanup  in package testing, where the temporary directory is removed
//
// Types decide: sources are loaded with go/packages, which runs the go command.
package golag
