package lag

import (
	"github.com/triagebot/triagebot/internal/triage"
)

// Input is a red under a lag plan, and what is needed to find its cause.
type Input struct {
	// Plan is the rung that was red, Red the red trial with its decisions.
	Plan triage.LagPlan
	Red  triage.Trial
	// Reference is the signature that counts as the same failure. A red with
	// another one is foreign: it is neither red nor green.
	Reference triage.Signature
	// Sites are the engine's sites by id. When not empty, decisions that name
	// any other site are left out.
	Sites map[string]triage.Site
	// Control is how the test did on head without lag. With five runs or more
	// the search does without control trials of its own.
	Control Control
	// Limits bound the search; zero fields are the defaults.
	Limits Limits
}

// Control counts trials without lag: Red of Runs failed with the reference signature.
type Control struct {
	Red, Runs int
}

// Limits bound a search for a cause.
type Limits struct {
	// Trials is the number of probes, 0 for DefaultTrials.
	Trials int
	// TrialMS is the sum of their recorded durations in milliseconds, 0 for
	// DefaultTrialMS, or more for a test whose process is slow to start.
	TrialMS float64
}

// The default limits. Searches by hand on real tests took 21 to 46 probes and 1
// to 12 s; the planted programs end below 40, and chaotic tests never end.
const (
	DefaultTrials  = 40
	DefaultTrialMS = 60_000
	// A test whose bare process takes a second or two, or comes to on a machine that
	// becomes slower, gets the time for as many probes as any other, up to mostTrialMS.
	mostTrialMS = 150_000
)

// Probe runs one trial of the target on head, under a plan. An error means that
// no more trials can be had (budget, interrupt); it ends the search.
type Probe func(triage.LagPlan) (triage.Trial, error)

// Result is what a search came to.
type Result struct {
	// Cause is never nil. When nothing can be claimed its kind is
	// [triage.CauseUnstable], it has no sites, and its note says why.
	Cause *triage.Cause
	// Plan is the smallest plan known to be red: the one that Cause.Plan names.
	Plan triage.LagPlan
	// Trials is the number of probes.
	Trials int
}

// Conclusive reports whether the ladder may end here. A time budget says
// nothing of a race that another rung may still show, nor does an unstable red.
func (r Result) Conclusive() bool {
	return r.Cause != nil && r.Cause.Kind != triage.CauseTimeBudget && r.Cause.Kind != triage.CauseUnstable
}

// Explain names the cause of a red under lag: it replays the delays that were
// taken, takes away those that are not needed, lowers the rest to the least dose
// that still fails, and stretches the clocks to tell a race from a deadline. The
// steps and their reasons are in docs/decisions/0005.
//
// It is deterministic: the same answers give the same probes. The error is the
// probe's own, and the result with it is what was known by then.
func Explain(in Input, probe Probe) (Result, error) {
	s := newSession(in, probe)
	cause := s.explain()
	if cause.Plan == "" {
		cause.Plan = s.best.ID()
	}
	return Result{Cause: cause, Plan: s.best, Trials: s.trials}, s.err
}

func (s *session) explain() *triage.Cause {
	switch {
	case s.in.Plan.Procs > 0 || s.in.Plan.Burners > 0:
		return s.slowMachine()
	case cleanupOnly(s.in.Plan):
		return s.cleanup()
	case s.in.Plan.CleanupMS > 0 && looksLateWriter(s.in.Red):
		if c := s.lateWriterAlone(); c != nil {
			return c
		}
	}
	if len(s.known(s.in.Red)) == 0 {
		c := s.unstable("red without a delay taken: it fails without lag too")
		c.Undelayed = s.in.Red.DecisionCount == 0 && len(s.in.Red.Stretched) == 0
		return c
	}
	set, ok := s.replay()
	if !ok {
		return s.unstable(s.why("the delays that were taken do not turn it red again"))
	}
	if s.control.Runs < trustedControl {
		s.reserve = reserveMinimise
		s.learnControl(controlRuns)
	}
	if s.noisy() {
		return s.unstable(tooNoisy)
	}
	whole := s.wholeStretched(set)
	cause := s.name(set, whole)
	if cause.Kind == triage.CauseUnstable && whole == green && s.control.Red == 0 { // one that is red without lag too is green by chance
		cause.Deadline = true
	}
	if whole == green && (cause.Kind == triage.CauseRace || cause.Kind == triage.CauseFixedSleep) {
		addNote(cause, "under the whole plan a deadline trips as well")
	}
	return cause
}

// finding is a minimal set of delays, or several sites each of which is enough.
type finding struct {
	// set is what the plan delays; its first unit leads.
	set []unit
	// any are the units that are each enough alone, in the order of the red run;
	// set is then one of them.
	any []unit
	// hi and lo are the least factor of the set's doses that failed and the
	// largest that passed; at is the factor that the set is confirmed with.
	hi, lo, at float64
}

// name runs the steps after the replay. Whole is what the whole plan was with
// its timeouts stretched: green says that delays add up against a deadline, red
// that there is more to find than a deadline.
func (s *session) name(set []unit, whole answer) *triage.Cause {
	f, ok := s.minimise(set, whole == green)
	if ok && whole == red && s.onlyDeadline(f) {
		s.base.Stretch = longTimeouts(set)
		s.seenThrough = true
		f, ok = s.minimise(set, false)
	}
	if !ok {
		return s.unstable(s.why("no small set of delays turns it red"))
	}
	s.dose(&f)
	if f.lo == 0 && largestMS(f.set) > 0 { // no delay is small enough: perhaps none is needed
		if s.learnControl(2); s.noisy() {
			return s.unstable(tooNoisy)
		}
	}
	s.outcome(&f)
	found := f.set
	f.at = s.above(f)
	f.set = scaled(found, f.at, 0)
	reds, runs, ok := s.confirm(f.set)
	if !ok && f.at < 1 { // on a busy machine the least dose drifts, and a smaller one is red by chance
		at := min(1, f.at*againDose)
		f.lo, f.hi, f.at, f.set = f.hi, at/aboveDose, at, scaled(found, at, 0)
		reds, runs, ok = s.confirm(f.set)
	}
	if !ok {
		c := s.unstable(s.why("the smallest set of delays found is not red every time"))
		c.Red, c.Runs = reds, runs
		return c
	}
	c := s.classify(f)
	c.Red, c.Runs = reds, runs
	if s.seenThrough && c.Kind != triage.CauseUnstable {
		addNote(c, "a deadline trips as well")
	}
	return c
}

// onlyDeadline reports whether the delays found trip a deadline and nothing
// more, though the whole plan does more: then the search has to go on with the
// timeouts stretched.
func (s *session) onlyDeadline(f finding) bool {
	if s.base.Stretch.Timeouts > 0 {
		return false
	}
	p := s.plan(f.set)
	p.Stretch = longTimeouts(f.set)
	return s.greens(p, 2)
}
