package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"
	"github.com/triagebot/triagebot/internal/sweep"
	"github.com/triagebot/triagebot/internal/triage"
)

type planFlags struct {
	measureFlags
	shards int
}

func newPlan(s streams) *cobra.Command {
	f := &planFlags{}
	c := &cobra.Command{
		Use:   "plan --shards N",
		Short: "Print the matrix of the machines that share a check",
		Long: `plan prints the matrix of an Actions job that measures in N shards, as one line of JSON.
Each entry has the shard for --shard, and where they are known the number of tests and
the seconds that one run of them takes.

With --report or --log there are no more shards than failing tests. Every machine makes
the same plan again, so give measure the same --report, --log and --history.`,
		Example: `  triagebot plan --shards 3
  triagebot plan --shards 8 --report 'results/*.json' --history reports`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runPlan(c.Context(), s, f) },
	}
	fl := c.Flags()
	fl.IntVar(&f.shards, "shards", 0, "how many machines there are")
	fl.StringVar(&f.repo, "repo", ".", "the git repository")
	fl.StringArrayVar(&f.reports, "report", nil, "test reports with the failures, as measure takes them (`GLOB`, repeatable)")
	fl.StringArrayVar(&f.logs, "log", nil, "raw logs of the red run (`FILE`, repeatable)")
	fl.StringVar(&f.history, "history", "", "earlier reports: the durations come from there (`DIR`)")
	return c
}

// matrix is what fromJSON makes a job's matrix of.
type matrix struct {
	Include []machine `json:"include"`
}

// machine is one entry of the matrix.
type machine struct {
	Shard string `json:"shard"`
	Index int    `json:"index"`
	Of    int    `json:"of"`
	Tests int    `json:"tests,omitempty"`
	// Seconds is what one run of each of its tests takes, as far as it is known.
	Seconds float64 `json:"seconds,omitempty"`
}

func runPlan(ctx context.Context, s streams, f *planFlags) error {
	if f.shards < 1 || f.shards > triage.MaxShards {
		return fmt.Errorf("reading --shards: want 1 to %d, which is as many jobs as a matrix may have", triage.MaxShards)
	}
	past, err := readPast(ctx, f.history, "")
	if err != nil {
		return err
	}
	var items []sweep.Item
	if len(f.reports)+len(f.logs) > 0 {
		c, err := collect(&f.measureFlags, beforeOpen(&f.measureFlags))
		if err != nil {
			return err
		}
		items = weighed(c.failures, past.Durations())
	} else if f.history != "" {
		for _, t := range past.Tests() {
			items = append(items, sweep.Item{Target: t, MS: past.DurationMS(t)})
		}
		if len(items) == 0 {
			return errors.New("reading --history: no report in it tells of any test")
		}
	}
	n := f.shards
	if len(items) > 0 {
		n = min(n, len(items))
	}
	out, err := json.Marshal(matrixOf(sweep.Assign(items, n)))
	if err != nil {
		return fmt.Errorf("writing the matrix: %w", err)
	}
	_, err = fmt.Fprintln(s.out, string(out))
	return err
}

func matrixOf(shards [][]sweep.Item) matrix {
	var m matrix
	for i, items := range shards {
		s := triage.Shard{Index: i + 1, Of: len(shards)}
		m.Include = append(m.Include, machine{Shard: s.String(), Index: s.Index, Of: s.Of, Tests: len(items), Seconds: math.Round(sweep.Sum(items)/10) / 100})
	}
	return m
}
