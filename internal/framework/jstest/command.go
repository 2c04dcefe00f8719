package jstest

import (
	"path"
	"slices"
	"strings"
)

// Kept are the options of a framework's command line that belong to every run; the value says
// whether the next word is theirs.
type Kept map[string]bool

// ParseCommand reads the suite's command where it is the framework's own:
// "vitest run …", "npx jest …", "pnpm exec mocha …", "node_modules/.bin/…", also
// behind KEY=VALUE words. It returns the options that belong to every run, and
// the environment. Everything else is left out: a trial chooses its tests and its
// reporter by itself. ok is false for any other command (npm test, a script);
// one of its tests is then run by the framework without options.
func ParseCommand(argv []string, binary string, keep Kept) (p Project, ok bool) {
	at := slices.IndexFunc(argv, func(w string) bool {
		return strings.TrimSuffix(path.Base(strings.ReplaceAll(w, `\`, "/")), ".cmd") == binary
	})
	if at < 0 || at > 0 && slices.ContainsFunc(argv[:at], isScriptRunner) {
		return Project{}, false
	}
	for _, w := range argv[:at] {
		if k, _, found := strings.Cut(w, "="); found && k != "" && !strings.ContainsAny(k, "/-. ") {
			p.Env = append(p.Env, w)
		}
	}
	rest := argv[at+1:]
	for i := 0; i < len(rest); i++ {
		name, _, attached := strings.Cut(rest[i], "=")
		takes, known := keep[name]
		switch {
		case !known:
		case takes && !attached && i+1 < len(rest):
			p.Args = append(p.Args, rest[i], rest[i+1])
			i++
		default:
			p.Args = append(p.Args, rest[i])
		}
	}
	return p, true
}

// isScriptRunner is a word that makes the next one the name of a script: "npm
// run jest" runs whatever the project calls so.
func isScriptRunner(w string) bool { return w == "run" || w == "run-script" }
