package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/triagebot/triagebot/internal/classify"
	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/pipeline"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

type replayFlags struct {
	repo     string
	trial    int
	trust    bool
	side     string
	markdown bool
	html     bool
	json     bool
	settings config.Config
	quiet    bool
}

func newReplay(s streams) *cobra.Command {
	f := &replayFlags{}
	c := &cobra.Command{
		Use:   "replay REPORT",
		Short: "Judge a report again offline, or run one of its trials again",
		Long: `replay judges the trials of a report again, without running anything, and prints the
report. It fails when the verdicts in the file are not the ones that its trials lead to.

With --trial it runs that one trial again: the same test, tree, lag plan and seed. It
exits 0 when the trial ends as it is recorded, and 1 when it does not.`,
		Example: `  triagebot replay report.json
  triagebot replay report.json --markdown
  triagebot replay report.json --trial 9
  triagebot replay report.json --trial 9 --side base`,
		Args: oneReport,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			r, err := readReportFile(args[0])
			if err != nil {
				return err
			}
			if f.trial != 0 {
				return replayTrial(c.Context(), f, r, s)
			}
			return replayReport(c.Context(), f, r, args[0], s)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.repo, "repo", ".", "the git repository, for --trial")
	fl.IntVar(&f.trial, "trial", 0, "run trial `N` of the report again")
	fl.BoolVar(&f.trust, "trust-command", false, "with --trial, use the suite's command that the report names")
	fl.StringVar(&f.side, "side", "", "run it on head or base instead of its own side")
	fl.BoolVar(&f.markdown, "markdown", false, "print the comment")
	fl.BoolVar(&f.html, "html", false, "print the HTML page")
	fl.BoolVar(&f.json, "json", false, "print the report as it is judged now")
	addSettings(fl, &f.settings, "fail-on")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	return c
}

func oneReport(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("reading arguments: replay takes the path of one report, not %d, as in %q", len(args), "triagebot replay "+filepath.Join(defaultOut, reportFile))
	}
	return nil
}

// check refuses flags that no report could make sense of.
func (f *replayFlags) check() error {
	var side triage.Side
	if f.side != "" && side.UnmarshalText([]byte(f.side)) != nil {
		return fmt.Errorf("reading --side: %q is not head or base", f.side)
	}
	if f.side != "" && f.trial == 0 {
		return errors.New("reading --side: it needs --trial")
	}
	return nil
}

// rejudge runs the procedure over the recorded trials.
func rejudge(ctx context.Context, r triage.Report) (triage.Report, error) {
	if r.Sweep != nil {
		return r, nil // most of its runs are kept as counts only
	}
	if len(r.Plan.Parts) > 0 {
		return rejudgeParts(ctx, r)
	}
	rec := &pipeline.Recorded{Trials: r.Trials, Sites: r.Plan.Sites}
	switch r.Plan.Stopped {
	case classify.StoppedBudget:
		rec.End = pipeline.ErrBudget
	case classify.StoppedInterrupted:
		rec.End = pipeline.ErrInterrupted
	}
	again, err := pipeline.Triage(ctx, input(r), rec)
	if err == nil && rec.Left() > 0 {
		err = pipeline.ErrDiverged
	}
	return again, err
}

func replayReport(ctx context.Context, f *replayFlags, r triage.Report, path string, s streams) error {
	changed := func(what string) error {
		return fmt.Errorf("replaying %q (written by triagebot %s): %s: it was changed, or the policy was", path, r.Tool.Version, what)
	}
	again, err := rejudge(ctx, r)
	switch {
	case errors.Is(err, pipeline.ErrDiverged):
		return changed("its trials are not the ones that its failures lead to")
	case err != nil:
		return err
	}
	if err := render(s, again, path, f); err != nil {
		return err
	}
	var was, is bytes.Buffer
	if err := errors.Join(report.Encode(&was, r), report.Encode(&is, again)); err != nil {
		return err
	}
	if !bytes.Equal(was.Bytes(), is.Bytes()) {
		return changed("its trials lead to other verdicts than it holds")
	}
	if fails(f.settings, again.Verdicts) {
		return errPolicy
	}
	return nil
}

func render(s streams, r triage.Report, path string, f *replayFlags) error {
	switch {
	case f.json:
		return report.Encode(s.out, r)
	case f.html:
		return report.HTML(s.out, r)
	case f.markdown:
		_, err := fmt.Fprint(s.out, report.Markdown(r, report.Options{ReportPath: reportFile}))
		return err
	}
	width, _ := terminal(s.out)
	return report.Terminal(s.out, located(r, path, f.repo), report.Options{Width: width, Color: colour(s.out)})
}

// replayTrial runs one recorded trial again.
func replayTrial(ctx context.Context, f *replayFlags, r triage.Report, s streams) error {
	if err := trusted(f, r); err != nil {
		return err
	}
	if f.trial < 1 || f.trial > len(r.Trials) {
		return fmt.Errorf("reading --trial: the report has trials 1 to %d", len(r.Trials))
	}
	old := r.Trials[f.trial-1]
	req := old.Request
	if f.side != "" {
		if err := req.Arm.Side.UnmarshalText([]byte(f.side)); err != nil {
			return err
		}
	}
	var plan *triage.LagPlan
	if p, ok := r.Plan.LagPlans[req.Arm.Lag]; ok {
		plan = &p
	}
	p := newProgress(s.err, f.quiet)
	defer p.Close()
	got, err := runOne(ctx, f, r, req, plan, p)
	p.Close()
	if err != nil {
		return err
	}
	return tell(s, old, got, plan)
}

// trusted asks before a command is taken from a report, which may come from
// anyone: even the flags of a go test command can name programs to run.
func trusted(f *replayFlags, r triage.Report) error {
	if len(r.Check.Command) == 0 || f.trust {
		return nil
	}
	return fmt.Errorf("replaying a trial: the report names the command `%s`: look at it, and add --trust-command to use it", harmless(strings.Join(r.Check.Command, " ")))
}

func runOne(ctx context.Context, f *replayFlags, r triage.Report, req triage.Request, plan *triage.LagPlan, p *progress) (triage.Trial, error) {
	if r.Check.Head.Dirty {
		p.Say("the report was measured with uncommitted changes, which are not in %.12s", r.Check.Head.SHA)
	}
	mf := &measureFlags{repo: f.repo, head: r.Check.Head.SHA, base: r.Check.Base.SHA, suite: r.Check.Suite, command: r.Check.Command, oneTree: r.Sweep != nil}
	mf.settings.TrialTimeout = time.Duration(r.Plan.TrialTimeoutMS) * time.Millisecond
	sess, err := open(ctx, mf, p)
	if err != nil {
		return triage.Trial{}, err
	}
	defer sess.Close()
	run := sess.runners(plan != nil, p)
	defer run.Close()
	return run.Run(ctx, req, plan)
}

// tell prints how the trial ended, and its output with nothing in it that could
// steer a terminal.
func tell(s streams, old, got triage.Trial, plan *triage.LagPlan) error {
	for line := range strings.Lines(got.Output) {
		fmt.Fprintln(s.out, "| "+harmless(strings.TrimRight(line, "\r\n")))
	}
	lag := "no lag"
	if plan != nil {
		lag = fmt.Sprintf("lag %q, %d delays", plan.Name, got.DecisionCount)
	}
	fmt.Fprintf(s.out, "%s on %s, %s: %s (recorded: %s)\n", harmless(got.Target.String()), got.Arm.Side, lag, got.Outcome, old.Outcome)
	if got.Note != "" {
		fmt.Fprintln(s.out, harmless(got.Note))
	}
	if got.Arm.Side == old.Arm.Side && got.Outcome != old.Outcome {
		return errPolicy
	}
	return nil
}
