package stats

import (
	"cmp"
	"math"
	"slices"
)

// Holm adjusts p-values for having tested all of them: comparing an adjusted
// value with a bounds the chance of even one false rejection by a. The result
// is in the order of the input.
//
// S. Holm, "A simple sequentially rejective multiple test procedure",
// Scandinavian Journal of Statistics 6 (1979).
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	out := make([]float64, len(p))
	highest := 0.0
	for rank, i := range order {
		highest = math.Max(highest, p[i]*float64(len(p)-rank))
		out[i] = math.Min(1, highest)
	}
	return out
}
