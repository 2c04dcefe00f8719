// Package nodetest is the adapter for Node's own test runner (node:test). An id
// is the names of the suites and tests joined by " > "; the runner has no order
// seed. What it shares with the other frameworks of JavaScript is in package
// jstest.
package nodetest
