package mocha

import (
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/framework/jstest"
)

// ParseCommand reads a suite's command: see [jstest.Runner.Parse].
func ParseCommand(argv []string) (jstest.Project, bool) { return Runner.Parse(argv) }

// Runner is how mocha is called.
var Runner = jstest.Runner{Binary: "mocha", Keep: kept, Leave: left, Chosen: chosen}

// kept are the options that belong to every run.
var kept = jstest.Kept{
	"--config": jstest.Value, "--package": jstest.Value, "--require": jstest.Value, "-r": jstest.Value, "--import": jstest.Value, "--loader": jstest.Value, "--experimental-loader": jstest.Value, "--file": jstest.Value,
	"--ui": jstest.Value, "-u": jstest.Value, "--extension": jstest.Value, "--timeout": jstest.Value, "-t": jstest.Value, "--timeouts": jstest.Value, "--global": jstest.Value, "--globals": jstest.Value,
	"--node-option": jstest.Value, "-n": jstest.Value, "--conditions": jstest.Value, "-C": jstest.Value, "--env-file": jstest.Value,
	"--exit": jstest.Flag, "--check-leaks": jstest.Flag, "--delay": jstest.Flag, "--async-only": jstest.Flag, "-A": jstest.Flag, "--allow-uncaught": jstest.Flag,
	"--no-config": jstest.Flag, "--no-package": jstest.Flag, "--no-timeout*": jstest.Flag, "--experimental-*": jstest.Flag, "--enable-source-maps": jstest.Flag, "--expose-gc": jstest.Flag,
}

// left are those that a trial gives by itself or does without.
var left = []string{
	"-R", "--reporter*", "-O", "-g", "--grep", "-f", "--fgrep", "-i", "--invert", "-b", "--bail", "-p", "--parallel", "-j", "--jobs", "--retries", "-w", "--watch*",
	"--recursive", "-S", "--sort", "--spec", "--ignore", "--exclude", "-c", "--color*", "--forbid-only", "--forbid-pending", "--diff", "--inline-diffs", "--full-trace",
	"-G", "--growl", "--dry-run", "-s", "--slow", "--list-*", "--inspect*", "--debug*", "--pass-on-failing-test-suite", "--fail-zero", "--posix-exit-codes", "-h", "--help", "-V", "--version", "--verbose", "--quiet",
}

// What chooses the files: words that are no options, and these options, the first
// three with a value. valued are other options with one, of those that trials leave.
var (
	choosing = []string{"--spec", "--ignore", "--exclude", "--recursive", "--sort", "-S"}
	valued   = []string{"-R", "--reporter", "-O", "--reporter-option", "--reporter-options", "-g", "--grep", "-f", "--fgrep", "-j", "--jobs", "--retries", "-s", "--slow", "--watch-files", "--watch-ignore"}
)

// chosen are the words that choose the files of a run. mocha finds those of its
// default folder only.
func chosen(words []string) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		w := words[i]
		name, _, attached := strings.Cut(w, "=")
		takes, known := kept[name]
		at := slices.Index(choosing, name)
		switch {
		case !strings.HasPrefix(w, "-"), at >= 3, at >= 0 && attached:
			out = append(out, w)
		case at >= 0 && i+1 < len(words):
			out = append(out, w, words[i+1])
			i++
		case known && takes != jstest.Flag && !attached, slices.Contains(valued, w):
			i++
		}
	}
	return out
}
