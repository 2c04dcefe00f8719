package triage

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is one part of a check that several machines share. Its zero value is
// the whole check.
type Shard struct {
	// Index counts from 1 to Of.
	Index int `json:"index"`
	Of    int `json:"of"`
	// Tests is the number of red tests, or of tests, of all shards together: a
	// shard judges by the thresholds of the whole check, and whoever joins the
	// shards knows what is missing.
	Tests int `json:"tests"`
}

// String is "2/3", empty for the whole check.
func (s Shard) String() string {
	if s.Of == 0 {
		return ""
	}
	return strconv.Itoa(s.Index) + "/" + strconv.Itoa(s.Of)
}

// MaxShards bounds the shards of one check: GitHub Actions runs at most 256 jobs
// of one matrix.
const MaxShards = 256

// ParseShard reads "2/3". The number of tests is not known yet.
func ParseShard(text string) (Shard, error) {
	before, after, ok := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(before)
	of, err2 := strconv.Atoi(after)
	if !ok || err1 != nil || err2 != nil || i < 1 || i > of || of > MaxShards {
		return Shard{}, fmt.Errorf("%q: want INDEX/SHARDS, as in 2/3, with at most %d shards", text, MaxShards)
	}
	return Shard{Index: i, Of: of}, nil
}

// Part is a shard's share of a report that was joined from shards. The parts
// stand in the order of their failures and trials.
type Part struct {
	Shard
	// Failures and Trials count the shard's own, which follow those of the parts before.
	Failures int `json:"failures"`
	Trials   int `json:"trials"`
	// Stopped is plan.stopped of the shard.
	Stopped string `json:"stopped,omitempty"`
}
