package pytest

import (
	"path"
	"slices"
	"strings"
)

// valued are the options of pytest and its usual plugins whose value is a word of
// its own and is not to be taken for a file.
var valued = []string{
	"-c", "--config-file", "-p", "-o", "--override-ini", "-W", "--pythonwarnings", "--rootdir", "--confcutdir", "--import-mode",
	"--capture", "--tb", "--color", "--log-level", "--log-cli-level", "--timeout", "--timeout-method", "--asyncio-mode", "--ds", "--dc", "--anyio-backend",
}

// left are the options that choose tests, stop early, run many at once, print
// otherwise or write files: a trial runs one test and tells of it by itself. The
// value says whether the next word belongs to it.
var left = map[string]bool{
	"-k": true, "-m": true, "-n": true, "--numprocesses": true, "--dist": true, "--maxfail": true, "--deselect": true, "--ignore": true, "--ignore-glob": true,
	"--junitxml": true, "--junit-xml": true, "--report-log": true, "--html": true, "--cov": true, "--cov-report": true, "--cov-config": true,
	"--durations": true, "--basetemp": true, "--reruns": true, "--reruns-delay": true, "--count": true, "--splits": true, "--group": true,
	"--cov-fail-under": true, "--cov-append": false, "--cov-branch": false,
	"-x": false, "--exitfirst": false, "--lf": false, "--last-failed": false, "--ff": false, "--failed-first": false, "--nf": false, "--new-first": false,
	"--sw": false, "--stepwise": false, "--no-cov": false, "-q": false, "-qq": false, "--quiet": false, "-v": false, "-vv": false, "-vvv": false, "--verbose": false,
	"-s": false, "--collect-only": false, "--co": false, "--pdb": false, "--trace": false, "--cache-clear": false, "--forked": false,
}

// ParseCommand reads the suite's command: "pytest …", "python -m pytest …", also
// behind "uv run", "poetry run", "coverage run -m" and KEY=VALUE words. It
// returns how to run one test the same way: the interpreter where the command
// names one, the environment, and the options that belong to every run. What
// chooses tests, stops early, parallelises or writes reports is left out.
//
// ok is false for a command that does not run pytest itself (a script, tox); one
// of its tests is then run by plain pytest.
func ParseCommand(argv []string) (a Adapter, ok bool) {
	at := slices.IndexFunc(argv, func(w string) bool { return isPytest(w) })
	if at < 0 {
		return Adapter{}, false
	}
	for _, w := range argv[:at] {
		if k, _, found := strings.Cut(w, "="); found && k != "" && !strings.ContainsAny(k, "/-. ") {
			a.Env = append(a.Env, w)
		}
	}
	if at >= 2 && argv[at-1] == "-m" && strings.HasPrefix(path.Base(argv[at-2]), "python") && path.Base(argv[at-2]) != argv[at-2] {
		a.Python = argv[at-2]
	}
	if dir := path.Dir(argv[at]); dir != "." && at == 0 { // .venv/bin/pytest: its interpreter stands beside it
		a.Python = path.Join(dir, "python")
	}
	a.Args, a.Chosen = kept(argv[at+1:]), chosen(argv[at+1:])
	return a, true
}

func isPytest(word string) bool {
	b := strings.TrimSuffix(path.Base(strings.ReplaceAll(word, `\`, "/")), ".exe")
	return b == "pytest" || b == "py.test"
}

// kept are the options that belong to every run.
func kept(argv []string) []string {
	var out []string
	for i := 0; i < len(argv); i++ {
		w := argv[i]
		name, _, attached := strings.Cut(w, "=")
		next := i+1 < len(argv) && !strings.HasPrefix(argv[i+1], "-")
		switch takes, drop := left[name]; {
		case !strings.HasPrefix(w, "-") || w == "-":
		case drop && takes && !attached && next:
			i++
		case drop, isGlued(w):
		case slices.Contains(valued, w) && i+1 < len(argv):
			out = append(out, w, argv[i+1])
			i++
		default:
			out = append(out, w)
		}
	}
	return out
}

// choosing are the options of which files and tests a run has.
var choosing = []string{"-k", "-m", "--deselect", "--ignore", "--ignore-glob"}

// chosen are the words that choose tests: those options, files, folders and ids.
func chosen(argv []string) []string {
	var out []string
	for i := 0; i < len(argv); i++ {
		w := argv[i]
		name, _, attached := strings.Cut(w, "=")
		next := i+1 < len(argv) && !strings.HasPrefix(argv[i+1], "-")
		switch takes := left[name]; {
		case !strings.HasPrefix(w, "-"):
			out = append(out, w)
		case slices.Contains(choosing, name) && attached, isGlued(w) && slices.Contains(choosing, w[:2]):
			out = append(out, w)
		case slices.Contains(choosing, name) && i+1 < len(argv):
			out = append(out, w, argv[i+1])
			i++
		case takes && !attached && next, slices.Contains(valued, w):
			i++
		}
	}
	return out
}

// isGlued is a short option that is left out, with its value in the same word: "-n4".
func isGlued(w string) bool {
	return len(w) > 2 && w[1] != '-' && slices.Contains([]string{"-n", "-k", "-m"}, w[:2])
}
