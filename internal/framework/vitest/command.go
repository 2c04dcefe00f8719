package vitest

import "github.com/triagebot/triagebot/internal/framework/jstest"

// ParseCommand reads a suite's command: see [jstest.ParseCommand].
func ParseCommand(argv []string) (jstest.Project, bool) {
	return jstest.ParseCommand(argv, "vitest", kept)
}

// kept are the options that belong to every run.
var kept = jstest.Kept{
	"--config": true, "-c": true, "--root": true, "-r": true, "--dir": true, "--project": true, "--environment": true, "--pool": true, "--mode": true,
	"--globals": false, "--isolate": false, "--no-isolate": false, "--no-file-parallelism": false, "--testTimeout": true, "--hookTimeout": true,
}
