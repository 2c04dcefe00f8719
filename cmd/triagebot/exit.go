package main

import "errors"

// Exit codes. docs/exit-codes.md is compared with them by a test.
const (
	// exitOK: done, and the --fail-on policy is satisfied.
	exitOK = 0
	// exitPolicy: done, and the --fail-on policy is hit.
	exitPolicy = 1
	// exitError: our own error, or wrong usage. Nothing is half-written.
	exitError = 2
	// exitKilled: a second interrupt, and nothing was finished any more.
	exitKilled = 130
)

// errPolicy ends a command whose work is done with exitPolicy.
var errPolicy = errors.New("the --fail-on policy is hit")

// exitCode maps the error of a command.
func exitCode(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errPolicy):
		return exitPolicy
	}
	return exitError
}
