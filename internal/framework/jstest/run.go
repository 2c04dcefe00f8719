package jstest

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

const (
	// maxRecord bounds one record, in bytes; maxLine what is kept of any other line.
	maxRecord = 1 << 20
	maxLine   = 4 << 10
	maxTail   = 16 << 10
)

// record is one line of our reporters.
type record struct {
	Type   string   `json:"type"`
	File   string   `json:"file"`
	Names  []string `json:"names"`
	State  string   `json:"state"`
	Phase  string   `json:"phase"`
	MS     float64  `json:"ms"`
	Errors []thrown `json:"errors"`
}

// broken is a file, or a describe of it, that could not be set up.
type broken struct {
	failure triage.Failure
	// within is the id of the describe, empty for the whole file.
	within string
}

// testRun is what is known of one test of a trial.
type testRun struct {
	target  triage.Target
	outcome triage.Outcome
	ms      float64
	failure *triage.Failure
	running bool
}

// run is what the records of one trial tell.
type run struct {
	d     Dialect
	o     Options
	tests map[triage.Target]*testRun
	order []*testRun
	// broken are files that could not be imported or whose hooks broke.
	broken []broken
	// stray are errors that no test waited for.
	stray    []thrown
	records  int
	finished bool
	// tail is the end of what was printed between the records.
	tail []byte
}

// readRun reads the records behind the fence.
func readRun(d Dialect, o Options, fence string, output io.Reader) (*run, error) {
	s := &run{d: d, o: o, tests: map[triage.Target]*testRun{}}
	prefix := []byte(fence + " ")
	in := bufio.NewReaderSize(output, 64<<10)
	for {
		line, err := readLine(in)
		if rest, ok := bytes.CutPrefix(line, prefix); ok {
			var r record
			if json.Unmarshal(rest, &r) == nil {
				s.add(r)
			}
		} else if len(line) > 0 {
			s.print(line)
		}
		switch {
		case errors.Is(err, io.EOF):
			return s, nil
		case err != nil:
			return s, fmt.Errorf("reading the output of %s: %w", d.Name, err)
		}
	}
}

// readLine is one line without its end; what is beyond maxRecord is dropped.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line) < maxRecord {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), err
		}
	}
}

func (s *run) print(line []byte) {
	s.tail = append(append(s.tail, line[:min(len(line), maxLine)]...), '\n')
	if over := len(s.tail) - 2*maxTail; over > 0 {
		s.tail = append(s.tail[:0], s.tail[over+maxTail:]...)
	}
}

func (s *run) get(r record) *testRun {
	t := s.d.target(s.o, r.File, s.d.ID(r.Names))
	tr := s.tests[t]
	if tr == nil {
		tr = &testRun{target: t}
		s.tests[t] = tr
		s.order = append(s.order, tr)
	}
	return tr
}

// add takes one record. A test that ran in several projects of a workspace, or
// whose name is taken twice, is red when one of them is.
func (s *run) add(r record) {
	s.records++
	switch r.Type {
	case "start":
		s.get(r).running = true
	case "over":
		s.get(r).running = false
	case "test":
		s.ended(s.get(r), r)
	case "broken":
		t := s.d.target(s.o, r.File, "")
		for _, e := range r.Errors {
			s.broken = append(s.broken, broken{s.d.failure(s.o, t, phase(r.Phase), e), s.d.ID(r.Names)})
		}
	case "stray":
		s.stray = append(s.stray, r.Errors...)
	case "end":
		s.finished = true
	}
}

func (s *run) ended(t *testRun, r record) {
	t.running = false
	t.ms += r.MS
	switch {
	case t.outcome.Red():
	case r.State == "fail":
		var e thrown
		if len(r.Errors) > 0 {
			e = r.Errors[0]
		}
		f := s.d.failure(s.o, t.target, phase(r.Phase), e)
		t.outcome, t.failure = f.Outcome, &f
	case r.State == "pass":
		t.outcome = triage.Pass
	case r.State == "skip" && t.outcome == triage.Unknown:
		t.outcome = triage.Skip
	}
}

func phase(p string) string {
	switch p {
	case triage.PhaseBuild, triage.PhaseSetup, triage.PhaseExit:
		return p
	}
	return triage.PhaseTest
}

// cancelled is what node:test says of a test whose parent ended first; when a
// hook broke, that is the cause.
const cancelled = "Error: test did not finish before its parent and was cancelled"

// results are the tests that ran, and the target's own.
func (s *run) results(spec triage.RunSpec, end triage.End) []triage.Result {
	var out []triage.Result
	own := triage.Result{Target: spec.Target}
	inOrder := s.selectable(spec)
	for i, t := range s.order {
		r := triage.Result{Target: t.target, Outcome: t.outcome, DurationMS: t.ms, Failure: t.failure}
		if inOrder {
			r.Start = i + 1
		}
		if t.running && !s.finished && !t.outcome.Red() { // the process ended in the middle of it
			f := s.died(t.target, end)
			r.Outcome, r.Failure = f.Outcome, &f
		}
		switch {
		case t.target == spec.Target:
			own = r
		case r.Outcome == triage.Unknown, r.Outcome == triage.Skip: // not selected
		case t.target.Package != spec.Target.Package && spec.Target.Package != "" && spec.Scope != triage.InSuite:
			// a file whose name only contains that of the target's
		default:
			out = append(out, r)
		}
	}
	if own.Outcome == triage.Unknown || own.Outcome == triage.Skip || own.Failure != nil && own.Failure.Message == cancelled && len(s.broken) > 0 {
		own = unbuilt(s.target(spec, end, own))
	}
	return append(out, own)
}

// selectable tells whether any of the tests can be run again without the others,
// so that it is worth to know their order. Node's own runner makes the tests of a
// test while that runs, and then selects their parents too; before Node 22 it
// compares each name alone, and must not find a second one alike.
func (s *run) selectable(spec triage.RunSpec) bool {
	if s.d.Package != "" {
		return true
	}
	if lookup(spec.Prepared.Env, envNested) != "" {
		return false
	}
	if major, _ := strconv.Atoi(lookup(spec.Prepared.Env, envMajor)); major >= JoinedSince {
		return true
	}
	uses := map[string]int{}
	for _, t := range s.order {
		for _, name := range strings.Split(t.target.Test, s.d.Separator) {
			uses[name]++
		}
	}
	return !slices.ContainsFunc(s.order, func(t *testRun) bool {
		names := strings.Split(t.target.Test, s.d.Separator)
		return t.outcome != triage.Unknown && uses[names[len(names)-1]] > 1
	})
}

// unbuilt makes of a file that cannot be imported what a package that does not
// compile is: a failure of its own, which says nothing of a test in it.
func unbuilt(own triage.Result) triage.Result {
	if f := own.Failure; f != nil && f.Signature.Phase == triage.PhaseBuild && !own.Target.IsCommand() {
		own.Outcome, own.Note = triage.Invalid, truncate(own.Target.Package+" does not build: "+firstLine(f.Message), maxMessage)
	}
	return own
}

// brokenFor is what kept a test from running: a hook that broke leaves its tests skipped.
func (s *run) brokenFor(t triage.Target) (triage.Failure, bool) {
	for _, b := range s.broken {
		inFile := b.failure.Target.Package == t.Package || t.Package == ""
		if inFile && (b.within == "" || t.Test == "" || strings.HasPrefix(t.Test, b.within+s.d.Separator)) {
			return b.failure, true
		}
	}
	return triage.Failure{}, false
}

// target is the target's result where no record has one.
func (s *run) target(spec triage.RunSpec, end triage.End, own triage.Result) triage.Result {
	red := func(f triage.Failure) triage.Result {
		f.Target = spec.Target
		return triage.Result{Target: spec.Target, Outcome: f.Outcome, Failure: &f}
	}
	if f, ok := s.brokenFor(spec.Target); ok {
		return red(f)
	}
	if own.Outcome.Red() {
		return own
	}
	switch {
	case end.TimedOut, end.Signal != "", s.records > 0 && !s.finished:
		return red(s.died(spec.Target, end))
	case own.Outcome == triage.Skip:
	case s.records == 0:
		own.Outcome = triage.Invalid
		own.Note = s.d.Name + " did not start: " + cmp.Or(fatalLine(s.tail), lastLine(s.tail)) + ": correct its configuration or its arguments"
	case spec.Target.IsCommand() && len(s.stray) > 0:
		return red(s.d.failure(s.o, spec.Target, triage.PhasePanic, s.stray[0]))
	case spec.Target.IsCommand():
		own.Outcome = triage.Pass
	default:
		own.Outcome = triage.Absent
	}
	return own
}

// died describes a process that ended before its tests did.
func (s *run) died(t triage.Target, end triage.End) triage.Failure {
	e := thrown{Message: exitMessage}
	phase := triage.PhaseExit
	if line := fatalLine(s.tail); line != "" && !end.TimedOut {
		phase, e.Message = triage.PhasePanic, line
		if len(s.order) == 0 { // while the files were loaded
			phase = triage.PhaseBuild
		}
	}
	f := s.d.failure(s.o, t, phase, e)
	f.Outcome = triage.Error
	f.Excerpt = excerpt(bounded(string(s.tail[max(0, len(s.tail)-maxTail):])))
	switch {
	case end.TimedOut:
		f.Outcome = triage.Timeout
		f.Message = timeoutMessage
		f.Signature.Phase, f.Signature.Message = triage.PhaseTimeout, timeoutMessage
	case end.Signal != "":
		f.Message += " (" + end.Signal + ")"
	}
	return f
}

// mochaFatal is how mocha reports a file that it cannot load.
const mochaFatal = "Exception during run: "

// fatalLine is the uncaught error that Node printed last, empty for none.
func fatalLine(tail []byte) string {
	found := ""
	for line := range bytes.Lines(tail) {
		s := strings.TrimSpace(string(line))
		if m := reFatal.FindStringIndex(s); m != nil {
			found = strings.TrimPrefix(s, mochaFatal)
		}
	}
	return found
}

func lastLine(out []byte) string {
	found := "it printed nothing"
	for line := range bytes.Lines(out) {
		if s := strings.TrimSpace(reANSI.ReplaceAllString(string(line), "")); s != "" {
			found = s
		}
	}
	return truncate(strings.ToValidUTF8(found, "\uFFFD"), 400)
}
