package lag

import (
	"fmt"
	"slices"

	"github.com/triagebot/triagebot/internal/triage"
)

const (
	stretchTimeouts = 50
	stretchSleeps   = 20
	// A stretch adds to one clock at most stretchFloorMS plus stretchLag times
	// the delay injected, and never more than stretchCapMS. What a plan delays
	// by L in all cannot push a deadline by more than L, so twice that is
	// ample; and a test that waits its deadline out, as one that lost an event
	// does, is not held for 20 s a trial.
	stretchFloorMS = 1000
	stretchLag     = 2
	stretchCapMS   = 20_000
	// stretchSlower is how many times longer a trial with stretched timeouts may
	// take and still be the search's usual probe.
	stretchSlower = 1.5
	// stretchShare: the whole plan is not stretched when one such trial could
	// take more than this part of the time limit.
	stretchShare = 6
	// budgetShare: a deadline was really used up only if the least delays add up
	// to this share of it. Below that the red is a race whose symptom needs a
	// clock to show.
	budgetShare = 0.2
	// budgetLeastMS stands in for the share when the deadline's length cannot
	// be read from its line; raceMostMS is the delay in all from which a red
	// without any clock in reach is no longer believed to be a race.
	budgetLeastMS = 15
	raceMostMS    = 100
	// pastPasses share, all but equally, what [session.carriedPast] may add: with
	// few the delays are most of a loop's time, with more they end later.
	pastPasses = 6
	pastShare  = 0.95
	// pastNeed of pastRuns such trials are red where a loop is met.
	pastNeed = 2
	pastRuns = 3
)

// longTimeouts stretches the timeouts as far as these delays call for.
func longTimeouts(set []unit) triage.Stretch {
	return triage.Stretch{Timeouts: stretchTimeouts, CapMS: stretchCap(set)}
}

func stretchCap(set []unit) float64 {
	return min(stretchCapMS, stretchFloorMS+stretchLag*totalMS(set))
}

// wholeStretched tells cheaply whether the whole plan only trips deadlines. When
// it is red all the same, and no slower for it, the search goes on with the
// timeouts stretched, so that it cannot end at a deadline.
func (s *session) wholeStretched(set []unit) answer {
	p := s.plan(set)
	p.Stretch = longTimeouts(set)
	plain := s.ms / float64(max(1, s.trials))
	if len(set) == 1 || plain+p.Stretch.CapMS > s.limitMS()/stretchShare {
		return neither
	}
	s.reserve = s.keep(reserveMinimise)
	got := s.settle(p)
	if got != red || s.last.DurationMS > stretchSlower*max(plain, s.in.Red.DurationMS) {
		return got
	}
	if !s.harmless(p.Stretch) {
		return neither
	}
	s.base.Stretch = p.Stretch
	return got
}

// harmless reports whether a stretch alone leaves the test green. Where it does
// not (a time-out that must fire soon is now late), a red under delays and
// stretch says nothing of the delays.
func (s *session) harmless(st triage.Stretch) bool {
	return s.ask(triage.LagPlan{Version: triage.PlanVersion, Name: "stretched", CleanupMS: s.base.CleanupMS, Stretch: st}) == green
}

// classify stretches the clocks just above the least dose and builds the cause.
func (s *session) classify(f finding) *triage.Cause {
	s.reserve = 0
	timeouts := s.base.Stretch
	if timeouts.Timeouts == 0 {
		timeouts = longTimeouts(f.set)
		switch clock, got := s.clock(f, timeouts); {
		case got == neither:
			return s.unstable(s.why("neither red nor green when timeouts are stretched"))
		case got == green && clock == nil:
			c := s.unstable(s.why("green with the timeouts stretched, yet no single timeout does it"))
			c.Deadline = s.control.Red == 0
			return c
		case got == green && s.usedUp(f, *clock):
			return s.timeBudget(f, clock)
		case got == green:
			c := s.race(f)
			addNote(c, fmt.Sprintf("it shows through the timeout at %s, which the delay is far too small to use up", place(*clock)))
			return c
		}
	}
	sleeps := timeouts
	sleeps.Timeouts, sleeps.Sleeps = s.base.Stretch.Timeouts, stretchSleeps
	switch clock, got := s.clock(f, sleeps); {
	case got == neither:
		return s.unstable(s.why("neither red nor green when sleeps are stretched"))
	case got == green && clock == nil:
		return s.unstable(s.why("green with the sleeps stretched, yet no single sleep does it"))
	case got == green && !s.carriedPast(f, *clock, sleeps):
		return s.fixedSleep(f, clock)
	}
	if f.leastMS() >= raceMostMS {
		return s.timeBudget(f, nil)
	}
	return s.race(f)
}

// carriedPast reports whether a longer sleep is green only because it outlasts the
// delays: a loop passes its places over and over, and a plan delays their first
// passes. So more passes are delayed, by nearly as much together as was added to the
// sleep, and no more: one that was merely too short outlasts that too, and stays
// green. A sleep of unknown length is not asked about.
func (s *session) carriedPast(f finding, sleep triage.Site, st triage.Stretch) bool {
	ms, ok := durationMS(sleep)
	every := units(decisions(f.set), true)
	factor := pastShare * min(ms*(stretchSleeps-1), st.CapMS) / (pastPasses * max(orderMS, totalMS(every)))
	if !ok || totalMS(every) == 0 || factor < 1 {
		return false
	}
	p := s.plan(scaled(every, factor, scaledLimitMS))
	p.Hits, p.Stretch = pastPasses, st
	reds, need := 0, pastNeed
	if s.control.Red > 0 { // chance must not do it
		need = pastRuns
	}
	for left := pastRuns; left > 0 && reds < need && reds+left >= need; left-- {
		if s.ask(p) == red {
			reds++
		}
	}
	return reds == need
}

// clock asks whether a stretch turns the set green and, if so, which one clock
// is enough for it, or needed for it. No clock with green is no answer to build on.
func (s *session) clock(f finding, st triage.Stretch) (*triage.Site, answer) {
	p := s.plan(f.set)
	p.Stretch = st
	got := s.settle(p)
	if got != green {
		return nil, got
	}
	ids, kept := s.reached(st)
	calm := func(ids []string) bool {
		p.Stretch.Sites = slices.Concat(ids, kept)
		return s.greens(p, s.calm-1)
	}
	for len(ids) > 1 {
		half := len(ids) / 2
		switch {
		case calm(ids[:half]):
			ids = ids[:half]
		case calm(ids[half:]):
			ids = ids[half:]
		default:
			ids = s.needed(ids, calm)
		}
	}
	if len(ids) == 0 {
		return nil, green
	}
	site := s.site(ids[0])
	return &site, green
}

// needed is one of several clocks that must be stretched at once, as where a
// test waits a while for each of three replies and all three are late: the last
// of the shortest beginning that is green. It is none when there is no room.
func (s *session) needed(ids []string, calm func([]string) bool) []string {
	lo, hi := 0, len(ids) // ids[:hi] is green, ids[:lo] is not
	for hi-lo > 1 {
		if !s.room() {
			return nil
		}
		if mid := (lo + hi) / 2; calm(ids[:mid]) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return ids[hi-1 : hi]
}

// reached are the clocks of the stretch's own kind that the last trial changed;
// kept are the timeouts that a stretch of the sleeps leaves stretched.
func (s *session) reached(st triage.Stretch) (ids, kept []string) {
	own, other := triage.KindTimeout, triage.KindSleep
	if st.Sleeps > 1 {
		own, other = other, own
	}
	for _, id := range s.last.Stretched {
		site, ok := s.in.Sites[id]
		switch {
		case !ok && len(s.in.Sites) > 0:
		case site.Kind != other:
			ids = append(ids, id)
		case own == triage.KindSleep && st.Timeouts > 1:
			kept = append(kept, id)
		}
	}
	return ids, kept
}

// leastMS is the least delay in all that failed: of the set as it is confirmed,
// without the margin put on top.
func (f finding) leastMS() float64 { return totalMS(f.set) * f.hi / f.at }

// usedUp reports whether the delays can have used a deadline up.
func (s *session) usedUp(f finding, clock triage.Site) bool {
	if ms, ok := durationMS(clock); ok {
		return f.leastMS() >= budgetShare*ms
	}
	return f.leastMS() >= budgetLeastMS
}
