package nodetest

import (
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/framework/jstest"
)

// ParseCommand reads a suite's command, "node --test …" or "tsx --test …": see
// [jstest.Runner.Parse]. The options kept are those of Node.
func ParseCommand(argv []string) (jstest.Project, bool) { return Runner.Parse(argv) }

// Runner is how Node's own tests are run.
var Runner = jstest.Runner{Binary: "node", Keep: kept, Leave: left, Chosen: chosen}

// kept are the options that belong to every run.
var kept = jstest.Kept{
	"--import": jstest.Value, "--require": jstest.Value, "-r": jstest.Value, "--loader": jstest.Value, "--experimental-loader": jstest.Value, "--conditions": jstest.Value, "-C": jstest.Value,
	"--env-file": jstest.Value, "--env-file-if-exists": jstest.Value, "--test-global-setup": jstest.Value, "--test-timeout": jstest.Value, "--test-isolation": jstest.Value, "--experimental-test-isolation": jstest.Value,
	"--experimental-strip-types": jstest.Flag, "--experimental-transform-types": jstest.Flag, "--experimental-vm-modules": jstest.Flag,
	"--experimental-test-module-mocks": jstest.Flag, "--enable-source-maps": jstest.Flag, "--expose-gc": jstest.Flag, "--no-*": jstest.Flag, "--stack-trace-limit": jstest.Value,
}

// left are those that a trial gives by itself or does without.
var left = []string{
	"--test", "--test-reporter*", "--test-name-pattern", "--test-skip-pattern", "--test-only", "--test-concurrency", "--test-shard", "--test-update-snapshots", "--test-force-exit",
	"--test-coverage*", "--experimental-test-coverage", "--watch*", "--inspect*", "--cpu-prof*", "--heap-prof*",
}

// valued are options with a value, of those that trials leave.
var valued = []string{"--test-reporter", "--test-reporter-destination", "--test-name-pattern", "--test-skip-pattern", "--test-concurrency", "--test-shard"}

// chosen are the words that choose the files of a run: those that are no options.
func chosen(words []string) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		takes, known := kept[words[i]]
		switch {
		case known && takes == jstest.Value, slices.Contains(valued, words[i]):
			i++
		case !strings.HasPrefix(words[i], "-"):
			out = append(out, words[i])
		}
	}
	return out
}
