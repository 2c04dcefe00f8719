package lag

import (
	"slices"

	"github.com/triagebot/triagebot/internal/triage"
)

// unit is what the search takes away or keeps: the delays of one role at one site.
type unit struct {
	site      string
	role      triage.Role
	decisions []triage.Decision
	// hits is how many delays the red run took here.
	hits int
}

// units groups decisions by site and role, in the order they were first taken.
// When every is set, a unit is one decision for every hit (hit 0) at the
// unit's largest delay; else it has the very decisions of the log.
func units(ds []triage.Decision, every bool) []unit {
	type key struct {
		site string
		role triage.Role
	}
	at := map[key]int{}
	var us []unit
	for _, d := range ds {
		k := key{d.Site, d.Role}
		i, ok := at[k]
		if !ok {
			i = len(us)
			at[k] = i
			us = append(us, unit{site: d.Site, role: d.Role})
		}
		us[i].decisions = append(us[i].decisions, d)
		us[i].hits++
	}
	if every {
		for i := range us {
			us[i].decisions = []triage.Decision{widest(us[i].decisions)}
		}
	}
	return us
}

// widest is the largest of a unit's decisions, made to hold at every hit.
func widest(ds []triage.Decision) triage.Decision {
	w := ds[0]
	for _, d := range ds {
		w.MS = max(w.MS, d.MS)
	}
	w.Hit = 0
	return w
}

// totalMS is the delay that the units inject together, in the red run's count of hits.
func totalMS(us []unit) float64 {
	sum := 0.0
	for _, u := range us {
		for _, d := range u.decisions {
			if d.Hit == 0 {
				sum += d.MS * float64(u.hits)
			} else {
				sum += d.MS
			}
		}
	}
	return sum
}

// largestMS is the largest single delay of the units.
func largestMS(us []unit) float64 {
	most := 0.0
	for _, u := range us {
		for _, d := range u.decisions {
			most = max(most, d.MS)
		}
	}
	return most
}

// scaled is a copy of the units with every delay multiplied, rounded to whole
// microseconds and held below limit.
func scaled(us []unit, factor, limit float64) []unit {
	out := slices.Clone(us)
	for i := range out {
		out[i].decisions = slices.Clone(out[i].decisions)
		for j := range out[i].decisions {
			d := &out[i].decisions[j]
			d.MS = roundMS(min(d.MS*factor, max(limit, d.MS)))
		}
	}
	return out
}

// roundMS rounds to a microsecond, which no engine can better.
func roundMS(ms float64) float64 { return float64(int64(ms*1000+0.5)) / 1000 }

// decisions are the units' decisions in one list.
func decisions(us []unit) []triage.Decision {
	var ds []triage.Decision
	for _, u := range us {
		ds = append(ds, u.decisions...)
	}
	return ds
}
