package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// measureFlags are the flags of measure as they were typed.
type measureFlags struct {
	repo, head, base string
	suite            string
	reports          []string
	logs             []string
	tests            []string
	budget           time.Duration
	trialTimeout     time.Duration
	maxTrials        int
	lag              string
	seed             uint64
	out              string
	resume           bool
	json             bool
	quiet            bool
	failOn           string
	setup            []string
	passEnv          []string
	noWait           bool
	command          []string
}

// Defaults of measure. Ten minutes is what people wait for a second opinion on a
// red check; a minute is far above a test that is worth re-running.
const (
	defaultBudget       = 10 * time.Minute
	defaultTrialTimeout = time.Minute
	defaultOut          = "triagebot-out"
	defaultSeed         = 1
)

func (f *measureFlags) register(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.repo, "repo", ".", "the git repository")
	fl.StringVar(&f.head, "head", "", "the red revision (default: HEAD with what is uncommitted)")
	fl.StringVar(&f.base, "base", "", "the revision without the change (default: first parent of a merge, else the merge base)")
	fl.StringVar(&f.suite, "suite", "", "the suite of the configuration to triage")
	fl.StringArrayVar(&f.reports, "report", nil, "test reports with the failures: go test -json or JUnit XML (`GLOB`, repeatable)")
	fl.StringArrayVar(&f.logs, "log", nil, "raw logs of the red run (`FILE`, repeatable)")
	fl.StringArrayVar(&f.tests, "test", nil, "a failing test: TestName, or import/path.TestName/sub (`ID`, repeatable)")
	fl.DurationVar(&f.budget, "budget", defaultBudget, "time for the whole check")
	fl.DurationVar(&f.trialTimeout, "trial-timeout", defaultTrialTimeout, "time for one trial")
	fl.IntVar(&f.maxTrials, "max-trials", 0, "trials per test at most (0: as many as a verdict needs)")
	fl.StringVar(&f.lag, "lag", "auto", "dispatch lag: auto, off, or a list of rungs")
	fl.Uint64Var(&f.seed, "seed", defaultSeed, "seed of the random lag rungs")
	fl.StringVar(&f.out, "out", defaultOut, "where the report goes (`DIR`)")
	fl.BoolVar(&f.resume, "resume", false, "go on with an interrupted run in --out")
	fl.BoolVar(&f.json, "json", false, "print report.json instead of the terminal report")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	fl.StringVar(&f.failOn, "fail-on", string(failNone), "exit 1 on: none, regression, introduced, any")
	fl.StringArrayVar(&f.setup, "setup", nil, "a command that makes a fresh tree ready, run in both (`COMMAND`, repeatable)")
	fl.StringArrayVar(&f.passEnv, "pass-env", nil, "an environment variable that tests may see (`NAME`, repeatable)")
	fl.BoolVar(&f.noWait, "no-wait", false, "fail when another triagebot runs on this machine, instead of waiting")
}

// check refuses values that no run could make sense of.
func (f *measureFlags) check() error {
	if _, err := parseFailOn(f.failOn); err != nil {
		return err
	}
	switch {
	case f.budget <= 0:
		return fmt.Errorf("reading --budget: %s is no time to measure in", f.budget)
	case f.trialTimeout <= 0:
		return fmt.Errorf("reading --trial-timeout: %s is no time to run a test in", f.trialTimeout)
	case f.maxTrials < 0:
		return fmt.Errorf("reading --max-trials: %d is negative", f.maxTrials)
	case f.resume && len(f.command)+len(f.reports)+len(f.logs)+len(f.tests) > 0:
		return errors.New("reading flags: --resume goes on with the failures of the interrupted run; leave out --report, --log, --test and the command")
	}
	return nil
}
