package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/gh"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/sweep"
)

// outputMatrix is the output of the mode plan.
const outputMatrix = "matrix"

// plan gives the matrix of the machines that share a check. It reads reports of
// the red run, and starts nothing of the checkout.
func (a *actionRun) plan(ctx context.Context) error {
	n, err := number(a.in["shards"])
	if err != nil {
		return fmt.Errorf("reading input shards: %w", err)
	}
	c, err := a.newChild()
	if err != nil {
		return err
	}
	defer func() {
		if err := c.close(); err != nil {
			a.annotate(gh.Warning, harmless(err.Error()))
		}
	}()
	f := &planFlags{shards: int(n)}
	f.repo = c.dir
	if f.reports, err = c.copyFiles("reports", lines(a.in["reports"])); err != nil {
		return err
	}
	if f.logs, err = c.copyFiles("logs", lines(a.in["logs"])); err != nil {
		return err
	}
	if f.history, err = c.copyHistory(a.in["history"]); err != nil {
		return err
	}
	var out bytes.Buffer
	if err := runPlan(ctx, streams{in: a.s.in, out: &out, err: a.s.err}, f); err != nil {
		return err
	}
	text := strings.TrimSpace(out.String())
	a.logf("the machines: %s", text)
	return a.runner.Output(outputMatrix, text)
}

// merge joins the reports of the shards and does with the whole what is done with
// the report of one machine. It reads them as a stranger's, and runs nothing.
func (a *actionRun) merge(ctx context.Context) error {
	c, err := a.places()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(c.workspace)
	if err != nil {
		return fmt.Errorf("reading input reports: %w", err)
	}
	defer root.Close()
	var paths []string
	for _, glob := range lines(a.in["reports"]) {
		found, err := c.glob(root, glob)
		if err != nil {
			return fmt.Errorf("reading input reports: %w", err)
		}
		paths = append(paths, found...)
	}
	if len(paths) == 0 {
		return errors.New("reading input reports: name the reports of the shards, as in \"shards/*/report.json\"")
	}
	slices.Sort(paths)
	r, err := sweep.Merge(sourcesIn(root, slices.Compact(paths)), report.Decode)
	if err != nil {
		return err
	}
	if err := report.Validate(r); err != nil {
		return fmt.Errorf("merging reports: the whole is no report: %w", err)
	}
	var cfg config.Config
	if v := a.in["fail-on"]; v != "" {
		if err := cfg.Set("fail-on", v); err != nil {
			return fmt.Errorf("reading input fail-on: %w", err)
		}
	}
	return a.finish(ctx, r, fails(cfg, r.Verdicts))
}

// places is a child that is never started: the workspace, and the folder in it
// that paths are relative to.
func (a *actionRun) places() (*child, error) {
	if err := localPath("working-directory", a.in["working-directory"]); err != nil {
		return nil, err
	}
	if err := localPath("out", a.in["out"]); err != nil {
		return nil, err
	}
	workspace := a.env("GITHUB_WORKSPACE")
	if workspace == "" {
		workspace = "."
	}
	workspace, err := filepath.Abs(workspace)
	if err != nil {
		return nil, fmt.Errorf("finding the workspace: %w", err)
	}
	return &child{workspace: workspace, dir: filepath.Join(workspace, filepath.FromSlash(a.in["working-directory"]))}, nil
}

// sourcesIn are files of the workspace. No link leads out of it, and a pipe is not
// waited for.
func sourcesIn(root *os.Root, paths []string) []sweep.Source {
	var out []sweep.Source
	for _, p := range paths {
		out = append(out, sweep.Source{Name: p, Open: func() (io.ReadCloser, error) {
			f, err := root.OpenFile(filepath.FromSlash(p), os.O_RDONLY|nonBlocking, 0)
			if err != nil {
				return nil, bare(err)
			}
			if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
				f.Close()
				return nil, errors.New("it is not a file")
			}
			return f, nil
		}})
	}
	return out
}

// copyHistory copies the reports of a folder of the workspace, those in it and in
// its folders, and returns the copies' folder; empty without a folder. A folder
// without reports, or that is not there, is the past of a first day.
func (c *child) copyHistory(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	root, err := os.OpenRoot(c.workspace)
	if err != nil {
		return "", fmt.Errorf("reading input history: %w", err)
	}
	defer root.Close()
	to := c.path("history")
	if err := os.Mkdir(to, 0o755); err != nil {
		return "", fmt.Errorf("copying the history: %w", err)
	}
	room, n := int64(maxCopied), 0
	for _, pattern := range []string{"*.json", "*/*.json"} {
		found, err := c.glob(root, path.Join(filepath.ToSlash(dir), pattern))
		if errors.Is(err, errNoFile) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("reading input history: %w", err)
		}
		for _, p := range found[:min(len(found), maxCopies-n)] {
			size, err := copyRegular(root, p, filepath.Join(to, fmt.Sprintf("%d.json", n)), room)
			if err != nil {
				return "", fmt.Errorf("reading input history: %w", err)
			}
			room, n = room-size, n+1
		}
	}
	return to, nil
}
