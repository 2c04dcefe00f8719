package triage

import (
	"context"
	"time"
)

// Command is a process to be started: never through a shell.
type Command struct {
	// Dir is the absolute working directory.
	Dir  string
	Argv []string
	// Env is added to the clean environment of every trial, as KEY=VALUE.
	Env []string
}

// End is how a process ended.
type End struct {
	// Exit is the exit code, -1 when a signal ended it.
	Exit   int
	Signal string
	// TimedOut is set when our own time cap killed it.
	TimedOut bool
}

// Exec runs a command to its end and returns what it printed (bounded). The
// error is for a process that could not be started or was cancelled; a non-zero
// exit is no error.
type Exec func(ctx context.Context, c Command) (output []byte, end End, err error)

// BuildSpec asks a framework to prepare one package on one tree, once for all
// trials of a family.
type BuildSpec struct {
	// Tree is the absolute root of the worktree.
	Tree    string
	Package string
	// Out is an absolute path for the built binary, for frameworks that build.
	Out string
	// Overlay is the absolute path of what a lag engine laid down: a go build
	// overlay, or the directory of a runtime; empty without lag.
	Overlay string
	// Detector is "race" or empty, as in [Arm].
	Detector string
}

// Prepared is a package that is ready to run, or the failure to make it so.
type Prepared struct {
	// Dir is the absolute directory the tests run in.
	Dir string
	// Bin is the built test binary, empty for frameworks without one or for a
	// package without tests.
	Bin string
	// Env is what the adapter itself adds to the environment of every trial of
	// the package, as KEY=VALUE.
	Env []string
	// Failure is set when the package does not build; Output is what the tool printed.
	Failure *Failure
	Output  []byte
}

// RunSpec asks a framework for the command of one trial.
type RunSpec struct {
	Prepared Prepared
	Tree     string
	Target   Target
	Scope    Scope
	// Seed is the order seed, 0 for the source's order.
	Seed int64
	// With, in the package's company, are the only tests to run before the
	// target, in this order; nil for all of the package.
	With []string
	// WithFiles, in the suite's company, are the only files to run before the
	// target, in this order; nil for the whole suite. With are then tests of the
	// one file, nil for all of it.
	WithFiles []string
	// Args are options of the project's own, given to the framework's command.
	Args []string
	// Timeout is the trial's cap; the framework's own timeout is set a little
	// below it so that the framework can still say which test hung.
	Timeout  time.Duration
	Detector string
}
