package rerun

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/triage"
)

// Limits of one trial.
const (
	// maxSpool bounds what is kept of a trial's output on disk: a test that
	// floods its log must not fill the disk, and reports are read to their end.
	maxSpool = 64 << 20
	// maxExcerpt bounds the output kept in the record, per trial.
	maxExcerpt = 4 << 10
	// maxOthers bounds the other red tests kept per trial.
	maxOthers = 10
	// maxDecisions bounds the lag decisions kept per trial.
	maxDecisions = 200
	// buildTimeout bounds one build: cold builds of large modules take minutes.
	buildTimeout = 15 * time.Minute
	// killGrace is how long a test may take to say where it hangs.
	killGrace = 2 * time.Second
)

// Config is what a [Runner] needs to know.
type Config struct {
	Adapter Adapter
	// Engine is nil when lag is off.
	Engine Engine
	// Trees are the absolute worktrees of head and base. An empty one cannot be run.
	Trees map[triage.Side]string
	// Dir is an absolute working directory of our own for binaries, overlays and
	// temporary directories of trials.
	Dir string
	// Env is the clean environment of every process, as KEY=VALUE.
	Env []string
	// Timeout bounds one trial.
	Timeout time.Duration
	// Command is the suite's own command, run below CommandDir of a tree. It is
	// the trial of a target without package and test.
	Command    []string
	CommandDir string
	// Building, when set, is told before a build starts.
	Building func(side triage.Side, pkg string, lagged bool)
	// Beside, when set, is asked after each trial what else used the machine
	// meanwhile; empty for nothing. It becomes the note of a trial with a result.
	Beside func() string
}

// Stats is what a runner used.
type Stats struct {
	Builds  int
	BuildMS float64
}

// Runner starts the processes of trials, one at a time. It is not safe for
// concurrent use: two trials at once would load each other.
type Runner struct {
	cfg      Config
	families map[family]*prepared
	sites    map[string]triage.Site
	skipped  []string
	// learns is set for an engine whose sites are known only from the logs.
	learns bool
	stats  Stats
	trials int
	outs   int // binaries asked for
	// results are those of the last trial, timeout is its cap where it has its own.
	results []triage.Result
	timeout time.Duration

	mu sync.Mutex // guards nothing but the misuse of Run
}

// New makes a runner. Close removes what it built.
func New(cfg Config) (*Runner, error) {
	for _, d := range []string{"bin", "tmp", "lag", "build"} {
		if err := os.MkdirAll(filepath.Join(cfg.Dir, d), 0o700); err != nil {
			return nil, fmt.Errorf("making the working directory: %w", err)
		}
	}
	return &Runner{cfg: cfg, families: map[family]*prepared{}, sites: map[string]triage.Site{}}, nil
}

// Close removes binaries, overlays and what is left of trials.
func (r *Runner) Close() error { return RemoveAll(r.cfg.Dir) }

// Stats tells what was used so far.
func (r *Runner) Stats() Stats { return r.stats }

// Skipped says which files no lag can be put into, and why, each once.
func (r *Runner) Skipped() []string { return r.skipped }

// Site finds a site by its id among the instrumented packages.
func (r *Runner) Site(id string) (triage.Site, bool) {
	s, ok := r.sites[id]
	return s, ok
}

// Run carries out one trial. An error means that the trial says nothing because
// we could not run it (the disk is full, the context was cancelled); whatever
// the test does is in the trial.
func (r *Runner) Run(ctx context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, error) {
	t, _, err := r.RunAll(ctx, req, plan, 0)
	return t, err
}

// RunAll is [Runner.Run] for a process of many tests: it also returns what is
// known of each of them, nil where the process was not started or could not be
// read, and has a cap on its time of its own, 0 for that of the runner.
func (r *Runner) RunAll(ctx context.Context, req triage.Request, plan *triage.LagPlan, timeout time.Duration) (triage.Trial, []triage.Result, error) {
	if !r.mu.TryLock() {
		return triage.Trial{}, nil, fmt.Errorf("running %s: another trial is running", req.Target)
	}
	defer r.mu.Unlock()
	r.results, r.timeout = nil, timeout
	t, err := r.run(ctx, req, plan)
	if r.cfg.Beside != nil && err == nil {
		noteBeside(&t, len(r.results), r.cfg.Beside())
	}
	return t, r.results, err
}

// noteBeside adds to a trial that passed or was red what ran beside it. The note of
// another says why it has no result.
func noteBeside(t *triage.Trial, results int, note string) {
	if note == "" || results == 0 || t.Outcome != triage.Pass && !t.Outcome.Red() {
		return
	}
	if t.Note != "" {
		note = t.Note + "; " + note
	}
	t.Note = note
}

// limit is the cap on the time of the trial that is running.
func (r *Runner) limit() time.Duration { return cmp.Or(r.timeout, r.cfg.Timeout) }

func (r *Runner) run(ctx context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, error) {
	t := triage.Trial{Request: req, Start: time.Now().UTC()}
	tree := r.cfg.Trees[req.Arm.Side]
	if tree == "" {
		return invalid(t, "the "+req.Arm.Side.String()+" tree is not there"), nil
	}
	p, err := r.prepare(ctx, family{side: req.Arm.Side, pkg: req.Target.Package, lagged: instrumented(plan), detector: req.Arm.Detector, suite: isSuite(req)}, req.Target.IsCommand())
	if err != nil {
		return t, err
	}
	if done, ok := unbuilt(t, p); ok {
		return done, nil
	}
	return r.execute(ctx, t, p.Prepared, plan)
}

// instrumented reports whether a plan needs the instrumented copy. A plan that
// only slows the machine runs the ordinary binary.
func instrumented(p *triage.LagPlan) bool {
	return p != nil && (len(p.Kinds) > 0 || len(p.Decisions) > len(lag.Options(p)) || p.CleanupMS > 0 || p.Stretch.Timeouts > 1 || p.Stretch.Sleeps > 1)
}

func invalid(t triage.Trial, note string) triage.Trial {
	t.Outcome, t.Note = triage.Invalid, note
	return t
}

// unbuilt ends a trial whose package could not be made ready. For the command
// itself that is the failure; for a named test it says nothing.
func unbuilt(t triage.Trial, p *prepared) (triage.Trial, bool) {
	switch {
	case p.spoilt != "":
		return invalid(t, p.spoilt), true
	case p.Failure == nil:
		return t, false
	}
	f := *p.Failure
	f.Target = t.Target
	t.Failure, t.Exit, t.Output = &f, 1, excerpt(p.Output, maxExcerpt)
	t.DurationMS = ms(p.took)
	if t.Target.IsCommand() {
		t.Outcome = triage.Error
		return t, true
	}
	if f.Signature.Phase == triage.PhaseSetup {
		return invalid(t, f.Message), true
	}
	note := t.Target.Package + " does not build on " + t.Arm.Side.String()
	if why, _, _ := strings.Cut(f.Message, "\n"); why != "" {
		note += ": " + strings.ToValidUTF8(why[:min(len(why), maxWhy)], "")
	}
	return invalid(t, note), true
}

// maxWhy bounds what a note tells of a failed build, in bytes.
const maxWhy = 200

// exec is the triage.Exec handed to adapters and engines: a build under the
// clean environment. Its temporary directory is ours, for what a tool leaves
// there when it is killed at the end of the budget.
func (r *Runner) exec(ctx context.Context, c triage.Command) ([]byte, triage.End, error) {
	res, err := proc.Run(ctx, proc.Spec{
		Dir:       c.Dir,
		Argv:      c.Argv,
		Env:       slices.Concat(r.cfg.Env, []string{"TMPDIR=" + filepath.Join(r.cfg.Dir, "build"), "GOTMPDIR="}, c.Env),
		Timeout:   buildTimeout,
		OutputCap: maxSpool,
	})
	if err != nil {
		return nil, triage.End{}, err
	}
	if ctx.Err() != nil {
		return nil, triage.End{}, ctx.Err()
	}
	return res.Output, end(res), nil
}

func end(res proc.Result) triage.End {
	return triage.End{Exit: res.Exit, Signal: res.Signal, TimedOut: res.TimedOut}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
