package stats

import (
	"math"
	"sync"
)

// Rounds counts the rounds of two arms by what happened in them: an event (a
// failure) on both sides, on one, or on none. It is all that the sequential
// tests need, and it is comparable.
type Rounds struct {
	Both, HeadOnly, BaseOnly, Neither int
}

// N is the number of rounds.
func (r Rounds) N() int { return r.Both + r.HeadOnly + r.BaseOnly + r.Neither }

// Pair makes rounds of two arms' events in the order they were seen; trials
// beyond the shorter arm have no partner yet and are left out.
func Pair(head, base []bool) Rounds {
	var r Rounds
	for i := range min(len(head), len(base)) {
		switch {
		case head[i] && base[i]:
			r.Both++
		case head[i]:
			r.HeadOnly++
		case base[i]:
			r.BaseOnly++
		default:
			r.Neither++
		}
	}
	return r
}

// hypothesis is one alternative of a mixture: its weight, and the logarithm of
// the growth of the bet on it for each kind of round.
type hypothesis struct {
	weight                            float64
	both, headOnly, baseOnly, neither float64
}

// newHypothesis bets on the rates (head, base) against the null rates (nullHead, nullBase).
func newHypothesis(weight, head, base, nullHead, nullBase float64) hypothesis {
	h1, h0 := math.Log(head/nullHead), math.Log((1-head)/(1-nullHead))
	b1, b0 := math.Log(base/nullBase), math.Log((1-base)/(1-nullBase))
	return hypothesis{weight, h1 + b1, h1 + b0, h0 + b1, h0 + b0}
}

// value is the growth of a mixture of bets over the rounds. A count of 0 leaves
// its factor out even when that factor is 0 (logarithm -Inf). The value is
// always finite, so that it can be written as JSON.
func value(mixture []hypothesis, r Rounds) float64 {
	sum := 0.0
	for _, h := range mixture {
		sum += h.weight * math.Exp(power(h.both, r.Both)+power(h.headOnly, r.HeadOnly)+
			power(h.baseOnly, r.BaseOnly)+power(h.neither, r.Neither))
	}
	return math.Min(sum, math.MaxFloat64)
}

func power(log float64, n int) float64 {
	if n == 0 {
		return 0
	}
	return log * float64(n)
}

// The prior of [Worse]: a failure that a change brought is mostly there on every
// run and mostly never without the change, so these two points have weight of
// their own; the rest is spread evenly.
const (
	gridStep = 0.05
	// spike is the weight of "head always fails" and of "base never fails". It is
	// as small as it can be while four rounds of perfect separation reach 100.
	spike = 0.42
)

var worseMixture = sync.OnceValue(func() []hypothesis {
	var out []hypothesis
	total, steps := 0.0, int(math.Round(1/gridStep))
	slab := (1 - spike) / float64(steps-1)
	for h := 1; h <= steps; h++ {
		for b := 0; b < h && b < steps; b++ {
			weight := slab * slab
			if h == steps {
				weight *= spike / slab
			}
			if b == 0 {
				weight *= spike / slab
			}
			head, base := float64(h)/float64(steps), float64(b)/float64(steps)
			// With one trial an arm the least favourable common rate is the mean.
			mean := (head + base) / 2
			out = append(out, newHypothesis(weight, head, base, mean, mean))
			total += weight
		}
	}
	return scaled(out, total)
})

// Worse is the e-value for "head fails more often than base" against "in no
// round does head fail more often than base". Its expectation is at most 1
// under the null at any stopping time; 1/Worse, bounded by 1, is a p-value that
// may be looked at after every round. Four rounds of perfect separation give
// 102, five 365, six 1343.
func Worse(r Rounds) float64 { return value(worseMixture(), r) }

// NotMuchWorse is the e-value for "head and base fail at one common rate"
// against "in every round head's rate is above base's by margin or more".
// margin is in (0, 1). It is what an excuse needs: absence of evidence for
// [Worse] is not evidence of absence.
func NotMuchWorse(r Rounds, margin float64) float64 {
	return value(equalMixture(margin), r)
}

var equalMixtures sync.Map // of []hypothesis by margin: a cache of a pure function

func equalMixture(margin float64) []hypothesis {
	if m, ok := equalMixtures.Load(margin); ok {
		return m.([]hypothesis)
	}
	steps := int(math.Round(1 / gridStep))
	var out []hypothesis
	for i := 1; i < steps; i++ {
		rate := float64(i) / float64(steps)
		base := nearestBase(rate, margin)
		out = append(out, newHypothesis(1, rate, rate, base+margin, base))
	}
	out = scaled(out, float64(len(out)))
	equalMixtures.Store(margin, out)
	return out
}

// nearestBase finds the base rate of the null (base+margin, base) that is
// nearest in information to the common rate: there the slopes of the two arms'
// divergences cancel, which is what makes the ratio an e-value for all of the
// null. The sum of the slopes falls from +Inf to -Inf between the bounds.
func nearestBase(rate, margin float64) float64 {
	slope := func(q float64) float64 { return (rate - q) / (q * (1 - q)) }
	low, high := 0.0, 1-margin
	for range 60 {
		mid := (low + high) / 2
		if slope(mid)+slope(mid+margin) > 0 {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

func scaled(mixture []hypothesis, total float64) []hypothesis {
	for i := range mixture {
		mixture[i].weight /= total
	}
	return mixture
}
