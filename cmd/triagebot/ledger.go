package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/triagebot/triagebot/internal/sweep"
	"github.com/triagebot/triagebot/internal/triage"
)

type ledgerFlags struct {
	measureFlags
	file   string
	begin  bool
	noList bool
	runs   int
}

func newLedger(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "ledger",
		Short: "Keep the list of known reds, which only shrinks",
		Long: `ledger keeps a list of the tests that are known to be red. It only shrinks: check fails
a pull request that adds a name, and prune proposes to take off what is proven steady.
Tests on it are measured and judged like any other.`,
		Example: `  triagebot ledger check
  triagebot ledger prune --report triagebot-out/report.json
  triagebot ledger show`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return fmt.Errorf("reading arguments: say what to do with the ledger: check, prune or show, see %q", c.CommandPath()+" --help")
		},
	}
	c.AddCommand(newLedgerCheck(s), newLedgerPrune(s), newLedgerShow(s))
	return c
}

func (f *ledgerFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.repo, "repo", ".", "the git repository")
	c.Flags().StringVar(&f.file, "file", sweep.LedgerPath, "the ledger, relative to the repository's root")
}

func newLedgerCheck(s streams) *cobra.Command {
	f := &ledgerFlags{}
	c := &cobra.Command{
		Use:   "check",
		Short: "Fail when a name was added, or names no test any more",
		Long: `check holds the ledger against that of the base revision. A name that was added fails
with its line, and so does one that names no test any more. It exits 1 then.`,
		Example: `  triagebot ledger check
  triagebot ledger check --base origin/main`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return checkLedger(c, s, f) },
	}
	f.register(c)
	fl := c.Flags()
	fl.StringVar(&f.head, "head", "", "the revision to check (default: HEAD with what is uncommitted)")
	fl.StringVar(&f.base, "base", "", "the revision before it (default: first parent of a merge, else the merge base)")
	fl.BoolVar(&f.begin, "begin", false, "allow names when base has no ledger yet")
	fl.BoolVar(&f.noList, "no-list", false, "do not look whether the tests are there")
	fl.BoolVar(&f.noWait, "no-wait", false, "fail when another triagebot runs on this machine, instead of waiting")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	return c
}

func checkLedger(c *cobra.Command, s streams, f *ledgerFlags) error {
	p := newProgress(s.err, f.quiet)
	defer p.Close()
	sess, err := openTrees(c.Context(), &f.measureFlags, p)
	if err != nil {
		return err
	}
	defer sess.Close()
	head, wrong := readLedger(sess.ws.Tree(triage.Head).Dir, f.file)
	base, _ := readLedger(sess.ws.Tree(triage.Base).Dir, f.file) // what is wrong there is base's
	if f.begin && !isFile(filepath.Join(sess.ws.Tree(triage.Base).Dir, filepath.FromSlash(f.file))) {
		base = head
	}
	list := sess.listTests
	if f.noList {
		list = nil
	}
	faults, unclear, err := sweep.CheckLedger(c.Context(), base, head, list)
	if err != nil {
		return err
	}
	p.Close()
	for _, e := range unclear {
		fmt.Fprintf(s.err, "not looked for, its suite cannot be asked here: %s\n", inLine(e))
	}
	if wrong != nil {
		fmt.Fprintln(s.out, linesOf(wrong))
	}
	for _, e := range faults {
		fmt.Fprintf(s.out, "%s:%d: %s: %s\n", f.file, e.Line, inLine(e.Name), e.Text)
	}
	if len(faults) > 0 || wrong != nil {
		return errPolicy
	}
	fmt.Fprintf(s.out, "The ledger has %d names, and had %d.\n", len(head.Entries), len(base.Entries))
	return nil
}

func newLedgerPrune(s streams) *cobra.Command {
	f := &ledgerFlags{}
	c := &cobra.Command{
		Use:   "prune --report FILE…",
		Short: "Propose to take off the tests that are proven steady",
		Long: `prune looks in the reports of sweeps for tests on the ledger that were clean on main in
--runs runs alone, in as many with their package or suite, and in as many under lag. It
prints a line for each name with its bound, and a patch that takes the proven ones off.
The ledger itself is not changed.`,
		Example: `  triagebot ledger prune --report triagebot-out/report.json
  triagebot ledger prune --report 'nights/*.json' --runs 30 > prune.patch`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return pruneLedger(s, f) },
	}
	f.register(c)
	c.Flags().StringArrayVar(&f.reports, "report", nil, "reports of sweeps of main (`GLOB`, repeatable)")
	c.Flags().IntVar(&f.runs, "runs", 20, "the clean runs of each kind that prove a test steady")
	return c
}

func pruneLedger(s streams, f *ledgerFlags) error {
	if f.runs < 1 {
		return errors.New("reading --runs: it takes at least one run to prove anything")
	}
	reports, err := f.readReports()
	if err != nil {
		return err
	}
	l, err := f.read()
	if err != nil {
		return err
	}
	notes, patch := sweep.Prune(l, reports, f.runs)
	for _, n := range notes {
		fmt.Fprintln(s.out, inLine(n))
	}
	_, err = fmt.Fprint(s.out, patch)
	return err
}

func newLedgerShow(s streams) *cobra.Command {
	f := &ledgerFlags{}
	c := &cobra.Command{
		Use:   "show",
		Short: "Print the ledger, and what reports tell of its tests",
		Example: `  triagebot ledger show
  triagebot ledger show --report 'nights/*.json'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return showLedger(s, f) },
	}
	f.register(c)
	c.Flags().StringArrayVar(&f.reports, "report", nil, "reports of sweeps of main (`GLOB`, repeatable)")
	return c
}

func showLedger(s streams, f *ledgerFlags) error {
	reports, err := f.readReports()
	if err != nil {
		return err
	}
	l, err := f.read()
	if err != nil {
		return err
	}
	for _, p := range sweep.Proofs(l, reports) {
		fmt.Fprintf(s.out, "%s:%d: %s\n", f.file, p.Line, inLine(p.Name))
		if p.Comment != "" {
			fmt.Fprintln(s.out, "    "+harmless(p.Comment))
		}
		if len(reports) > 0 {
			fmt.Fprintln(s.out, "    "+p.String())
		}
	}
	fmt.Fprintf(s.out, "%d known reds.\n", len(l.Entries))
	return nil
}

// read reads the ledger of the checkout.
func (f *ledgerFlags) read() (sweep.Ledger, error) {
	path := filepath.Join(f.repo, filepath.FromSlash(f.file))
	if _, err := os.Stat(path); err != nil {
		return sweep.Ledger{}, fmt.Errorf("reading the ledger %w", reason(err, path))
	}
	return readLedger(f.repo, f.file)
}

func (f *ledgerFlags) readReports() ([]triage.Report, error) {
	var out []triage.Report
	for _, glob := range f.reports {
		paths, err := filepath.Glob(glob)
		if err != nil || len(paths) == 0 {
			return nil, fmt.Errorf("reading --report %q: no such file", glob)
		}
		for _, p := range paths {
			r, err := readReportFile(p)
			if err != nil {
				return nil, err
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// linesOf are joined errors, a harmless line each.
func linesOf(err error) string {
	many, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return inLine(err.Error())
	}
	text := ""
	for _, e := range many.Unwrap() {
		if text != "" {
			text += "\n"
		}
		text += inLine(e.Error())
	}
	return text
}
