package mocha

import (
	"context"
	"io"
	"io/fs"

	"github.com/triagebot/triagebot/internal/framework/jstest"
	"github.com/triagebot/triagebot/internal/triage"
)

// Name is this framework's name in a [triage.Target].
const Name = "mocha"

// Adapter runs tests by mocha. It is safe to copy; it keeps no state.
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

// OneProcess says that mocha runs the files of a suite in one process.
func (a Adapter) OneProcess() {}

// Results reads what a trial told: see [jstest.Project.Results].
func (a Adapter) Results(r triage.RunSpec, end triage.End, output io.Reader) ([]triage.Result, error) {
	return jstest.Project(a).Results(dialect, r, end, output)
}

// Detect finds the directories whose tests mocha runs.
func Detect(root fs.FS) []jstest.Found { return jstest.Detect(root, dialect) }

// ReadJUnit reads the failures of a JUnit XML report: see [jstest.ReadJUnit].
func ReadJUnit(r io.Reader, o Options) ([]triage.Failure, error) {
	return jstest.ReadJUnit(r, dialect, o)
}

// ReadJSON reads the failures of mocha's JSON report: see [jstest.ReadJSON].
func ReadJSON(r io.Reader, o Options) ([]triage.Failure, error) {
	return jstest.ReadJSON(r, dialect, o)
}

// ReadTAP reads the failures of mocha's TAP: see [jstest.ReadMochaTAP].
func ReadTAP(r io.Reader, o Options) ([]triage.Failure, error) {
	return jstest.ReadMochaTAP(r, dialect, o)
}

// Survey asks what a tree has to run these tests with: see [jstest.Project.Survey].
func (a Adapter) Survey(ctx context.Context, exec triage.Exec, tree string) (jstest.Survey, error) {
	return jstest.Project(a).Survey(ctx, exec, dialect, tree)
}

// ReadLog reads the failures out of mocha's raw output: see [jstest.ReadMochaLog].
func ReadLog(r io.Reader, o Options) ([]triage.Failure, error) {
	return jstest.ReadMochaLog(r, dialect, o)
}
