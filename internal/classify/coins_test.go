package classify

import (
	"bytes"
	"testing"

	"github.com/triagebot/triagebot/internal/stats"
	"github.com/triagebot/triagebot/internal/triage"
)

const (
	// coinBudgetMS is the default budget of a check, which decides how long the
	// rounds of a run that takes coinSlowMS may go on; coinFastMS needs none.
	coinBudgetMS   = 10 * 60 * 1000
	coinFastMS     = 10
	coinSlowMS     = 1000
	coinTimes      = 5 // as many checks a row as the other rows have, times this
	promisedStrays = 0.01
)

const coinPreface = `## Tests that draw lots

The rates at which the sample repositories of testdata/samples draw lots, and what their runs cost: the rounds of
cheap runs, and those that a budget of ten minutes has room for, go on for longer. No number of runs makes such
a verdict certain. What is not pre-existing-flake of a flake on both sides, and neither introduced-flake nor
likely-regression of what head brought, is a stray, in at most 1 % of the checks; a sample's header names its strays.

`

// coinRow is a test that draws lots, and the verdicts on it that are right.
type coinRow struct {
	row
	right []triage.Class
}

func coinRows() []coinRow {
	var out []coinRow
	for _, cost := range []struct {
		name string
		ms   float64
	}{{"10 ms a run", coinFastMS}, {"1 s a run", coinSlowMS}} {
		add := func(name string, of truth, w world, right ...triage.Class) {
			w.costMS = cost.ms
			out = append(out, coinRow{row{name + ", " + cost.name, of, fixed(w)}, right})
		}
		add("flake on both, 33 %", isFlake, alike(1.0/3), triage.PreExistingFlake)
		add("flake on both, 50 %", isFlake, alike(0.5), triage.PreExistingFlake)
		add("introduced flake, 50 %", isIntroduced, differ(0.5, 0), triage.IntroducedFlake, triage.LikelyRegression)
		fresh := differ(0.5, 0)
		fresh.base.absent = true
		add("new flaky test, 50 %", isIntroduced, fresh, triage.IntroducedFlake, triage.LikelyRegression)
	}
	return out
}

func coinPolicy() Policy { return DefaultPolicy().Within(coinBudgetMS, 1) }

func simulateCoins(each int) []measuredRow {
	var out []measuredRow
	for i, r := range coinRows() {
		out = append(out, simulate(coinPolicy(), r.row, 2000+i, coinTimes*each))
	}
	return out
}

// checkCoins holds the strays, of any kind, to their bound, and wants no excuse of
// what head brought among them.
func checkCoins(t *testing.T, measured []measuredRow) {
	t.Helper()
	for i, r := range coinRows() {
		m, right := measured[i], 0
		for _, class := range r.right {
			for c, k := range m.verdicts {
				if c.class == class {
					right += k
				}
			}
		}
		if low := stats.Lower(m.n-right, m.n, simConfidence); low > promisedStrays {
			t.Errorf("%s: %d of %d strayed", m.name, m.n-right, m.n)
		}
		if r.truth == isIntroduced && m.notYours > 0 {
			t.Errorf("%s: excused %d of %d", m.name, m.notYours, m.n)
		}
	}
}

func writeCoins(b *bytes.Buffer, measured []measuredRow) {
	b.WriteString(coinPreface)
	writeTable(b, measured)
}
