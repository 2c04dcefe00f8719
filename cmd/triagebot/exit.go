package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// Exit codes. docs/exit-codes.md is compared with them by a test.
const (
	// exitOK: done, and the --fail-on policy is satisfied.
	exitOK = 0
	// exitPolicy: done, and the --fail-on policy is hit.
	exitPolicy = 1
	// exitError: our own error, or wrong usage. Nothing is half-written.
	exitError = 2
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

// failOn is the policy of --fail-on.
type failOn string

const (
	failNone       failOn = "none"
	failRegression failOn = "regression"
	failIntroduced failOn = "introduced"
	failAny        failOn = "any"
)

var failPolicies = []string{string(failNone), string(failRegression), string(failIntroduced), string(failAny)}

func parseFailOn(s string) (failOn, error) {
	for _, p := range failPolicies {
		if s == p {
			return failOn(s), nil
		}
	}
	return failNone, fmt.Errorf("reading --fail-on: unknown policy %q (one of %s)", s, strings.Join(failPolicies, ", "))
}

// hit reports whether a verdict trips the policy: regression means
// likely-regression, introduced means whatever the pull request brought, any
// means every verdict.
func (p failOn) hit(vs []triage.Verdict) bool {
	for _, v := range vs {
		switch {
		case p == failAny,
			p == failRegression && v.Class == triage.LikelyRegression,
			p == failIntroduced && v.Yours():
			return true
		}
	}
	return false
}
