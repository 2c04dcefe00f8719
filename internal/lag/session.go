package lag

import (
	"github.com/triagebot/triagebot/internal/triage"
)

// answer is what one probe says. The zero value says nothing.
type answer int

const (
	// neither: foreign red, invalid trial, or no trial to be had.
	neither answer = iota
	red
	green
)

const (
	// controlRuns is how many trials without lag tell a quiet test from a noisy
	// one, when the caller knows nothing of it.
	controlRuns = 3
	// trustedControl is the number of the caller's own that replaces them.
	trustedControl = 5
	// confirmRuns is how often the smallest plan is run again, confirmNeed how
	// often it must be red. A test that is red without lag now and then must be
	// red in all of noisyRuns: at a rate of 0.4 chance does that in 0.2 %.
	confirmRuns = 5
	confirmNeed = 4
	noisyRuns   = 7
	// noisyLimit is the plain rate above which nothing is claimed at all.
	noisyLimit = 0.4
	// Trials kept back by the earlier steps for the later ones.
	reserveMinimise = 12
	reserveTogether = 10
	reserveAnyOf    = 16
	reserveDose     = 9
	reserveConfirm  = 3
)

// session is one search: the probes asked, and what they cost.
type session struct {
	in    Input
	probe Probe
	// base is what every probe's plan starts from.
	base triage.LagPlan
	// best is the smallest plan known to be red.
	best triage.LagPlan
	// votes is how many reds in a row accept a set of delays.
	votes int
	// calm is how many greens in all make a stretched plan green.
	calm    int
	control Control
	// refuted are the ids of the plans that were asked and not red.
	refuted map[string]bool
	// reserve is the number of trials that the present step must leave.
	reserve int
	trials  int
	// ms is how long they took together, bareMS without the delays.
	ms, bareMS float64
	// price is what a trial to come is taken to cost, in milliseconds.
	price float64
	// last is the newest trial; short is set once a probe was refused for the limits.
	last  triage.Trial
	short bool
	// seenThrough is set when the search met a deadline and went on behind it.
	seenThrough bool
	err         error
}

func newSession(in Input, probe Probe) *session {
	if in.Limits.Trials <= 0 {
		in.Limits.Trials = DefaultTrials
	}
	hits := in.Plan.Hits
	if hits <= 0 {
		hits = ladderHits
	}
	return &session{
		in: in, probe: probe, best: in.Plan, control: in.Control, votes: 1, calm: 2, refuted: map[string]bool{}, price: bare(in.Red),
		base: triage.LagPlan{Version: triage.PlanVersion, Name: "explain", Hits: hits, BudgetMS: in.Plan.BudgetMS, Stretch: in.Plan.Stretch},
	}
}

// room reports whether one more trial fits while the reserve is kept, by count
// and by time. The trials in reserve delay little, so each is priced at the
// least that a red one took without its delays.
func (s *session) room() bool {
	if s.err != nil || s.trials+1+s.reserve > s.in.Limits.Trials {
		return false
	}
	return s.ms+s.price*float64(1+s.reserve) <= s.limitMS()
}

// limitMS is how long all trials may take together. Without a limit of the caller's
// it is the time for as many as may be asked, at what the red one or those since took
// on average: the machine may have become slower.
func (s *session) limitMS() float64 {
	if s.in.Limits.TrialMS > 0 {
		return s.in.Limits.TrialMS
	}
	each := bare(s.in.Red)
	if s.trials > 0 {
		each = max(each, s.bareMS/float64(s.trials))
	}
	return min(mostTrialMS, max(DefaultTrialMS, float64(s.in.Limits.Trials)*each))
}

// bare is a trial's duration without its delays, in milliseconds.
func bare(t triage.Trial) float64 {
	ms := t.DurationMS
	for _, d := range t.Decisions {
		ms -= d.MS
	}
	return max(0, ms)
}

// keep is a reserve, larger for a test whose red must be confirmed more often.
func (s *session) keep(n int) int {
	if s.control.Red > 0 {
		n += noisyRuns - confirmRuns
	}
	return n
}

// ask runs one probe.
func (s *session) ask(p triage.LagPlan) answer {
	if !s.room() {
		s.short = true
		return neither
	}
	t, err := s.probe(p)
	if err != nil {
		s.err = err
		return neither
	}
	s.trials++
	s.ms += t.DurationMS
	s.bareMS += bare(t)
	s.last = t
	switch {
	case t.SameFailure(s.in.Reference):
		s.price = min(s.price, bare(t))
		return red
	case t.Outcome == triage.Pass:
		return green
	}
	return neither
}

// plan is the base plan with these delays.
func (s *session) plan(us []unit) triage.LagPlan {
	p := s.base
	p.Decisions = decisions(us)
	return p
}

// reds reports whether the plan is red in the session's number of votes, in a
// row. One that was not is not asked again.
func (s *session) reds(us []unit) bool {
	p := s.plan(us)
	id := p.ID()
	if s.refuted[id] {
		return false
	}
	for range s.votes {
		if s.ask(p) != red {
			s.refuted[id] = s.err == nil && !s.short
			return false
		}
	}
	s.best = p
	s.best.Stretch = triage.Stretch{}
	return true
}

// greens reports whether the plan is green n times in a row.
func (s *session) greens(p triage.LagPlan, n int) bool {
	for range n {
		if s.ask(p) != green {
			return false
		}
	}
	return true
}

// settle asks a plan until it is clear: green when it is green as often as
// s.calm, red when it is red as often as the session's votes and never green; of
// more answers the majority.
func (s *session) settle(p triage.LagPlan) answer {
	reds, greens := 0, 0
	for range 2*s.calm - 1 {
		switch s.ask(p) {
		case red:
			reds++
		case green:
			greens++
		}
		switch {
		case greens == s.calm:
			return green
		case reds == s.calm, reds == s.votes && greens == 0:
			return red
		}
	}
	return neither
}

// known are a trial's delays at sites that exist. A pause at clean-up is part of
// the plan, not a delay to be taken away.
func (s *session) known(t triage.Trial) []triage.Decision {
	var ds []triage.Decision
	for _, d := range t.Decisions {
		_, ok := s.in.Sites[d.Site]
		if d.Kind != triage.KindCleanup && (ok || len(s.in.Sites) == 0) {
			ds = append(ds, d)
		}
	}
	return ds
}

// replay finds a form of the delays taken that is red twice: for a rung with one
// dose every hit of each site (which is what the rung did), for a random one the
// very decisions; then the other form; then both with the pause at cleanup.
func (s *session) replay() ([]unit, bool) {
	s.reserve = reserveMinimise
	ds := s.known(s.in.Red)
	p := s.in.Plan
	every := p.Probability == 0 && p.MinMS == p.MaxMS && len(p.Decisions) == 0
	pauses := []float64{0}
	if p.CleanupMS > 0 {
		pauses = append(pauses, p.CleanupMS)
	}
	for _, pause := range pauses {
		for _, e := range []bool{every, !every} {
			s.base.CleanupMS = pause
			set := units(ds, e)
			if s.twice(s.plan(set)) {
				return set, true
			}
		}
	}
	return nil, false
}

// twice reports whether a plan is red in two of at most three trials.
func (s *session) twice(p triage.LagPlan) bool {
	reds := 0
	for i := range 3 {
		if s.ask(p) == red {
			reds++
		}
		if reds == 2 {
			s.best = p
			return true
		}
		if i-reds >= 1 { // two that were not red
			return false
		}
	}
	return false
}

// tooNoisy is why nothing is claimed of a test that is red anyway.
const tooNoisy = "it fails without lag too, too often to tell what a delay adds"

// noisy reports whether the test is red without lag too often. Where it is red
// there at all, one red says little, and each set is asked twice.
func (s *session) noisy() bool {
	if s.control.Red > 0 {
		s.votes = 2
	}
	return float64(s.control.Red) > noisyLimit*float64(s.control.Runs)
}

// learnControl adds trials without lag to what is known of the test.
func (s *session) learnControl(n int) {
	p := triage.LagPlan{Version: triage.PlanVersion, Name: "no-lag", CleanupMS: s.base.CleanupMS}
	for range n {
		switch s.ask(p) {
		case red:
			s.control.Red++
			s.control.Runs++
		case green:
			s.control.Runs++
		}
	}
}

// confirm runs the smallest plan again under its own name, with its clocks as
// the rung had them.
func (s *session) confirm(set []unit) (reds, runs int, ok bool) {
	p := s.plan(set)
	p.Name, p.Stretch = "cause", s.in.Plan.Stretch
	s.reserve = reserveConfirm
	if reds, runs, ok = s.repeat(p); ok {
		s.best = p
	}
	if reds < runs { // a green says less of a plan that is not red every time
		s.calm++
	}
	return reds, runs, ok
}

// repeat runs a plan again until it is clear whether it is red every time, or
// nearly so. Trials that say nothing are asked again, twice at most.
func (s *session) repeat(p triage.LagPlan) (reds, runs int, ok bool) {
	want, need := confirmRuns, confirmNeed
	if s.control.Red > 0 {
		want, need = noisyRuns, noisyRuns
	}
	for asked := 0; runs < want && asked < want+2 && runs-reds <= want-need; asked++ {
		switch s.ask(p) {
		case red:
			reds++
			runs++
		case green:
			runs++
		}
	}
	return reds, runs, reds >= need
}

// why is the reason why a step found nothing: the limits, when they were in its way.
func (s *session) why(found string) string {
	switch {
	case s.err != nil:
		return "the search was ended before its end"
	case s.short:
		return "the search used up its trials"
	}
	return found
}
