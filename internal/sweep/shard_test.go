package sweep

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func items(ms ...float64) []Item {
	var out []Item
	for i, x := range ms {
		out = append(out, Item{goTest("p", fmt.Sprintf("Test%02d", i)), x})
	}
	return out
}

func names(shards [][]Item) []string {
	var out []string
	for _, s := range shards {
		text := ""
		for _, i := range s {
			text += i.Target.Test[4:] + " "
		}
		out = append(out, text)
	}
	return out
}

func TestTheLongestTestsAreSharedOutFirst(t *testing.T) {
	for name, tc := range map[string]struct {
		items []Item
		n     int
		want  []string
	}{
		"one shard has all":                        {items(3, 1, 2), 1, []string{"00 01 02 "}},
		"longest first, to the least loaded":       {items(7, 6, 5, 4, 3), 2, []string{"00 03 04 ", "01 02 "}},
		"ties by name":                             {items(1, 1, 1, 1), 2, []string{"00 02 ", "01 03 "}},
		"nothing known is shared out evenly":       {items(0, 0, 0, 0, 0), 2, []string{"00 02 04 ", "01 03 "}},
		"an unknown one counts with the median":    {items(10, 0, 20, 10), 2, []string{"02 03 ", "00 01 "}},
		"more shards than tests leaves some empty": {items(1), 3, []string{"00 ", "", ""}},
		"no tests": {nil, 2, []string{"", ""}},
	} {
		if diff := cmp.Diff(tc.want, names(Assign(tc.items, tc.n))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestThePlanDependsOnTheSetOfTestsOnly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var all []Item
	for i := range 500 {
		all = append(all, Item{goTest(fmt.Sprintf("p%d", i%7), fmt.Sprintf("Test%d", i)), float64(r.IntN(5)) * 100})
	}
	want := Assign(all, 9)
	count := 0
	for _, s := range want {
		count += len(s)
	}
	if count != len(all) {
		t.Fatalf("%d of %d tests are in a shard", count, len(all))
	}
	for range 20 {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		before := slices.Clone(all)
		if diff := cmp.Diff(want, Assign(all, 9)); diff != "" {
			t.Fatalf("another order, another plan:\n%s", diff)
		}
		if !slices.Equal(before, all) {
			t.Fatal("the caller's list was changed")
		}
	}
}

func TestNoShardIsMuchLongerThanTheMean(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		var all []Item
		longest := 0.0
		for i := range 200 {
			ms := r.ExpFloat64() * 1000
			longest = max(longest, ms)
			all = append(all, Item{goTest("p", fmt.Sprintf("Test%d", i)), ms})
		}
		const n = 8
		best := max(longest, Sum(all)/n)
		for _, s := range Assign(all, n) {
			if Sum(s) > best*4/3 {
				t.Errorf("a shard takes %.0f ms, no plan can do without %.0f", Sum(s), best)
			}
		}
	}
}
