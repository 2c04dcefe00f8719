package rerun

import (
	"context"
	"io"

	"github.com/triagebot/triagebot/internal/triage"
)

// Adapter is what rerun needs of a test framework.
type Adapter interface {
	// Prepare makes a package ready on one tree. A package that does not build
	// is no error: Prepared.Failure is set.
	Prepare(ctx context.Context, exec triage.Exec, b triage.BuildSpec) (triage.Prepared, error)
	// Command is the process of one trial.
	Command(r triage.RunSpec) triage.Command
	// Results reads what a trial printed. There is always one for the target.
	Results(r triage.RunSpec, end triage.End, output io.Reader) ([]triage.Result, error)
}

// OneProcess is an [Adapter] whose framework loads the files of a suite into one
// process, and can be told which of them run before a test
// ([triage.RunSpec].WithFiles). What one file leaves there meets the next one; with a
// process or a context for each file only what is outside of them is shared, and
// no order of files can be asked for.
type OneProcess interface {
	Adapter
	OneProcess()
}

// Engine makes instrumented copies for lag; nil where there is none.
type Engine interface {
	// Instrument prepares the package of a tree, which stands in pkgDir. Files go
	// below out, never into the tree.
	Instrument(ctx context.Context, exec triage.Exec, tree, pkg, pkgDir, out string) (Instrumentation, error)
}

// Instrumentation is an instrumented copy of one package and what it reaches.
type Instrumentation interface {
	// Overlay is the absolute path of the overlay that the build reads.
	Overlay() string
	Sites() []triage.Site
	// Heal drops the sites that a compile error of the copy points at and tells
	// how many.
	Heal(compileOutput []byte) (dropped int, err error)
	// Skipped says which files are not instrumented, and why.
	Skipped() []string
}
