package lag

import "github.com/triagebot/triagebot/internal/triage"

// reserveOutcome is what the search for the outcome leaves for the steps after it.
const reserveOutcome = 9

// outcome looks for the late project function behind a late double. The double
// is the attempt, which the test saw; what it needs is what some function does
// after it. All project functions of the workers are delayed on entry, at the
// dose that the double needed, and if that is red too the first one that is
// enough alone leads the finding.
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
	p.Role, p.Kinds = triage.RoleWorker, []triage.Kind{triage.KindCall}
	p.MinMS = roundMS(most * min(1, f.hi*aboveDose))
	p.MaxMS = p.MinMS
	if s.ask(p) != red {
		return
	}
	if one := s.firstAlone(s.entries(s.last)); one != nil {
		s.takeOver(f, one, most/p.MaxMS)
		return
	}
	s.best = best
}

// entries are the project functions that a trial delayed on entry.
func (s *session) entries(t triage.Trial) []unit {
	var us []unit
	for _, u := range units(s.known(t), true) {
		if s.kind(u) == triage.KindCall && !s.site(u.site).Test {
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
