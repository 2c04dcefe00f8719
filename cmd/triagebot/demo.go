package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/triagebot/triagebot/internal/demo"
)

func newDemo(s streams) *cobra.Command {
	var keep, lang string
	var quiet bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Triage a small real repository with planted reds",
		Long: `demo makes a small repository in a temporary folder, with a pull request whose check is
red in several tests: a regression, a flake, a race that main has, a race that the pull
request brings, a test that is broken on main, and (Go only) an honest deadline. It
triages them with real runs and shows the comment. It needs git and the language's own
tools (Go; Python 3.9 with pytest; Node 20), no token and no network.`,
		Example: `  triagebot demo
  triagebot demo --lang python
  triagebot demo --lang node --keep /tmp/demo`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return runDemo(c.Context(), keep, lang, quiet, s)
		},
	}
	c.Flags().StringVar(&keep, "keep", "", "make the repository and the report in `DIR` and keep them")
	c.Flags().StringVar(&lang, "lang", demo.Languages[0], "the repository's language: "+strings.Join(demo.Languages, ", "))
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "no progress")
	return c
}

func runDemo(ctx context.Context, keep, lang string, quiet bool, s streams) error {
	if !slices.Contains(demo.Languages, lang) {
		return fmt.Errorf("reading --lang: %q is none of %s", lang, strings.Join(demo.Languages, ", "))
	}
	dir := keep
	if dir == "" {
		tmp, err := os.MkdirTemp("", "triagebot-demo-")
		if err != nil {
			return fmt.Errorf("making the demo's folder: %w", err)
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	} else if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the demo's folder: %w", err)
	}
	repo, err := demo.Build(dir, lang)
	if err != nil {
		return err
	}
	out := filepath.Join(dir, "out")
	if !quiet {
		fmt.Fprintf(s.err, "A pull request is red in %d tests. Triaging it with\n  triagebot measure --repo %s --head %.12s --base %.12s --report %s\n\n", repo.Reds, repo.Dir, repo.Head, repo.Base, repo.Report)
	}
	f := &measureFlags{repo: repo.Dir, head: repo.Head, base: repo.Base, reports: []string{repo.Report}, out: out, quiet: quiet}
	if err := runMeasure(ctx, f, s); err != nil {
		return err
	}
	if keep == "" {
		_, err := fmt.Fprintln(s.out, "\nThe repository and the report are gone; --keep DIR leaves them, to run a trial again.")
		return err
	}
	_, err = fmt.Fprintf(s.out, "\nSee one of them again:\n  triagebot replay %s --repo %s --trial 1\n", filepath.Join(out, reportFile), repo.Dir)
	return err
}
