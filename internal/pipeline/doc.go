// Package pipeline takes one red check from its failures to its report.
//
// It is a deterministic procedure over trial outcomes (docs/decisions/0001): it
// asks its [Runner] for one trial after another, as package classify and the
// search for causes want them, and holds no clock. So the same procedure
// measures a check, goes on with an interrupted one, and judges a recorded one
// again.
package pipeline
