package vitest

import (
	"strconv"

	"github.com/triagebot/triagebot/internal/framework/jstest"
)

var dialect = jstest.Dialect{Name: Name, Package: "vitest", Separator: " > ", Reporter: "vitest.mjs", Arguments: arguments}

// arguments are those of one trial. vitest takes the file as a part of a name,
// so others whose names hold it run too; the results leave them out.
func arguments(t jstest.Trial) []string {
	args := []string{"run"}
	if t.File != "" {
		args = append(args, t.File)
	}
	if t.Test != "" {
		args = append(args, "--testNamePattern="+t.Pattern)
	}
	args = append(args, "--reporter="+t.Reporter, "--retry=0", "--bail=0", "--coverage.enabled=false", "--cache=false", "--passWithNoTests")
	if t.Run.Seed != 0 {
		args = append(args, "--sequence.shuffle", "--sequence.seed="+strconv.FormatInt(t.Run.Seed, 10))
	}
	return args
}
