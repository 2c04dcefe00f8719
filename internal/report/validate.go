package report

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// Validate checks what a schema cannot say: that every value is in its range
// and that the parts of a report fit together. The error names the first place
// that does not, as a path into the JSON.
func Validate(r triage.Report) error {
	if err := ranges(reflect.ValueOf(r), "", ""); err != nil {
		return err
	}
	for _, check := range []func(triage.Report) error{validPlan, validTrials, validEvidence, validVerdicts, validPast, validSubstrate, validParts} {
		if err := check(r); err != nil {
			return err
		}
	}
	return nil
}

func validPlan(r triage.Report) error {
	for _, id := range sortedKeys(r.Plan.LagPlans) {
		if got := r.Plan.LagPlans[id].ID(); got != id {
			return fmt.Errorf("plan.lag_plans[%s]: the plan's id is %s", quoted(id), got)
		}
	}
	for _, id := range sortedKeys(r.Plan.Sites) {
		if got := r.Plan.Sites[id].ID; got != id {
			return fmt.Errorf("plan.sites[%s]: the site's id is %s", quoted(id), quoted(got))
		}
	}
	for _, framework := range sortedKeys(r.Plan.Ladders) {
		for i, id := range r.Plan.Ladders[framework] {
			if err := hasPlan(r, id); err != nil {
				return fmt.Errorf("plan.ladders[%s][%d]: %w", quoted(framework), i, err)
			}
		}
	}
	return nil
}

func hasPlan(r triage.Report, id string) error {
	if _, ok := r.Plan.LagPlans[id]; !ok && id != "" {
		return fmt.Errorf("no lag plan %s in plan.lag_plans", quoted(id))
	}
	return nil
}

func validTrials(r triage.Report) error {
	last := 0
	for i, t := range r.Trials {
		at := fmt.Sprintf("trials[%d]", i)
		switch err := hasPlan(r, t.Arm.Lag); {
		case t.Seq <= last:
			return fmt.Errorf("%s.seq: %d does not come after %d", at, t.Seq, last)
		case err != nil:
			return fmt.Errorf("%s.arm.lag: %w", at, err)
		case t.Failure != nil && !t.Outcome.Red() && !(t.Outcome == triage.Invalid && (t.Failure.Signature.Phase == triage.PhaseBuild || t.Failure.Signature.Phase == triage.PhaseSetup)):
			return fmt.Errorf("%s.failure: there is one, but the outcome is %s", at, t.Outcome)
		}
		last = t.Seq
	}
	return nil
}

func validEvidence(r triage.Report) error {
	seen := map[triage.Target]bool{}
	for i, e := range r.Evidence {
		at := fmt.Sprintf("evidence[%d]", i)
		if seen[e.Target] {
			return fmt.Errorf("%s.target: %s is there twice", at, quoted(e.Target.String()))
		}
		seen[e.Target] = true
		for j, t := range e.Tallies {
			if err := validTally(r, t); err != nil {
				return fmt.Errorf("%s.tallies[%d]%w", at, j, err)
			}
		}
		for j, c := range e.Comparisons {
			if c.Low > c.High {
				return fmt.Errorf("%s.comparisons[%d].low: %v is above high, %v", at, j, c.Low, c.High)
			}
		}
	}
	return nil
}

func validTally(r triage.Report, t triage.Tally) error {
	if err := hasPlan(r, t.Arm.Lag); err != nil {
		return fmt.Errorf(".arm.lag: %w", err)
	}
	rest := t.Skip + t.Absent + t.Invalid + t.Unknown
	for _, c := range []struct {
		mark string
		want int
	}{{".", t.Pass}, {"F", t.Same}, {"o", t.Other}, {"-", rest}} {
		if got := strings.Count(t.Sequence, c.mark); got != c.want {
			return fmt.Errorf(".sequence: %d times %q, but the counts say %d", got, c.mark, c.want)
		}
	}
	if len(t.Sequence) != t.N()+rest {
		return errors.New(`.sequence: only ".", "F", "o" and "-" are known`)
	}
	return nil
}

func validVerdicts(r triage.Report) error {
	if len(r.Verdicts) > maxVerdict {
		return fmt.Errorf("verdicts: %d of them, more than %d", len(r.Verdicts), maxVerdict)
	}
	seen := map[triage.Target]bool{}
	for i, v := range r.Verdicts {
		if seen[v.Target] {
			return fmt.Errorf("verdicts[%d].target: %s is there twice", i, quoted(v.Target.String()))
		}
		seen[v.Target] = true
		if err := validVerdict(r, v); err != nil {
			return fmt.Errorf("verdicts[%d]%w", i, err)
		}
	}
	for i, v := range r.Verdicts {
		if v.SameAs != nil && (!seen[*v.SameAs] || *v.SameAs == v.Target) {
			return fmt.Errorf("verdicts[%d].same_as: %s has no verdict of its own", i, quoted(v.SameAs.String()))
		}
	}
	return nil
}

func validVerdict(r triage.Report, v triage.Verdict) error {
	hasTrial := slices.ContainsFunc(r.Trials, func(t triage.Trial) bool { return t.Seq == v.Trial })
	switch {
	case v.Class == triage.Inconclusive && len(v.Reasons) == 0:
		return errors.New(".reasons: an inconclusive verdict needs one")
	case v.Trial != 0 && !hasTrial:
		return fmt.Errorf(".trial: there is no trial %d", v.Trial)
	case v.Bound.RateLow > v.Bound.RateHigh:
		return fmt.Errorf(".bound.rate_low: %v is above rate_high, %v", v.Bound.RateLow, v.Bound.RateHigh)
	case v.Polluters != nil && !possible(*v.Polluters):
		return fmt.Errorf(".polluters: %d red of %d runs, %d files and %d tests of %d", v.Polluters.Red, v.Polluters.Runs, len(v.Polluters.Files), len(v.Polluters.Tests), v.Polluters.Of)
	case v.Cause == nil:
		return nil
	}
	if v.Cause.Red > v.Cause.Runs {
		return fmt.Errorf(".cause.red: %d of %d runs", v.Cause.Red, v.Cause.Runs)
	}
	if err := hasPlan(r, v.Cause.Plan); err != nil {
		return fmt.Errorf(".cause.plan: %w", err)
	}
	return nil
}

// possible reports whether a search can have come to this.
func possible(p triage.Polluters) bool {
	if p.InSuite {
		return p.Red <= p.Runs && len(p.Files) <= p.Of && (len(p.Tests) == 0 || len(p.Files) == 1)
	}
	return p.Red <= p.Runs && len(p.Files) == 0 && len(p.Tests) <= p.Of
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
