package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/triage"
)

// measureFlags are the flags of measure as they were typed.
type measureFlags struct {
	repo, head, base string
	suite            string
	reports          []string
	logs             []string
	tests            []string
	out              string
	resume           bool
	json             bool
	quiet            bool
	setup            []string
	noWait           bool
	shard            string
	history          string
	// oneTree is set by commands that compare nothing.
	oneTree bool
	command []string
	// settings are the keys of the configuration that were given as flags.
	settings config.Config
}

const defaultOut = "triagebot-out"

func (f *measureFlags) register(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.repo, "repo", ".", "the git repository")
	fl.StringVar(&f.head, "head", "", "the red revision (default: HEAD with what is uncommitted)")
	fl.StringVar(&f.base, "base", "", "the revision without the change (default: first parent of a merge, else the merge base)")
	fl.StringVar(&f.suite, "suite", "", "the suite of the configuration to triage")
	fl.StringArrayVar(&f.reports, "report", nil, "test reports with the failures: JUnit XML, go test -json, pytest's report log, JSON of vitest, jest or mocha, TAP (`GLOB`, repeatable)")
	fl.StringArrayVar(&f.logs, "log", nil, "raw logs of the red run (`FILE`, repeatable)")
	fl.StringArrayVar(&f.tests, "test", nil, "a failing test: import/path.TestName/sub, tests/test_a.py::test_b, 'src/a.test.ts > describe > test' (`ID`, repeatable)")
	fl.StringVar(&f.out, "out", defaultOut, "where the report goes (`DIR`)")
	fl.BoolVar(&f.resume, "resume", false, "go on with an interrupted run in --out")
	fl.BoolVar(&f.json, "json", false, "print report.json instead of the terminal report")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	fl.StringArrayVar(&f.setup, "setup", nil, "a command that makes a fresh tree ready, run in both (`COMMAND`, repeatable)")
	fl.BoolVar(&f.noWait, "no-wait", false, "fail when another triagebot runs on this machine, instead of waiting")
	fl.StringVar(&f.shard, "shard", "", "measure one part of the failing tests only (`INDEX/SHARDS`); merge joins the reports")
	fl.StringVar(&f.history, "history", "", "earlier reports, as a prior that is printed (`DIR`)")
	addSettings(fl, &f.settings)
}

// ourFiles are the files of the red run and our own output, as absolute paths.
// They often stand in the checkout, untracked, and are no change to it.
func (f *measureFlags) ourFiles() []string {
	paths := append(slices.Clone(f.logs), f.out)
	for _, glob := range f.reports {
		if found, err := filepath.Glob(glob); err == nil {
			paths = append(paths, found...)
		}
	}
	var out []string
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			continue
		}
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			abs = real
		}
		out = append(out, abs)
	}
	return out
}

// check refuses flags that contradict each other or name what is not there,
// before any work is done.
func (f *measureFlags) check() error {
	if f.resume && len(f.command)+len(f.reports)+len(f.logs)+len(f.tests) > 0 {
		return errors.New("reading flags: --resume goes on with the failures of the interrupted run; leave out --report, --log, --test and the command")
	}
	if f.shard != "" {
		if _, err := triage.ParseShard(f.shard); err != nil {
			return fmt.Errorf("reading --shard: %w", err)
		}
		if f.resume {
			return errors.New("reading flags: --resume goes on with the shard of the interrupted run; leave out --shard")
		}
		if len(f.reports)+len(f.logs)+len(f.tests) == 0 {
			return errors.New("reading --shard: name the failing tests with --report, --log or --test: every machine must share out the same ones")
		}
	}
	if _, err := lag.Ladder(goCapabilities(), config.Defaults().Seed, withoutDeclared(f.settings.Lag)); err != nil {
		return fmt.Errorf("reading --lag: %w", err)
	}
	return nil
}
