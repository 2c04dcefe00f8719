package vitest

import "github.com/triagebot/triagebot/internal/framework/jstest"

// ParseCommand reads a suite's command: see [jstest.Runner.Parse].
func ParseCommand(argv []string) (jstest.Project, bool) { return Runner.Parse(argv) }

// Runner is how vitest is called.
var Runner = jstest.Runner{Binary: "vitest", Keep: kept, Leave: left}

// kept are the options that belong to every run.
var kept = jstest.Kept{
	"--config": jstest.Value, "-c": jstest.Value, "--root": jstest.Value, "-r": jstest.Value, "--dir": jstest.Value, "--project": jstest.Value,
	"--environment": jstest.Value, "--pool": jstest.Value, "--mode": jstest.Value, "--testTimeout": jstest.Value, "--hookTimeout": jstest.Value,
	"--teardownTimeout": jstest.Value, "--configLoader": jstest.Value, "--globals": jstest.Flag, "--dom": jstest.Flag, "--isolate": jstest.Flag, "--no-isolate": jstest.Flag,
	"--no-file-parallelism": jstest.Flag, "--expect.*": jstest.Flag, "--browser": jstest.Flag, "--browser.name": jstest.Value, "--browser.headless": jstest.Flag, "--no-threads": jstest.Flag,
	"--workspace": jstest.Value, "--dangerouslyIgnoreUnhandledErrors": jstest.Flag,
}

// left are those that a trial gives by itself or does without.
var left = []string{
	"--run", "-w", "--watch", "--reporter", "--outputFile", "--silent", "--hideSkippedTests", "--coverage", "--ui", "--open", "--api", "--changed", "--related", "--shard",
	"--bail", "--retry", "-t", "--testNamePattern", "--passWithNoTests", "--logHeapUsage", "--allowOnly", "--cache", "--maxWorkers", "--minWorkers", "--maxConcurrency",
	"--sequence", "--inspect*", "--standalone", "-u", "--update", "--clearScreen", "--color", "--exclude", "--printConsoleTrace", "--slowTestThreshold", "--typecheck",
	"--mergeReports", "-h", "--help", "-v", "--version", "--maxThreads", "--minThreads",
}
