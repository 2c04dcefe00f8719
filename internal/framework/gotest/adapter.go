package gotest

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

// Adapter builds and runs Go tests as the user's suite does. The zero value is
// a plain "go test". It is made by [ParseCommand] or by hand.
type Adapter struct {
	// Suite is the suite's name in targets; "go" when empty.
	Suite string
	// Flags are the build flags of the suite, as they are given to "go test -c".
	Flags []string
	// TestFlags are flags of the test binary in their "-test." form: -test.short,
	// -test.cpu=2, -test.parallel=4.
	TestFlags []string
	// Env is added to the environment of builds and trials, as KEY=VALUE.
	Env []string
	// TestArgs are the suite's own arguments, what stands after -args.
	TestArgs []string
	// Dir is the suite's directory relative to the tree's root: relative
	// package patterns are resolved there.
	Dir string
	// Race is set when the suite itself runs under the race detector.
	Race bool
	// Run, Skip and Shuffle are the suite's own -run, -skip and -shuffle. They
	// are used in the package scope only.
	Run, Skip, Shuffle string
	// Count is the suite's -count, 0 when not given.
	Count int
	// Timeout is the suite's -timeout, 0 when not given.
	Timeout time.Duration
	// Report is the file in which the suite's command leaves its results
	// (gotestsum's --jsonfile or --junitfile), empty when there is none.
	Report string
	// JSON is set when the suite's command prints events (-json).
	JSON bool
	// Checkout is the absolute root of the user's own checkout. A tree that loads
	// files from there says nothing.
	Checkout string
	// Dropped are the suite's flags that are not used, because they write
	// files into the tree or make no sense for one test.
	Dropped []string
}

// timeoutMargin is how much earlier than the trial's cap the testing package's
// own alarm fires, so that it can still say which test hung.
const timeoutMargin = 2 * time.Second

// Command is the command of one trial. Its Argv is empty when the package has
// no test binary: then nothing can be run and the outcome is Absent.
func (a Adapter) Command(s triage.RunSpec) triage.Command {
	if s.Prepared.Bin == "" {
		return triage.Command{Dir: s.Prepared.Dir}
	}
	argv := []string{s.Prepared.Bin, "-test.v=test2json", "-test.paniconexit0", "-test.count=1"}
	if t := a.alarm(s.Timeout); t > 0 {
		argv = append(argv, "-test.timeout="+t.String())
	}
	if s.Scope == triage.Alone && !s.Target.IsCommand() {
		argv = append(argv, "-test.run="+RunPattern(s.Target.Test))
	} else if s.With != nil {
		argv = append(argv, "-test.run="+anyOf(append(slices.Clone(s.With), topTest(RewriteName(s.Target.Test)))))
		argv = append(argv, shuffle(s.Seed)...) // all tests are shuffled before some are chosen: the order stays
	} else {
		argv = append(argv, a.company(s.Seed)...)
	}
	argv = append(append(argv, a.TestFlags...), s.Args...)
	if len(a.TestArgs) > 0 {
		argv = append(argv, a.TestArgs...)
	}
	env := append([]string{}, a.Env...)
	env = append(env, "PWD="+s.Prepared.Dir)
	if a.Race || s.Detector == "race" {
		env = append(env, raceEnv(env))
	}
	return triage.Command{Dir: s.Prepared.Dir, Argv: argv, Env: env}
}

// company is the selection of the package scope: the suite's own.
func (a Adapter) company(seed int64) []string {
	var argv []string
	if a.Run != "" {
		argv = append(argv, "-test.run="+a.Run)
	}
	if a.Skip != "" {
		argv = append(argv, "-test.skip="+a.Skip)
	}
	return append(argv, shuffle(seed)...)
}

// shuffle is the order of a seed; 0 is that of the source.
func shuffle(seed int64) []string {
	if seed == 0 {
		return nil
	}
	return []string{"-test.shuffle=" + strconv.FormatInt(seed, 10)}
}

// alarm is the testing package's time limit below the trial's cap: two seconds
// less, or a tenth when that is less, and never more than the suite's own.
func (a Adapter) alarm(limit time.Duration) time.Duration {
	if limit > 0 {
		limit -= min(timeoutMargin, limit/10)
	}
	if a.Timeout > 0 && (limit == 0 || a.Timeout < limit) {
		return a.Timeout
	}
	return limit
}

// raceEnv is the user's GORACE with the pause at exit turned off: the detector
// waits a second at the end of each process by default.
func raceEnv(env []string) string {
	const own = "atexit_sleep_ms=0"
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], "GORACE="); ok && v != "" {
			return "GORACE=" + v + " " + own
		}
	}
	return "GORACE=" + own
}

// target names a test of a package of the adapter's suite.
func (a Adapter) target(pkg, test string) triage.Target {
	return triage.Target{Suite: Options{Suite: a.Suite}.suite(), Framework: Name, Package: pkg, Test: test}
}
