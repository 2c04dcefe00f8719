package classify

import (
	"slices"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// orderChecks is the number of simulated checks of each flake.
const orderChecks = 1000

// TestAFlakeIsSeldomSaidToDependOnOthers: a coin flip that came up green alone and
// red in company is no test that depends on the tests around it.
func TestAFlakeIsSeldomSaidToDependOnOthers(t *testing.T) {
	t.Parallel()
	for i, rate := range []float64{0.1, 0.3, 0.5, 0.7, 0.9} {
		for name, w := range map[string]world{"new": differ(rate, 0), "introduced": differ(rate, 0), "old": alike(rate)} {
			w.base.absent = name == "new"
			said := 0
			for n := range uint64(orderChecks) {
				s, c := newSimulation(uint64(100+i), n), newCase(w)
				s.drive(DefaultPolicy(), w, &c)
				if _, v := Judge(DefaultPolicy(), c); slices.Contains(v.Reasons, triage.ReasonOrder) {
					said++
				}
			}
			t.Logf("%s, %.0f %%: %d of %d", name, 100*rate, said, orderChecks)
			if said > orderChecks/100 {
				t.Errorf("a flake of %.0f %% (%s) is said to depend on others in %d of %d checks, more than 1 %%", 100*rate, name, said, orderChecks)
			}
		}
	}
}
