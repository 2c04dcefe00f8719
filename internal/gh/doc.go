// Package gh is all that triagebot knows of GitHub: the REST API, events,
// Actions (runs, jobs, logs, artifacts), comments, checks, issues, and the
// runner that a step runs on. The types of the library it calls stop here.
//
// A [Client] speaks of one repository. It waits for rate limits, repeats what
// is safe to repeat, writes one thing at a time, and gives up with a typed
// error: see [Error] and [RateLimited]. Test with errors.Is against [ErrNotFound],
// [ErrForbidden] and the others.
//
// Every string that comes from GitHub is hostile: anybody may name a branch,
// write a comment or, from a fork, upload an artifact. Sizes are capped, zips
// are read in memory only, a redirect never gets the token, and a text that
// goes to a runner's log goes there between fences (see [Runner.Fence]). Strings
// in the results are as GitHub gave them: escape them where they are shown.
package gh
