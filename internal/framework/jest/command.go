package jest

import "github.com/triagebot/triagebot/internal/framework/jstest"

// ParseCommand reads a suite's command: see [jstest.Runner.Parse].
func ParseCommand(argv []string) (jstest.Project, bool) { return Runner.Parse(argv) }

// Runner is how jest is called.
var Runner = jstest.Runner{Binary: "jest", Keep: kept, Leave: left}

// kept are the options that belong to every run.
var kept = jstest.Kept{
	"--config": jstest.Value, "-c": jstest.Value, "--rootDir": jstest.Value, "--env": jstest.Value, "--testEnvironment": jstest.Value, "--testEnvironmentOptions": jstest.Value,
	"--selectProjects": jstest.List, "--ignoreProjects": jstest.List, "--projects": jstest.List, "--roots": jstest.List, "--setupFiles": jstest.List, "--setupFilesAfterEnv": jstest.List,
	"--testTimeout": jstest.Value, "--preset": jstest.Value, "--transform": jstest.Value, "--transformIgnorePatterns": jstest.List, "--moduleNameMapper": jstest.Value,
	"--moduleDirectories": jstest.List, "--moduleFileExtensions": jstest.List, "--modulePaths": jstest.List, "--globals": jstest.Value, "--globalSetup": jstest.Value, "--globalTeardown": jstest.Value,
	"--haste": jstest.Value, "--resolver": jstest.Value, "--runner": jstest.Value, "--testRunner": jstest.Value, "--snapshotSerializers": jstest.List, "--unmockedModulePathPatterns": jstest.List, "--maxConcurrency": jstest.Value,
	"--detectOpenHandles": jstest.Flag, "--forceExit": jstest.Flag, "--resetModules": jstest.Flag, "--resetMocks": jstest.Flag, "--restoreMocks": jstest.Flag, "--clearMocks": jstest.Flag,
	"--automock": jstest.Flag, "--injectGlobals": jstest.Flag, "--errorOnDeprecated": jstest.Flag, "--experimental-vm-modules": jstest.Flag,
}

// left are those that a trial gives by itself or does without.
var left = []string{
	"--ci", "-i", "--runInBand", "--coverage*", "--collectCoverage*", "--watch*", "--passWithNoTests", "--reporters", "--json", "--outputFile", "--verbose", "--silent",
	"--cache", "--cacheDirectory", "--clearCache", "-t", "--testNamePattern", "--testPathPattern*", "--testPathIgnorePatterns", "--testMatch", "--testRegex", "--runTestsByPath",
	"--randomize", "--seed", "--showSeed", "-w", "--maxWorkers", "-b", "--bail", "-o", "--onlyChanged", "--changedSince", "--changedFilesWithAncestor", "-f", "--onlyFailures",
	"--findRelatedTests", "--lastCommit", "--shard", "-u", "--updateSnapshot", "--color*", "--notify*", "--logHeapUsage", "--listTests", "--showConfig", "--debug", "-e", "--expand",
	"--testResultsProcessor", "--testSequencer", "--workerThreads", "--workerIdleMemoryLimit", "--waitForUnhandledRejections", "--noStackTrace", "--useStderr", "--filter", "--testFailureExitCode", "--openHandlesTimeout", "-h", "--help", "-v", "--version", "--all",
}
