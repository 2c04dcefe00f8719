package nodetest

import (
	"slices"

	"github.com/triagebot/triagebot/internal/framework/jstest"
)

// ParseCommand reads a suite's command, "node --test …": see
// [jstest.ParseCommand]. The options kept are those of Node.
func ParseCommand(argv []string) (jstest.Project, bool) {
	if !slices.Contains(argv, "--test") {
		return jstest.Project{}, false
	}
	return jstest.ParseCommand(argv, "node", kept)
}

// kept are the options that belong to every run.
var kept = jstest.Kept{
	"--import": true, "--require": true, "-r": true, "--loader": true, "--experimental-loader": true, "--env-file": true, "--conditions": true, "-C": true,
	"--experimental-strip-types": false, "--experimental-transform-types": false, "--experimental-vm-modules": false,
	"--experimental-test-module-mocks": false, "--enable-source-maps": false, "--expose-gc": false, "--test-isolation": true,
}
