package jest

import "github.com/triagebot/triagebot/internal/framework/jstest"

// ParseCommand reads a suite's command: see [jstest.ParseCommand].
func ParseCommand(argv []string) (jstest.Project, bool) {
	return jstest.ParseCommand(argv, "jest", kept)
}

// kept are the options that belong to every run.
var kept = jstest.Kept{
	"--config": true, "-c": true, "--rootDir": true, "--env": true, "--testEnvironment": true, "--selectProjects": true,
	"--testTimeout": true, "--setupFilesAfterEnv": true, "--detectOpenHandles": false, "--forceExit": false, "--resetModules": false,
}
