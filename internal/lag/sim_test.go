package lag

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/triagebot/triagebot/internal/triage"
)

// program is a simulated test with planted faults. It knows nothing of the
// search: it takes a plan, passes its sites in order, and is red when the delays
// open a window that was planted.
type program struct {
	family string
	sites  []simSite
	clocks []triage.Site
	faults []fault
	// flaky is the rate of the same red without any cause, soft the share of
	// open windows that are red all the same (1: all).
	flaky, soft float64
	// foreignMS is the delay in all from which the red has another signature, 0 for never.
	foreignMS float64
	// uneven is the rate at which a site is passed once less than usual (but
	// once), and two entries of the log come in the other order.
	uneven float64
	// wait is what a red trial costs more, in milliseconds.
	wait   float64
	rng    *rand.Rand
	trials int
}

type simSite struct {
	triage.Site
	role triage.Role
	hits int
}

// fault is a window, or several that must be open at once.
type fault struct {
	windows []window
	kind    triage.CauseKind
	// clock is the index of the clock whose stretch closes it, -1 for none.
	clock int
}

// window is open when the delays of its path, less those of its mask, reach ms
// (milliseconds; for a yield any pass does).
type window struct {
	path, mask []int
	ms         float64
	yield      bool
}

var (
	wanted  = triage.Signature{Phase: triage.PhaseTest, Message: "want <n>, got <n>", Func: "TestIt"}
	foreign = triage.Signature{Phase: triage.PhaseTest, Message: "context deadline exceeded", Func: "TestIt"}
)

// passes tells the delay in milliseconds and the yields of each site under a
// plan, and logs the decisions.
func (p *program) passes(plan triage.LagPlan) (late []float64, yields []int, log []triage.Decision) {
	late, yields = make([]float64, len(p.sites)), make([]int, len(p.sites))
	spent := 0.0
	for i, s := range p.sites {
		if s.ID == "" {
			continue
		}
		hits := s.hits
		if p.uneven > 0 && p.rng.Float64() < p.uneven {
			hits = max(1, hits-1)
		}
		for hit := 1; hit <= hits; hit++ {
			d, ok := decide(plan, s, hit)
			if !ok || plan.BudgetMS > 0 && spent+d.MS > plan.BudgetMS {
				continue
			}
			spent += d.MS
			late[i] += d.MS
			if d.Yield {
				yields[i]++
			}
			log = append(log, d)
		}
	}
	for i := 1; i < len(log); i++ {
		if p.uneven > 0 && p.rng.Float64() < p.uneven {
			log[i-1], log[i] = log[i], log[i-1]
		}
	}
	return late, yields, log
}

// decide is what an engine does at one pass.
func decide(plan triage.LagPlan, s simSite, hit int) (triage.Decision, bool) {
	d := triage.Decision{Site: s.ID, Kind: s.Kind, Role: s.role, Hit: hit, Yield: plan.Yield}
	for _, r := range plan.Decisions {
		if r.Site == s.ID && (r.Role == s.role || r.Role == "" || r.Role == triage.RoleAny) &&
			(r.Hit == hit || r.Hit == 0 && hit <= plan.Hits) {
			d.MS, d.Yield = r.MS, r.Yield
			return d, true
		}
	}
	if len(plan.Decisions) > 0 || hit > plan.Hits || !slices.Contains(plan.Kinds, s.Kind) {
		return d, false
	}
	if plan.Role != triage.RoleAny && plan.Role != s.role || s.Test && !plan.TestSites && s.Kind != triage.KindDouble {
		return d, false
	}
	h := rand.New(rand.NewPCG(plan.Seed, hashOf(s.ID)))
	if plan.Probability > 0 && h.Float64() >= plan.Probability {
		return d, false
	}
	d.MS = plan.MinMS
	for range hit {
		if plan.MaxMS > plan.MinMS {
			d.MS = roundMS(plan.MinMS + (plan.MaxMS-plan.MinMS)*h.Float64())
		}
	}
	return d, d.MS > 0 || d.Yield
}

func hashOf(s string) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range []byte(s) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// run is a trial of the program.
func (p *program) run(plan triage.LagPlan) (triage.Trial, error) {
	p.trials++
	late, yields, log := p.passes(plan)
	sum := 0.0
	for _, ms := range late {
		sum += ms
	}
	open := false
	for _, f := range p.faults {
		open = open || p.open(f, plan, late, yields)
	}
	open = open && p.rng.Float64() < p.soft || p.rng.Float64() < p.flaky
	t := triage.Trial{
		Seq: p.trials, DurationMS: 20 + sum/2, Outcome: triage.Pass,
		Decisions: log, DecisionCount: len(log), Stretched: p.stretched(plan),
	}
	if p.foreignMS > 0 && sum >= p.foreignMS && plan.Stretch.Timeouts <= 1 {
		t.Outcome, t.Failure = triage.Fail, &triage.Failure{Signature: foreign}
	} else if open {
		t.Outcome, t.Failure = triage.Fail, &triage.Failure{Signature: wanted}
		t.DurationMS += p.wait
		if p.wait > 0 && plan.Stretch.Timeouts > 1 {
			t.DurationMS += min(p.wait*plan.Stretch.Timeouts, plan.Stretch.CapMS)
		}
	}
	return t, nil
}

// open reports whether all windows of a fault are. A clock's own window grows
// with the clock.
func (p *program) open(f fault, plan triage.LagPlan, late []float64, yields []int) bool {
	for _, w := range f.windows {
		need := w.ms
		if f.clock >= 0 {
			need = p.stretchedTo(p.clocks[f.clock], plan.Stretch, need)
		}
		have, passed := 0.0, 0
		for _, i := range w.path {
			have += late[i]
			passed += yields[i]
		}
		for _, i := range w.mask {
			have -= late[i]
		}
		have += 0.03 * p.rng.NormFloat64() // a machine's own jitter
		if w.yield && passed == 0 || !w.yield && have < need {
			return false
		}
	}
	return true
}

func (p *program) stretchedTo(c triage.Site, st triage.Stretch, ms float64) float64 {
	if len(st.Sites) > 0 && !slices.Contains(st.Sites, c.ID) {
		return ms
	}
	by := st.Timeouts
	if c.Kind == triage.KindSleep {
		by = st.Sleeps
	}
	if by <= 1 {
		return ms
	}
	more := ms * (by - 1)
	if st.CapMS > 0 {
		more = math.Min(more, st.CapMS)
	}
	return ms + more
}

func (p *program) stretched(plan triage.LagPlan) []string {
	var ids []string
	for _, c := range p.clocks {
		if p.stretchedTo(c, plan.Stretch, 1) > 1 {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// siteMap is what an engine lists.
func (p *program) siteMap() map[string]triage.Site {
	m := map[string]triage.Site{}
	for _, s := range p.sites {
		m[s.ID] = s.Site
	}
	for _, c := range p.clocks {
		m[c.ID] = c
	}
	return m
}

var simKinds = []triage.Kind{triage.KindReturn, triage.KindCall, triage.KindStart, triage.KindWake, triage.KindSignal}

// simCaps is an engine with every kind.
var simCaps = Capabilities{Kinds: append(slices.Clone(simKinds), triage.KindDouble, triage.KindStep), Yield: true}

// plain is a program without a fault: n sites, some of them the test's own.
func plain(rng *rand.Rand, n int) *program {
	p := &program{rng: rng, soft: 1}
	for i := range n {
		s := simSite{role: triage.RoleWorker, hits: 1 + rng.IntN(3)}
		s.Kind = simKinds[rng.IntN(len(simKinds))]
		if rng.Float64() < 0.25 {
			s.role = triage.RoleTest
		}
		s.File, s.Line, s.Func = "d.go", 10+i, fmt.Sprintf("(*D).f%d", i)
		s.ID = fmt.Sprintf("%s:%s:%s:1", s.File, s.Func, s.Kind)
		s.Text = fmt.Sprintf("d.dep.Do%d(x)", i)
		p.sites = append(p.sites, s)
	}
	for i := range rng.IntN(3) {
		p.addClock(triage.KindTimeout, float64(1000*(i+1)))
	}
	for i := range rng.IntN(2) {
		p.addClock(triage.KindSleep, float64(5*(i+1)))
	}
	return p
}

func (p *program) addClock(kind triage.Kind, ms float64) int {
	i := len(p.clocks)
	c := triage.Site{Kind: kind, File: "d_test.go", Line: 200 + i, Func: "TestIt", Test: true}
	c.ID = fmt.Sprintf("d_test.go:TestIt:%s:%d", kind, i)
	c.Text = fmt.Sprintf("case <-time.After(%d * time.Millisecond):", int(ms))
	if i%2 == 1 {
		c.Text = "case <-time.After(patience):"
	}
	p.clocks = append(p.clocks, c)
	return i
}

// stretchOf picks n neighbouring sites of a role, fewer when there are not so many.
func (p *program) stretchOf(role triage.Role, n int) []int {
	var of []int
	for i, s := range p.sites {
		if s.role == role {
			of = append(of, i)
		}
	}
	n = min(n, len(of))
	from := p.rng.IntN(len(of) - n + 1)
	return of[from : from+n]
}

func between(rng *rand.Rand, lo, hi float64) float64 { return lo * math.Pow(hi/lo, rng.Float64()) }

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, seed)) }
