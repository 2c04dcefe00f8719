package pytest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// exitMessage is the signature's message of a process that ended before its tests did.
const exitMessage = "process ended early"

// Exit codes of pytest.
const (
	exitInternal = 3
	exitUsage    = 4
)

// Results reads what a trial told. There is always one for the target.
//
// A target whose test was not selected is Absent, one whose file could not be
// imported or whose process broke is Error. A run that loaded project files from
// another copy of the tree says nothing: all its results are Invalid, and the
// note of the target's names the files and the fix.
func (a Adapter) Results(spec triage.RunSpec, end triage.End, output io.Reader) ([]triage.Result, error) {
	if lookup(spec.Prepared.Env, envFence) == "" {
		return a.logResults(spec, end, output)
	}
	s := a.readRun(spec, output)
	if s.err != nil {
		return nil, fmt.Errorf("reading the results of %s: %w", spec.Target, s.err)
	}
	var out []triage.Result
	for i, t := range s.order {
		r := s.result(t, end)
		r.Start = i + 1
		out = append(out, r)
	}
	out = withTarget(out, s.targetResult(spec, end))
	if len(s.outside) > 0 {
		for i := range out {
			out[i].Outcome, out[i].Failure = triage.Invalid, nil
			out[i].Note = contaminated(s.outside)
		}
	}
	return out, nil
}

// contaminated tells of files of another copy of the tree.
func contaminated(files []string) string {
	return truncate("contaminated: the run loaded "+strings.Join(files, ", ")+", which is not this tree's file but another copy of it; "+
		"install the project anew in an environment of each tree (set-up commands, such as python3 -m venv .venv and .venv/bin/pip install . pytest)", 600)
}

// withTarget puts the target's result in, unless the run told of the very test.
func withTarget(rs []triage.Result, target triage.Result) []triage.Result {
	for _, r := range rs {
		if r.Target == target.Target {
			return rs
		}
	}
	return append(rs, target)
}

// trialRun is a run and what else its output showed.
type trialRun struct {
	*run
	err error
	// tail is the end of what was printed between the records.
	tail block
	// missing is set when pytest said that the id names nothing.
	missing bool
}

// readRun reads the records behind the fence.
func (a Adapter) readRun(spec triage.RunSpec, output io.Reader) *trialRun {
	fence := []byte(lookup(spec.Prepared.Env, envFence) + " ")
	s := &trialRun{run: newRun(a.options())}
	in := bufio.NewReaderSize(output, 64<<10)
	for {
		line, err := readLine(in)
		if rest, ok := bytes.CutPrefix(line, fence); ok {
			var rec record
			if json.Unmarshal(rest, &rec) == nil {
				s.add(rec)
			}
		} else if len(line) > 0 {
			line = line[:min(len(line), maxLogLine)]
			s.tail.add(line)
			s.missing = s.missing || line[0] == 'E' && notFound(line)
		}
		if errors.Is(err, io.EOF) {
			return s
		}
		if err != nil {
			s.err = err
			return s
		}
	}
}

// result is what one test of the run came to.
func (s *trialRun) result(t *testRun, end triage.End) triage.Result {
	r := triage.Result{Target: t.target, Outcome: t.outcome, DurationMS: t.ms, Failure: t.failure}
	if t.running && !t.outcome.Red() { // the process ended in the middle of it
		f := s.died(t.target, end)
		r.Outcome, r.Failure = f.Outcome, &f
	}
	return r
}

// died describes a process that ended before the target did.
func (s *trialRun) died(t triage.Target, end triage.End) triage.Failure {
	c := crash{phase: triage.PhaseExit, message: exitMessage, text: string(s.tail.text)}
	fatal := bytes.LastIndex(s.tail.text, []byte(fatalMark))
	switch {
	case end.TimedOut, bytes.Contains(s.tail.text, []byte(hangMark)):
		c.phase, c.message = triage.PhaseTimeout, timeoutMessage
	case fatal >= 0: // a segmentation fault, as faulthandler tells it
		line, _, _ := bytes.Cut(s.tail.text[fatal:], []byte{'\n'})
		c.phase, c.message = triage.PhasePanic, string(line)
		c.text = string(s.tail.text[fatal:])
	case s.internal != "":
		in := readTraceback([]byte(s.internal))
		c.phase, c.message, c.text = triage.PhaseSetup, in.message, s.internal
	}
	f := s.o.failure(t, c)
	if end.Signal != "" && !end.TimedOut {
		f.Message += " (" + end.Signal + ")"
	}
	return f
}

// targetResult is the target's result where the run has none for it.
func (s *trialRun) targetResult(spec triage.RunSpec, end triage.End) triage.Result {
	r := triage.Result{Target: spec.Target}
	red := func(f triage.Failure) triage.Result {
		f.Target = spec.Target
		r.Outcome, r.Failure = f.Outcome, &f
		return r
	}
	for _, f := range s.collect {
		if f.Target.Package == spec.Target.Package || spec.Target.Package == "" {
			return red(f)
		}
	}
	switch {
	case end.TimedOut, end.Signal != "", s.internal != "", end.Exit == exitInternal, !s.finished && s.records > 0 && !s.missing:
		return red(s.died(spec.Target, end))
	case s.missing:
		r.Outcome = triage.Absent
	case end.Exit == exitUsage || s.records == 0:
		r.Outcome = triage.Invalid
		r.Note = "pytest did not start: " + refusal(s.tail.text, spec.Tree) + ": correct its configuration or its arguments"
	case spec.Target.IsCommand(): // the file can be imported and the process came to its end
		r.Outcome = triage.Pass
	case len(s.collect) > 0 && len(s.order) == 0: // pytest stopped at another file
		return red(s.collect[0])
	default:
		r.Outcome = triage.Absent
	}
	return r
}

// logResults reads the raw output of a suite's command that our plugin was not
// loaded into.
func (a Adapter) logResults(spec triage.RunSpec, end triage.End, output io.Reader) ([]triage.Result, error) {
	var out []triage.Result
	l := newLogReader(a.options(), func(t triage.Target) {
		out = append(out, triage.Result{Target: t, Outcome: triage.Pass})
	})
	if err := l.read(output); err != nil && !errors.Is(err, ErrEmpty) {
		return nil, fmt.Errorf("reading the results of %s: %w", spec.Target, err)
	}
	for i := range l.found.list {
		f := &l.found.list[i]
		out = append(out, triage.Result{Target: f.Target, Outcome: f.Outcome, Failure: f})
	}
	own := triage.Result{Target: spec.Target, Outcome: triage.Absent}
	switch s := (&trialRun{run: newRun(a.options())}); {
	case end.TimedOut || end.Signal != "":
		f := s.died(spec.Target, end)
		own.Outcome, own.Failure = f.Outcome, &f
	case len(out) == 0:
		own.Outcome, own.Note = triage.Invalid, "the suite's command told of no test"
	case spec.Target.IsCommand():
		own.Outcome = triage.Pass
	}
	return withTarget(out, own), nil
}
