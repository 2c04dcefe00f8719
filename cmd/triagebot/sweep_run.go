package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/triagebot/triagebot/internal/pipeline"
	"github.com/triagebot/triagebot/internal/sweep"
	"github.com/triagebot/triagebot/internal/triage"
)

// wholeRunner runs processes of many tests with a cap of their own.
type wholeRunner struct {
	*runners
	timeout time.Duration
}

// Run carries out one trial by the runner of its suite.
func (w *wholeRunner) Run(ctx context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, []triage.Result, error) {
	run, err := w.of(ctx, req.Target)
	if err != nil {
		return triage.Trial{}, nil, err
	}
	if !req.Target.IsCommand() {
		t, err := run.Run(ctx, req, plan)
		return t, nil, err
	}
	return run.RunAll(ctx, req, plan, w.timeout)
}

// explainSweep puts the search for a cause behind the sweep's port.
func explainSweep(red sweep.Red, probe func(triage.LagPlan) (triage.Trial, error)) (*triage.Cause, error) {
	return explain(pipeline.Lagged{
		Plan: red.Plan, Red: red.Trial, Reference: red.Reference, ControlRed: red.ControlRed, ControlRuns: red.ControlRuns, Site: red.Site,
	}, probe)
}

// costOf is what a run of the session used.
func (s *session) costOf(c triage.Cost, live *runners, start time.Time) triage.Cost {
	stats := live.Stats()
	c.WallMS = float64((s.setup + time.Since(start)).Milliseconds())
	c.SetupMS = float64(s.setup.Milliseconds())
	c.Builds, c.BuildMS = stats.Builds, stats.BuildMS
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	c.MemoryMB = float64(mem.Sys >> 20)
	return c
}

// sweepProgress tells how far a sweep is, with the time that is left: a live line
// on a terminal, elsewhere a line now and then.
type sweepProgress struct {
	*progress
	said time.Time
	last string
}

// sweepQuiet is how long nothing is said where there is no live line, unless
// another step begins.
const sweepQuiet = 15 * time.Second

// Finished is told of every trial; those of a sweep are too many to be named.
func (s *sweepProgress) Finished(triage.Trial) {}

// Progress says what is done now.
func (s *sweepProgress) Progress(n, total int, left time.Duration, doing string) {
	text := fmt.Sprintf("[%d/%d] %s", n+1, total, doing)
	if left > 0 {
		text += fmt.Sprintf(" (about %s left of this step)", left.Round(time.Second))
	}
	step := doing
	for i, c := range doing {
		if c == ':' {
			step = doing[:i]
			break
		}
	}
	if !s.live && step == s.last && time.Since(s.said) < sweepQuiet {
		return
	}
	s.last, s.said = step, time.Now()
	s.Say("%s", text)
}

// The files of --out that only a sweep has: what it is to run, and what became of
// each test in the runs of many tests. The journal has the red ones only.
const (
	unitsFile   = "sweep.json"
	resultsFile = "results.jsonl"
)

// resultStore keeps the results of runs of many tests, for a resumed sweep.
type resultStore struct {
	f    *os.File
	read map[int][]triage.Result
}

// recalled is what a resumed sweep starts from, beside the journal.
type recalled struct {
	Units   []sweep.Unit `json:"units"`
	History string       `json:"history,omitempty"`
}

func createResults(dir string, plan sweepPlan) (*resultStore, error) {
	b, err := json.Marshal(recalled{plan.units, plan.history})
	if err != nil {
		return nil, fmt.Errorf("writing the plan: %w", err)
	}
	if err := writeFile(filepath.Join(dir, unitsFile), append(b, '\n')); err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(dir, resultsFile))
	if err != nil {
		return nil, fmt.Errorf("making --out: %w", err)
	}
	return &resultStore{f: f}, nil
}

func openResults(dir string) (*resultStore, []sweep.Unit, string, error) {
	var known recalled
	b, err := os.ReadFile(filepath.Join(dir, unitsFile))
	if err == nil {
		err = json.Unmarshal(b, &known)
	}
	if err != nil {
		return nil, nil, "", fmt.Errorf("resuming: reading %s: %w", unitsFile, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, resultsFile), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, nil, "", fmt.Errorf("resuming: %w", err)
	}
	s := &resultStore{f: f, read: map[int][]triage.Result{}}
	return s, known.Units, known.History, s.load()
}

// resultLine is one line of the file.
type resultLine struct {
	Seq     int             `json:"seq"`
	Results []triage.Result `json:"results"`
}

// load reads the file up to the line that a kill cut short, which is dropped.
func (s *resultStore) load() error {
	in, at := bufio.NewReader(s.f), int64(0)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("resuming: reading %s: %w", resultsFile, err)
		}
		var l resultLine
		if err := json.Unmarshal(line, &l); err != nil {
			return fmt.Errorf("resuming: reading %s: %w", resultsFile, err)
		}
		s.read[l.Seq] = l.Results
		at += int64(len(line))
	}
	if err := s.f.Truncate(at); err != nil {
		return fmt.Errorf("resuming: %w", err)
	}
	_, err := s.f.Seek(at, io.SeekStart)
	return err
}

// record keeps the results of a run, before its trial goes into the journal. What
// was read from there is not written again.
func (s *resultStore) record(t triage.Trial, rs []triage.Result) error {
	if _, ok := s.read[t.Seq]; ok && len(s.read[t.Seq]) == len(rs) || len(rs) == 0 {
		return nil
	}
	b, err := json.Marshal(resultLine{t.Seq, rs})
	if err == nil {
		_, err = s.f.Write(append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("recording the results of run %d: %w", t.Seq, err)
	}
	return nil
}

// Close closes the file.
func (s *resultStore) Close() error { return s.f.Close() }
