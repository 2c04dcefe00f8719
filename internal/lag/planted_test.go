package lag

import (
	"fmt"
	"math/rand/v2"

	"github.com/triagebot/triagebot/internal/triage"
)

// families plant one sort of truth each.
var families = []struct {
	name  string
	plant func(p *program, rng *rand.Rand)
}{
	{"race, one window", func(p *program, rng *rand.Rand) {
		path := p.stretchOf(triage.RoleWorker, 1+rng.IntN(5))
		p.race(window{path: path, ms: between(rng, 0.1, 8)})
	}},
	{"race between a double and its outcome", func(p *program, rng *rand.Rand) {
		path := p.stretchOf(triage.RoleWorker, 2+rng.IntN(4))
		for _, i := range path[1:] {
			p.sites[i].as(triage.KindCall)
		}
		p.sites[path[0]].as(triage.KindDouble)
		p.sites[path[0]].Test = true
		p.race(window{path: path, ms: between(rng, 0.1, 8)})
	}},
	{"race, masked by an earlier delay", func(p *program, rng *rand.Rand) {
		both := p.stretchOf(triage.RoleWorker, 3)
		for i := range both {
			p.sites[both[i]].hits = 1
		}
		p.race(window{mask: both[:len(both)-1], path: both[len(both)-1:], ms: between(rng, 0.5, 5)})
	}},
	{"race, two windows at once", func(p *program, rng *rand.Rand) {
		all := p.stretchOf(triage.RoleWorker, len(p.sites))
		i := rng.IntN(len(all) - 1)
		j := i + 1 + rng.IntN(len(all)-i-1)
		p.race(window{path: all[i : i+1], ms: between(rng, 0.1, 5)}, window{path: all[j : j+1], ms: between(rng, 0.1, 5)})
	}},
	{"race, two sites yield", func(p *program, rng *rand.Rand) {
		all := p.stretchOf(triage.RoleTest, len(p.sites))
		i := rng.IntN(len(all))
		p.race(window{path: all[i : i+1], yield: true}, window{path: p.stretchOf(triage.RoleWorker, 1), yield: true})
	}},
	{"lost event, waits 2 s", func(p *program, rng *rand.Rand) {
		p.wait = 2000
		p.race(window{path: p.stretchOf(triage.RoleTest, 1+rng.IntN(3)), ms: between(rng, 0.1, 5)})
	}},
	{"race whose symptom needs a clock", func(p *program, rng *rand.Rand) {
		c := p.addClock(triage.KindTimeout, 1000)
		p.race(window{path: p.stretchOf(triage.RoleWorker, 1+rng.IntN(3)), ms: between(rng, 0.3, 4)})
		p.faults[0].clock = c
	}},
	{"race among foreign reds", func(p *program, rng *rand.Rand) {
		p.race(window{path: p.stretchOf(triage.RoleWorker, 1+rng.IntN(4)), ms: between(rng, 0.1, 8)})
		p.foreignMS = between(rng, 150, 2000)
	}},
	{"fixed sleep", func(p *program, rng *rand.Rand) {
		ms := between(rng, 3, 80)
		c := p.addClock(triage.KindSleep, ms)
		p.faults = append(p.faults, fault{
			windows: []window{{path: p.stretchOf(triage.RoleWorker, 1+rng.IntN(8)), ms: ms * (0.6 + 0.39*rng.Float64())}},
			kind:    triage.CauseFixedSleep, clock: c,
		})
	}},
	{"honest deadline", func(p *program, rng *rand.Rand) { p.deadline(rng) }},
	{"bounded poll, no clock in reach", func(p *program, rng *rand.Rand) {
		p.deadline(rng)
		p.faults[0].clock, p.faults[0].windows[0].ms = -1, between(rng, 120, 500)
	}},
	{"race beside an honest deadline", func(p *program, rng *rand.Rand) {
		p.race(window{path: p.stretchOf(triage.RoleWorker, 1+rng.IntN(3)), ms: between(rng, 0.3, 5)})
		p.deadline(rng)
	}},
}

// as makes a site one of another kind.
func (s *simSite) as(k triage.Kind) {
	s.Kind = k
	s.ID = fmt.Sprintf("%s:%s:%s:1", s.File, s.Func, k)
}

func (p *program) race(ws ...window) {
	p.faults = append(p.faults, fault{windows: ws, kind: triage.CauseRace, clock: -1})
}

// deadline plants an honest budget that the delays of several seams use up together.
func (p *program) deadline(rng *rand.Rand) {
	ms := between(rng, 40, 600)
	c := p.addClock(triage.KindTimeout, ms)
	p.faults = append(p.faults, fault{
		windows: []window{{path: p.stretchOf(triage.RoleWorker, 3+rng.IntN(12)), ms: ms * (0.5 + 0.49*rng.Float64())}},
		kind:    triage.CauseTimeBudget, clock: c,
	})
}

// planted makes program number i of a family.
func planted(family int, i uint64) *program {
	rng := rand.New(rand.NewPCG(uint64(family)+1, i))
	p := plain(rng, 8+int(between(rng, 1, 110)))
	p.family = families[family].name
	p.sites[0].role, p.sites[1].role, p.sites[2].role, p.sites[3].role = triage.RoleTest, triage.RoleWorker, triage.RoleWorker, triage.RoleWorker
	families[family].plant(p, rng)
	return p
}

// reveal climbs the ladder to the first red with the wanted signature.
func reveal(p *program) (triage.LagPlan, triage.Trial, bool) {
	ladder, err := Ladder(simCaps, 1, "auto")
	if err != nil {
		panic(err)
	}
	for _, plan := range ladder {
		if t, _ := p.run(plan); t.SameFailure(wanted) {
			return plan, t, true
		}
	}
	return triage.LagPlan{}, triage.Trial{}, false
}

// grade of a cause against the planted truth.
type grade int

const (
	right grade = iota
	// wrongKind: the late sites are true, the kind or the clock is not.
	wrongKind
	wrongSite
	unstable
)

func judge(p *program, c *triage.Cause) grade {
	if c.Kind == triage.CauseUnstable {
		return unstable
	}
	worst := wrongSite
	for _, f := range p.faults {
		worst = min(worst, p.fits(f, c))
	}
	return worst
}

// fits grades a cause against one fault.
func (p *program) fits(f fault, c *triage.Cause) grade {
	late := c.Sites
	clock := ""
	if len(late) > 0 && (late[0].Kind == triage.KindTimeout || late[0].Kind == triage.KindSleep) {
		clock, late = late[0].ID, late[1:]
	}
	if len(late) == 0 && c.Kind == triage.CauseTimeBudget && f.clock >= 0 && p.clocks[f.clock].ID == clock {
		return right // several delays add up, none of them is claimed
	}
	if len(late) == 0 || !c.AnyOf && len(late) != len(f.windows) {
		return wrongSite
	}
	hit := make([]bool, len(f.windows))
	for _, s := range late {
		known := false
		for i, w := range f.windows {
			for _, j := range w.path {
				if p.sites[j].ID == s.ID {
					known, hit[i] = true, true
				}
			}
		}
		if !known {
			return wrongSite
		}
	}
	for _, h := range hit {
		if !h {
			return wrongSite
		}
	}
	want := ""
	if f.clock >= 0 && f.kind != triage.CauseRace {
		want = p.clocks[f.clock].ID
	}
	if c.Kind != f.kind || clock != want {
		return wrongKind
	}
	return right
}
