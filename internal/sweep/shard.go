package sweep

import (
	"cmp"
	"slices"

	"github.com/triagebot/triagebot/internal/triage"
)

// Item is one thing to run, with its known duration in milliseconds, 0 for unknown.
type Item struct {
	Target triage.Target
	MS     float64
}

// unknownMS is the duration of an item when no duration is known at all. Any
// will do, they are only compared with each other.
const unknownMS = 1000

// Assign shares the items out to n shards: the longest first, each to the shard
// that has the least so far (R. L. Graham, "Bounds on multiprocessing timing
// anomalies", SIAM J. Appl. Math. 17, 1969: at most 4/3 of the best plan). It
// depends on nothing but the set of items and n, so that every machine comes to
// the same plan: ties go by name and by number. An item of unknown duration
// counts with the median of the known ones. Within a shard the order is that of
// the names. It panics when n < 1.
func Assign(items []Item, n int) [][]Item {
	if n < 1 {
		panic("sweep: no shards")
	}
	typical := medianOf(items)
	weight := func(i Item) float64 {
		if i.MS > 0 {
			return i.MS
		}
		return typical
	}
	order := slices.Clone(items)
	slices.SortFunc(order, func(a, b Item) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), compareTargets(a.Target, b.Target))
	})
	shards, load := make([][]Item, n), make([]float64, n)
	for _, item := range order {
		least := 0
		for i := range load {
			if load[i] < load[least] || load[i] == load[least] && len(shards[i]) < len(shards[least]) {
				least = i
			}
		}
		shards[least] = append(shards[least], item)
		load[least] += weight(item)
	}
	for _, s := range shards {
		slices.SortFunc(s, func(a, b Item) int { return compareTargets(a.Target, b.Target) })
	}
	return shards
}

// Sum is the known duration of a shard in milliseconds.
func Sum(items []Item) float64 {
	total := 0.0
	for _, i := range items {
		total += i.MS
	}
	return total
}

func compareTargets(a, b triage.Target) int {
	return cmp.Or(cmp.Compare(a.Suite, b.Suite), cmp.Compare(a.Framework, b.Framework),
		cmp.Compare(a.Package, b.Package), cmp.Compare(a.Test, b.Test))
}

// medianOf is the median of the known durations.
func medianOf(items []Item) float64 {
	var known []float64
	for _, i := range items {
		if i.MS > 0 {
			known = append(known, i.MS)
		}
	}
	if len(known) == 0 {
		return unknownMS
	}
	return median(known)
}

// median sorts its argument.
func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
