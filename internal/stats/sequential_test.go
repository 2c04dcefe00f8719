package stats

import (
	"math"
	"testing"
)

// walk follows every course of n rounds at the given rates and gives the
// probability that stop was ever true, and the mean number of rounds until then.
func walk(head, base float64, n int, stop func(Rounds) bool) (stopped, rounds float64) {
	alive := map[Rounds]float64{{}: 1}
	for i := 1; i <= n; i++ {
		next := map[Rounds]float64{}
		for r, p := range alive {
			for _, s := range []struct {
				add  Rounds
				rate float64
			}{
				{Rounds{Both: 1}, head * base},
				{Rounds{HeadOnly: 1}, head * (1 - base)},
				{Rounds{BaseOnly: 1}, (1 - head) * base},
				{Rounds{Neither: 1}, (1 - head) * (1 - base)},
			} {
				if s.rate > 0 {
					next[Rounds{r.Both + s.add.Both, r.HeadOnly + s.add.HeadOnly,
						r.BaseOnly + s.add.BaseOnly, r.Neither + s.add.Neither}] += p * s.rate
				}
			}
		}
		for r, p := range next {
			if stop(r) {
				stopped += p
				rounds += p * float64(i)
				delete(next, r)
			}
		}
		alive = next
	}
	for _, p := range alive {
		rounds += p * float64(n)
	}
	return stopped, rounds
}

func never(Rounds) bool { return false }

func TestPairMatchesTrialsByOrder(t *testing.T) {
	head := []bool{true, true, false, false, true}
	base := []bool{true, false, true, false}
	if got, want := Pair(head, base), (Rounds{Both: 1, HeadOnly: 1, BaseOnly: 1, Neither: 1}); got != want {
		t.Errorf("Pair = %+v, want %+v: the fifth trial has no partner", got, want)
	}
	if got := Pair(nil, base).N(); got != 0 {
		t.Errorf("an empty arm makes %d rounds", got)
	}
}

func TestWorseKnownValues(t *testing.T) {
	for k, want := range map[int]float64{0: 1, 3: 29.38, 4: 101.75, 5: 364.96, 6: 1343.1} {
		near(t, "perfect separation", Worse(Rounds{HeadOnly: k}), want, want/1e3)
	}
	// The bet on "always against never" alone doubles twice a round.
	only := []hypothesis{newHypothesis(1, 1, 0, 0.5, 0.5)}
	near(t, "one bet", value(only, Rounds{HeadOnly: 5}), 1024, 1e-9)
	near(t, "lost at the first round of another kind", value(only, Rounds{HeadOnly: 5, Both: 1}), 0, 0)
	near(t, "by hand", value([]hypothesis{newHypothesis(1, 0.8, 0.4, 0.6, 0.6)}, Rounds{HeadOnly: 1, Neither: 1}),
		(0.8*0.6)/(0.6*0.4)*(0.2*0.6)/(0.4*0.4), 1e-12)
}

// The rule that the design suggests, for comparison: Beta(1/2, 1/2) mixtures over
// the maximised null likelihood. After k rounds of perfect separation it has
// (C(2k,k)/4^k)^2 over 4^-k.
func TestWorseIsQuickerThanUniversalInference(t *testing.T) {
	for k, want := range map[int]float64{5: 62, 6: 208} {
		mixture := math.Exp(logChoose(2*k, k)) / math.Pow(4, float64(k))
		universal := mixture * mixture * math.Pow(4, float64(k))
		near(t, "universal inference", universal, want, 0.5)
		if ours := Worse(Rounds{HeadOnly: k}); ours < 2*universal {
			t.Errorf("%d rounds of separation: Worse %.0f, universal inference restricted to head > base %.0f", k, ours, 2*universal)
		}
	}
}

func TestEValuesAreFinite(t *testing.T) {
	for _, r := range []Rounds{{HeadOnly: 5000}, {BaseOnly: 5000}, {Both: 5000, Neither: 5000}} {
		for _, e := range []float64{Worse(r), NotMuchWorse(r, 0.7)} {
			if math.IsInf(e, 0) || math.IsNaN(e) || e < 0 {
				t.Errorf("%+v gives %g", r, e)
			}
		}
	}
}

// One round's expectation is at most 1 wherever the null is true. As the null
// is about each round by itself this is the whole proof of validity, for each
// bet and so for the mixture, under drift of the rates as well.
func TestNoBetGainsUnderItsNull(t *testing.T) {
	expectation := func(h hypothesis, head, base float64) float64 {
		term := func(rate, log float64) float64 {
			if rate == 0 {
				return 0
			}
			return rate * math.Exp(log)
		}
		return term(head*base, h.both) + term(head*(1-base), h.headOnly) +
			term((1-head)*base, h.baseOnly) + term((1-head)*(1-base), h.neither)
	}
	const grid = 50
	for i := 0; i <= grid; i++ {
		for j := 0; j <= grid; j++ {
			head, base := float64(i)/grid, float64(j)/grid
			if i <= j {
				for _, h := range worseMixture() {
					if e := expectation(h, head, base); e > 1+1e-9 {
						t.Fatalf("a bet of Worse gains %g at head %.2f, base %.2f", e, head, base)
					}
				}
			}
			for _, margin := range []float64{0.5, 0.7} {
				if head < base+margin {
					continue
				}
				for _, h := range equalMixture(margin) {
					if e := expectation(h, head, base); e > 1+1e-9 {
						t.Fatalf("a bet of NotMuchWorse(%g) gains %g at head %.2f, base %.2f", margin, e, head, base)
					}
				}
			}
		}
	}
}

func TestMixturesAreWeighted(t *testing.T) {
	for name, mixture := range map[string][]hypothesis{"worse": worseMixture(), "equal": equalMixture(0.7)} {
		sum := 0.0
		for _, h := range mixture {
			sum += h.weight
		}
		near(t, name, sum, 1, 1e-12)
	}
}

// Enumerated, not simulated: the probability that a flake of any one rate ever
// reaches the threshold in 30 rounds.
func TestWorseStaysBelowAlphaForEveryRateAtAnyTime(t *testing.T) {
	worst := 0.0
	known := map[Rounds]bool{}
	accuses := func(r Rounds) bool {
		if _, ok := known[r]; !ok {
			known[r] = Worse(r) >= 100
		}
		return known[r]
	}
	for rate := 0.05; rate < 1; rate += 0.05 {
		p, _ := walk(rate, rate, 30, accuses)
		worst = math.Max(worst, p)
	}
	if worst > 0.01 {
		t.Errorf("P(ever >= 100) is %.4f, above 0.01", worst)
	}
	if worst < 0.0039 {
		t.Errorf("P(ever >= 100) is %.4f: it cannot be below that of four rounds of separation, 4^-4", worst)
	}
}

func TestNotMuchWorseStaysBelowItsLevelOnItsNull(t *testing.T) {
	for base := 0.0; base < 0.31; base += 0.05 {
		p, _ := walk(math.Min(1, base+0.7), base, 20, func(r Rounds) bool { return NotMuchWorse(r, 0.7) >= 100 })
		if p > 0.01 {
			t.Errorf("base %.2f: P(ever >= 100) is %.4f, above 0.01", base, p)
		}
	}
}

func TestSequentialTestsHavePower(t *testing.T) {
	for name, c := range map[string]struct {
		head, base float64
		rounds     int
		power      float64
		stop       func(Rounds) bool
	}{
		"a regression":                     {1, 0, 4, 1, func(r Rounds) bool { return Worse(r) >= 100 }},
		"a regression in a 20 % flake":     {1, 0.2, 16, 0.99, func(r Rounds) bool { return Worse(r) >= 100 }},
		"a flake of one half is no excuse": {0.5, 0.5, 14, 0.85, func(r Rounds) bool { return NotMuchWorse(r, 0.7) >= 100 }},
	} {
		t.Run(name, func(t *testing.T) {
			if p, _ := walk(c.head, c.base, c.rounds, c.stop); p < c.power-1e-9 {
				t.Errorf("power %.4f in %d rounds, want %.2f", p, c.rounds, c.power)
			}
		})
	}
}

func TestWalkIsAProbability(t *testing.T) {
	stopped, rounds := walk(0.3, 0.6, 6, never)
	near(t, "nothing stops it", stopped, 0, 0)
	near(t, "rounds", rounds, 6, 1e-9)
	stopped, rounds = walk(0.5, 0.5, 9, func(r Rounds) bool { return r.N() == 2 })
	near(t, "always stopped", stopped, 1, 1e-9)
	near(t, "after two", rounds, 2, 1e-9)
}

func TestOneMoreHeadFailureNeverLowersTheSuspicion(t *testing.T) {
	for both := range 4 {
		for headOnly := range 4 {
			for baseOnly := range 4 {
				for neither := range 4 {
					r := Rounds{both, headOnly, baseOnly, neither}
					more, fewer := r, r
					more.HeadOnly++
					fewer.BaseOnly++
					if Worse(more) < Worse(r) || Worse(fewer) > Worse(r) {
						t.Errorf("Worse is not monotone at %+v", r)
					}
					if NotMuchWorse(more, 0.7) > NotMuchWorse(r, 0.7) || NotMuchWorse(fewer, 0.7) < NotMuchWorse(r, 0.7) {
						t.Errorf("NotMuchWorse is not monotone at %+v", r)
					}
				}
			}
		}
	}
}
