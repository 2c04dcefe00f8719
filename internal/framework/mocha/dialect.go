package mocha

import "github.com/triagebot/triagebot/internal/framework/jstest"

var dialect = jstest.Dialect{Name: Name, Package: "mocha", Separator: " ", Reporter: "mocha.cjs", Arguments: arguments}

// arguments are those of one trial. The "spec" of a project's own configuration
// is added by mocha to the file named here; the pattern and the results keep the
// tests of other files out. What a file's tests left running is not waited for, as
// with jest.
func arguments(t jstest.Trial) []string {
	var args []string
	if t.File != "" {
		args = append(append(args, t.Before...), t.File, "--exit")
	}
	args = append(args, "--reporter", t.Reporter, "--retries", "0", "--no-parallel", "--no-bail", "--no-watch")
	if t.Test != "" {
		args = append(args, "--grep", t.Pattern)
	}
	return args
}
