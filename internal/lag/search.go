package lag

import "slices"

const (
	// sweepMost is the number of sites that are tried one at a time; of more,
	// halves are tried first.
	sweepMost = 6
	// neighbours is how many sites are tried on either side of the sites found.
	neighbours = 3
	// scaledLimitMS bounds a delay that stands in for those taken away.
	scaledLimitMS = 1000
	// most delays that together are believed to be one cause.
	mostTogether = 3
)

// minimise finds a smallest set of delays that is red. A single site is looked
// for at the dose it had; where the delays add up (against a deadline, or a
// sleep) no single one is enough, and those kept are given the delay of those
// taken away. When additive is set that is tried first.
func (s *session) minimise(set []unit, additive bool) (finding, bool) {
	s.reserve = reserveMinimise
	all := set
	parts := 2
	for len(set) > sweepMost {
		next, grown := s.someRed(set, parts, additive)
		switch {
		case next != nil:
			additive = additive || grown
			set, parts = next, max(2, min(parts-1, len(next)))
			if len(next) <= len(set)/2 {
				parts = 2
			}
		case parts >= len(set):
			return finding{}, false // needs more than sweepMost delays at once
		default:
			parts = min(2*parts, len(set))
		}
		if !s.room() {
			s.short = true
			return finding{}, false
		}
	}
	f, ok := s.sweep(set, additive)
	if ok && len(f.any) > 0 {
		s.lookAround(&f, all)
	}
	return f, ok
}

// someRed finds a part of the set, or all of it but a part, that is red. Grown
// is set when it is so only with the whole set's delay.
func (s *session) someRed(set []unit, parts int, additive bool) (found []unit, grown bool) {
	chunks := split(set, parts)
	modes := []bool{false, true}
	if additive {
		modes = []bool{true, false}
	}
	for _, grow := range modes {
		for _, c := range chunks {
			if c = s.grown(c, set, grow); c != nil && s.reds(c) {
				return c, grow
			}
		}
		if parts == 2 {
			continue
		}
		for i := range chunks {
			rest := slices.Concat(slices.Concat(chunks[:i]...), slices.Concat(chunks[i+1:]...))
			if rest = s.grown(rest, set, grow); rest != nil && s.reds(rest) {
				return rest, grow
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

// split cuts a set into that many parts of nearly equal size, none empty.
func split(set []unit, parts int) [][]unit {
	parts = min(parts, len(set))
	out := make([][]unit, 0, parts)
	for i := range parts {
		out = append(out, set[i*len(set)/parts:(i+1)*len(set)/parts])
	}
	return out
}

// sweep tries the sites of a small set one at a time, at the dose they have and
// then at the set's whole delay; where none is enough it takes away one by one.
func (s *session) sweep(set []unit, additive bool) (finding, bool) {
	if len(set) == 1 {
		return finding{set: set, any: set}, true
	}
	modes := []bool{false, true}
	if additive {
		modes = []bool{true, false}
	}
	for _, grow := range modes {
		var alone []unit
		for i := range set {
			one := s.grown(set[i:i+1], set, grow)
			if one != nil && s.reds(one) {
				alone = append(alone, one...)
			}
		}
		if len(alone) > 0 {
			return finding{set: alone[:1], any: alone}, true
		}
	}
	for i := 0; i < len(set) && len(set) > 2; {
		rest := slices.Concat(set[:i], set[i+1:])
		if s.reds(rest) {
			set = rest
		} else {
			i++
		}
	}
	if len(set) > mostTogether || !s.reds(set) {
		return finding{}, false
	}
	return finding{set: set}, true
}

// lookAround widens "any of these" to the sites next to those found, in the
// order of the red run, as far as each of them is enough too.
func (s *session) lookAround(f *finding, all []unit) {
	s.reserve = reserveAnyOf
	dose := largestMS(f.any)
	at := func(u unit) int {
		return slices.IndexFunc(all, func(a unit) bool { return a.site == u.site && a.role == u.role })
	}
	try := func(i int) bool {
		if i < 0 || i >= len(all) || all[i].role != f.any[0].role || !s.room() {
			return false
		}
		one := all[i : i+1]
		if most := largestMS(one); most > 0 {
			one = scaled(one, max(1, dose/most), scaledLimitMS)
		}
		if !s.reds(one) {
			return false
		}
		f.any = append(f.any, one...)
		return true
	}
	first, last := at(f.any[0]), at(f.any[len(f.any)-1])
	for i := 1; i <= neighbours && try(last+i); i++ {
	}
	for i := 1; i <= neighbours && try(first-i); i++ {
	}
	slices.SortStableFunc(f.any, func(a, b unit) int { return at(a) - at(b) })
	f.set = []unit{f.any[lead(s, f.any)]}
	s.best = s.plan(f.set)
}
