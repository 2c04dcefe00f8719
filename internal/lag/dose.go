package lag

import "path"

const (
	// doseSteps bounds the search for the least dose.
	doseSteps = 9
	// doseClose ends it when the greatest dose that passed is this near to the
	// least that failed, as a share of it.
	doseClose = 0.75
	// doseFloorMS ends it too: below this the sleep of an operating system is
	// mostly its own slack (about 0.05 ms on Linux).
	doseFloorMS = 0.25
	// scriptFloorMS is the same for Python and JavaScript, whose own loops and
	// locks are late by about that much.
	scriptFloorMS = 1
	// scriptSlackMS is what the confirmed dose has over the least one there: their
	// timers and switches of threads come and go by that much.
	scriptSlackMS = 3
	// doseCut is the step down while nothing has passed yet.
	doseCut = 4
	// aboveDose is how far above the least dose the cause is confirmed and its
	// clocks are stretched.
	aboveDose = 1.5
	// againDose is how much more is given where that is red now and then only.
	againDose = 4
)

// dose finds the least factor of the set's delays that is still red, and the
// largest that was green. It goes down by quarters until one is green, then
// halves the gap. A single red may be chance, so the least one is asked
// again, and those above it for as long as it does not come back.
func (s *session) dose(f *finding) {
	f.lo, f.hi = 0, 1
	most := largestMS(f.set)
	if most == 0 { // yields have no dose
		return
	}
	s.reserve = s.keep(reserveDose)
	failed, floor := []float64{1}, s.doseFloor(f.set)
	for range doseSteps {
		if f.lo >= f.hi*doseClose || f.hi*most <= floor || !s.room() {
			break
		}
		mid := f.hi / doseCut
		if f.lo > 0 {
			mid = (f.lo + f.hi) / 2
		}
		if mid = roundMS(max(mid*most, min(floor, f.hi*most/2))) / most; s.reds(scaled(f.set, mid, 0)) {
			f.hi = mid
			failed = append(failed, mid)
		} else {
			f.lo = mid
		}
	}
	for n := len(failed) - 1; n > 0 && s.room() && !s.reds(scaled(f.set, f.hi, 0)); n-- {
		f.lo, f.hi = f.hi, failed[n-1]
	}
}

// above is the factor of the set's doses that a finding is confirmed with: a little
// above the least that failed, so that it fails each time.
func (s *session) above(f finding) float64 {
	slack := 0.0
	if most := largestMS(f.set); most > 0 && s.doseFloor(f.set) > doseFloorMS {
		slack = scriptSlackMS / most
	}
	return min(1, max(f.hi*aboveDose, f.hi+slack))
}

// doseFloor is the least dose that is worth telling from a smaller one.
func (s *session) doseFloor(set []unit) float64 {
	switch path.Ext(s.site(set[0].site).File) {
	case "", ".go":
		return doseFloorMS
	}
	return scriptFloorMS
}
