package vitest

import (
	"context"
	"io"
	"io/fs"

	"github.com/triagebot/triagebot/internal/framework/jstest"
	"github.com/triagebot/triagebot/internal/triage"
)

// Name is this framework's name in a [triage.Target].
const Name = "vitest"

// Adapter runs tests by vitest. It is safe to copy; it keeps no state.
type Adapter jstest.Project

// Options tell a reader what its report leaves out.
type Options = jstest.Options

// Prepare makes a tree ready: see [jstest.Project.Prepare].
func (a Adapter) Prepare(ctx context.Context, exec triage.Exec, b triage.BuildSpec) (triage.Prepared, error) {
	return jstest.Project(a).Prepare(ctx, exec, dialect, b)
}

// Command is the process of one trial.
func (a Adapter) Command(r triage.RunSpec) triage.Command {
	return jstest.Project(a).Command(dialect, r)
}

// Results reads what a trial told: see [jstest.Project.Results].
func (a Adapter) Results(r triage.RunSpec, end triage.End, output io.Reader) ([]triage.Result, error) {
	return jstest.Project(a).Results(dialect, r, end, output)
}

// Detect finds the directories whose tests vitest runs.
func Detect(root fs.FS) []jstest.Found { return jstest.Detect(root, dialect) }

// ReadJUnit reads the failures of a JUnit XML report: see [jstest.ReadJUnit].
func ReadJUnit(r io.Reader, o Options) ([]triage.Failure, error) {
	return jstest.ReadJUnit(r, dialect, o)
}

// ReadJSON reads the failures of vitest's JSON report: see [jstest.ReadJSON].
func ReadJSON(r io.Reader, o Options) ([]triage.Failure, error) {
	return jstest.ReadJSON(r, dialect, o)
}

// ReadTAP reads the failures of vitest's TAP: see [jstest.ReadVitestTAP].
func ReadTAP(r io.Reader, o Options) ([]triage.Failure, error) {
	return jstest.ReadVitestTAP(r, dialect, o)
}

// ReadLog reads the failures out of vitest's raw output: see [jstest.ReadLog].
func ReadLog(r io.Reader, o Options) ([]triage.Failure, error) {
	return jstest.ReadLog(r, dialect, o)
}

// Survey asks what a tree has to run these tests with: see [jstest.Project.Survey].
func (a Adapter) Survey(ctx context.Context, exec triage.Exec, tree string) (jstest.Survey, error) {
	return jstest.Project(a).Survey(ctx, exec, dialect, tree)
}
