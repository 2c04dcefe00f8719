package gh

import "io"

// SummaryBytes is the most that one step may write to its job summary.
const SummaryBytes = 1 << 20

// AnnotationsShown is how many annotations of a level GitHub shows of a step.
const AnnotationsShown = 10

// Runner is the GitHub runner under a step: its log, outputs and summary.
// Outside Actions everything but Fence's text is dropped.
type Runner struct{}

// NewRunner reads GITHUB_ACTIONS, GITHUB_OUTPUT, GITHUB_STEP_SUMMARY and
// RUNNER_DEBUG through getenv and writes commands to w, which must be the
// step's standard output.
func NewRunner(getenv func(string) string, w io.Writer) *Runner { return &Runner{} }

// Active reports whether a runner is there.
func (r *Runner) Active() bool { return false }

// Debug reports whether the user asked for a debug log.
func (r *Runner) Debug() bool { return false }

// Input reads an action input by its name in action.yml.
func (r *Runner) Input(name string) string { return "" }

// Output sets an output of the step. The name is a word of ours; the value may
// be anything.
func (r *Runner) Output(name, value string) error { return errNotBuilt }

// Summary adds Markdown to the job summary. Beyond [SummaryBytes] it is
// [ErrTooLong] and nothing is written: GitHub would drop the whole summary.
func (r *Runner) Summary(markdown string) error { return errNotBuilt }

// Annotate shows a remark in the check and on the file. It is false when ten of
// the level were shown already: GitHub would drop it.
func (r *Runner) Annotate(a Annotation) bool { return false }

// Mask hides a secret in the log from here on.
func (r *Runner) Mask(secret string) {}

// Group folds what write writes, under a title.
func (r *Runner) Group(title string, write func() error) error { return errNotBuilt }

// Fence lets write print untrusted text: between the fences the runner obeys no
// command in it. The fence's word is new and random each time. Nothing else may
// be written to the log meanwhile, and standard error is not covered.
func (r *Runner) Fence(write func(w io.Writer) error) error { return errNotBuilt }
