package lag

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// Capabilities is what a lag engine can do here.
type Capabilities struct {
	// Kinds are the kinds of sites it can delay.
	Kinds []triage.Kind
	// Cleanup is set when it can pause the removal of temporary directories,
	// Yield when it can give up the processor at a site.
	Cleanup bool
	Yield   bool
	// PerTest is set when it can count the hits of a site anew for each test.
	PerTest bool
	// Seams are what the project declares; they are tried first.
	Seams []Seam
}

// Doses and caps of the ladder, in milliseconds. Why these: docs/decisions/0005.
const (
	doubleMS  = 400
	smallMS   = 10
	mediumMS  = 100
	testMS    = 50
	singleMS  = 100
	randomMS  = 100
	largeMS   = 400
	cleanupMS = 200
	// ladderHits keeps loops fast: a site is delayed this often at most.
	ladderHits = 3
	// ladderBudgetMS bounds the delays of one process together.
	ladderBudgetMS = 20_000
	randomShare    = 0.3
	// behindCapMS bounds what [Behind] adds to one clock, for a red that waits
	// for a lost event waits it out. What may be delayed in all, behindBudgetMS,
	// stays below it: delays that use up the longer deadlines too prove no race.
	behindCapMS    = 3_000
	behindBudgetMS = 2_000
	randomRungs    = 5
	slowBurners    = 4
)

// rung is one step of the ladder: a plan, and whether an engine can carry it out.
type rung struct {
	plan triage.LagPlan
	able bool
}

// Ladder lists the plans to try in turn until the test is red. The seed feeds
// the random rungs. The spec is "auto" (or empty) for every rung that the
// engine can carry out, "off" for none, or a comma list of rung names in the
// order wanted ("random" stands for all of the random ones; "worker-N" delays workers by
// N milliseconds). A name that is unknown, or that this engine cannot carry out,
// is an error.
//
// A single policy can hide a flake, so a green rung proves nothing about the next.
func Ladder(c Capabilities, seed uint64, spec string) ([]triage.LagPlan, error) {
	rungs := allRungs(c, seed)
	switch spec = strings.TrimSpace(spec); spec {
	case "off":
		return nil, nil
	case "", "auto":
		var plans []triage.LagPlan
		for _, r := range rungs {
			if r.able {
				plans = append(plans, r.plan)
			}
		}
		return plans, nil
	}
	return chosenRungs(c, rungs, spec)
}

// RungNames lists the names that a spec may hold, in the ladder's order.
func RungNames() []string {
	var names []string
	for _, r := range allRungs(Capabilities{}, 0) {
		names = append(names, r.plan.Name)
	}
	return names
}

func chosenRungs(c Capabilities, rungs []rung, spec string) ([]triage.LagPlan, error) {
	var plans []triage.LagPlan
	for name := range strings.SplitSeq(spec, ",") {
		name = strings.TrimSpace(name)
		found := false
		for _, r := range rungs {
			if r.plan.Name != name && !(name == "random" && strings.HasPrefix(r.plan.Name, "random-")) {
				continue
			}
			found = true
			if !r.able {
				return nil, fmt.Errorf("choosing lag rungs: %q is not to be had with this engine", name)
			}
			if !slices.ContainsFunc(plans, func(p triage.LagPlan) bool { return p.Name == r.plan.Name }) {
				plans = append(plans, r.plan)
			}
		}
		if p, ok := dosed(c, name); ok && !found {
			plans, found = append(plans, p), true
		}
		if !found && strings.HasPrefix(name, "declared") {
			return nil, fmt.Errorf("choosing lag rungs: there is no %q: it wants seams in the suite's configuration", name)
		}
		if !found {
			return nil, fmt.Errorf("choosing lag rungs: no rung %q; there are auto, off, random, %s", name, strings.Join(RungNames(), ", "))
		}
	}
	return plans, nil
}

// allRungs is the ladder in its order.
func allRungs(c Capabilities, seed uint64) []rung {
	doubles, doubleHits := kindsOf(c, triage.KindDouble), ladderHits
	if len(doubles) == 0 { // an engine that cannot tell doubles delays every call that may be one, which are more
		doubles, doubleHits = kindsOf(c, triage.KindReturn), 1
	}
	worker := kindsOf(c, triage.KindDouble, triage.KindReturn, triage.KindCall, triage.KindStart, triage.KindWake, triage.KindSignal)
	every := kindsOf(c, append(slices.Clone(worker), triage.KindStep)...)
	rungs := []rung{
		{fixed("doubles", triage.RoleWorker, doubles, doubleMS, doubleHits), len(doubles) > 0},
		{fixed("worker-10", triage.RoleWorker, worker, smallMS, ladderHits), len(worker) > 0},
		{fixed("test-50", triage.RoleTest, every, testMS, 1), len(every) > 0},
		{fixed("worker-100", triage.RoleWorker, worker, mediumMS, ladderHits), len(worker) > 0},
		{yielding(every), len(every) > 0 && c.Yield},
		{triage.LagPlan{Version: triage.PlanVersion, Name: "cleanup", CleanupMS: cleanupMS}, c.Cleanup},
	}
	rungs[2].plan.TestSites = true
	if c.Cleanup { // costs nothing where the test is delayed far longer anyway
		rungs[0].plan.CleanupMS = cleanupMS
	}
	for i := uint64(1); i <= randomRungs; i++ {
		rungs = append(rungs, rung{random(i, seed+i, worker), len(worker) > 0})
	}
	return append(append(declared(c), rungs...),
		rung{fixed("all-400", triage.RoleWorker, worker, largeMS, 1), len(worker) > 0},
		rung{triage.LagPlan{Version: triage.PlanVersion, Name: "slow-machine", Procs: 1, Burners: slowBurners}, true},
	)
}

// maxDoseMS bounds a dose that is asked for by number.
const maxDoseMS = 2_000

// dosed is the rung "worker-N" for any number of milliseconds. A large dose is
// given once a site, as that of all-400 is.
func dosed(c Capabilities, name string) (triage.LagPlan, bool) {
	number, ok := strings.CutPrefix(name, "worker-")
	ms, err := strconv.Atoi(number)
	if !ok || err != nil || ms < 1 || ms > maxDoseMS || strconv.Itoa(ms) != number {
		return triage.LagPlan{}, false
	}
	for _, r := range allRungs(c, 0) {
		if large := ms >= largeMS; r.able && (large && r.plan.Name == "all-400" || !large && r.plan.Name == "worker-100") {
			p := r.plan
			p.Name, p.MinMS, p.MaxMS = name, float64(ms), float64(ms)
			return p, true
		}
	}
	return triage.LagPlan{}, false
}

// kindsOf are those of the kinds that the engine has.
func kindsOf(c Capabilities, kinds ...triage.Kind) []triage.Kind {
	var have []triage.Kind
	for _, k := range kinds {
		if slices.Contains(c.Kinds, k) {
			have = append(have, k)
		}
	}
	return have
}

func fixed(name string, role triage.Role, kinds []triage.Kind, ms float64, hits int) triage.LagPlan {
	return triage.LagPlan{
		Version: triage.PlanVersion, Name: name, Role: role, Kinds: kinds,
		MinMS: ms, MaxMS: ms, Hits: hits, BudgetMS: ladderBudgetMS,
	}
}

func yielding(kinds []triage.Kind) triage.LagPlan {
	return triage.LagPlan{
		Version: triage.PlanVersion, Name: "yield", Role: triage.RoleAny, Kinds: kinds,
		Yield: true, Hits: ladderHits,
	}
}

func random(i, seed uint64, kinds []triage.Kind) triage.LagPlan {
	p := fixed(fmt.Sprintf("random-%d", i), triage.RoleAny, kinds, randomMS, ladderHits)
	p.MinMS, p.Probability, p.Seed, p.TestSites = 0, randomShare, seed, true
	return p
}

// Behind is the rung with the deadlines of the code under test out of the way:
// once a deadline was seen to trip, a later rung can show a race only when the
// deadline does not trip first.
func Behind(p triage.LagPlan) triage.LagPlan {
	if len(p.Kinds) == 0 && len(p.Decisions) == 0 {
		return p // no delays, so no deadline trips
	}
	p.Name += "+deadlines"
	p.Stretch = triage.Stretch{Timeouts: stretchTimeouts, CapMS: behindCapMS}
	p.BudgetMS = min(p.BudgetMS, behindBudgetMS)
	return p
}

// Singles is the rung "one site at a time": a plan for each place that the
// decisions of earlier green rungs show to be there, in the order it was first
// passed, at most limit of them (0 is no limit). An earlier delay can mask a
// later one, and only a run tells which sites a test passes; so these plans
// are made when they are wanted and are no part of [Ladder].
func Singles(seen []triage.Decision, limit int) []triage.LagPlan {
	var plans []triage.LagPlan
	seen = slices.DeleteFunc(slices.Clone(seen), func(d triage.Decision) bool { return d.Kind == triage.KindDeclared }) // they have rungs of their own
	for _, u := range units(seen, false) {
		if limit > 0 && len(plans) == limit {
			break
		}
		d := u.decisions[0]
		plans = append(plans, triage.LagPlan{
			Version: triage.PlanVersion, Name: fmt.Sprintf("single-%d", len(plans)+1), Hits: ladderHits, BudgetMS: ladderBudgetMS,
			Decisions: []triage.Decision{{Site: d.Site, Kind: d.Kind, Role: d.Role, MS: singleMS}},
		})
	}
	return plans
}

// Describe says in words what a plan does: "each worker 10 ms late at every
// call, start and wake". The seed is part of it where chance is.
func Describe(p triage.LagPlan) string {
	var parts []string
	switch {
	case len(p.Decisions) > 0:
		parts = append(parts, describeDecisions(p.Decisions))
	case len(p.Kinds) > 0:
		parts = append(parts, describeKinds(p))
	}
	if p.CleanupMS > 0 {
		parts = append(parts, fmt.Sprintf("removal of temporary directories held for %g ms", p.CleanupMS))
	}
	if p.Procs > 0 {
		parts = append(parts, fmt.Sprintf("on %d processor(s)", p.Procs))
	}
	if p.Burners > 0 {
		parts = append(parts, fmt.Sprintf("beside %d busy loops", p.Burners))
	}
	if f := p.Stretch.Timeouts; f > 1 {
		parts = append(parts, fmt.Sprintf("timeouts × %g", f))
	}
	if f := p.Stretch.Sleeps; f > 1 {
		parts = append(parts, fmt.Sprintf("sleeps × %g", f))
	}
	if len(parts) == 0 {
		return "no lag"
	}
	return strings.Join(parts, ", ")
}

func describeDecisions(ds []triage.Decision) string {
	most := 0.0
	for _, d := range ds {
		most = max(most, d.MS)
	}
	sites := len(units(ds, false))
	switch {
	case most == 0:
		return fmt.Sprintf("processor given up at %d site(s)", sites)
	case sites == 1:
		return fmt.Sprintf("%s late by %.3g ms", ds[0].Site, most)
	}
	return fmt.Sprintf("%d sites late by up to %.3g ms", sites, most)
}

func describeKinds(p triage.LagPlan) string {
	who := map[triage.Role]string{triage.RoleWorker: "workers", triage.RoleTest: "the test's own thread"}[p.Role]
	if who == "" {
		who = "all threads"
	}
	how := fmt.Sprintf("%g ms late", p.MaxMS)
	switch {
	case p.Yield:
		how = "giving up the processor"
	case p.MinMS != p.MaxMS:
		how = fmt.Sprintf("%g to %g ms late", p.MinMS, p.MaxMS)
	}
	names := make([]string, len(p.Kinds))
	for i, k := range p.Kinds {
		names[i] = string(k)
	}
	where := strings.Join(names, ", ")
	if p.Probability > 0 {
		where = fmt.Sprintf("%g %% of %s (seed %d)", 100*p.Probability, where, p.Seed)
	}
	return fmt.Sprintf("%s %s at %s", who, how, where)
}
