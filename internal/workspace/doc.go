// Package workspace makes the two trees of a check: head, the tree that went
// red, and base, that tree without the pull request.
//
// Both are git worktrees in a directory of our own. The user's checkout, index,
// stash, refs and configuration are not touched; what git records about the
// worktrees is removed by [Workspace.Close], or by the next [Open] when the
// process was killed. The one lasting change is to a shallow clone: when the
// merge base is not sure, history is fetched from the clone's own remote, and
// said. The trees stand at the same place on every run, so that build caches
// keyed by directory stay warm.
//
// Nothing that the repository configures is run on our account: no hooks, no
// smudge or clean filters (Git LFS pointers stay pointers, and that is said), no
// file system monitor.
package workspace
