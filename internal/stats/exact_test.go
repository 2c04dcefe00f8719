package stats

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s = %.6g, want %.6g ± %g", what, got, want, tolerance)
	}
}

func TestUpperBoundOfNoEventsIsTheOneOfTheDesign(t *testing.T) {
	for n, want := range map[int]float64{3: 0.63, 5: 0.45, 10: 0.26, 20: 0.14} {
		near(t, "Upper(0, n, 0.95)", Upper(0, n, 0.95), want, 0.005)
		near(t, "closed form", Upper(0, n, 0.95), 1-math.Pow(0.05, 1/float64(n)), 1e-12)
	}
	near(t, "without trials", Upper(0, 0, 0.95), 1, 0)
}

// The values are those of R's binom.test, which quotes Clopper and Pearson.
func TestIntervalAgreesWithPublishedValues(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{
		{682, 925, 0.7076683, 0.7654066}, // the example of R's documentation
		{0, 10, 0, 0.3084971},
		{10, 10, 0.6915029, 1},
		{5, 10, 0.1870860, 0.8129140},
		{1, 10, 0.002528579, 0.445016117},
		{0, 0, 0, 1},
	} {
		low, high := Interval(c.k, c.n, 0.95)
		near(t, "low", low, c.low, 1e-6)
		near(t, "high", high, c.high, 1e-6)
	}
}

func TestIntervalCoversEveryRateAtLeastAsOftenAsItSays(t *testing.T) {
	const n, level = 12, 0.9
	for rate := 0.01; rate < 1; rate += 0.01 {
		covered := 0.0
		for k := range n + 1 {
			if low, high := Interval(k, n, level); low <= rate && rate <= high {
				covered += binomial(k, n, rate)
			}
		}
		if covered < level-1e-9 {
			t.Errorf("rate %.2f is covered with probability %.4f, below %.2f", rate, covered, level)
		}
	}
}

func TestBoundsAreMonotoneAndMirrorEachOther(t *testing.T) {
	for n := 1; n <= 25; n++ {
		for k := 0; k <= n; k++ {
			near(t, "Lower mirrors Upper", Lower(k, n, 0.95), 1-Upper(n-k, n, 0.95), 1e-12)
			if Lower(k, n, 0.95) > float64(k)/float64(n)+1e-12 || Upper(k, n, 0.95) < float64(k)/float64(n)-1e-12 {
				t.Errorf("%d/%d lies outside its own bounds", k, n)
			}
			if k > 0 && Upper(k, n, 0.95) < Upper(k-1, n, 0.95) {
				t.Errorf("Upper falls from %d to %d events of %d", k-1, k, n)
			}
			if k <= n-1 && n > 1 && Upper(k, n, 0.95) > Upper(k, n-1, 0.95) {
				t.Errorf("Upper(%d, %d) is above Upper with a trial less", k, n)
			}
		}
	}
}

func TestFisherKnownTables(t *testing.T) {
	for _, c := range []struct {
		name           string
		k1, n1, k2, n2 int
		two, greater   float64
	}{
		{"the evening by hand of the design", 4, 4, 2, 5, 14.0 / 84, 10.0 / 84},
		{"Fisher's tea, 3 of 4", 3, 4, 1, 4, 34.0 / 70, 17.0 / 70},
		{"perfect separation 5+5", 5, 5, 0, 5, 2.0 / 252, 1.0 / 252},
		{"no events", 0, 3, 0, 3, 1, 1},
		{"an empty arm", 2, 3, 0, 0, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			near(t, "two-sided", Fisher(c.k1, c.n1, c.k2, c.n2), c.two, 1e-9)
			near(t, "one-sided", FisherGreater(c.k1, c.n1, c.k2, c.n2), c.greater, 1e-9)
		})
	}
}

// The reference counts every assignment of the events to the trials.
func TestFisherAgreesWithEnumeration(t *testing.T) {
	for n1 := 0; n1 <= 4; n1++ {
		for n2 := 0; n2 <= 4; n2++ {
			for k1 := 0; k1 <= n1; k1++ {
				for k2 := 0; k2 <= n2; k2++ {
					two, greater := enumerateFisher(k1, n1, k2, n2)
					near(t, "Fisher", Fisher(k1, n1, k2, n2), two, 1e-9)
					near(t, "FisherGreater", FisherGreater(k1, n1, k2, n2), greater, 1e-9)
					near(t, "swapped arms", Fisher(k2, n2, k1, n1), two, 1e-9)
					near(t, "swapped outcomes", Fisher(n1-k1, n1, n2-k2, n2), two, 1e-9)
				}
			}
		}
	}
}

func enumerateFisher(k1, n1, k2, n2 int) (two, greater float64) {
	count := make([]int, n1+1)
	total := 0
	for mask := range 1 << (n1 + n2) {
		first, all := 0, 0
		for bit := range n1 + n2 {
			if mask>>bit&1 == 1 {
				all++
				if bit < n1 {
					first++
				}
			}
		}
		if all == k1+k2 {
			count[first]++
			total++
		}
	}
	for k, c := range count {
		if k >= k1 {
			greater += float64(c) / float64(total)
		}
		if c <= count[k1] {
			two += float64(c) / float64(total)
		}
	}
	return two, greater
}

// The rows are table II of Newcombe (1998), method 10.
func TestDifferenceAgreesWithNewcombesTable(t *testing.T) {
	for _, c := range []struct {
		k1, n1, k2, n2 int
		low, high      float64
	}{
		{56, 70, 48, 80, 0.0524, 0.3339},
		{9, 10, 3, 10, 0.1705, 0.8090},
		{6, 7, 2, 7, 0.0582, 0.8062},
		{5, 56, 0, 29, -0.0381, 0.1926},
		{0, 10, 0, 20, -0.1611, 0.2775},
		{0, 10, 0, 10, -0.2775, 0.2775},
		{10, 10, 0, 20, 0.6791, 1},
		{10, 10, 0, 10, 0.6075, 1},
	} {
		diff, low, high := Difference(c.k1, c.n1, c.k2, c.n2, 0.95)
		near(t, "difference", diff, float64(c.k1)/float64(c.n1)-float64(c.k2)/float64(c.n2), 1e-12)
		near(t, "low", low, c.low, 6e-5)
		near(t, "high", high, c.high, 6e-5)
		_, back, forth := Difference(c.k2, c.n2, c.k1, c.n1, 0.95)
		near(t, "swapped low", back, -high, 1e-12)
		near(t, "swapped high", forth, -low, 1e-12)
	}
	if _, low, high := Difference(0, 0, 0, 0, 0.95); low != -1 || high != 1 {
		t.Errorf("without trials the difference is within [%g, %g], want [-1, 1]", low, high)
	}
}

func TestImpossibleCountsPanic(t *testing.T) {
	for name, call := range map[string]func(){
		"more events than trials": func() { Upper(4, 3, 0.95) },
		"negative":                func() { Fisher(-1, 3, 0, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			call()
		})
	}
}

func binomial(k, n int, rate float64) float64 {
	return math.Exp(logChoose(n, k)) * math.Pow(rate, float64(k)) * math.Pow(1-rate, float64(n-k))
}
