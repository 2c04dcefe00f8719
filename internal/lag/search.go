package lag

import (
	"slices"

	"github.com/triagebot/triagebot/internal/triage"
)

const (
	// sweepMost is the number of sites that are tried one at a time; of more,
	// halves are tried first.
	sweepMost = 6
	// mostAny is how many sites "any of these" lists at most.
	mostAny = 4
	// scaledLimitMS bounds a delay that stands in for those taken away.
	scaledLimitMS = 1000
	// mostTogether is how many delays that are needed at once are believed to be one cause.
	mostTogether = 3
)

// minimise finds a smallest set of delays that is red. Halves are taken while
// one of them is red, at the dose it had; where delays add up (against a
// deadline, or a sleep) neither is, and one is given the delay of the half taken
// away. When additive is set that is tried first. A set whose halves are both
// green needs delays from either half at once.
func (s *session) minimise(set []unit, additive bool) (finding, bool) {
	s.reserve = s.keep(reserveMinimise)
	all := set
	for len(set) > sweepMost {
		half, grown := s.redHalf(set, additive)
		if half == nil {
			return s.together(set)
		}
		set, additive = half, grown
	}
	f, ok := s.alone(set, additive)
	if !ok {
		return s.together(set)
	}
	s.lookAround(&f, all)
	return f, true
}

// redHalf is a half of the set that is red. Grown is set when it is so only
// with the whole set's delay.
func (s *session) redHalf(set []unit, additive bool) (half []unit, grown bool) {
	halves := [][]unit{set[:len(set)/2], set[len(set)/2:]}
	for _, grow := range []bool{additive, !additive} {
		for _, h := range halves {
			if h = s.grown(h, set, grow); h != nil && s.reds(h) {
				return h, grow
			}
		}
	}
	return nil, false
}

// grown is the part as it is or, with grow, with the delay of the whole set. It
// is nil where growing changes nothing.
func (s *session) grown(part, whole []unit, grow bool) []unit {
	if !grow {
		return part
	}
	have, want := totalMS(part), totalMS(whole)
	if have <= 0 || want <= have {
		return nil
	}
	return scaled(part, want/have, scaledLimitMS)
}

// alone tries the sites of a small set one at a time, at the dose they have and
// then at the set's whole delay.
func (s *session) alone(set []unit, additive bool) (finding, bool) {
	if len(set) == 1 {
		return finding{set: set, any: set}, true
	}
	for _, grow := range []bool{additive, !additive} {
		var enough []unit
		for i := range set {
			one := s.grown(set[i:i+1], set, grow)
			if one != nil && s.reds(one) {
				enough = append(enough, one...)
			}
		}
		if len(enough) > 0 {
			return finding{set: enough[:1], any: enough}, true
		}
	}
	return finding{}, false
}

// together finds delays that are needed at once. The shortest red beginning of
// the set ends with one that is needed; with that one kept, the next is found in
// what stands before it, until those kept are enough. Every delay of the answer
// is then shown to be needed: without it the rest is green twice.
func (s *session) together(set []unit) (finding, bool) {
	s.reserve = s.keep(reserveTogether)
	var kept []unit
	for {
		lo, hi := 0, len(set) // set[:lo] with kept is green, set[:hi] with kept is red
		for hi-lo > 1 {
			if mid := (lo + hi) / 2; s.reds(slices.Concat(kept, set[:mid])) {
				hi = mid
			} else {
				lo = mid
			}
			if !s.room() {
				s.short = true
				return finding{}, false
			}
		}
		kept = append(kept, set[hi-1])
		set = set[:hi-1]
		if s.reds(kept) {
			break
		}
		if len(kept) == mostTogether || len(set) == 0 {
			return finding{}, false
		}
	}
	if len(kept) == 1 {
		return finding{set: kept, any: kept}, true
	}
	for i := range kept {
		if !s.greens(s.plan(slices.Concat(kept[:i], kept[i+1:])), 2) {
			return finding{}, false
		}
	}
	slices.Reverse(kept) // in the order of the red run
	return finding{set: kept}, true
}

// lookAround widens "any of these" to the sites next to those found, in the
// order of the red run, as far as each of them is enough too, and picks the one
// that leads. With a test that is red now and then anyway no such list is made.
func (s *session) lookAround(f *finding, all []unit) {
	if s.control.Red > 0 {
		f.any = f.set
		return
	}
	s.reserve = s.keep(reserveAnyOf)
	dose := largestMS(f.any)
	at := func(u unit) int {
		return slices.IndexFunc(all, func(a unit) bool { return a.site == u.site && a.role == u.role })
	}
	try := func(i int) bool {
		if i < 0 || i >= len(all) || all[i].role != f.any[0].role || len(f.any) >= mostAny {
			return false
		}
		one := all[i : i+1]
		if most := largestMS(one); most > 0 {
			one = scaled(one, max(1, dose/most), scaledLimitMS)
		}
		if !s.room() || !s.reds(one) {
			return false
		}
		f.any = append(f.any, one...)
		return true
	}
	first, last := at(f.any[0]), at(f.any[len(f.any)-1])
	for i := last + 1; try(i); i++ {
	}
	for i := first - 1; try(i); i-- {
	}
	slices.SortStableFunc(f.any, func(a, b unit) int { return at(a) - at(b) })
	s.checkAny(f)
}

// checkAny asks each site of "any of these" twice more, for one red may have
// been chance, and puts the one that leads into the set.
func (s *session) checkAny(f *finding) {
	if len(f.any) > 1 {
		var sure []unit
		for i := range f.any {
			if len(sure) < mostAny && s.room() && s.reds(f.any[i:i+1]) && s.reds(f.any[i:i+1]) {
				sure = append(sure, f.any[i])
			}
		}
		if len(sure) == 0 {
			sure = f.any[:1]
		}
		f.any = sure
	}
	f.set = []unit{f.any[lead(s, f.any)]}
	s.best = s.plan(f.set)
	s.best.Stretch = triage.Stretch{}
}
