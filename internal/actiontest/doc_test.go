// Package actiontest tests what GitHub and its runner see of triagebot: the
// metadata of the actions, the workflows, the binary that host/ finds, the
// container, and the release.
//
// Most of it reads files and is fast. Two parts need more than Go and git and are
// asked for by name: make act plays the example workflows against a fake GitHub,
// make container builds the image and runs it as the runner does.
package actiontest
