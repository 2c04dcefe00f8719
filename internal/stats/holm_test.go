package stats

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestHolm(t *testing.T) {
	for name, c := range map[string]struct{ p, want []float64 }{
		"by hand":                     {[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		"one test is left as it is":   {[]float64{0.2}, []float64{0.2}},
		"never above 1":               {[]float64{0.9, 0.8, 1}, []float64{1, 1, 1}},
		"ties":                        {[]float64{0.01, 0.01}, []float64{0.02, 0.02}},
		"none":                        {[]float64{}, []float64{}},
		"a small one does not shrink": {[]float64{0.04, 0.045}, []float64{0.08, 0.08}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, Holm(c.p), cmpopts.EquateApprox(0, 1e-12)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestHolmIsNeverBelowTheRawValueAndKeepsTheOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		p := make([]float64, 1+random.IntN(12))
		for i := range p {
			p[i] = random.Float64()
		}
		for i, adjusted := range Holm(p) {
			if adjusted < p[i] || adjusted > 1 {
				t.Fatalf("%v: element %d adjusted to %g", p, i, adjusted)
			}
			for j := range p {
				if p[j] < p[i] && Holm(p)[j] > adjusted {
					t.Fatalf("%v: the order of %d and %d was turned", p, i, j)
				}
			}
		}
	}
}

func TestHolmBoundsTheFamilyError(t *testing.T) {
	const families, size, alpha = 4000, 8, 0.05
	random := rand.New(rand.NewPCG(3, 4))
	wrong := 0
	for range families {
		p := make([]float64, size)
		for i := range p {
			p[i] = random.Float64()
		}
		for _, adjusted := range Holm(p) {
			if adjusted <= alpha {
				wrong++
				break
			}
		}
	}
	if limit := Upper(wrong, families, 0.999); Lower(wrong, families, 0.999) > alpha {
		t.Errorf("%d of %d families have a false rejection (up to %.3f), promised %.2f", wrong, families, limit, alpha)
	}
}
