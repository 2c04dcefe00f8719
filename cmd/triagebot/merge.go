package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/sweep"
	"github.com/triagebot/triagebot/internal/triage"
)

type mergeFlags struct {
	out      string
	json     bool
	settings config.Config
}

func newMerge(s streams) *cobra.Command {
	f := &mergeFlags{}
	c := &cobra.Command{
		Use:   "merge FILE…",
		Short: "Join the reports of the shards of one check",
		Long: `merge joins the reports that measure --shard wrote on several machines, and writes
report.json, report.md and report.html of the whole check to --out. A FILE is a report,
a folder with report.json in it or in its folders, or a pattern.

A report that is missing or spoilt, and a shard that no report tells of, is a warning of
the joined report, and the rest is kept. Reports of different checks or versions, and a
trial that is in two of them, are refused.`,
		Example: `  triagebot merge 'shards/*/report.json'
  triagebot merge shards --out triagebot-all`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("reading arguments: merge takes the reports of the shards, as in \"triagebot merge shards/*/report.json\"")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return runMerge(s, f, args) },
	}
	fl := c.Flags()
	fl.StringVar(&f.out, "out", "triagebot-merged", "where the report goes (`DIR`)")
	fl.BoolVar(&f.json, "json", false, "print report.json instead of the terminal report")
	addSettings(fl, &f.settings, "fail-on")
	return c
}

func runMerge(s streams, f *mergeFlags, args []string) error {
	paths, err := shardFiles(args)
	if err != nil {
		return err
	}
	if err := refuseForeignMerge(f.out, paths); err != nil {
		return err
	}
	r, err := sweep.Merge(shardSources(paths), report.Decode)
	if err != nil {
		return err
	}
	if err := report.Validate(r); err != nil { // more tests than one report may hold, say
		return fmt.Errorf("merging reports: the whole is no report: %w", err)
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return fmt.Errorf("making --out: %w", err)
	}
	if err := (&store{dir: f.out}).finish(r); err != nil {
		return err
	}
	if f.json {
		err = report.Encode(s.out, r)
	} else {
		width, _ := terminal(s.out)
		path := filepath.Join(f.out, reportFile)
		err = report.Terminal(s.out, located(r, path, "."), report.Options{Width: width, Color: colour(s.out), ReportPath: path})
	}
	if err == nil && fails(f.settings, r.Verdicts) {
		err = errPolicy
	}
	return err
}

// shardFiles lists the reports that the arguments mean, each once. A name
// without a file stays in it: the report is to say that it is missing.
func shardFiles(args []string) ([]string, error) {
	var out []string
	for _, arg := range args {
		found, err := filepath.Glob(arg)
		if err != nil {
			return nil, fmt.Errorf("reading arguments: pattern %q: %w", arg, err)
		}
		if len(found) == 0 {
			found = []string{arg}
		}
		for _, p := range found {
			if info, err := os.Stat(p); err == nil && info.IsDir() {
				in, err := reportsIn(p)
				if err != nil {
					return nil, err
				}
				out = append(out, in...)
				continue
			}
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// reportsIn lists the reports of a folder, as artifacts are downloaded: in it, or
// each in a folder of its own.
func reportsIn(dir string) ([]string, error) {
	var out []string
	for _, pattern := range []string{reportFile, "*/" + reportFile} {
		found, err := fs.Glob(os.DirFS(dir), pattern)
		if err != nil {
			return nil, fmt.Errorf("reading folder %q: %w", dir, err)
		}
		for _, name := range found {
			out = append(out, filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("reading arguments: there is no %s in %q or in its folders", reportFile, dir)
	}
	return out, nil
}

func shardSources(paths []string) []sweep.Source {
	var out []sweep.Source
	for _, p := range paths {
		out = append(out, sweep.Source{Name: filepath.ToSlash(p), Open: func() (io.ReadCloser, error) {
			f, err := os.Open(p)
			if err != nil {
				return nil, reason(err, p)
			}
			return f, nil
		}})
	}
	return out
}

// refuseForeignMerge keeps a shard's own report, or somebody's folder, from being
// overwritten. What an earlier merge wrote is replaced.
func refuseForeignMerge(dir string, inputs []string) error {
	target := filepath.Join(dir, reportFile)
	for _, p := range inputs {
		if same(p, target) {
			return fmt.Errorf("writing to %s: its %s is one of the shards: choose another --out", dir, reportFile)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		return nil
	}
	for _, e := range entries {
		if !slices.Contains([]string{reportFile, pageFile, htmlFile}, e.Name()) {
			return fmt.Errorf("writing to %s: it holds other files: choose an empty or a new folder with --out", dir)
		}
	}
	return nil
}

func same(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// rejudgeParts judges a joined report again: each shard by itself, as it was
// measured, and then all together. What only the joining knew is kept.
func rejudgeParts(ctx context.Context, r triage.Report) (triage.Report, error) {
	parts := sweep.Split(r)
	for i, p := range parts {
		again, err := rejudge(ctx, p)
		if err != nil {
			return triage.Report{}, err
		}
		parts[i] = again
	}
	again, err := sweep.Join(parts)
	again.Cost, again.Warnings, again.Plan.Created = r.Cost, r.Warnings, r.Plan.Created
	return again, err
}
