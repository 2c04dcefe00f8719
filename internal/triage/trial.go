package triage

import (
	"slices"
	"time"
)

// Purpose is why a trial was run. Only Measure trials enter the tallies of a
// verdict; the others find plans and name causes.
type Purpose string

const (
	// Measure: a trial of an arm that is compared between head and base.
	Measure Purpose = "measure"
	// Ladder: a search for a lag plan that turns the test red.
	Ladder Purpose = "ladder"
	// Explain: minimising, dosing and stretching after a red under lag.
	Explain Purpose = "explain"
)

// Request asks for one trial.
type Request struct {
	Target  Target  `json:"target"`
	Arm     Arm     `json:"arm"`
	Purpose Purpose `json:"purpose"`
	// Seed is the order seed passed to the framework; 0 for the source's order.
	Seed int64 `json:"seed,omitempty"`
	// With are the tests of the package that run before the target, in this
	// order, in place of all of them; only in the package's company. The order is
	// that of an earlier run with the same Seed.
	With []string `json:"with,omitempty"`
	// WithFiles are the files of the suite that run before the target, in this
	// order, in place of all of them; only in the suite's company. With are then
	// the tests that run of the one file, nil for all of it.
	WithFiles []string `json:"with_files,omitempty"`
}

// Equal reports whether two requests ask for the same trial.
func (r Request) Equal(o Request) bool {
	return r.Target == o.Target && r.Arm == o.Arm && r.Purpose == o.Purpose && r.Seed == o.Seed && slices.Equal(r.With, o.With) && slices.Equal(r.WithFiles, o.WithFiles)
}

// Leftover is a file or process that outlived its trial.
type Leftover struct {
	// Kind is "file" or "process".
	Kind string `json:"kind"`
	// Name is the path below the trial's TMPDIR, or the command.
	Name string `json:"name"`
}

// Trial is one execution of one process tree.
type Trial struct {
	// Seq numbers the trials of a report from 1, in the order they were run.
	Seq     int `json:"seq"`
	Request     // inlined
	// Start is when the process was started.
	Start time.Time `json:"start"`
	// DurationMS is the wall time in milliseconds.
	DurationMS float64 `json:"duration_ms"`
	// Exit is the exit code, -1 when the process was killed.
	Exit   int    `json:"exit"`
	Signal string `json:"signal,omitempty"`
	// Outcome is the target's. Failure is set when it is red.
	Outcome Outcome  `json:"outcome"`
	Failure *Failure `json:"failure,omitempty"`
	// Ran counts the tests that ran in the process, Others are those of them
	// that were red and are not the target (bounded).
	Ran    int      `json:"ran"`
	Others []Result `json:"others,omitempty"`
	// Before are the tests of the target's package that ran before it, in order
	// (bounded), of a red run in their company. After one other file they are that
	// file's.
	Before []string `json:"before,omitempty"`
	// BeforeFiles are the files of the suite that ran before the target's in its
	// process, in order (bounded), of a red run in the whole suite's company.
	BeforeFiles []string `json:"before_files,omitempty"`
	// Decisions are the delays that were injected, in order (bounded;
	// DecisionCount is their true number).
	Decisions     []Decision `json:"decisions,omitempty"`
	DecisionCount int        `json:"decision_count,omitempty"`
	// Stretched are the clock sites that a stretch reached.
	Stretched []string `json:"stretched,omitempty"`
	// LagNotes are lines in which the lag runtime said what it cannot delay
	// (bounded). They are read from the output, which the test writes as well.
	LagNotes  []string   `json:"lag_notes,omitempty"`
	Leftovers []Leftover `json:"leftovers,omitempty"`
	// Note says why the outcome is Invalid or Absent, or what else was odd.
	Note string `json:"note,omitempty"`
	// Output is an excerpt of what the process printed (bounded).
	Output string `json:"output,omitempty"`
}

// SameFailure reports whether the trial was red with the given signature.
func (t Trial) SameFailure(s Signature) bool {
	return t.Outcome.Red() && t.Failure != nil && t.Failure.Signature == s
}
