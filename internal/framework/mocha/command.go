package mocha

import "github.com/triagebot/triagebot/internal/framework/jstest"

// ParseCommand reads a suite's command: see [jstest.ParseCommand].
func ParseCommand(argv []string) (jstest.Project, bool) {
	return jstest.ParseCommand(argv, "mocha", kept)
}

// kept are the options that belong to every run.
var kept = jstest.Kept{
	"--config": true, "--require": true, "-r": true, "--import": true, "--loader": true, "--file": true, "--ui": true, "-u": true, "--extension": true,
	"--timeout": true, "-t": true, "--exit": false, "--check-leaks": false, "--node-option": true, "-n": true,
}
