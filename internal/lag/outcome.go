package lag

import "github.com/triagebot/triagebot/internal/triage"

// reserveOutcome is what the search for the outcome leaves for the steps after it.
const reserveOutcome = 9

// orderMS is a delay that only leaves its mark in the log.
const orderMS = 0.01

// outcome looks for the late project function behind a late double. The double
// is the attempt, which the test saw; what it needs is what some function does
// after it. A trial with next to no delays tells which functions the workers
// enter after the double; the first of them that is enough alone leads the
// finding.
func (s *session) outcome(f *finding) {
	if len(f.set) != 1 || len(f.any) == 0 || s.kind(f.set[0]) != triage.KindDouble || f.set[0].role != triage.RoleWorker {
		return
	}
	most := largestMS(f.set)
	if most == 0 || totalMS(f.set)*f.hi >= raceMostMS {
		return
	}
	s.reserve = s.keep(reserveOutcome)
	best := s.best
	p := s.base
	p.Role, p.Kinds = triage.RoleWorker, []triage.Kind{triage.KindDouble, triage.KindCall}
	p.MinMS, p.MaxMS = orderMS, orderMS
	if s.ask(p) == neither {
		return
	}
	dose := roundMS(most * s.above(*f))
	us := scaled(s.entries(s.last, f.set[0].site), dose/orderMS, dose)
	if one := s.firstAlone(us); one != nil {
		s.takeOver(f, one, most/dose)
		return
	}
	s.best = best
}

// entries are the project functions that a trial's workers entered after the
// double, for the first time.
func (s *session) entries(t triage.Trial, double string) []unit {
	var us []unit
	after := false
	for _, u := range units(s.known(t), true) {
		after = after || u.site == double
		if after && s.kind(u) == triage.KindCall && u.role == triage.RoleWorker && !s.site(u.site).Test {
			us = append(us, u)
		}
	}
	return us
}

// firstAlone halves a set down to one unit that is enough alone, the earlier
// half first. It is nil when there is none, or no room to find it.
func (s *session) firstAlone(us []unit) []unit {
	for len(us) > 1 {
		half := len(us) / 2
		switch {
		case s.room() && s.reds(us[:half]):
			us = us[:half]
		case s.room() && s.reds(us[half:]):
			us = us[half:]
		default:
			return nil
		}
	}
	if len(us) == 0 || !s.room() || !s.reds(us) {
		return nil
	}
	return us
}

// takeOver lets a site lead that is enough as the double is, with the double's
// doses as far as they hold for it too.
func (s *session) takeOver(f *finding, one []unit, factor float64) {
	one = scaled(one, factor, scaledLimitMS)
	hi, lo := f.hi, f.lo
	if hi < 1 && !s.reds(scaled(one, hi, 0)) {
		lo, hi = hi, min(1, hi*aboveDose)
	} else if lo > 0 && s.ask(s.plan(scaled(one, lo, 0))) != green {
		lo = 0
	}
	f.any = append(append([]unit{}, f.any...), one...)
	f.set, f.hi, f.lo = one, hi, lo
}
