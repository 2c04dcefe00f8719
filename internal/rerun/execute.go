package rerun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/triage"
)

// room is the directory of one trial. Its tmp is the trial's own TMPDIR; plan,
// decision log and output stand beside it, where the test does not look.
type room struct{ dir string }

func (r *Runner) newRoom() (room, error) {
	r.trials++
	m := room{filepath.Join(r.cfg.Dir, "tmp", strconv.Itoa(r.trials))}
	if err := os.MkdirAll(m.tmp(), 0o700); err != nil {
		return m, fmt.Errorf("making a trial's directory: %w", err)
	}
	return m, nil
}

func (m room) tmp() string  { return filepath.Join(m.dir, "tmp") }
func (m room) plan() string { return filepath.Join(m.dir, "plan.json") }
func (m room) log() string  { return filepath.Join(m.dir, "decisions.jsonl") }
func (m room) out() string  { return filepath.Join(m.dir, "output") }

// execute starts the trial's process and reads it to its end.
func (r *Runner) execute(ctx context.Context, t triage.Trial, p triage.Prepared, plan *triage.LagPlan) (triage.Trial, error) {
	m, err := r.newRoom()
	if err != nil {
		return t, err
	}
	defer RemoveAll(m.dir)
	spec := triage.RunSpec{
		Prepared: p, Tree: r.cfg.Trees[t.Arm.Side], Target: t.Target, Scope: t.Arm.Scope,
		Seed: t.Seed, With: t.With, WithFiles: t.WithFiles, Args: lag.Options(plan), Timeout: r.limit(), Detector: t.Arm.Detector,
	}
	env, err := trialEnv(m, plan)
	if err != nil {
		return t, err
	}
	stopBurners, err := burn(ctx, plan)
	if err != nil {
		return t, err
	}
	command := r.cfg.Adapter.Command(spec)
	if isSuite(t.Request) {
		command = r.suiteCommand(spec.Tree)
	}
	if len(command.Argv) == 0 {
		stopBurners()
		t.Outcome, t.Note = triage.Absent, t.Target.Package+" has no tests on "+t.Arm.Side.String()
		return t, nil
	}
	res, cut, err := r.start(ctx, command, env, m)
	stopBurners()
	if isSuite(t.Request) && notThere(err) {
		t.Outcome, t.Note = triage.Absent, fmt.Sprintf("the command cannot be started on %s: %v", t.Arm.Side, err)
		return t, nil
	}
	if err != nil {
		return t, fmt.Errorf("running a trial: %w", err)
	}
	if ctx.Err() != nil {
		return t, ctx.Err()
	}
	fill(&t, res)
	if r.results, err = readResults(&t, r.cfg.Adapter, spec, end(res), m); err != nil {
		return t, err
	}
	if cut && resultMissing(t) {
		t = invalid(t, fmt.Sprintf("the test printed more than %d MiB and its result is behind that", maxSpool>>20))
		t.Failure = nil
	}
	if err := r.readDecisions(&t, plan, m); err != nil {
		return t, err
	}
	if instrumented(plan) {
		if t.LagNotes, err = lagNotes(m.out()); err != nil {
			return t, err
		}
	}
	r.noteOptions(&t, plan)
	t.Leftovers = append(t.Leftovers, leftFiles(m.tmp())...)
	return t, nil
}

// notThere reports whether a process could not be started because its program or
// its directory is not there.
func notThere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound)
}

// resultMissing reports whether the output told how the process ended, but not
// the test.
func resultMissing(t triage.Trial) bool {
	return !isSuite(t.Request) && (t.Outcome == triage.Unknown || t.Outcome == triage.Absent ||
		t.Failure != nil && t.Failure.Signature.Phase == triage.PhaseExit)
}

// start runs the process with its output in the room; cut tells that the output
// was longer than what is kept.
func (r *Runner) start(ctx context.Context, c triage.Command, env []string, m room) (res proc.Result, cut bool, err error) {
	out, err := os.Create(m.out())
	if err != nil {
		return res, false, err
	}
	defer out.Close()
	all := append(append(append([]string{}, r.cfg.Env...), c.Env...), env...)
	sink := &cappedWriter{w: out, left: maxSpool}
	res, err = proc.Run(ctx, proc.Spec{
		Dir: c.Dir, Argv: c.Argv, Env: all, Timeout: r.limit(),
		TimeoutSignal: syscall.SIGQUIT, Grace: killGrace, OutputCap: maxExcerpt, Sink: sink,
	})
	if err == nil && sink.err != nil {
		err = sink.err
	}
	return res, sink.cut, err
}

// trialEnv is what a trial's environment has beyond the clean one.
func trialEnv(m room, plan *triage.LagPlan) ([]string, error) {
	env := []string{"TMPDIR=" + m.tmp()}
	if plan == nil {
		return env, nil
	}
	if plan.Procs > 0 {
		env = append(env, "GOMAXPROCS="+strconv.Itoa(plan.Procs))
	}
	if !instrumented(plan) {
		return env, nil
	}
	if err := lag.WritePlan(m.plan(), *plan); err != nil {
		return nil, err
	}
	return append(env, lag.EnvPlan+"="+m.plan(), lag.EnvLog+"="+m.log()), nil
}

// fill copies what the process itself tells.
func fill(t *triage.Trial, res proc.Result) {
	t.Start, t.DurationMS = res.Start.UTC(), ms(res.Wall)
	t.Exit, t.Signal = res.Exit, res.Signal
	t.Output = excerpt(res.Output, maxExcerpt)
	t.Note = res.Warning
	for _, p := range res.Survivors {
		t.Leftovers = append(t.Leftovers, triage.Leftover{Kind: "process", Name: p.Command})
	}
}

// readResults finds the target's outcome in the output, and returns all of it.
func readResults(t *triage.Trial, a Adapter, spec triage.RunSpec, e triage.End, m room) ([]triage.Result, error) {
	f, err := os.Open(m.out())
	if err != nil {
		return nil, fmt.Errorf("reading a trial's output: %w", err)
	}
	defer f.Close()
	var results []triage.Result
	if isSuite(t.Request) {
		results = []triage.Result{CommandResult(t.Target, e, spec.Tree, []byte(t.Output))}
	} else {
		results, err = a.Results(spec, e, f)
	}
	if err != nil {
		*t = invalid(*t, "the output could not be read: "+err.Error())
		return nil, nil
	}
	t.Before = before(*t, results)
	if _, ok := a.(OneProcess); ok {
		t.BeforeFiles = filesBefore(*t, results)
	}
	for _, res := range results {
		switch {
		case res.Target == t.Target:
			t.Outcome, t.Failure = res.Outcome, trimmed(res.Failure)
			t.Note = cmp.Or(res.Note, t.Note)
		case res.Outcome.Red() && len(t.Others) < maxOthers:
			res.Failure = trimmed(res.Failure)
			t.Others = append(t.Others, res)
		}
		if res.Outcome != triage.Absent {
			t.Ran++
		}
	}
	inSuite(t, results)
	return results, nil
}

func trimmed(f *triage.Failure) *triage.Failure {
	if f == nil {
		return nil
	}
	c := *f
	c.Excerpt = excerpt([]byte(c.Excerpt), maxExcerpt/2)
	return &c
}

// readDecisions copies what the lag runtime says it did.
func (r *Runner) readDecisions(t *triage.Trial, plan *triage.LagPlan, m room) error {
	if !instrumented(plan) {
		return nil
	}
	f, err := os.Open(m.log())
	if os.IsNotExist(err) {
		return nil // nothing was delayed
	}
	if err != nil {
		return fmt.Errorf("reading the decision log: %w", err)
	}
	defer f.Close()
	l, err := lag.ReadLog(io.Reader(f))
	if err != nil {
		*t = invalid(*t, "the decision log could not be read: "+err.Error())
		return nil
	}
	if r.learns {
		if err := r.learnFrom(f); err != nil {
			return err
		}
	}
	t.DecisionCount, t.Stretched = l.Count, l.Stretched
	t.Decisions = l.Decisions[:min(len(l.Decisions), maxKept(t.Outcome))]
	return nil
}

// learnFrom reads from a decision log what it tells of its sites, for engines
// that know them only when they are passed.
func (r *Runner) learnFrom(log io.ReadSeeker) error {
	if _, err := log.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("reading the decision log: %w", err)
	}
	sites, err := lag.ReadSites(log)
	if err != nil {
		return err
	}
	for _, s := range sites {
		if _, ok := r.sites[s.ID]; !ok {
			r.sites[s.ID] = s
		}
	}
	return nil
}

// maxKept bounds the decisions kept: the search for a cause starts from those of
// a red trial, of the others a few are enough to see that lag was there.
func maxKept(o triage.Outcome) int {
	if o.Red() {
		return maxDecisions
	}
	return maxDecisions / 4
}
