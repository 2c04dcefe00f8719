package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
)

type hammerFlags struct {
	measureFlags
	n, jobs, load int
	seed          int64
	underLag      string
	company       bool
}

// maxHammer bounds the runs: at a hundred a second they take three hours.
const maxHammer = 1_000_000

func newHammer(s streams) *cobra.Command {
	f := &hammerFlags{}
	c := &cobra.Command{
		Use:   "hammer TEST",
		Short: "Repeat one test as fast as the machine allows, and group its failures",
		Long: `hammer runs one test many times, each run in a fresh process with a temporary directory of
its own, several at a time. It groups the failures by signature, tells the first seed of
each, and what they left behind that green runs did not. It exits 1 when any run was red.

The runs load each other on purpose. They are no trials of a check, and no verdict counts
them. Every finished run is kept at once in --out, and --resume goes on from there.`,
		Example: `  triagebot hammer example.com/app/mail.TestSend -n 5000
  triagebot hammer TestSend -n 1000 -j 8 --load 4
  triagebot hammer TestSend --with-package -n 300
  triagebot hammer TestSend --under-lag worker-10 -n 50
  triagebot hammer --resume`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 0 != f.resume {
				return errors.New("reading arguments: hammer takes the name of one test, and none with --resume")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return runHammer(c.Context(), s, f, args) },
	}
	fl := c.Flags()
	fl.StringVar(&f.repo, "repo", ".", "the git repository")
	fl.StringVar(&f.head, "head", "", "the revision to run (default: HEAD with what is uncommitted)")
	fl.StringVar(&f.suite, "suite", "", "the suite of the configuration")
	fl.IntVarP(&f.n, "runs", "n", 1000, "how many runs")
	fl.IntVarP(&f.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "how many at a time")
	fl.IntVar(&f.load, "load", 0, "busy loops beside them")
	fl.Int64Var(&f.seed, "seed", 1, "the seed of the first run; each has the next one")
	fl.BoolVar(&f.company, "with-package", false, "run the whole package or file, shuffled by the seed")
	fl.StringVar(&f.underLag, "under-lag", "", "run under one rung of the lag ladder (`NAME`)")
	fl.StringVar(&f.out, "out", "triagebot-hammer", "where the runs are kept (`DIR`)")
	fl.BoolVar(&f.resume, "resume", false, "go on with an interrupted run in --out")
	fl.BoolVar(&f.json, "json", false, "print the record as JSON")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	fl.StringArrayVar(&f.setup, "setup", nil, "a command that makes a fresh tree ready (`COMMAND`, repeatable)")
	fl.BoolVar(&f.noWait, "no-wait", false, "fail when another triagebot runs on this machine, instead of waiting")
	addSettings(fl, &f.settings, "trial-timeout", "pass-env")
	return c
}

func (f *hammerFlags) check() error {
	switch {
	case f.n < 1 || f.n > maxHammer:
		return fmt.Errorf("reading -n: want 1 to %d runs", maxHammer)
	case f.jobs < 1 || f.jobs > 1024:
		return errors.New("reading -j: want 1 to 1024 runs at a time")
	case f.load < 0 || f.load > 1024:
		return errors.New("reading --load: want 0 to 1024 busy loops")
	}
	return nil
}

func runHammer(ctx context.Context, s streams, f *hammerFlags, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	p := newProgress(s.err, f.quiet)
	defer p.Close()
	var old *hammerRecord
	if f.resume {
		r, err := readHammer(f.out)
		if err != nil {
			return err
		}
		old = &r
		f.suite, args = r.Target.Suite, nil
		if !r.Head.Dirty {
			f.head = r.Head.SHA
		}
	} else {
		f.tests = args
		if err := refuseHammerLoss(f.out); err != nil {
			return err
		}
	}
	f.base, f.oneTree = f.head, true // there is nothing to compare with
	if f.base == "" {
		f.base = "HEAD"
	}
	sess, err := open(ctx, &f.measureFlags, p)
	if err != nil {
		return err
	}
	defer sess.Close()
	r, err := sess.hammerHeader(ctx, f, old, p)
	if err != nil {
		return err
	}
	r, err = sess.hammer(ctx, f, r, p)
	p.Close()
	if err != nil {
		return err
	}
	if err := printHammer(s.out, r, f.json); err != nil {
		return err
	}
	if r.Red > 0 {
		return errPolicy
	}
	return nil
}

// hammerHeader is the record before its first run.
func (s *session) hammerHeader(ctx context.Context, f *hammerFlags, old *hammerRecord, p *progress) (hammerRecord, error) {
	if old != nil {
		if now := s.ws.Tree(triage.Head).Rev; now.SHA != old.Head.SHA || now.Dirty != old.Head.Dirty {
			return *old, fmt.Errorf("resuming: the runs in %s are of %.12s, and head is %.12s now: begin anew with another --out", f.out, old.Head.SHA, now.SHA)
		}
		return *old, nil
	}
	var c collected
	if err := s.find(ctx, &f.measureFlags, &c, p); err != nil {
		return hammerRecord{}, err
	}
	if len(c.failures) != 1 {
		return hammerRecord{}, fmt.Errorf("reading arguments: %d packages have a test %q: name it with its package", len(c.failures), f.tests[0])
	}
	r := hammerRecord{Schema: hammerSchema, Tool: tool(), Repo: s.ws.RepoName(), Head: s.ws.Tree(triage.Head).Rev, Target: c.failures[0].Target,
		Plan: hammerPlan{N: f.n, Jobs: f.jobs, Load: f.load, Seed: f.seed, TimeoutMS: s.cfg.TrialTimeout.Milliseconds()}, Groups: []hammerGroup{}}
	if f.company {
		r.Plan.Scope = triage.InPackage
	}
	if f.underLag != "" {
		plans, err := lag.Ladder(capabilities(r.Target.Framework), s.cfg.Seed, f.underLag)
		if err != nil {
			return r, fmt.Errorf("reading --under-lag: %w", err)
		}
		if len(plans) != 1 {
			return r, fmt.Errorf("reading --under-lag: %q is %d rungs: name one", f.underLag, len(plans))
		}
		r.Plan.Lag = &plans[0]
	}
	return r, nil
}

// hammer makes the runs of a record and writes it.
func (s *session) hammer(ctx context.Context, f *hammerFlags, r hammerRecord, p *progress) (hammerRecord, error) {
	s.cfg.TrialTimeout = time.Duration(r.Plan.TimeoutMS) * time.Millisecond
	run, err := s.runners(r.Plan.Lag != nil, p).of(ctx, r.Target)
	if err != nil {
		return r, err
	}
	defer run.Close()
	j, before, err := openHammer(f.out, r)
	if err != nil {
		return r, err
	}
	defer j.Close()
	tally, done := newHammerTally(), map[int64]bool{}
	for _, t := range before {
		tally.add(t)
		done[t.Seed] = true
	}
	if len(before) > 0 {
		p.Say("resuming after %d runs", len(before))
	}
	h := hammerer{plan: r.Plan, target: r.Target, run: run, record: j.Record, p: p}
	began := time.Now()
	stopped, err := h.hammer(ctx, tally, done)
	r.WallMS += float64(time.Since(began).Milliseconds())
	r.Beside = s.beside.Note() // its own runs and loops have ended
	r = tally.record(r)
	r.Stopped = ""
	if stopped {
		r.Stopped = "interrupted"
	}
	return r, errors.Join(err, writeHammer(f.out, r))
}

const hammerFile = "hammer.json"

// refuseHammerLoss keeps an unfinished run, or somebody's folder, from being
// overwritten.
func refuseHammerLoss(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		return nil
	}
	r, err := readHammer(dir)
	switch {
	case err != nil:
		return fmt.Errorf("writing to %s: it holds other files: choose an empty or a new folder with --out", dir)
	case r.Stopped != "":
		return fmt.Errorf("writing to %s: it holds an unfinished run: go on with --resume, choose another --out, or delete it", dir)
	}
	return errors.Join(os.Remove(filepath.Join(dir, journalFile)), os.Remove(filepath.Join(dir, hammerFile)))
}

// openHammer opens the folder of the runs. A run that is killed counts as
// unfinished: the record says so until it is written at the end.
func openHammer(dir string, r hammerRecord) (*rerun.Journal, []triage.Trial, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, fmt.Errorf("making --out: %w", err)
	}
	if err := writeFile(filepath.Join(dir, ".gitignore"), []byte("*\n")); err != nil {
		return nil, nil, err
	}
	r.Stopped = "interrupted"
	if err := writeHammer(dir, r); err != nil {
		return nil, nil, err
	}
	return rerun.OpenJournal(filepath.Join(dir, journalFile))
}

func readHammer(dir string) (hammerRecord, error) {
	var r hammerRecord
	b, err := os.ReadFile(filepath.Join(dir, hammerFile))
	if errors.Is(err, os.ErrNotExist) {
		return r, fmt.Errorf("resuming: %s holds no run: leave out --resume to begin one", dir)
	}
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err == nil && r.Schema != hammerSchema {
		err = fmt.Errorf("its schema is %q, not %q", r.Schema, hammerSchema)
	}
	if err != nil {
		return r, fmt.Errorf("resuming: reading %s: %w", hammerFile, err)
	}
	return r, nil
}

func writeHammer(dir string, r hammerRecord) error {
	return writeWith(filepath.Join(dir, hammerFile), func(w io.Writer) error { return printHammer(w, r, true) })
}

func printHammer(w io.Writer, r hammerRecord, asJSON bool) error {
	if !asJSON {
		return showHammer(w, r)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(r)
}
