package lag

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// lone is an input whose red trial took two delays at one site, and a probe that
// answers by rule.
func lone(t *testing.T, rung string, rule func(triage.LagPlan) bool) (Input, Probe) {
	t.Helper()
	plan := mustLadder(t, goCaps, 1, rung)[0]
	site := triage.Site{ID: "r.go:Mark:call:1", Kind: triage.KindCall, File: "r.go", Line: 9, Func: "Mark"}
	first := redTrial()
	for hit := 1; hit <= 2; hit++ {
		first.Decisions = append(first.Decisions, triage.Decision{Site: site.ID, Kind: site.Kind, Role: triage.RoleWorker, Hit: hit, MS: plan.MaxMS})
	}
	in := Input{
		Plan: plan, Red: first, Reference: wanted, Control: Control{Runs: 6},
		Sites: map[string]triage.Site{site.ID: site, "t": {ID: "t", Kind: triage.KindTimeout, File: "r_test.go", Line: 3}},
	}
	return in, func(p triage.LagPlan) (triage.Trial, error) {
		if rule(p) {
			return redTrial(), nil
		}
		return triage.Trial{Outcome: triage.Pass, DurationMS: 10, Stretched: []string{"t"}}, nil
	}
}

func redTrial() triage.Trial {
	return triage.Trial{Outcome: triage.Fail, DurationMS: 10, Failure: &triage.Failure{Signature: wanted}}
}

func doseOf(p triage.LagPlan) float64 {
	most := 0.0
	for _, d := range p.Decisions {
		most = max(most, d.MS)
	}
	return most
}

func explainOK(t *testing.T, in Input, probe Probe) Result {
	t.Helper()
	res, err := Explain(in, probe)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestReplayTriesEveryHitFirstAndThenTheVeryDecisions(t *testing.T) {
	for rung, first := range map[string]int{"worker-10": 0, "random-1": 1} {
		for _, needed := range []int{0, 1} {
			var asked []int
			in, probe := lone(t, rung, func(p triage.LagPlan) bool {
				if len(p.Decisions) == 0 {
					return false
				}
				hit := min(1, p.Decisions[0].Hit)
				asked = append(asked, hit)
				return hit == needed && doseOf(p) >= 1
			})
			res := explainOK(t, in, probe)
			if asked[0] != first {
				t.Errorf("%s: the first replay had hit %d, want %d", rung, asked[0], first)
			}
			if c := res.Cause; c.Kind != triage.CauseRace || min(1, res.Plan.Decisions[0].Hit) != needed {
				t.Errorf("%s, red at form %d only: cause %+v, plan %+v", rung, needed, c, res.Plan)
			}
		}
	}
}

func TestPauseAtCleanupIsDroppedWhereItIsNotNeeded(t *testing.T) {
	in, probe := lone(t, "doubles", func(p triage.LagPlan) bool {
		for _, d := range p.Decisions {
			if d.Kind == triage.KindCleanup {
				t.Errorf("the pause is replayed as a delay: %+v", d)
			}
		}
		return doseOf(p) >= 2
	})
	if in.Plan.CleanupMS == 0 {
		t.Fatal("the rung has no pause at clean-up")
	}
	in.Red.Decisions = append(in.Red.Decisions, triage.Decision{Site: "x", Kind: triage.KindCleanup, Hit: 1, MS: 200})
	in.Sites = nil // as when the engine lists none
	res := explainOK(t, in, probe)
	if res.Cause.Kind != triage.CauseRace || res.Plan.CleanupMS != 0 || len(res.Plan.Decisions) != 1 {
		t.Errorf("cause %+v, plan %+v", res.Cause, res.Plan)
	}
}

func TestLeastDoseIsAskedAgain(t *testing.T) {
	asked := map[float64]int{}
	in, probe := lone(t, "worker-10", func(p triage.LagPlan) bool {
		ms := doseOf(p)
		asked[ms]++
		return ms >= 4 || ms >= 2 && asked[ms] == 1 // below 4 ms by chance, once
	})
	if c := explainOK(t, in, probe).Cause; c.DoseMS < 2.4 {
		t.Errorf("least dose %g ms rests on one red by chance", c.DoseMS)
	}
}

func TestCauseIsConfirmedAboveTheLeastDose(t *testing.T) {
	in, probe := lone(t, "worker-10", func(p triage.LagPlan) bool { return doseOf(p) >= 2 })
	res := explainOK(t, in, probe)
	if got, want := doseOf(res.Plan), 1.5*res.Cause.DoseMS; math.Abs(got-want) > 0.01 {
		t.Errorf("plan of %g ms for a least dose of %g", got, res.Cause.DoseMS)
	}
	if m := res.Cause.MarginMS; m >= 2 || m < 1 || res.Cause.DoseMS < 2 {
		t.Errorf("margin %g ms, dose %g ms; 2 ms was planted", m, res.Cause.DoseMS)
	}
	if res.Plan.Name != "cause" {
		t.Errorf("plan is named %q", res.Plan.Name)
	}
}

func TestRedAtTheSmallestDelayIsHeldAgainstNoDelayAtAll(t *testing.T) {
	in, probe := lone(t, "worker-10", func(triage.LagPlan) bool { return true })
	in.Control = Control{Runs: 2} // and three of the search's own, all red
	if c := explainOK(t, in, probe).Cause; c.Kind != triage.CauseUnstable || c.Note != tooNoisy {
		t.Errorf("red three times without lag: %+v", c)
	}
	in.Control = Control{Red: 0, Runs: 5}
	noLag := 0
	counted := func(p triage.LagPlan) (triage.Trial, error) {
		if p.Name == "no-lag" {
			noLag++
		}
		return probe(p)
	}
	if c := explainOK(t, in, counted).Cause; c.Kind != triage.CauseRace || c.Runs != noisyRuns || noLag != 2 {
		t.Errorf("two reds of seven without lag, %d asked: %+v", noLag, c)
	}
}

func TestFunctionEnteredBeforeTheDoubleIsNotItsOutcome(t *testing.T) {
	p := dispatch(t)
	p.sites[2].as(triage.KindDouble)
	p.sites[1].as(triage.KindCall)
	p.race(window{path: []int{1, 2, 3}, ms: 2}) // late in front of the double is enough here too
	if c := explained(t, p, nil).Cause; c.Kind != triage.CauseRace || c.Sites[0].Line != 60 {
		t.Errorf("cause %+v", c)
	}
}

func TestYieldHasNoDose(t *testing.T) {
	in, probe := lone(t, "yield", func(p triage.LagPlan) bool { return len(p.Decisions) > 0 && p.Decisions[0].Yield })
	for i := range in.Red.Decisions {
		in.Red.Decisions[i].Yield = true
	}
	c := explainOK(t, in, probe).Cause
	if c.Kind != triage.CauseRace || c.DoseMS != 0 || c.MarginMS != 0 || c.Red != 5 {
		t.Errorf("cause %+v", c)
	}
}

func TestDeadlineWithoutAWrittenLengthIsJudgedByTheDose(t *testing.T) {
	for _, tc := range []struct {
		ms   float64
		want triage.CauseKind
	}{{1, triage.CauseRace}, {20, triage.CauseTimeBudget}} {
		in, probe := lone(t, "worker-100", func(p triage.LagPlan) bool {
			return 2*doseOf(p) >= tc.ms && p.Stretch.Timeouts <= 1
		})
		if c := explainOK(t, in, probe).Cause; c.Kind != tc.want {
			t.Errorf("%g ms in all: %+v", tc.ms, c)
		}
	}
}

func TestLongDelayWithoutAClockInReachIsNoRace(t *testing.T) {
	in, probe := lone(t, "worker-100", func(p triage.LagPlan) bool { return 2*doseOf(p) >= 120 })
	c := explainOK(t, in, probe).Cause
	if c.Kind != triage.CauseTimeBudget || len(c.Sites) != 1 || !strings.Contains(c.Note, "no clock within reach") {
		t.Errorf("cause %+v", c)
	}
}

func TestGreenWithoutAStretchedClockNamesNone(t *testing.T) {
	in, probe := lone(t, "worker-100", func(p triage.LagPlan) bool { return doseOf(p) >= 50 && p.Stretch.Timeouts <= 1 })
	res := explainOK(t, in, func(p triage.LagPlan) (triage.Trial, error) {
		trial, err := probe(p)
		trial.Stretched = nil
		return trial, err
	})
	if c := res.Cause; c.Kind != triage.CauseUnstable || len(c.Sites) != 0 {
		t.Errorf("cause %+v", c)
	}
}

func TestOneOfManyClocksIsNamed(t *testing.T) {
	in, _ := lone(t, "worker-100", nil)
	var all []string
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		in.Sites[id] = triage.Site{ID: id, Kind: triage.KindTimeout, Text: "time.After(90 * time.Millisecond)"}
		all = append(all, id)
	}
	in.Sites["s"] = triage.Site{ID: "s", Kind: triage.KindSleep}
	res := explainOK(t, in, func(p triage.LagPlan) (triage.Trial, error) {
		long := p.Stretch.Timeouts > 1 && (len(p.Stretch.Sites) == 0 || slices.Contains(p.Stretch.Sites, "d"))
		if doseOf(p) >= 40 && !long {
			return redTrial(), nil
		}
		return triage.Trial{Outcome: triage.Pass, Stretched: append([]string{"s", "not listed"}, all...)}, nil
	})
	if c := res.Cause; c.Kind != triage.CauseTimeBudget || c.Sites[0].ID != "d" || c.Sites[1].ID != "r.go:Mark:call:1" {
		t.Errorf("cause %+v", c)
	}
}

// A test that waits 100 ms for each of three replies misses all three deadlines
// when every reply is late.
func TestOneOfSeveralDeadlinesMissedTogetherIsNamed(t *testing.T) {
	in, _ := lone(t, "worker-100", nil)
	all := []string{"a", "b", "c", "d"}
	for _, id := range all {
		in.Sites[id] = triage.Site{ID: id, Kind: triage.KindTimeout, Text: "case <-time.After(100 * time.Millisecond):"}
	}
	res := explainOK(t, in, func(p triage.LagPlan) (triage.Trial, error) {
		long := p.Stretch.Timeouts > 1
		for _, id := range []string{"a", "b", "c"} {
			long = long && (len(p.Stretch.Sites) == 0 || slices.Contains(p.Stretch.Sites, id))
		}
		if doseOf(p) >= 90 && !long {
			return redTrial(), nil
		}
		return triage.Trial{Outcome: triage.Pass, Stretched: all}, nil
	})
	if c := res.Cause; c.Kind != triage.CauseTimeBudget || c.Sites[0].ID != "c" {
		t.Errorf("cause %+v", c)
	}
}

func TestPlanThatIsRedMostlyMustBeGreenMoreOftenWhenStretched(t *testing.T) {
	confirms, stretched := 0, 0
	in, probe := lone(t, "worker-10", func(p triage.LagPlan) bool {
		switch {
		case p.Name == "cause":
			confirms++
			return confirms != 3
		case p.Stretch.Timeouts > 1:
			stretched++
			return stretched > 2 // green twice by chance
		}
		return doseOf(p) >= 2
	})
	c := explainOK(t, in, probe).Cause
	if c.Kind != triage.CauseRace || c.Red != 4 || c.Runs != 5 || strings.Contains(c.Note, "timeout") {
		t.Errorf("cause %+v", c)
	}
}

func TestNoisyTestIsAskedMoreAndClaimsLess(t *testing.T) {
	twice := map[string]bool{}
	p := dispatch(t)
	p.race(window{path: []int{2, 3}, ms: 2})
	plan, first, _ := reveal(p)
	in := Input{Plan: plan, Red: first, Reference: wanted, Sites: p.siteMap(), Control: Control{Red: 1, Runs: 6}}
	row, last := 0, ""
	res := explainOK(t, in, func(pl triage.LagPlan) (triage.Trial, error) {
		if row++; pl.ID() != last {
			row, last = 1, pl.ID()
		}
		twice[pl.ID()] = twice[pl.ID()] || row == 2
		return p.run(pl)
	})
	if c := res.Cause; c.Kind != triage.CauseRace || c.AnyOf || c.Red != noisyRuns || c.Runs != noisyRuns {
		t.Errorf("cause %+v", c)
	}
	n := 0
	for _, again := range twice {
		if again {
			n++
		}
	}
	if n < 5 { // replay, one site, doses, stretch, cause
		t.Errorf("%d plans were asked again at once", n)
	}
	in.Control = Control{Red: 3, Runs: 6}
	res = explainOK(t, in, p.run)
	if c := res.Cause; c.Kind != triage.CauseUnstable || !strings.Contains(c.Note, "without lag") || res.Trials > 3 {
		t.Errorf("half red without lag: %d trials, %+v", res.Trials, c)
	}
}

func TestAnyOfStaysOnTheThreadThatIsLate(t *testing.T) {
	p := dispatch(t)
	for i := range 8 { // more than are swept one at a time, so neighbours are looked at
		s := p.sites[0]
		s.ID += strings.Repeat("'", i+1)
		if i < 4 {
			p.sites = append([]simSite{s}, p.sites...)
		} else {
			s.role = triage.RoleTest
			p.sites = append(p.sites, s)
		}
	}
	// The worker's last two sites and the test's own first are each enough.
	p.race(window{path: []int{7, 8, 9}, ms: 2})
	plan := triage.LagPlan{Version: 1, Role: triage.RoleAny, Kinds: simKinds, MinMS: 10, MaxMS: 10, Hits: 1}
	first, _ := p.run(plan)
	c := explainOK(t, Input{Plan: plan, Red: first, Reference: wanted, Sites: p.siteMap(), Control: Control{Runs: 6}}, p.run).Cause
	if c.Kind != triage.CauseRace || !c.AnyOf || len(c.Sites) != 2 || c.Sites[0].Line != 60 || c.Sites[1].Line != 63 {
		t.Errorf("cause %+v", c)
	}
}

func TestLeadIsTheFirstProjectFunctionEntered(t *testing.T) {
	s := newSession(Input{Sites: map[string]triage.Site{
		"return":   {Kind: triage.KindReturn},
		"testcall": {Kind: triage.KindCall, Test: true},
		"call":     {Kind: triage.KindCall},
	}}, nil)
	for _, tc := range []struct {
		order []string
		want  int
	}{
		{[]string{"return", "testcall", "call"}, 2},
		{[]string{"call", "return"}, 0},
		{[]string{"return", "testcall"}, 0},
	} {
		var us []unit
		for _, id := range tc.order {
			us = append(us, unit{site: id, decisions: []triage.Decision{{Site: id}}})
		}
		if got := lead(s, us); got != tc.want {
			t.Errorf("%v: %d leads, want %d", tc.order, got, tc.want)
		}
	}
}

func TestDelaysThatAddUpAgainstADeadlineAreNotClaimed(t *testing.T) {
	p := dispatch(t)
	p.clocks[0].Text = "case <-time.After(10 * time.Millisecond):"
	p.faults = []fault{{
		windows: []window{{path: []int{1}, ms: 4}, {path: []int{3}, ms: 4}}, kind: triage.CauseTimeBudget, clock: 0,
	}}
	c := explained(t, p, nil).Cause
	if c.Kind != triage.CauseTimeBudget || len(c.Sites) != 1 || c.Sites[0].Line != 15 || c.AnyOf || !strings.Contains(c.Note, "add up to") {
		t.Errorf("cause %+v", c)
	}
}

// A worker that polls every 6 ms is red while it is between two steps: a delay
// opens that window, in the first passes only.
func TestALoopThatTheSleepOutlastsIsNoFixedSleep(t *testing.T) {
	const sleepMS, period = 12.0, 6.0
	for name, c := range map[string]struct {
		loops bool
		text  string
		want  triage.CauseKind
	}{
		"the window comes again":  {true, "time.Sleep(12 * time.Millisecond)", triage.CauseRace},
		"the worker is late once": {false, "time.Sleep(12 * time.Millisecond)", triage.CauseFixedSleep},
		"the length is not known": {true, "time.Sleep(patience)", triage.CauseFixedSleep},
	} {
		in, _ := lone(t, "random-1", nil)
		in.Sites["s"] = triage.Site{ID: "s", Kind: triage.KindSleep, File: "r_test.go", Line: 4, Text: c.text}
		in.Red.Decisions = in.Red.Decisions[:1]
		probe := func(p triage.LagPlan) (triage.Trial, error) {
			end := sleepMS
			if p.Stretch.Sleeps > 1 {
				end += min(sleepMS*(p.Stretch.Sleeps-1), p.Stretch.CapMS)
			}
			passes := 1
			if len(p.Decisions) > 0 && p.Decisions[0].Hit == 0 && c.loops {
				passes = p.Hits
			}
			late := false // whether the test looks while the worker is late
			for i, at := 0, period; i < passes; i++ {
				late = late || at < end && end < at+doseOf(p)
				at += doseOf(p) + period
			}
			if late {
				return redTrial(), nil
			}
			return triage.Trial{Outcome: triage.Pass, DurationMS: 10, Stretched: []string{"s"}}, nil
		}
		if got := explainOK(t, in, probe).Cause; got.Kind != c.want {
			t.Errorf("%s: %s (%s), want %s", name, got.Kind, got.Note, c.want)
		}
	}
}
