// Package pylag is the lag engine for Python: it moves time inside a pytest
// process, and in the Python processes that its tests start, without a change
// to any source.
//
// The runtime (runtime/, plain Python that needs the standard library only) is
// laid into a directory of ours, which a trial finds through PYTHONPATH. It
// installs nothing unless the environment names a plan. Nothing is built: what
// the engine hands to rerun as its overlay is that directory.
//
// Sites are found while a test runs, not before. So the log carries, with the
// first record of a site, its line and its text, which [lag.ReadSites] reads; the
// readers of package lag pass over these fields. The id alone tells file,
// function and kind ([lag.SiteOf]).
package pylag
