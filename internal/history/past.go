package history

import (
	"cmp"
	"slices"

	"github.com/triagebot/triagebot/internal/classify"
	"github.com/triagebot/triagebot/internal/stats"
	"github.com/triagebot/triagebot/internal/triage"
)

// confidence is the level of the printed interval.
const confidence = 0.95

// Past is what the reports tell of a test, nil when they tell nothing. The runs
// are those of the largest company that it was seen in. Same counts the reds
// with the given signature; a zero one, of a failure without a message, is like
// no other.
func (r *Record) Past(t triage.Target, red triage.Signature) *triage.Past {
	tr := r.tests[t]
	if tr == nil {
		return nil
	}
	for _, scope := range []triage.Scope{triage.InSuite, triage.InPackage, triage.Alone} {
		var seen []sighting
		for _, s := range tr.seen {
			if s.scope == scope {
				seen = append(seen, s)
			}
		}
		if len(seen) > 0 {
			p := pastOf(seen, red)
			p.Scope, p.Reports = scope, tr.reports
			return &p
		}
	}
	return nil
}

func pastOf(seen []sighting, red triage.Signature) triage.Past {
	slices.SortStableFunc(seen, func(a, b sighting) int { return a.at.Compare(b.at) })
	p := triage.Past{Since: seen[0].at, P: 1}
	for _, s := range seen {
		p.Runs += s.runs
		p.Red += s.red
		if !red.IsZero() {
			p.Same += min(s.signs[red], s.red)
		}
		if s.red > 0 {
			p.LastRed = s.at
		}
	}
	p.Low, p.High = stats.Interval(p.Red, p.Runs, confidence)
	p.Older, p.Newer = halves(seen, p.Runs)
	if p.Older.Runs > 0 && p.Newer.Runs > 0 {
		p.P = stats.Fisher(p.Newer.Red, p.Newer.Runs, p.Older.Red, p.Older.Runs)
	}
	return p
}

// halves cuts the sightings, which are sorted by time, where the runs before come
// nearest to half of all. The runs of one report stay together.
func halves(seen []sighting, all int) (older, newer triage.Half) {
	cut, before, best := 0, 0, all
	for i, s := range seen {
		before += s.runs
		if off := max(2*before-all, all-2*before); off < best {
			cut, best = i+1, off
		}
	}
	for i, s := range seen {
		half := &older
		if i >= cut {
			half = &newer
		}
		half.Red += s.red
		half.Runs += s.runs
	}
	return older, newer
}

// Sign is how often a test was red on main in one way.
type Sign struct {
	triage.Signature
	Red int
}

// Signatures are the reds of a test by signature, over all scopes, the most
// frequent first. A red without a message is in none.
func (r *Record) Signatures(t triage.Target) []Sign {
	tr := r.tests[t]
	if tr == nil {
		return nil
	}
	count := map[triage.Signature]int{}
	for _, s := range tr.seen {
		for sign, n := range s.signs {
			count[sign] += n
		}
	}
	var out []Sign
	for sign, n := range count {
		if !sign.IsZero() {
			out = append(out, Sign{sign, n})
		}
	}
	slices.SortFunc(out, func(a, b Sign) int {
		return cmp.Or(b.Red-a.Red, cmp.Compare(a.Message, b.Message), cmp.Compare(a.Phase, b.Phase), cmp.Compare(a.Func, b.Func))
	})
	return out
}

// DurationMS is the median of a test's known durations in milliseconds, 0 when
// none is known.
func (r *Record) DurationMS(t triage.Target) float64 {
	d := slices.Sorted(slices.Values(r.durations[t]))
	if len(d) == 0 {
		return 0
	}
	return d[len(d)/2]
}

// Durations are those of all tests with a known one.
func (r *Record) Durations() map[triage.Target]float64 {
	out := map[triage.Target]float64{}
	for t := range r.durations {
		out[t] = r.DurationMS(t)
	}
	return out
}

// LastSweep is the commit of the newest sweep, empty when there was none.
func (r *Record) LastSweep() string { return r.sweep }

// Tests lists the tests that the reports tell of, by name.
func (r *Record) Tests() []triage.Target {
	var out []triage.Target
	for t := range r.tests {
		out = append(out, t)
	}
	slices.SortFunc(out, compare)
	return out
}

// Order sorts tests for a search: those that were red on main first, the surest
// flakes before all, then those that nothing is known of, then the quiet ones.
// Among equals it keeps the order.
func (r *Record) Order(tests []triage.Target) []triage.Target {
	rank := map[triage.Target]float64{}
	for _, t := range tests {
		switch p := r.Past(t, triage.Signature{}); {
		case p == nil:
		case p.Red > 0:
			rank[t] = 1 + p.Low
		default:
			rank[t] = -1
		}
	}
	out := slices.Clone(tests)
	slices.SortStableFunc(out, func(a, b triage.Target) int { return cmp.Compare(rank[b], rank[a]) })
	return out
}

// Substrates are the causes that several tests seem to have shared in the past,
// for the places where something is red now.
func (r *Record) Substrates(red []triage.Failure) []triage.Substrate {
	var out []triage.Substrate
	for _, s := range classify.Substrates(r.companies, nil) {
		if slices.ContainsFunc(red, func(f triage.Failure) bool { return f.Target.Package == s.Place }) {
			s.Earlier = r.Reports
			out = append(out, s)
		}
	}
	return out
}

func compare(a, b triage.Target) int {
	return cmp.Or(cmp.Compare(a.Suite, b.Suite), cmp.Compare(a.Framework, b.Framework),
		cmp.Compare(a.Package, b.Package), cmp.Compare(a.Test, b.Test))
}
