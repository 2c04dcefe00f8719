package main

import (
	"slices"

	"github.com/triagebot/triagebot/internal/sweep"
	"github.com/triagebot/triagebot/internal/triage"
)

// takeShard leaves the failing tests of one shard, in the order they came. Every
// machine finds the same failing tests, so every machine makes the same plan.
func (c *collected) takeShard(text string, durations map[triage.Target]float64) (triage.Shard, error) {
	if text == "" {
		return triage.Shard{}, nil
	}
	shard, err := triage.ParseShard(text)
	if err != nil {
		return shard, err
	}
	shard.Tests = len(c.failures)
	mine := sweep.Assign(weighed(c.failures, durations), shard.Of)[shard.Index-1]
	c.failures = slices.DeleteFunc(c.failures, func(f triage.Failure) bool {
		return !slices.ContainsFunc(mine, func(i sweep.Item) bool { return i.Target == f.Target })
	})
	return shard, nil
}

func weighed(failures []triage.Failure, durations map[triage.Target]float64) []sweep.Item {
	out := make([]sweep.Item, len(failures))
	for i, f := range failures {
		out[i] = sweep.Item{Target: f.Target, MS: durations[f.Target]}
	}
	return out
}
