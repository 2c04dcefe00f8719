package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/triagebot/triagebot/internal/gh"
	"github.com/triagebot/triagebot/internal/publish"
	"github.com/triagebot/triagebot/internal/report"
)

// apiFlags are those of every command that speaks to GitHub by hand.
type apiFlags struct {
	repo   string
	dryRun bool
}

func (f *apiFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.repo, "repo", os.Getenv("GITHUB_REPOSITORY"), "the repository on GitHub (`OWNER/NAME`)")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be written, and write nothing")
}

// client takes the token from the environment: a flag would show it to everybody
// on the machine.
func (f *apiFlags) client(logf func(string, ...any)) (*gh.Client, error) {
	token := os.Getenv("GITHUB_TOKEN")
	if token == "" {
		token = os.Getenv("GH_TOKEN")
	}
	if token == "" {
		return nil, errors.New("asking GitHub: there is no token: set GITHUB_TOKEN")
	}
	if f.repo == "" {
		return nil, errors.New("asking GitHub: name the repository with --repo OWNER/NAME")
	}
	return gh.New(gh.Options{
		Repo: f.repo, Token: token, APIURL: os.Getenv("GITHUB_API_URL"), Logf: logf,
	})
}

type publishFlags struct {
	apiFlags
	reports  []string
	pull     int
	run      int64
	check    string
	artifact string
	workflow string
}

func newPublish(s streams) *cobra.Command {
	f := &publishFlags{}
	c := &cobra.Command{
		Use:   "publish",
		Short: "Write reports into one comment on their pull request",
		Long: `publish writes the comment of a check. With --run it reads the reports that a workflow
run left as artifacts, as untrusted data, and finds the pull request by the run's head.
With --report and --pr it takes reports that are at hand.

It runs nothing and checks out nothing. The token comes from GITHUB_TOKEN.`,
		Example: `  triagebot publish --run 1234567890 --repo acme/loop
  triagebot publish --report triagebot-out/report.json --pr 12 --repo acme/loop --dry-run`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			hideProcess()
			return runPublish(c.Context(), f, s)
		},
	}
	f.register(c)
	fl := c.Flags()
	fl.StringArrayVar(&f.reports, "report", nil, "a report to publish (`FILE`, repeatable)")
	fl.IntVar(&f.pull, "pr", 0, "the pull request of --report (`NUMBER`)")
	fl.Int64Var(&f.run, "run", 0, "the workflow run whose artifacts are published (`ID`)")
	fl.StringVar(&f.check, "check-name", "", "name of the check, where a pull request has several")
	fl.StringVar(&f.artifact, "artifact-name", publish.DefaultArtifact, "what the names of the artifacts begin with")
	fl.StringVar(&f.workflow, "workflow", "", "file name of the only workflow whose runs are published")
	return c
}

func runPublish(ctx context.Context, f *publishFlags, s streams) error {
	byHand := len(f.reports) > 0 || f.pull != 0
	switch {
	case byHand && f.run != 0:
		return errors.New("reading flags: --run finds reports and pull request itself; leave out --report and --pr")
	case byHand && (len(f.reports) == 0 || f.pull < 1):
		return errors.New("reading flags: --report and --pr belong together")
	case !byHand && f.run < 1:
		return errors.New("reading flags: name a run with --run, or a report and a pull request with --report and --pr")
	}
	parts, err := readParts(f.reports)
	if err != nil {
		return err
	}
	g, err := f.client(func(format string, args ...any) { fmt.Fprintln(s.err, oneLine(fmt.Errorf(format, args...))) })
	if err != nil {
		return err
	}
	o := publish.Options{Check: f.check, Artifact: f.artifact, Workflow: f.workflow, DryRun: f.dryRun, ReportPath: reportFile}
	var out publish.Outcome
	if byHand {
		out, err = publish.ToPull(ctx, g, f.pull, "", parts, o)
	} else {
		out, err = publish.FromRun(ctx, g, f.run, o)
	}
	if err != nil {
		return err
	}
	if f.dryRun {
		fmt.Fprint(s.out, out.Page)
	}
	if out.Said != "" {
		fmt.Fprintln(s.err, sentence(out.Said))
	}
	if out.Comment.URL != "" {
		fmt.Fprintf(s.out, "%s %s\n", out.Comment.Action, out.Comment.URL)
	}
	return refused(out.Refused)
}

func readParts(paths []string) ([]report.Part, error) {
	var parts []report.Part
	for _, p := range paths {
		r, err := readReportFile(p)
		if err != nil {
			return nil, err
		}
		name := filepath.Base(filepath.Dir(p))
		if len(paths) > 1 && (name == "." || name == string(filepath.Separator)) {
			name = filepath.Base(p)
		}
		parts = append(parts, report.Part{Name: name, Report: r})
	}
	return parts, nil
}
