package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/triagebot/triagebot/internal/history"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/sweep"
	"github.com/triagebot/triagebot/internal/triage"
)

// readPast reads the earlier reports of a folder; none when no folder is named.
// An empty repo takes the reports of any.
func readPast(ctx context.Context, dir, repo string) (*history.Record, error) {
	if dir == "" {
		return &history.Record{}, nil
	}
	return history.Read(ctx, history.Folder(dir), history.Limits{Repo: repo, Now: time.Now()}, report.Decode)
}

// addPast notes for each failing test what earlier reports and base's ledger of
// known reds tell of it.
func (s *session) addPast(past *history.Record, c *collected) {
	for i, f := range c.failures {
		c.failures[i].Past = past.Past(f.Target, f.Signature)
	}
	c.warnings = append(c.warnings, past.Warnings...)
	l, err := readLedger(s.ws.Tree(triage.Base).Dir, sweep.LedgerPath)
	if err != nil {
		c.warnings = append(c.warnings, fmt.Sprintf("base's ledger of known reds: %s", oneLine(err)))
	}
	sweep.OnLedger(l, c.failures)
}

// readLedger reads the ledger of a tree; a tree without one has an empty one.
// What is wrong with it is an error, and the rest is returned beside it.
func readLedger(tree, path string) (sweep.Ledger, error) {
	root, err := os.OpenRoot(tree)
	if err != nil {
		return sweep.Ledger{Path: path}, fmt.Errorf("reading the ledger: %w", err)
	}
	defer root.Close()
	f, err := root.Open(filepath.FromSlash(path))
	if errors.Is(err, os.ErrNotExist) {
		return sweep.Ledger{Path: path}, nil
	}
	if err != nil {
		return sweep.Ledger{Path: path}, fmt.Errorf("reading the ledger %w", reason(err, path))
	}
	defer f.Close()
	return sweep.ParseLedger(f, path)
}
