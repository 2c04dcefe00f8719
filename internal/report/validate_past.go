package report

import (
	"fmt"

	"github.com/triagebot/triagebot/internal/triage"
)

// validPast checks what failures tell of earlier reports.
func validPast(r triage.Report) error {
	for i, f := range r.Failures {
		p := f.Past
		if p == nil {
			continue
		}
		at := fmt.Sprintf("failures[%d].past", i)
		switch {
		case p.Red > p.Runs || p.Older.Red > p.Older.Runs || p.Newer.Red > p.Newer.Runs:
			return fmt.Errorf("%s.red: more than there were runs", at)
		case p.Same > p.Red:
			return fmt.Errorf("%s.same: %d of %d reds", at, p.Same, p.Red)
		case p.Low > p.High:
			return fmt.Errorf("%s.low: %v is above high, %v", at, p.Low, p.High)
		}
	}
	return nil
}

// validSubstrate checks the findings about several tests.
func validSubstrate(r triage.Report) error {
	for i, s := range r.Substrate {
		for j, a := range s.Arms {
			at := fmt.Sprintf("substrate[%d].arms[%d]", i, j)
			if a.RedRuns > a.Runs || a.Most > a.RedRuns {
				return fmt.Errorf("%s.red_runs: %d of %d, one test in %d", at, a.RedRuns, a.Runs, a.Most)
			}
			if a.Victims > len(s.Victims) {
				return fmt.Errorf("%s.victims: %d of %d", at, a.Victims, len(s.Victims))
			}
			if err := hasPlan(r, a.Arm.Lag); err != nil {
				return fmt.Errorf("%s.arm.lag: %w", at, err)
			}
		}
	}
	return nil
}

// validParts checks that the parts of a joined report are all of it.
func validParts(r triage.Report) error {
	if s := r.Plan.Shard; s.Index > s.Of {
		return fmt.Errorf("plan.shard.index: %d of %d", s.Index, s.Of)
	}
	if len(r.Plan.Parts) == 0 {
		return nil
	}
	var failures, trials int
	seen := map[int]bool{}
	for i, p := range r.Plan.Parts {
		if p.Index < 1 || p.Index > p.Of || seen[p.Index] {
			return fmt.Errorf("plan.parts[%d].index: %d of %d", i, p.Index, p.Of)
		}
		seen[p.Index] = true
		failures, trials = failures+p.Failures, trials+p.Trials
	}
	if failures != len(r.Failures) || trials != len(r.Trials) {
		return fmt.Errorf("plan.parts: they hold %d failures and %d trials, the report %d and %d", failures, trials, len(r.Failures), len(r.Trials))
	}
	return nil
}
