package gotest

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// Results reads what a trial's process printed. It returns one result for each
// test that ran, in order, and always one for the target, first.
//
// The target passes only when the testing package said so and the process
// ended as that allows: exit 0 after its own PASS, or a red that belongs to
// other tests. It is Absent when it did not run in a process that ended well.
func (a Adapter) Results(s triage.RunSpec, end triage.End, output io.Reader) ([]triage.Result, error) {
	if s.Prepared.Bin == "" {
		return []triage.Result{{Target: s.Target, Outcome: triage.Absent}}, nil
	}
	opt := Options{Suite: a.Suite, Package: s.Target.Package, root: s.Tree, PackageDir: func(pkg string) (string, bool) {
		rel, err := filepath.Rel(s.Tree, s.Prepared.Dir)
		if err != nil || !filepath.IsLocal(rel) || pkg != s.Target.Package {
			return "", false
		}
		return filepath.ToSlash(rel), true
	}}
	run := newPkgRun(opt, true)
	if err := readTrial(run, output); err != nil {
		return nil, err
	}
	run.seed = s.Seed
	run.exitLine = endText(end)
	failed := end.Exit != 0 || end.Signal != "" || end.TimedOut
	// A process that ends well says PASS last; an early os.Exit(0) does not.
	early := !failed && (!run.passed || len(run.running()) > 0)
	var command *triage.Failure
	if end.TimedOut && !run.crash.real() {
		run.killed()
		command = run.explain(true)
		if command != nil && command.Signature.Phase == triage.PhaseExit {
			command.Outcome = triage.Timeout
			command.Message = "killed at the time cap"
			command.Signature = triage.Signature{Phase: triage.PhaseTimeout, Message: "test timed out"}
		}
	} else {
		command = run.explain(failed || early && len(run.running()) > 0)
	}
	return run.results(s, command, failed, early), nil
}

// readTrial feeds a process's output to the model.
func readTrial(run *pkgRun, output io.Reader) error {
	scan := scanner{run: run}
	lines := newLineReader(output)
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading trial's output: %w", err)
		}
		scan.line(line)
	}
}

// killed marks the running tests as timed out: our own cap ended the process.
func (p *pkgRun) killed() {
	for _, name := range p.running() {
		t := p.get(name)
		f := triage.Failure{Outcome: triage.Timeout, Message: "killed at the time cap", Excerpt: excerpt(t.text.bytes())}
		f.Signature = triage.Signature{Phase: triage.PhaseTimeout, Message: "test timed out", Func: topTest(name)}
		p.attach(t, f)
	}
}

func endText(end triage.End) string {
	switch {
	case end.Signal != "":
		return "signal: " + signalName(end.Signal)
	case end.Exit != 0:
		return fmt.Sprintf("exit status %d", end.Exit)
	}
	return ""
}

// results lists the tests that ran, the target first.
func (p *pkgRun) results(s triage.RunSpec, command *triage.Failure, failed, early bool) []triage.Result {
	name := RewriteName(s.Target.Test)
	out := []triage.Result{p.targetResult(s, name, command, failed, early)}
	for _, t := range p.inOrder() {
		if t.name == name || t.name == "" {
			continue
		}
		out = append(out, t.result(p.target(t.name)))
	}
	p.number(out)
	if command != nil && !s.Target.IsCommand() {
		out = append(out, triage.Result{Target: command.Target, Outcome: command.Outcome, Failure: command})
	}
	return out
}

// number tells in which order the top-level tests began. A subtest began with
// its parent, for only that can be run or left out.
func (p *pkgRun) number(results []triage.Result) {
	began := map[string]int{}
	for i, t := range p.inOrder() {
		if top := topTest(t.name); began[top] == 0 {
			began[top] = i + 1
		}
	}
	for i, r := range results {
		results[i].Start = began[topTest(RewriteName(r.Target.Test))]
	}
}

func (t *testRun) result(target triage.Target) triage.Result {
	r := triage.Result{Target: target, Outcome: t.outcome, DurationMS: t.elapsed * 1000}
	if t.outcome.Red() {
		r.Failure = t.failure
	}
	return r
}

// targetResult decides the target's outcome.
func (p *pkgRun) targetResult(s triage.RunSpec, name string, command *triage.Failure, failed, early bool) triage.Result {
	if s.Target.IsCommand() {
		return p.commandResult(s, command, failed, early)
	}
	t := p.tests[name]
	var r triage.Result
	if t != nil {
		r = t.result(s.Target)
		if r.Failure != nil {
			r.Failure = retarget(r.Failure, s.Target)
		}
	}
	r.Target = s.Target
	switch {
	case t != nil && t.outcome.Red():
	case command != nil:
		// The process broke outside of every test: nothing it said before counts.
		r.Outcome, r.Failure = command.Outcome, retarget(command, s.Target)
	case t == nil && p.redAncestor(name):
		r.Outcome, r.Note = triage.Invalid, "not reached: the test around it failed first"
	case t == nil:
		r.Outcome = triage.Absent
	case t.outcome == triage.Pass && early:
		f := p.exitFailure(t.text.bytes())
		f.Message = "the process ended with exit status 0 before its tests did"
		r.Outcome, r.Failure = triage.Error, retarget(&f, s.Target)
	}
	return r
}

// redAncestor reports whether a test around the named one was red: then that the
// named one did not run does not mean that it is not there.
func (p *pkgRun) redAncestor(name string) bool {
	for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
		if t := p.tests[name[:i]]; t != nil && t.outcome.Red() {
			return true
		}
	}
	return false
}

func retarget(f *triage.Failure, t triage.Target) *triage.Failure {
	own := *f
	own.Target = t
	return &own
}

// commandResult is the outcome of the package as a whole.
func (p *pkgRun) commandResult(s triage.RunSpec, command *triage.Failure, failed, early bool) triage.Result {
	r := triage.Result{Target: s.Target}
	switch {
	case command != nil:
		r.Outcome, r.Failure = command.Outcome, retarget(command, s.Target)
	case failed:
		for _, t := range p.inOrder() {
			if t.outcome.Red() && t.failure != nil && !t.inherited {
				r.Outcome, r.Failure = t.outcome, retarget(t.failure, s.Target)
				break
			}
		}
	case early:
		r.Outcome = triage.Absent
	default:
		r.Outcome = triage.Pass
	}
	return r
}

// signalName is a signal as the go command prints it: "killed" for SIGKILL.
func signalName(s string) string {
	names := map[string]string{
		"SIGKILL": "killed", "SIGSEGV": "segmentation fault", "SIGABRT": "aborted", "SIGTERM": "terminated",
		"SIGINT": "interrupt", "SIGBUS": "bus error", "SIGQUIT": "quit", "SIGHUP": "hangup",
	}
	if n, ok := names[strings.ToUpper(s)]; ok {
		return n
	}
	return s
}
