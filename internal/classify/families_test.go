package classify

import (
	"testing"

	"github.com/triagebot/triagebot/internal/stats"
	"github.com/triagebot/triagebot/internal/triage"
)

// measuredFamily is what became of checks with several red tests.
type measuredFamily struct {
	size, regressions int
	checks, found     int
	// falsely counts the checks in which any flake was called the pull request's.
	falsely, excused, plain int
	// disagreed counts verdicts whose adjusted p contradicts the stopping rule.
	disagreed int
}

// simulateFamilies runs checks of several sizes, with no and with half of the
// tests regressed; the rest are flakes of 50 %, the worst rate there is.
func simulateFamilies(p Policy, checks int) []measuredFamily {
	var out []measuredFamily
	for i, size := range []int{2, 5, 10, 20} {
		for j, regressions := range []int{0, size / 2} {
			m := measuredFamily{size: size, regressions: regressions, checks: checks}
			for k := range checks {
				m.add(p, newSimulation(uint64(1000+10*i+j), uint64(k)))
			}
			out = append(out, m)
		}
	}
	return out
}

func (m *measuredFamily) add(p Policy, s *simulation) {
	worlds := make([]world, m.size)
	for i := range worlds {
		worlds[i] = alike(0.5)
		if i < m.regressions {
			worlds[i] = differ(1, 0)
		}
	}
	s.random.Shuffle(len(worlds), func(i, j int) { worlds[i], worlds[j] = worlds[j], worlds[i] })
	evidence, verdicts, cases := s.family(p, worlds)
	falsely := false
	for i, v := range verdicts {
		switch regression := worlds[i].head.rate == 1; {
		case regression && v.Yours():
			m.found++
		case regression && v.NotYours():
			m.excused++
		case !regression && v.Yours():
			falsely = true
		}
		if v.Class == triage.LikelyRegression && evidence[i].Comparisons[0].AdjustedP > p.Alpha*(1+1e-9) {
			m.disagreed++
		}
		m.plain += plainTrials(cases[i])
	}
	if falsely {
		m.falsely++
	}
}

func checkFamily(t *testing.T, m measuredFamily) {
	t.Helper()
	if low := stats.Lower(m.falsely, m.checks, simConfidence); low > promisedAccuse {
		t.Errorf("%d tests, %d regressed: a flake was accused in %d of %d checks", m.size, m.regressions, m.falsely, m.checks)
	}
	if want := m.regressions * m.checks; m.found < want {
		t.Errorf("%d tests: %d of %d regressions found", m.size, m.found, want)
	}
	if m.disagreed > 0 {
		t.Errorf("%d tests: the adjusted p of %d verdicts is above alpha", m.size, m.disagreed)
	}
}
