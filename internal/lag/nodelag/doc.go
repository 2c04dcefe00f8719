// Package nodelag is the lag engine for Node 20 and up: it moves time inside a
// test process of vitest, jest, mocha or node:test, and in the Node processes
// and worker threads that it starts, without a change to any source.
//
// The runtime (runtime/, plain JavaScript beside one vendored file, acorn) is laid
// into a directory of ours, and a trial loads it with NODE_OPTIONS=--require.
// It rewrites the project's sources as they are compiled, and installs nothing
// unless the environment names a plan. Nothing is built: what the engine hands to
// rerun as its overlay is that directory.
//
// Node has one thread of code, so a role is told by whose source a site stands
// in: sites of test files are the test's, all others a worker's. Sites are found
// while sources are compiled, so the log carries, with the first record of a
// site, its line and its text, which [lag.ReadSites] reads; the readers of package
// lag pass over these fields. The id alone tells file, function and kind
// ([lag.SiteOf]).
//
// See docs/decisions/0007 for what is delayed and what is not.
package nodelag
