package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/triagebot/triagebot/internal/gh"
	"github.com/triagebot/triagebot/internal/history"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

type historyFlags struct {
	apiFlags
	out      string
	workflow string
	artifact string
	runs     int
}

func newHistory(s streams) *cobra.Command {
	f := &historyFlags{}
	c := &cobra.Command{
		Use:   "history",
		Short: "Fetch the reports that runs of the default branch left",
		Long: `history downloads the reports that earlier runs of the default branch left as artifacts, for
measure --history, which runs the pull request's code and has no token.

The repository, the branch and the event of each run are asked of GitHub: runs of forks
and of pull requests are never taken, whatever their branch is called, and a report must
be of its run's commit. The token comes from GITHUB_TOKEN and needs actions: read.`,
		Example: `  triagebot history --out reports
  triagebot history --repo acme/widgets --workflow sweep.yml --runs 60 --out reports`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runHistory(c.Context(), s, f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.repo, "repo", os.Getenv("GITHUB_REPOSITORY"), "the repository on GitHub (`OWNER/NAME`)")
	fl.StringVar(&f.out, "out", "triagebot-history", "where the reports go (`DIR`)")
	fl.StringVar(&f.workflow, "workflow", "", "only runs of this workflow (`FILE`)")
	fl.StringVar(&f.artifact, "artifact", "triagebot*", "only artifacts of such a name (`PATTERN`)")
	fl.IntVar(&f.runs, "runs", 60, "at most so many runs, the newest")
	return c
}

func runHistory(ctx context.Context, s streams, f *historyFlags) error {
	if f.runs < 1 || f.runs > 1000 {
		return errors.New("reading --runs: want 1 to 1000")
	}
	if _, err := path.Match(f.artifact, ""); err != nil {
		return fmt.Errorf("reading --artifact: pattern %q: %w", f.artifact, err)
	}
	p := newProgress(s.err, false)
	client, err := f.client(p.Say)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return fmt.Errorf("making --out: %w", err)
	}
	n := 0
	warnings, err := history.Each(ctx, history.Actions{API: &actions{client, f}}, history.Limits{Reports: f.runs, Repo: f.repo, Now: time.Now()}, report.Decode,
		func(r triage.Report) error {
			n++
			return keep(f.out, r)
		})
	if err != nil {
		return err
	}
	for _, w := range warnings {
		fmt.Fprintln(s.err, harmless(w))
	}
	fmt.Fprintf(s.out, "%d reports of %s are in %s.\n", n, harmless(f.repo), f.out)
	return nil
}

// keep writes a report under a name that is its own, with the time it was made.
func keep(dir string, r triage.Report) error {
	name := fmt.Sprintf("%s-%.12s-%.40s.json", r.Plan.Created.UTC().Format("20060102-150405"), fileName(harmless(r.Check.Head.SHA)), fileName(harmless(r.Check.Suite)))
	if s := r.Plan.Shard.String(); s != "" {
		name = fmt.Sprintf("%s-shard-%d.json", name[:len(name)-len(".json")], r.Plan.Shard.Index)
	}
	path := filepath.Join(dir, name)
	if err := writeWith(path, func(w io.Writer) error { return report.Encode(w, r) }); err != nil {
		return err
	}
	return os.Chtimes(path, r.Plan.Created, r.Plan.Created)
}

// actions puts the GitHub client behind history's port.
type actions struct {
	client *gh.Client
	f      *historyFlags
}

func (a *actions) Repo(ctx context.Context) (history.Repo, error) {
	r, err := a.client.Repo(ctx)
	return history.Repo{ID: r.ID, DefaultBranch: r.DefaultBranch}, err
}

func (a *actions) Runs(ctx context.Context, branch string, most int) ([]history.Run, error) {
	runs, err := a.client.RunsOn(ctx, branch, a.f.workflow, most)
	var out []history.Run
	for _, r := range runs {
		out = append(out, history.Run{ID: r.ID, Branch: r.HeadBranch, Event: r.Event, HeadSHA: r.HeadSHA, RepoID: r.RepoID, HeadRepoID: r.HeadRepoID, Created: r.Created})
	}
	return out, err
}

// reportLimits are for one artifact: the report of a check and its pages.
var reportLimits = gh.Limits{Zip: 16 << 20, Entry: report.MaxBytes, Total: 64 << 20, Entries: 200, Nested: true}

func (a *actions) Reports(ctx context.Context, run history.Run) ([]history.Artifact, error) {
	list, err := a.client.Artifacts(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	var out []history.Artifact
	for _, x := range list {
		if ok, _ := path.Match(a.f.artifact, x.Name); !ok || x.Expired {
			continue
		}
		if x.Of(gh.Run{ID: run.ID, HeadSHA: run.HeadSHA, HeadRepoID: run.HeadRepoID}) != nil {
			continue
		}
		out = append(out, history.Artifact{Name: x.Name, Read: func(ctx context.Context) ([]byte, error) {
			files, err := a.client.ReadArtifact(ctx, x, []string{reportFile}, reportLimits)
			if err != nil {
				return nil, err
			}
			b, ok := files[reportFile]
			if !ok {
				return nil, fmt.Errorf("artifact %q has no %s", x.Name, reportFile)
			}
			return b, nil
		}})
	}
	return out, nil
}
