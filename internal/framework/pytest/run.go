package pytest

import (
	"fmt"

	"github.com/triagebot/triagebot/internal/triage"
)

// run is the model of one pytest process: the report log and our own plugin
// both feed it.
type run struct {
	o Options
	// root is pytest's root directory relative to the tree; rooted is set once it is known.
	root    string
	rooted  bool
	tests   map[triage.Target]*testRun
	order   []*testRun
	records int
	// collect are the files that could not be collected.
	collect []triage.Failure
	// internal is the text of an error in pytest itself.
	internal string
	// outside are files that were loaded from another copy of the tree.
	outside []string
	// finished is set when the session came to its own end.
	finished bool
	exit     int
}

// testRun is what is known of one test.
type testRun struct {
	target  triage.Target
	outcome triage.Outcome
	ms      float64
	failure *triage.Failure
	// running is set between the test's start and its tear-down.
	running bool
}

func newRun(o Options) *run { return &run{o: o, tests: map[triage.Target]*testRun{}} }

func (s *run) get(id string) *testRun {
	t := s.targetOf(id)
	tr := s.tests[t]
	if tr == nil {
		tr = &testRun{target: t}
		s.tests[t] = tr
		s.order = append(s.order, tr)
	}
	return tr
}

// add takes one record.
func (s *run) add(r record) {
	s.records++
	switch r.Type {
	case "Root":
		s.root, s.rooted = r.Root, true
	case "Start":
		s.get(r.NodeID).running = true
	case "TestReport", "SubTestReport", "SubtestReport":
		s.report(r)
	case "CollectReport":
		if r.Outcome == "failed" {
			c := r.crash()
			c.phase = triage.PhaseBuild
			t := s.targetOf(r.NodeID)
			s.collect = append(s.collect, s.o.failure(t, c))
		}
	case "InternalError":
		s.internal = r.Text
	case "SessionFinish":
		s.finished = true
		s.outside = r.Outside
		if r.Exit != nil {
			s.exit = *r.Exit
		}
	}
}

// report takes what one phase of a test came to. The first red of a test
// counts: a failing subtest comes before its test, a test before its tear-down.
func (s *run) report(r record) {
	t := s.get(r.NodeID)
	t.ms += 1000 * r.Duration
	if r.Type == "TestReport" && r.When == "teardown" {
		t.running = false
	}
	switch r.Outcome {
	case "failed":
		if t.outcome.Red() {
			return
		}
		c := r.crash()
		c.phase = triage.PhaseTest
		if r.When != "call" {
			c.phase = triage.PhaseSetup
		}
		f := s.o.failure(t.target, c)
		t.outcome, t.failure = f.Outcome, &f
	case "skipped": // also an expected failure: it makes no check red
		if !t.outcome.Red() && r.Type == "TestReport" {
			t.outcome = triage.Skip
		}
	case "passed":
		if t.outcome == triage.Unknown && r.When == "call" && r.Type == "TestReport" {
			t.outcome = triage.Pass
		}
	}
}

// unfinished says that a report log has no end.
func (s *run) unfinished() error {
	if s.finished {
		return nil
	}
	return fmt.Errorf("reading report log: %w", ErrTruncated)
}

// failures are the reds in the order of the run.
func (s *run) failures(err error) ([]triage.Failure, error) {
	var found collector
	for _, t := range s.order {
		if t.failure != nil {
			found.add(*t.failure)
		}
	}
	for _, f := range s.collect {
		found.add(f)
	}
	return found.done(err)
}
