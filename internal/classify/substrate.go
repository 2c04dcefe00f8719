package classify

import (
	"cmp"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// substrateVictims is how many different tests of one place must have been red,
// in runs of one arm, for the place to be suspected. Two are what two flaky tests
// look like; three that are never steady are rarely three bugs.
const substrateVictims = 3

// CompanyRuns of head with the whole package are made when the target passes there
// and other tests of the package do not: a shared cause that strikes in every other
// run shows three different victims in nine runs in 9 of 10 checks.
const CompanyRuns = 9

// Company is one run of several tests: the tests that were red in it, and where.
type Company struct {
	Arm triage.Arm
	// CI is set for a red run of CI.
	CI bool
	// Place limits the run to one package; empty for a whole suite.
	Place string
	Red   []triage.Failure
}

// Companies are the runs of several tests among the trials, and the runs of one
// test alone. Trials that say nothing are left out.
func Companies(trials []triage.Trial) []Company {
	var out []Company
	for _, t := range trials {
		if t.Arm.Detector != "" || t.Purpose == triage.Explain || !t.Outcome.Counts() && len(t.Others) == 0 {
			continue
		}
		c := Company{Arm: t.Arm}
		if t.Arm.Scope != triage.InSuite {
			c.Place = t.Target.Package
		}
		if t.Outcome.Red() && !t.Target.IsCommand() {
			c.Red = append(c.Red, failureOf(t.Failure, t.Target))
		}
		if t.Arm.Scope != triage.Alone {
			for _, o := range t.Others {
				if o.Outcome.Red() && !o.Target.IsCommand() {
					c.Red = append(c.Red, failureOf(o.Failure, o.Target))
				}
			}
		}
		c.Red = innermost(c.Red)
		out = append(out, c)
	}
	return out
}

// innermost drops a test that is red because a subtest of it is.
func innermost(red []triage.Failure) []triage.Failure {
	return slices.DeleteFunc(slices.Clone(red), func(f triage.Failure) bool {
		return slices.ContainsFunc(red, func(o triage.Failure) bool {
			return o.Target.Package == f.Target.Package && strings.HasPrefix(o.Target.Test, f.Target.Test+"/")
		})
	})
}

func failureOf(f *triage.Failure, t triage.Target) triage.Failure {
	if f == nil {
		return triage.Failure{Target: t}
	}
	return triage.Failure{Target: t, Signature: f.Signature}
}

// Substrates finds the causes that several tests seem to share. One is reported
// when [substrateVictims] or more tests of one place were red in the runs of one
// arm and none of them in more than half of the red runs, or when the causes of
// several measured tests name one late place. Arms are looked at one by one and
// never pooled; steady tests are left to their verdicts.
func Substrates(runs []Company, verdicts []triage.Verdict) []triage.Substrate {
	var out []triage.Substrate
	for _, place := range placesOf(runs) {
		if s, ok := dispersed(place, runs); ok {
			out = append(out, s)
		}
	}
	return withSites(out, verdicts)
}

func placesOf(runs []Company) []string {
	var places []string
	for _, r := range runs {
		for _, f := range r.Red {
			if p := f.Target.Package; p != "" && !slices.Contains(places, p) {
				places = append(places, p)
			}
		}
	}
	slices.Sort(places)
	return places
}

// armKey keeps the runs of CI apart from ours.
type armKey struct {
	arm triage.Arm
	ci  bool
}

// armRuns are the runs of one arm that had tests of the place in them.
type armRuns struct {
	armKey
	runs []([]triage.Failure)
}

// dispersed looks for different victims in different runs of one place.
func dispersed(place string, runs []Company) (triage.Substrate, bool) {
	s := triage.Substrate{Place: place}
	arms := armsOf(place, runs)
	var best *triage.SubstrateArm
	var alone []armRuns
	for _, a := range arms {
		if a.arm.Scope == triage.Alone {
			alone = append(alone, a)
			continue
		}
		sum, victims := a.sum()
		if sum.Victims < substrateVictims {
			continue
		}
		s.Arms = append(s.Arms, sum)
		s.Victims = append(s.Victims, victims...)
		if best == nil || sum.Victims > best.Victims {
			best = &sum
			s.Signature = a.signature(victims)
		}
	}
	if best == nil {
		return s, false
	}
	slices.SortFunc(s.Victims, compareTarget)
	s.Victims = slices.Compact(s.Victims)
	slices.SortStableFunc(s.Arms, func(a, b triage.SubstrateArm) int { return b.Victims - a.Victims })
	for _, a := range alone {
		if sum := a.sumOf(s.Victims); a.arm.Lag == "" {
			s.Arms = append(s.Arms, sum)
		}
	}
	return s, true
}

// armsOf collects the runs of a place by arm, in the order the arms came.
func armsOf(place string, runs []Company) []armRuns {
	var arms []armRuns
	for _, r := range runs {
		if r.Place != "" && r.Place != place {
			continue
		}
		var red []triage.Failure
		for _, f := range r.Red {
			if f.Target.Package == place {
				red = append(red, f)
			}
		}
		if r.CI && len(red) == 0 {
			continue
		}
		k := armKey{r.Arm, r.CI}
		i := slices.IndexFunc(arms, func(a armRuns) bool { return a.armKey == k })
		if i < 0 {
			i, arms = len(arms), append(arms, armRuns{armKey: k})
		}
		arms[i].runs = append(arms[i].runs, red)
	}
	return arms
}

// sum counts the arm without its steady tests, and lists the others that were red.
func (a armRuns) sum() (triage.SubstrateArm, []triage.Target) {
	victims := a.victims()
	for {
		sum := a.sumOf(victims)
		// Whoever is red in more than half of the red runs is not one of many.
		kept := slices.DeleteFunc(slices.Clone(victims), func(t triage.Target) bool { return 2*a.times(t) > sum.RedRuns && sum.RedRuns > 1 })
		if len(kept) == len(victims) {
			if sum.RedRuns < 2 { // one bad run says nothing of where
				return triage.SubstrateArm{}, nil
			}
			return sum, victims
		}
		victims = kept
	}
}

// sumOf counts the runs in which one of the tests was red.
func (a armRuns) sumOf(tests []triage.Target) triage.SubstrateArm {
	sum := triage.SubstrateArm{Arm: a.arm, CI: a.ci, Runs: len(a.runs)}
	for _, t := range tests {
		n := a.times(t)
		sum.Most = max(sum.Most, n)
		if n > 0 {
			sum.Victims++
		}
	}
	for _, red := range a.runs {
		if slices.ContainsFunc(red, func(f triage.Failure) bool { return slices.Contains(tests, f.Target) }) {
			sum.RedRuns++
		}
	}
	return sum
}

func (a armRuns) victims() []triage.Target {
	var out []triage.Target
	for _, red := range a.runs {
		for _, f := range red {
			if !slices.Contains(out, f.Target) {
				out = append(out, f.Target)
			}
		}
	}
	return out
}

// times is the number of runs in which a test was red.
func (a armRuns) times(t triage.Target) int {
	n := 0
	for _, red := range a.runs {
		if slices.ContainsFunc(red, func(f triage.Failure) bool { return f.Target == t }) {
			n++
		}
	}
	return n
}

// signature is what the reds of the victims have in common: phase and message. The
// failing function is each test's own.
func (a armRuns) signature(victims []triage.Target) triage.Signature {
	var shared triage.Signature
	for _, red := range a.runs {
		for _, f := range red {
			if !slices.Contains(victims, f.Target) {
				continue
			}
			s := f.Signature
			s.Func = ""
			if s.IsZero() || !shared.IsZero() && s != shared {
				return triage.Signature{}
			}
			shared = s
		}
	}
	return shared
}

// withSites adds what the causes of the measured tests have in common: a late
// place that several of them name leads, whatever else was seen.
func withSites(found []triage.Substrate, verdicts []triage.Verdict) []triage.Substrate {
	var sites []triage.Site
	named := map[string][]triage.Target{}
	for _, v := range verdicts {
		if v.Cause == nil || v.SameAs != nil {
			continue
		}
		for i, site := range v.Cause.Sites {
			if i > 0 && !v.Cause.AnyOf {
				break
			}
			if len(named[site.ID]) == 0 {
				sites = append(sites, site)
			}
			named[site.ID] = append(named[site.ID], v.Target)
		}
	}
	slices.SortStableFunc(sites, func(a, b triage.Site) int { return len(named[b.ID]) - len(named[a.ID]) })
	told := map[triage.Target]bool{}
	var lead []triage.Substrate
	for _, site := range sites {
		victims := slices.DeleteFunc(slices.Clone(named[site.ID]), func(t triage.Target) bool { return told[t] })
		if len(victims) < 2 {
			continue
		}
		for _, t := range victims {
			told[t] = true
		}
		slices.SortFunc(victims, compareTarget)
		place := victims[0].Package
		if slices.ContainsFunc(victims, func(t triage.Target) bool { return t.Package != place }) {
			place = site.File
		}
		s := triage.Substrate{Place: place, Site: &site, Victims: victims}
		if i := slices.IndexFunc(found, func(f triage.Substrate) bool { return f.Place == place }); i >= 0 {
			s.Arms, s.Signature = found[i].Arms, found[i].Signature
			s.Victims = append(s.Victims, found[i].Victims...)
			slices.SortFunc(s.Victims, compareTarget)
			s.Victims = slices.Compact(s.Victims)
			found = slices.Delete(slices.Clone(found), i, i+1)
		}
		lead = append(lead, s)
	}
	return append(lead, found...)
}

func compareTarget(a, b triage.Target) int {
	return cmp.Or(cmp.Compare(a.Suite, b.Suite), cmp.Compare(a.Framework, b.Framework),
		cmp.Compare(a.Package, b.Package), cmp.Compare(a.Test, b.Test))
}

// EarlierSubstrates are those that a check was given from earlier reports. The
// others it finds itself, when it is judged again too.
func EarlierSubstrates(given []triage.Substrate) []triage.Substrate {
	var out []triage.Substrate
	for _, s := range given {
		if s.Earlier > 0 {
			out = append(out, s)
		}
	}
	return out
}
