package jest

import (
	"strconv"

	"github.com/triagebot/triagebot/internal/framework/jstest"
	"github.com/triagebot/triagebot/internal/triage"
)

var dialect = jstest.Dialect{Name: Name, Package: "jest", Separator: " ", Reporter: "jest.cjs", Arguments: arguments}

// arguments are those of one trial. jest matches names without regard to case,
// so more may run than was asked for. Its cache of transformed files is kept
// between trials, out of the tree. Once the tests of a file are over it does not
// wait for what they left running: a timer that lag let slip through a test's end
// would keep the trial until its time is up.
//
// The whole suite around a test runs without the cache: it tells jest which files
// took long or failed before, and those come first the next time. A run of CI
// mostly begins without one.
func arguments(t jstest.Trial) []string {
	args := []string{"--ci", "--runInBand", "--coverage=false", "--watchAll=false", "--passWithNoTests", "--reporters=" + t.Reporter, "--cacheDirectory=" + t.Cache}
	if t.Run.Scope == triage.InSuite && t.Run.Target.Package != "" {
		args = append(args, "--cache=false")
	}
	if t.Test != "" {
		args = append(args, "--testNamePattern="+t.Pattern)
	}
	if t.Run.Seed != 0 {
		args = append(args, "--randomize", "--seed="+strconv.FormatInt(t.Run.Seed, 10))
	}
	if t.File != "" {
		args = append(args, "--forceExit", "--runTestsByPath", t.File)
	}
	return args
}
