package nodetest

import (
	"context"
	"io"
	"io/fs"

	"github.com/triagebot/triagebot/internal/framework/jstest"
	"github.com/triagebot/triagebot/internal/triage"
)

// Name is this framework's name in a [triage.Target].
const Name = "nodetest"

// Adapter runs tests by Node's own runner. It is safe to copy; it keeps no state.
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

// Detect finds the directories whose tests Node's own runner runs.
func Detect(root fs.FS) []jstest.Found { return jstest.Detect(root, dialect) }

// ReadJUnit reads the failures of a JUnit XML report: see [jstest.ReadJUnit].
func ReadJUnit(r io.Reader, o Options) ([]triage.Failure, error) {
	return jstest.ReadJUnit(r, dialect, o)
}

// Survey asks what a tree has to run these tests with: see [jstest.Project.Survey].
func (a Adapter) Survey(ctx context.Context, exec triage.Exec, tree string) (jstest.Survey, error) {
	return jstest.Project(a).Survey(ctx, exec, dialect, tree)
}

// ReadTAP reads the failures out of the protocol: see [jstest.ReadTAP].
func ReadTAP(r io.Reader, o Options) ([]triage.Failure, error) { return jstest.ReadTAP(r, dialect, o) }

// ReadLog reads the failures out of a raw log: see [jstest.ReadNodeLog].
func ReadLog(r io.Reader, o Options) ([]triage.Failure, error) {
	return jstest.ReadNodeLog(r, dialect, o)
}
