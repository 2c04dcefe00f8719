package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/stats"
	"github.com/triagebot/triagebot/internal/triage"
)

type proveFlags struct {
	measureFlags
	bound string
}

func newProve(s streams) *cobra.Command {
	f := &proveFlags{}
	c := &cobra.Command{
		Use:   "prove TEST --fix REV",
		Short: "Prove that a commit mends a flaky test",
		Long: `prove looks for a lag plan that makes the test red on the commit before the fix, finds the
least delay that still does, and runs the same plans after the fix. Then it repeats the
test plainly as often as the stated bound takes: 299 green runs for 1 %.

It prints a table for the pull request, and exits 0 when the fix is proven and 1 when it
is not: red before, never red after under the same lag, and never red plainly.`,
		Example: `  triagebot prove example.com/app/mail.TestSend --fix HEAD
  triagebot prove TestSend --fix HEAD --before HEAD~3 --bound 5%`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("reading arguments: prove takes the name of one test")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			f.tests = args
			return runProve(c.Context(), s, f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.repo, "repo", ".", "the git repository")
	fl.StringVar(&f.head, "fix", "", "the revision with the fix")
	fl.StringVar(&f.base, "before", "", "the revision before it (default: its first parent)")
	fl.StringVar(&f.suite, "suite", "", "the suite of the configuration")
	fl.StringVar(&f.bound, "bound", "1%", "the failure rate that the plain runs are to rule out, at 95 %")
	fl.BoolVar(&f.json, "json", false, "print the record as JSON instead of the table")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	fl.StringArrayVar(&f.setup, "setup", nil, "a command that makes a fresh tree ready, run in both (`COMMAND`, repeatable)")
	fl.BoolVar(&f.noWait, "no-wait", false, "fail when another triagebot runs on this machine, instead of waiting")
	addSettings(fl, &f.settings, "budget", "trial-timeout", "lag", "seed", "pass-env")
	return c
}

// leastBound keeps the repetitions below thirty thousand.
const leastBound = 0.0001

// parseBound reads "1%", "0.5 %" or "0.01".
func parseBound(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	b, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		b /= 100
	}
	if err != nil || !(b >= leastBound && b < 1) {
		return 0, fmt.Errorf("reading --bound: %q is not a rate between %g %% and 100 %%, as in 1%%", text, 100*leastBound)
	}
	return b, nil
}

func runProve(ctx context.Context, s streams, f *proveFlags) error {
	bound, err := parseBound(f.bound)
	if err != nil {
		return err
	}
	if f.head == "" {
		return errors.New("reading flags: name the revision with the fix, as in --fix HEAD")
	}
	if f.base == "" {
		f.base = f.head + "^"
	}
	p := newProgress(s.err, f.quiet)
	defer p.Close()
	sess, err := open(ctx, &f.measureFlags, p)
	if err != nil {
		return err
	}
	defer sess.Close()
	r, err := sess.prove(ctx, f, bound, p)
	p.Close()
	if err != nil {
		return err
	}
	if f.json {
		e := json.NewEncoder(s.out)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		err = e.Encode(r)
	} else {
		_, err = io.WriteString(s.out, proofPage(r))
	}
	if err == nil && !r.Proven {
		err = errPolicy
	}
	return err
}

// prove finds the test and runs the proof.
func (s *session) prove(ctx context.Context, f *proveFlags, bound float64, p *progress) (proofRecord, error) {
	var c collected
	if err := s.find(ctx, &f.measureFlags, &c, p); err != nil {
		return proofRecord{}, err
	}
	if len(c.failures) != 1 {
		return proofRecord{}, fmt.Errorf("reading arguments: %d packages have a test %q: name it with its package", len(c.failures), f.tests[0])
	}
	target := c.failures[0].Target
	plans, err := lag.Ladder(capabilities(target.Framework), s.cfg.Seed, s.cfg.Lag)
	if err != nil {
		return proofRecord{}, fmt.Errorf("reading --lag: %w", err)
	}
	run := s.runners(len(plans) > 0, p)
	defer run.Close()
	began := time.Now()
	v := prover{run: run, explain: explain, ladder: plans, repeats: runsFor(bound), deadline: began.Add(s.cfg.Budget), p: p, r: proofRecord{
		Schema: proofSchema, Tool: tool(), Repo: s.ws.RepoName(), Target: target,
		Before: s.ws.Tree(triage.Base).Rev, After: s.ws.Tree(triage.Head).Rev,
	}}
	err = v.prove(ctx)
	v.r.WallMS = float64(time.Since(began).Milliseconds())
	if s.beside != nil {
		v.r.Beside = s.beside.Warning()
	}
	return v.r, err
}

// proofPage is the table for a pull request, in Markdown.
func proofPage(r proofRecord) string {
	var b strings.Builder
	if r.Proven {
		fmt.Fprintf(&b, "**Proven: %s was red before %s, and is not after it.**\n", code(r.Target.String()), code(short12(r.After.SHA)))
	} else {
		fmt.Fprintf(&b, "**Not proven for %s: %s.**\n", code(r.Target.String()), harmless(r.Why))
	}
	fmt.Fprintf(&b, "\n| runs | before %s | after %s | p |\n|---|---|---|---|\n", code(short12(r.Before.SHA)), code(short12(r.After.SHA)))
	for _, row := range r.Rows {
		p := ""
		if x := row.p(); x < 1 {
			p = fmt.Sprintf("%.2g", x)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", rowName(row), countText(row.Before, false), countText(row.After, row.Plan == nil), p)
	}
	b.WriteString("\n")
	if r.Message != "" {
		fmt.Fprintf(&b, "The failure before: %s. ", code(firstLineOf(r.Message)))
	}
	if c := r.Cause; c != nil && len(c.Sites) > 0 {
		site := c.Sites[0]
		fmt.Fprintf(&b, "Its cause is a %s at %s", strings.ReplaceAll(string(c.Kind), "-", " "), code(fmt.Sprintf("%s:%d %s", site.File, site.Line, site.Func)))
		if c.DoseMS > 0 {
			fmt.Fprintf(&b, ", from %.3g ms on", c.DoseMS)
		}
		b.WriteString(". ")
	}
	fmt.Fprintf(&b, "%d runs in %.0f s, one at a time, by triagebot %s; p is Fisher's exact test, one-sided.\n", r.Runs, r.WallMS/1000, harmless(r.Tool.Version))
	if r.Beside != "" {
		b.WriteString("\nNote: " + harmless(r.Beside) + ".\n")
	}
	return b.String()
}

func rowName(r proofRow) string {
	switch r.Kind {
	case "plain":
		return "alone, no lag"
	case "least":
		return "the least lag that suffices: " + code(lag.Describe(*r.Plan))
	}
	return "alone, under lag: " + code(lag.Describe(*r.Plan))
}

func countText(c proofCount, bound bool) string {
	if c.Runs == 0 {
		return ""
	}
	s := fmt.Sprintf("%d of %d red", c.Red, c.Runs)
	if c.Red > c.Same && c.Same > 0 {
		s += fmt.Sprintf(", %d alike", c.Same)
	}
	if bound && c.Red == 0 {
		s += fmt.Sprintf(" (≤ %s at 95 %%)", rateText(stats.Upper(0, c.Runs, proveLevel)))
	}
	if c.Idle == c.Runs {
		s += " (nothing was delayed: the place is gone)"
	}
	if c.Odd > 0 {
		s += fmt.Sprintf(", %d without a result", c.Odd)
	}
	return s
}

// code is a name for a table of Markdown: what could end the span, the cell or the
// line is replaced.
func code(s string) string {
	return "`" + strings.NewReplacer("`", "'", "|", "¦").Replace(harmless(s)) + "`"
}

func short12(sha string) string { return sha[:min(len(sha), 12)] }
