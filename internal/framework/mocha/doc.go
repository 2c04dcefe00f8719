// Package mocha is the adapter for mocha. An id is the titles of the describes
// and of the test joined by a space, mocha's "full title". mocha has no order
// seed. What it shares with the other frameworks of JavaScript is in package
// jstest.
package mocha
