// Package jest is the adapter for jest. An id is the names of the describes and
// of the test joined by a space, jest's "full name": its reports have no other
// form in common. What it shares with the other frameworks of JavaScript is in
// package jstest.
package jest
