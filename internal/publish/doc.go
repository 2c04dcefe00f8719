// Package publish turns what a measuring run left into one comment on its pull
// request.
//
// It is the privileged half and trusts nothing of the other one. A report is
// bytes of a stranger: it is read in memory with caps and a strict schema, it is
// bound to the run, the head SHA and the repository that GitHub's API names, and
// the pull request is found by these, never by anything that a report says. No
// code is checked out or run here.
package publish
