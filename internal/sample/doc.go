// Package sample turns a txtar archive into a small real git repository with a
// base commit and a head commit, so that a check can be triaged on planted truth.
//
// The files of the archive stand under one of four roots: base/ is the first
// commit of main, head/ is laid over it as the pull request, main/ is laid over
// base as a later commit of main (for a merge), dirty/ is written on top and
// never committed. Everything else in the archive is for the reader.
//
// Commits have a fixed author and date and never see the user's git
// configuration, so a repository has the same commit ids on every machine.
package sample
