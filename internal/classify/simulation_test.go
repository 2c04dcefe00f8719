package classify

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/triagebot/triagebot/internal/stats"
	"github.com/triagebot/triagebot/internal/triage"
)

// simDefault is how many checks a plain run of the tests simulates.
const simDefault = 3000

var (
	simChecks = flag.Int("sim", simDefault, "simulated checks in TestSimulation")
	simUpdate = flag.Bool("update", false, "rewrite docs/simulation.md")
)

const simDocument = "../../docs/simulation.md"

// truth is what a planted world really is.
type truth int

const (
	isRegression truth = iota
	isIntroduced
	isFlake
	isOnBase
	isNeither
)

// row is one kind of planted truth; plant draws a world of that kind.
type row struct {
	name  string
	truth truth
	plant func(*rand.Rand) world
}

func fixed(w world) func(*rand.Rand) world { return func(*rand.Rand) world { return w } }

func between(r *rand.Rand, low, high float64) float64 { return low + (high-low)*r.Float64() }

func with(w world, change func(*world)) func(*rand.Rand) world {
	change(&w)
	return fixed(w)
}

func rows() []row {
	out := append(regressionRows(), introducedRows()...)
	for _, rate := range []float64{0.01, 0.05, 0.1, 0.2, 0.33, 0.5, 0.7, 0.8, 0.9, 0.95} {
		out = append(out, row{fmt.Sprintf("flake on both, %.0f %%", 100*rate), isFlake, fixed(alike(rate))})
	}
	return append(append(out, flakeRows()...), otherRows()...)
}

func regressionRows() []row {
	return []row{
		{"regression, base clean", isRegression, fixed(differ(1, 0))},
		{"regression in a 20 % flake", isRegression, fixed(differ(1, 0.2))},
		{"regression failing 90–100 %, base clean", isRegression, func(r *rand.Rand) world { return differ(between(r, 0.9, 1), 0) }},
		{"regression failing 90–100 % in a 20 % flake", isRegression, func(r *rand.Rand) world { return differ(between(r, 0.9, 1), 0.2) }},
		{"regression, base broken in another way", isRegression, with(differ(1, 0), func(w *world) { w.base.other = 1 })},
		{"regression, base flaky in another way", isRegression, with(differ(1, 0), func(w *world) { w.base.other = 0.3 })},
		{"regression, CI left no message", isRegression, with(differ(1, 0), func(w *world) { w.ci = triage.Signature{} })},
		{"regression, no message, base broken in another way", isRegression,
			with(differ(1, 0), func(w *world) { w.ci, w.base.other = triage.Signature{}, 1 })},
		{"regression, fails here in another way", isRegression, with(differ(1, 0), func(w *world) { w.seen = thirdRed })},
		{"regression in a new test", isRegression, with(differ(1, 0), func(w *world) { w.base.absent = true })},
		{"regression that needs its package", isRegression, with(differ(0, 0), func(w *world) { w.head.scope = 1 })},
		{"regression in a flake that drifts around 20 %", isRegression, with(differ(1, 0.2), func(w *world) { w.drift = 1 })},
	}
}

func introducedRows() []row {
	return []row{
		{"introduced flake, 40–80 %", isIntroduced, func(r *rand.Rand) world { return differ(between(r, 0.4, 0.8), 0) }},
		{"new flaky test, 30–70 %", isIntroduced, func(r *rand.Rand) world {
			w := differ(between(r, 0.3, 0.7), 0)
			w.base.absent = true
			return w
		}},
		{"race brought by head, plain 0–10 %", isIntroduced, func(r *rand.Rand) world { return racy(between(r, 0, 0.1), between(r, 0.95, 1), 0) }},
	}
}

func flakeRows() []row {
	return []row{
		{"flake on both that drifts", isFlake, func(r *rand.Rand) world {
			w := alike(between(r, 0.1, 0.9))
			w.drift = 1.5
			return w
		}},
		{"flake on both with two signatures", isFlake, func(r *rand.Rand) world {
			w := alike(between(r, 0.1, 0.45))
			w.head.other, w.base.other = w.head.rate, w.head.rate
			return w
		}},
		{"the same, CI left no message", isFlake, func(r *rand.Rand) world {
			w := alike(between(r, 0.1, 0.5))
			w.head.other, w.base.other, w.ci = w.head.rate, w.head.rate, triage.Signature{}
			return w
		}},
		{"flake on both, fails here in another way", isFlake, func(r *rand.Rand) world {
			w := alike(between(r, 0.1, 0.9))
			w.seen = thirdRed
			return w
		}},
	}
}

func otherRows() []row {
	return []row{
		{"race on both, plain 0–10 %", isOnBase, func(r *rand.Rand) world {
			return racy(between(r, 0, 0.1), between(r, 0.95, 1), between(r, 0.9, 1))
		}},
		{"broken on base", isOnBase, fixed(alike(1))},
		{"order dependent on both", isOnBase, with(differ(0, 0), func(w *world) { w.head.scope, w.base.scope = 1, 1 })},
		{"environment: both fail, not as in CI", isNeither, with(alike(1), func(w *world) { w.seen = thirdRed })},
		{"honest deadline", isNeither, with(racy(0, 1, 1), func(w *world) {
			w.cause = &triage.Cause{Kind: triage.CauseTimeBudget, DoseMS: 210, MarginMS: 190}
		})},
		{"red under lag in another way", isNeither, with(racy(0, 0, 0), func(w *world) { w.head.lagOther, w.base.lagOther = 1, 1 })},
		{"never red here", isNeither, fixed(alike(0))},
	}
}

// column is a verdict's class with its origin.
type column struct {
	class  triage.Class
	origin triage.Origin
}

var columns = []struct {
	column
	title string
}{
	{column{triage.LikelyRegression, triage.OriginHead}, "likely-regression"},
	{column{triage.IntroducedFlake, triage.OriginHead}, "introduced-flake"},
	{column{triage.LagRevealedRace, triage.OriginHead}, "lag race, head"},
	{column{triage.LagRevealedRace, triage.OriginBase}, "lag race, base"},
	{column{triage.PreExistingFlake, triage.OriginBase}, "pre-existing-flake"},
	{column{triage.BrokenOnBase, triage.OriginBase}, "broken-on-base"},
	{column{triage.Inconclusive, ""}, "inconclusive"},
}

// measuredRow is what became of the checks of one row.
type measuredRow struct {
	row
	n, yours, notYours, plain, all int
	verdicts                       map[column]int
	reasons                        map[triage.Reason]int
}

func simulate(p Policy, r row, index, n int) measuredRow {
	m := measuredRow{row: r, n: n, verdicts: map[column]int{}, reasons: map[triage.Reason]int{}}
	for i := range n {
		s := newSimulation(uint64(index+1), uint64(i+1))
		w := r.plant(s.random)
		c := newCase(w)
		s.drive(p, w, &c)
		_, v := Judge(p, c)
		m.verdicts[column{v.Class, v.Origin}]++
		if v.Yours() {
			m.yours++
		}
		if v.NotYours() {
			m.notYours++
		}
		if v.Class == triage.Inconclusive {
			m.reasons[v.Reasons[0]]++
		}
		m.plain += plainTrials(c)
		m.all += len(c.Trials)
	}
	return m
}

// sum adds up the rows of some truths.
func sum(rows []measuredRow, of ...truth) measuredRow {
	out := measuredRow{verdicts: map[column]int{}}
	for _, m := range rows {
		for _, t := range of {
			if m.truth == t {
				out.n += m.n
				out.yours += m.yours
				out.notYours += m.notYours
				out.plain += m.plain
				out.all += m.all
				for c, k := range m.verdicts {
					out.verdicts[c] += k
				}
			}
		}
	}
	return out
}

// The promises of the design.
const (
	promisedExcuse  = 0.005
	promisedAccuse  = 0.01
	promisedRecall  = 0.97
	promisedTrials  = 12.0
	simConfidence   = 0.999 // of "the promise is broken", for one row
	simProof        = 0.95  // of "the promise is kept", for a sum of rows
	simProofNeedsOf = 10_000
)

var accused = column{triage.LikelyRegression, triage.OriginHead}

// TestSimulation plants truths, lets Next and Judge find them, and holds the
// design's promises: no row may break one, and with 10,000 checks or more the
// sums must prove them.
func TestSimulation(t *testing.T) {
	all := rows()
	each := max(1, *simChecks/len(all))
	measured := make([]measuredRow, len(all))
	for i, r := range all {
		measured[i] = simulate(DefaultPolicy(), r, i, each)
		checkRow(t, measured[i])
	}
	checkSums(t, measured)
	coins := simulateCoins(each)
	checkCoins(t, coins)
	families := simulateFamilies(DefaultPolicy(), max(20, *simChecks/100))
	for _, f := range families {
		checkFamily(t, f)
	}
	if *simUpdate {
		if err := os.WriteFile(simDocument, document(measured, coins, families), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func checkRow(t *testing.T, m measuredRow) {
	t.Helper()
	if m.truth == isRegression {
		if low := stats.Lower(m.notYours, m.n, simConfidence); low > promisedExcuse {
			t.Errorf("%s: excused %d of %d", m.name, m.notYours, m.n)
		}
	}
	if m.truth == isFlake || m.truth == isOnBase || m.truth == isNeither {
		if low := stats.Lower(m.verdicts[accused], m.n, simConfidence); low > promisedAccuse {
			t.Errorf("%s: called likely-regression %d of %d", m.name, m.verdicts[accused], m.n)
		}
		if low := stats.Lower(m.yours, m.n, simConfidence); low > promisedAccuse {
			t.Errorf("%s: laid at the pull request's door %d of %d", m.name, m.yours, m.n)
		}
	}
}

func checkSums(t *testing.T, measured []measuredRow) {
	t.Helper()
	regressions, flakes := sum(measured, isRegression), sum(measured, isFlake)
	all := sum(measured, isRegression, isIntroduced, isFlake, isOnBase, isNeither)
	t.Logf("%d checks: regressions found %d of %d, excused %d; flakes accused %d of %d; %.2f plain trials a test, %.2f in all",
		all.n, regressions.yours, regressions.n, regressions.notYours, flakes.verdicts[accused], flakes.n,
		float64(all.plain)/float64(all.n), float64(all.all)/float64(all.n))
	if mean := float64(all.plain) / float64(all.n); mean > promisedTrials {
		t.Errorf("%.2f plain trials a test, promised %.0f", mean, promisedTrials)
	}
	if recall := stats.Upper(regressions.yours, regressions.n, simConfidence); recall < promisedRecall {
		t.Errorf("%d of %d regressions found", regressions.yours, regressions.n)
	}
	if all.n < simProofNeedsOf {
		return
	}
	if high := stats.Upper(regressions.notYours, regressions.n, simProof); high > promisedExcuse {
		t.Errorf("excused regressions: up to %.4f, promised %.4f", high, promisedExcuse)
	}
	if high := stats.Upper(flakes.verdicts[accused], flakes.n, simProof); high > promisedAccuse {
		t.Errorf("accused flakes: up to %.4f, promised %.4f", high, promisedAccuse)
	}
	if low := stats.Lower(regressions.yours, regressions.n, simProof); low < promisedRecall {
		t.Errorf("recall: down to %.4f, promised %.4f", low, promisedRecall)
	}
}
