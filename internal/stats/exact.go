package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Interval is the two-sided Clopper-Pearson interval of a rate after k events
// in n trials, at the given confidence level in (0, 1). With n = 0 it is [0, 1].
//
// C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits
// illustrated in the case of the binomial", Biometrika 26 (1934).
func Interval(k, n int, level float64) (low, high float64) {
	tail := (1 + level) / 2
	return Lower(k, n, tail), Upper(k, n, tail)
}

// Upper is the one-sided Clopper-Pearson upper bound of a rate: the largest rate
// under which k or fewer events in n trials still have probability 1-level. For
// k = 0 it is 1-(1-level)^(1/n).
func Upper(k, n int, level float64) float64 {
	checkCount(k, n)
	switch {
	case k == n:
		return 1
	case k == 0:
		return -math.Expm1(math.Log1p(-level) / float64(n))
	}
	return mathext.InvRegIncBeta(float64(k+1), float64(n-k), level)
}

// Lower is the one-sided Clopper-Pearson lower bound of a rate, the mirror image
// of [Upper].
func Lower(k, n int, level float64) float64 {
	checkCount(k, n)
	return 1 - Upper(n-k, n, level)
}

// FisherGreater is the one-sided p-value of Fisher's exact test for "the first
// rate is greater": the probability, with all margins fixed, of k1 or more of
// the k1+k2 events among the first n1 trials.
//
// R. A. Fisher, "On the interpretation of chi-squared from contingency tables,
// and the calculation of P", JRSS 85 (1922).
func FisherGreater(k1, n1, k2, n2 int) float64 {
	sum := 0.0
	for k, p := range hypergeometric(k1, n1, k2, n2) {
		if k >= k1 {
			sum += p
		}
	}
	return math.Min(1, sum)
}

// fisherSlack lets tables that are exactly as probable as the observed one be
// counted in spite of rounding; R's fisher.test uses the same figure.
const fisherSlack = 1 + 1e-7

// Fisher is the two-sided p-value of Fisher's exact test: the probability of all
// tables with the same margins that are no more probable than the observed one.
func Fisher(k1, n1, k2, n2 int) float64 {
	table := hypergeometric(k1, n1, k2, n2)
	limit, sum := table[k1]*fisherSlack, 0.0
	for _, p := range table {
		if p <= limit {
			sum += p
		}
	}
	return math.Min(1, sum)
}

// hypergeometric gives the probability of each count of events in the first arm
// with the margins of the table fixed. The index is the count; impossible counts
// have probability 0 and add nothing to a sum.
func hypergeometric(k1, n1, k2, n2 int) []float64 {
	checkCount(k1, n1)
	checkCount(k2, n2)
	events := k1 + k2
	out := make([]float64, n1+1)
	whole := logChoose(n1+n2, events)
	for k := max(0, events-n2); k <= min(n1, events); k++ {
		out[k] = math.Exp(logChoose(n1, k) + logChoose(n2, events-k) - whole)
	}
	return out
}

// Difference is the rate of the first arm minus that of the second, with
// Newcombe's hybrid score interval (his method 10) at the given level. An arm
// without trials has the rate 0 and leaves the interval open on its side.
//
// R. G. Newcombe, "Interval estimation for the difference between independent
// proportions: comparison of eleven methods", Statistics in Medicine 17 (1998).
func Difference(k1, n1, k2, n2 int, level float64) (diff, low, high float64) {
	p1, l1, u1 := wilson(k1, n1, level)
	p2, l2, u2 := wilson(k2, n2, level)
	diff = p1 - p2
	low = diff - math.Hypot(p1-l1, u2-p2)
	high = diff + math.Hypot(u1-p1, p2-l2)
	return diff, math.Max(-1, low), math.Min(1, high)
}

// wilson is the rate with its score interval (E. B. Wilson, JASA 22, 1927).
func wilson(k, n int, level float64) (rate, low, high float64) {
	checkCount(k, n)
	if n == 0 {
		return 0, 0, 1
	}
	z := math.Sqrt2 * math.Erfinv(level)
	size, rate := float64(n), float64(k)/float64(n)
	centre := rate + z*z/(2*size)
	half := z * math.Sqrt(rate*(1-rate)/size+z*z/(4*size*size))
	scale := 1 + z*z/size
	return rate, math.Max(0, (centre-half)/scale), math.Min(1, (centre+half)/scale)
}

func logChoose(n, k int) float64 {
	return logFactorial(n) - logFactorial(k) - logFactorial(n-k)
}

func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}

// checkCount panics on counts that no experiment can give: a caller's bug.
func checkCount(k, n int) {
	if k < 0 || k > n {
		panic(fmt.Sprintf("stats: %d events in %d trials", k, n))
	}
}
