package lag

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

// dispatch is the shape that triagebot is made for: a worker calls a double, the
// test sees the call and looks at what the worker does next.
func dispatch(t *testing.T) *program {
	t.Helper()
	p := plain(newRand(3), 0)
	p.clocks = nil
	worker := func(kind triage.Kind, line int, fn, text string) {
		p.sites = append(p.sites, simSite{role: triage.RoleWorker, hits: 1, Site: triage.Site{
			ID: "d.go:" + fn + ":" + string(kind) + ":1", Kind: kind, File: "d.go", Line: line, Func: fn, Text: text,
		}})
	}
	worker(triage.KindStart, 30, "(*Dispatcher).Run", "go d.loop()")
	worker(triage.KindWake, 38, "(*Dispatcher).loop", "case m := <-d.in:")
	worker(triage.KindReturn, 41, "(*Dispatcher).loop", "if err := d.sender.Send(m); err != nil {")
	worker(triage.KindCall, 60, "(*Registry).Mark", "func (r *Registry) Mark(m Msg) {")
	worker(triage.KindSignal, 63, "(*Registry).Mark", "r.mu.Unlock()")
	p.clockAt(triage.KindTimeout, 15, "case <-time.After(2 * time.Second):")
	p.clockAt(triage.KindSleep, 20, "time.Sleep(20 * time.Millisecond)")
	return p
}

func (p *program) clockAt(kind triage.Kind, line int, text string) {
	i := p.addClock(kind, 0)
	p.clocks[i].Line, p.clocks[i].Text = line, text
}

// explained climbs the ladder and explains its first red.
func explained(t *testing.T, p *program, more func(*Input)) Result {
	t.Helper()
	plan, first, ok := reveal(p)
	if !ok {
		t.Fatal("the ladder does not reveal the program")
	}
	in := Input{Plan: plan, Red: first, Reference: wanted, Sites: p.siteMap()}
	if more != nil {
		more(&in)
	}
	res, err := Explain(in, p.run)
	if err != nil {
		t.Fatal(err)
	}
	if res.Cause.Plan != res.Plan.ID() {
		t.Errorf("cause names plan %s, the result's is %s", res.Cause.Plan, res.Plan.ID())
	}
	return res
}

func TestRaceIsNamedWithTheAttemptAndTheAdvice(t *testing.T) {
	p := dispatch(t)
	p.race(window{path: []int{2, 3}, ms: 2})
	c := explained(t, p, nil).Cause
	if c.Kind != triage.CauseRace || !c.AnyOf || len(c.Sites) != 2 || c.Sites[0].Line != 60 || c.Sites[1].Line != 41 {
		t.Fatalf("cause %+v", c)
	}
	if c.Attempt == nil || c.Attempt.Line != 41 || c.Advice != "wait on what `(*Registry).Mark` changes, not on `d.sender.Send`" {
		t.Errorf("attempt %+v, advice %q", c.Attempt, c.Advice)
	}
	if c.DoseMS < 2 || c.DoseMS > 3 || c.MarginMS >= 2.1 || c.MarginMS < 1 {
		t.Errorf("least dose %g ms, margin %g ms; the window is 2 ms", c.DoseMS, c.MarginMS)
	}
	if c.Red != 5 || c.Runs != 5 {
		t.Errorf("red %d of %d", c.Red, c.Runs)
	}
}

func TestLoneLateSiteAfterADoubleHasItsOwnAdvice(t *testing.T) {
	p := dispatch(t)
	p.race(window{path: []int{2}, ms: 2})
	c := explained(t, p, nil).Cause
	if c.AnyOf || len(c.Sites) != 1 || c.Advice != "wait on what `(*Dispatcher).loop` does after `d.sender.Send`, not on that call" {
		t.Errorf("cause %+v", c)
	}
}

func TestOutcomeBehindADoubleIsNamed(t *testing.T) {
	p := dispatch(t)
	p.sites[2].as(triage.KindDouble)
	p.sites[2].Func, p.sites[2].Test = "(*fakeSender).Send", true
	p.race(window{path: []int{2, 3}, ms: 2})
	res := explained(t, p, nil)
	c := res.Cause
	if !c.AnyOf || len(c.Sites) != 2 || c.Sites[0].Line != 60 || c.Sites[1].Line != 41 || c.Attempt == nil || c.Attempt.Line != 41 {
		t.Fatalf("cause %+v", c)
	}
	if want := "wait on what `(*Registry).Mark` changes, not on `(*fakeSender).Send`"; c.Advice != want {
		t.Errorf("advice %q, want %q", c.Advice, want)
	}
	if len(res.Plan.Decisions) != 1 || res.Plan.Decisions[0].Kind != triage.KindCall || c.Red != 5 || c.DoseMS < 2 || c.DoseMS > 3 || c.MarginMS < 1 {
		t.Errorf("cause %+v, plan %+v", c, res.Plan)
	}
}

func TestDoubleWithoutANamedOutcomeHasItsOwnAdvice(t *testing.T) {
	p := dispatch(t)
	p.sites[2].as(triage.KindDouble)
	p.sites[2].Func, p.sites[2].Test = "(*fakeSender).Send", true
	p.race(window{path: []int{2}, ms: 2})
	c := explained(t, p, nil).Cause
	if want := "wait on what the caller does after `(*fakeSender).Send`, not on that call"; len(c.Sites) != 1 || c.Advice != want {
		t.Errorf("cause %+v", c)
	}
}

func TestNoAdviceWhereTheAttemptCannotBeTold(t *testing.T) {
	p := dispatch(t)
	p.race(window{path: []int{1, 3}, ms: 2})
	if c := explained(t, p, nil).Cause; c.Kind != triage.CauseRace || c.Advice != "" || c.Attempt != nil {
		t.Errorf("cause %+v", c)
	}
}

func TestFixedSleepLeadsWithTheSleep(t *testing.T) {
	p := dispatch(t)
	p.faults = []fault{{windows: []window{{path: []int{2, 3}, ms: 18}}, kind: triage.CauseFixedSleep, clock: 1}}
	c := explained(t, p, nil).Cause
	if c.Kind != triage.CauseFixedSleep || c.Sites[0].Line != 20 || c.Sites[1].Line != 60 || c.Attempt == nil || c.Attempt.Line != 20 {
		t.Fatalf("cause %+v", c)
	}
	if want := "wait on what `(*Registry).Mark` changes, not for the time of the sleep at d_test.go:20"; c.Advice != want {
		t.Errorf("advice %q, want %q", c.Advice, want)
	}
}

func TestHonestDeadlineIsATimeBudgetAndDoesNotEndTheLadder(t *testing.T) {
	p := dispatch(t)
	p.clocks[0].Text = "case <-time.After(200 * time.Millisecond):"
	p.faults = []fault{{windows: []window{{path: []int{1, 2, 3}, ms: 195}}, kind: triage.CauseTimeBudget, clock: 0}}
	res := explained(t, p, nil)
	if c := res.Cause; c.Kind != triage.CauseTimeBudget || c.Sites[0].Line != 15 || c.Advice != "" || c.DoseMS < 190 {
		t.Errorf("cause %+v", c)
	}
	if res.Conclusive() {
		t.Error("a time budget ends the ladder")
	}
}

func TestTinyDoseAgainstALongDeadlineIsARace(t *testing.T) {
	p := dispatch(t)
	p.faults = []fault{{windows: []window{{path: []int{3}, ms: 1.25}}, kind: triage.CauseRace, clock: 0}}
	c := explained(t, p, nil).Cause
	if c.Kind != triage.CauseRace || c.Sites[0].Line != 60 || !strings.Contains(c.Note, "shows through the timeout at d_test.go:15") {
		t.Errorf("cause %+v", c)
	}
}

// One site alone uses up a deadline, two together open the race: the search
// meets the deadline first, with quick trials and with slow ones.
func TestDeadlineInFrontOfARaceIsSeenThrough(t *testing.T) {
	for _, wait := range []float64{0, 300} {
		p := dispatch(t)
		p.wait = wait
		p.clocks[0].Text = "case <-time.After(10 * time.Millisecond):"
		p.race(window{path: []int{3}, ms: 1}, window{path: []int{4}, ms: 1})
		p.faults = append(p.faults, fault{windows: []window{{path: []int{1}, ms: 8}}, kind: triage.CauseTimeBudget, clock: 0})
		res := explained(t, p, func(in *Input) { in.Control = Control{Runs: 6} })
		c := res.Cause
		if c.Kind != triage.CauseRace || c.AnyOf || len(c.Sites) != 2 || c.Sites[0].Line != 60 || c.Sites[1].Line != 63 {
			t.Errorf("wait %g ms: cause %+v", wait, c)
		}
		if met := strings.Contains(c.Note, "a deadline trips as well"); met != (wait > 0) { // quick trials never meet it
			t.Errorf("wait %g ms: note %q", wait, c.Note)
		}
		if res.Plan.Stretch.Timeouts != 0 {
			t.Errorf("wait %g ms: the plan to reproduce stretches clocks: %+v", wait, res.Plan.Stretch)
		}
	}
}

// The stretch of a time-out that has to fire soon (a probe that finds a dead
// peer) is a red of its own, whatever is delayed: the sleep is found without it.
func TestStretchThatIsRedAloneDoesNotLeadTheSearch(t *testing.T) {
	p := dispatch(t)
	p.faults = append(p.faults,
		fault{windows: []window{{path: []int{3, 4}, ms: 4}}, kind: triage.CauseFixedSleep, clock: 1})
	harmed := func(plan triage.LagPlan) (triage.Trial, error) {
		trial, err := p.run(plan)
		if plan.Stretch.Timeouts > 1 && plan.Stretch.Sleeps <= 1 {
			trial.Outcome, trial.Failure = triage.Fail, &triage.Failure{Signature: wanted}
		}
		return trial, err
	}
	plan, first, ok := reveal(p)
	if !ok {
		t.Fatal("the ladder does not reveal the program")
	}
	in := Input{Plan: plan, Red: first, Reference: wanted, Sites: p.siteMap()}
	c := explainOK(t, in, harmed).Cause
	if c.Kind != triage.CauseFixedSleep || c.Sites[0].Line != 20 {
		t.Errorf("cause %+v", c)
	}
}

func TestUnstableRedClaimsNoSite(t *testing.T) {
	for name, spoil := range map[string]func(*program){
		"never red again":     func(p *program) { p.faults, p.flaky = nil, 0 },
		"red without lag too": func(p *program) { p.flaky = 0.9 },
		"red one time in two": func(p *program) { p.soft = 0.5 },
	} {
		p := dispatch(t)
		p.race(window{path: []int{2, 3}, ms: 2})
		plan, first, ok := reveal(p)
		if !ok {
			t.Fatal("not revealed")
		}
		spoil(p)
		res, err := Explain(Input{Plan: plan, Red: first, Reference: wanted, Sites: p.siteMap()}, p.run)
		c := res.Cause
		if err != nil || c.Kind != triage.CauseUnstable || len(c.Sites) != 0 || c.Note == "" || res.Conclusive() {
			t.Errorf("%s: cause %+v, error %v", name, c, err)
		}
	}
}

// A coin that was red under a plan by chance, and green once its timeouts were
// longer, missed no deadline: it is red without lag as well.
func TestARedThatComesWithoutLagTooIsNoDeadline(t *testing.T) {
	coins := 0
	for seed := range uint64(200) {
		p := dispatch(t)
		p.race(window{path: []int{2, 3}, ms: 2})
		plan, first, ok := reveal(p)
		if !ok {
			t.Fatal("not revealed")
		}
		p.faults, p.flaky, p.rng = nil, 1.0/3, rand.New(rand.NewPCG(seed, 1))
		without := 0
		res, err := Explain(Input{Plan: plan, Red: first, Reference: wanted, Sites: p.siteMap()}, func(plan triage.LagPlan) (triage.Trial, error) {
			trial, err := p.run(plan)
			if plan.Name == "no-lag" && trial.Outcome.Red() {
				without++
			}
			return trial, err
		})
		if err != nil {
			t.Fatal(err)
		}
		if without > 0 && res.Cause.Kind == triage.CauseUnstable {
			coins++
			if res.Cause.Deadline {
				t.Errorf("seed %d: red %d times without lag, and told to miss a deadline: %+v", seed, without, res.Cause)
			}
		}
	}
	if coins == 0 {
		t.Error("no coin was red without lag")
	}
}

// On a busy machine a dose that was enough a moment ago no longer is, or was red by
// chance.
func TestADoseThatDriftsIsConfirmedAtAHigherOne(t *testing.T) {
	for name, reds := range map[string]int{"red once more": 1, "never red again": 0} {
		t.Run(name, func(t *testing.T) { aDriftingDose(t, reds) })
	}
}

// aDriftingDose is red so often when its least dose is confirmed.
func aDriftingDose(t *testing.T, reds int) {
	p := dispatch(t)
	p.race(window{path: []int{2, 3}, ms: 2})
	plan, first, ok := reveal(p)
	if !ok {
		t.Fatal("not revealed")
	}
	confirms := 0
	res, err := Explain(Input{Plan: plan, Red: first, Reference: wanted, Sites: p.siteMap()}, func(plan triage.LagPlan) (triage.Trial, error) {
		if plan.Name == "cause" && plan.Decisions[0].MS < 6 {
			if confirms++; confirms > reds {
				plan.Decisions = nil
			}
		}
		return p.run(plan)
	})
	if err != nil {
		t.Fatal(err)
	}
	c := res.Cause
	if c.Kind != triage.CauseRace || c.Sites[0].Line != 60 || c.Red != 5 || c.Runs != 5 || confirms < 2 {
		t.Errorf("cause %+v after %d confirmations of the least dose", c, confirms)
	}
	if c.DoseMS < 6 || c.DoseMS > 10 {
		t.Errorf("dose %g ms: the one that was confirmed is between 6 and the rung's 10", c.DoseMS)
	}
}

func TestForeignRedIsNeitherRedNorGreen(t *testing.T) {
	p := dispatch(t)
	p.race(window{path: []int{2, 3}, ms: 2})
	plan, first, _ := reveal(p)
	p.foreignMS = 0.001 // every lagged trial now breaks in another way
	res, err := Explain(Input{Plan: plan, Red: first, Reference: wanted, Sites: p.siteMap()}, p.run)
	if err != nil || res.Cause.Kind != triage.CauseUnstable {
		t.Errorf("cause %+v, error %v", res.Cause, err)
	}
}

func TestARedThatTookNoDelayIsNoneOfLags(t *testing.T) {
	for name, c := range map[string]struct {
		red  func(*triage.Trial)
		want bool
	}{
		"no delay": {func(r *triage.Trial) { r.Decisions, r.DecisionCount = nil, 0 }, true},
		"a delay nobody knows": {func(r *triage.Trial) {
			r.Decisions[0].Site, r.Decisions, r.DecisionCount = "made up", r.Decisions[:1], 1
		}, false},
		"no delay, a deadline": {func(r *triage.Trial) { r.Decisions, r.DecisionCount, r.Stretched = nil, 0, []string{"d"} }, false},
	} {
		p := dispatch(t)
		p.race(window{path: []int{2, 3}, ms: 2})
		res := explained(t, p, func(in *Input) { c.red(&in.Red) })
		if res.Cause.Kind != triage.CauseUnstable || res.Cause.Undelayed != c.want {
			t.Errorf("%s: cause %+v, want undelayed %v", name, res.Cause, c.want)
		}
	}
}

func TestDelaysAtUnknownSitesAreLeftOut(t *testing.T) {
	p := dispatch(t)
	p.race(window{path: []int{2, 3}, ms: 2})
	res := explained(t, p, func(in *Input) {
		in.Red.Decisions = append(in.Red.Decisions,
			triage.Decision{Site: "made up", Kind: triage.KindCall, Role: triage.RoleWorker, Hit: 1, MS: 10},
			triage.Decision{Site: "testing/testing.go:TempDir:cleanup:1", Kind: triage.KindCleanup, Role: triage.RoleTest, Hit: 1, MS: 200})
	})
	if c := res.Cause; c.Kind != triage.CauseRace || c.Sites[0].Line != 60 {
		t.Errorf("cause %+v", c)
	}
}

func TestEndOfTheProbesEndsTheSearch(t *testing.T) {
	stop := errors.New("budget")
	p := dispatch(t)
	p.race(window{path: []int{2, 3}, ms: 2})
	plan, first, _ := reveal(p)
	whole, err := Explain(Input{Plan: plan, Red: first, Reference: wanted, Sites: p.siteMap()}, p.run)
	if err != nil {
		t.Fatal(err)
	}
	for after := range whole.Trials {
		n := 0
		res, err := Explain(Input{Plan: plan, Red: first, Reference: wanted, Sites: p.siteMap()}, func(pl triage.LagPlan) (triage.Trial, error) {
			if n == after {
				return triage.Trial{}, stop
			}
			n++
			return p.run(pl)
		})
		if !errors.Is(err, stop) || res.Trials != after || res.Cause == nil || res.Cause.Kind == triage.CauseUnstable && len(res.Cause.Sites) > 0 {
			t.Errorf("stopped after %d: %d trials, cause %+v, error %v", after, res.Trials, res.Cause, err)
		}
	}
}

func TestLimitsAreKept(t *testing.T) {
	for _, l := range []Limits{{Trials: 1}, {Trials: 12}, {Trials: 20}, {TrialMS: 30}, {TrialMS: 500}} {
		p := dispatch(t)
		p.race(window{path: []int{2, 3}, ms: 2})
		ms := 0.0
		plan, first, _ := reveal(p)
		res, err := Explain(Input{Plan: plan, Red: first, Reference: wanted, Sites: p.siteMap(), Limits: l}, func(pl triage.LagPlan) (triage.Trial, error) {
			trial, err := p.run(pl)
			ms += trial.DurationMS
			return trial, err
		})
		if err != nil || l.Trials > 0 && res.Trials > l.Trials || l.TrialMS > 0 && ms > l.TrialMS+first.DurationMS {
			t.Errorf("limits %+v: %d trials of %g ms, error %v", l, res.Trials, ms, err)
		}
	}
}

// Other work on the machine can begin while a cause is looked for.
func TestAMachineThatBecomesSlowerEndsNoSearch(t *testing.T) {
	p := dispatch(t)
	p.race(window{path: []int{2, 3}, ms: 2})
	plan, first, _ := reveal(p)
	slow := func(factor float64) Result {
		n := 0
		res, err := Explain(Input{Plan: plan, Red: first, Reference: wanted, Sites: p.siteMap()}, func(pl triage.LagPlan) (triage.Trial, error) {
			trial, err := p.run(pl)
			if n++; n > 3 {
				trial.DurationMS += factor
			}
			return trial, err
		})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	want := slow(0)
	if got := slow(3500); got.Cause.Kind != want.Cause.Kind || got.Cause.Kind != triage.CauseRace || got.Trials < 18 {
		t.Errorf("%+v after %d trials, want %+v after %d", got.Cause, got.Trials, want.Cause, want.Trials)
	}
	if got := slow(60_000); got.Cause.Kind != triage.CauseUnstable {
		t.Errorf("a minute each: %+v after %d trials", got.Cause, got.Trials)
	}
}

func TestSlowMachineIsNotMinimised(t *testing.T) {
	plan := mustLadder(t, Capabilities{}, 1, "slow-machine")[0]
	reds := 0
	probe := func(p triage.LagPlan) (triage.Trial, error) {
		if p.ID() != plan.ID() {
			t.Errorf("probed plan %+v", p)
		}
		reds++
		return triage.Trial{Outcome: triage.Fail, Failure: &triage.Failure{Signature: wanted}}, nil
	}
	res, err := Explain(Input{Plan: plan, Reference: wanted}, probe)
	want := &triage.Cause{Kind: triage.CauseSlowMachine, Sites: []triage.Site{}, Plan: plan.ID(), Red: 5, Runs: 5}
	if diff := cmp.Diff(want, res.Cause); diff != "" || err != nil {
		t.Errorf("cause (-want +got):\n%s%v", diff, err)
	}
	res, _ = Explain(Input{Plan: plan, Reference: wanted}, func(triage.LagPlan) (triage.Trial, error) {
		return triage.Trial{Outcome: triage.Pass}, nil
	})
	if res.Cause.Kind != triage.CauseUnstable || res.Cause.Runs != 2 {
		t.Errorf("one red by chance: %+v", res.Cause)
	}
	res, _ = Explain(Input{Plan: plan, Reference: wanted, Control: Control{Red: 3, Runs: 6}}, probe)
	if res.Cause.Kind != triage.CauseUnstable || res.Trials != 0 {
		t.Errorf("red half the time anyway: %+v", res.Cause)
	}
}

func TestRedWithoutALateWriteIsNoLateWriter(t *testing.T) {
	plan := mustLadder(t, goCaps, 1, "cleanup")[0]
	res, err := Explain(Input{Plan: plan, Red: redTrial(), Reference: wanted}, func(triage.LagPlan) (triage.Trial, error) { return redTrial(), nil })
	if err != nil || res.Cause.Kind != triage.CauseUnstable {
		t.Errorf("cause %+v, error %v", res.Cause, err)
	}
}

func TestLateWriterIsNamedByItsFile(t *testing.T) {
	late := triage.Trial{Outcome: triage.Fail, Failure: &triage.Failure{
		Signature: wanted,
		Message:   "TempDir RemoveAll cleanup: unlinkat /tmp/TestX/001: directory not empty",
	}, Output: "--- FAIL: TestX\ntriagebot: written after the test ended: 001/log/state.json, 001/b\nFAIL\n"}
	for _, rung := range []string{"cleanup", "doubles"} {
		plan := mustLadder(t, goCaps, 1, rung)[0]
		res, err := Explain(Input{Plan: plan, Red: late, Reference: wanted}, func(p triage.LagPlan) (triage.Trial, error) {
			if !cleanupOnly(p) {
				t.Errorf("%s: probed plan %s", rung, Describe(p))
			}
			return late, nil
		})
		c := res.Cause
		if err != nil || c.Kind != triage.CauseLateWriter || len(c.Sites) != 0 || c.Red != 5 || c.Note != "`state.json` was written after the test ended" {
			t.Errorf("%s: cause %+v, error %v", rung, c, err)
		}
	}
}

func TestLateWriterThatNeedsADelayTooIsMinimised(t *testing.T) {
	site := triage.Site{ID: "w.go:save:call:1", Kind: triage.KindCall, File: "w.go", Line: 9, Func: "save"}
	plan := mustLadder(t, goCaps, 1, "doubles")[0]
	probe := func(p triage.LagPlan) (triage.Trial, error) {
		trial := triage.Trial{Outcome: triage.Pass, DurationMS: 5}
		if p.CleanupMS > 0 && len(p.Decisions) == 1 && p.Decisions[0].MS >= 3 {
			trial.Outcome = triage.Fail
			trial.Failure = &triage.Failure{Signature: wanted, Message: "unlinkat x: directory not empty"}
		}
		return trial, nil
	}
	first, _ := probe(triage.LagPlan{CleanupMS: 1, Decisions: []triage.Decision{{MS: 400}}})
	first.Decisions = []triage.Decision{{Site: site.ID, Kind: site.Kind, Role: triage.RoleWorker, Hit: 1, MS: 400}}
	res, err := Explain(Input{Plan: plan, Red: first, Reference: wanted, Sites: map[string]triage.Site{site.ID: site}}, probe)
	if err != nil || res.Cause.Kind != triage.CauseRace || res.Plan.CleanupMS == 0 || res.Cause.Sites[0].Line != 9 {
		t.Errorf("cause %+v, plan %+v, error %v", res.Cause, res.Plan, err)
	}
}

// A report is replayed by giving the recorded trials to the same search.
func TestSameAnswersGiveTheSameProbes(t *testing.T) {
	for f := range families {
		p := planted(f, 5)
		p.flaky, p.soft = 0.03, 0.97
		plan, first, ok := reveal(p)
		if !ok {
			continue
		}
		in := Input{Plan: plan, Red: first, Reference: wanted, Sites: p.siteMap()}
		var asked []string
		var answers []triage.Trial
		one, err := Explain(in, func(pl triage.LagPlan) (triage.Trial, error) {
			trial, err := p.run(pl)
			asked, answers = append(asked, pl.ID()), append(answers, trial)
			return trial, err
		})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		two, err := Explain(in, func(pl triage.LagPlan) (triage.Trial, error) {
			if n >= len(asked) || asked[n] != pl.ID() {
				return triage.Trial{}, errors.New("another probe")
			}
			n++
			return answers[n-1], nil
		})
		if diff := cmp.Diff(one, two); diff != "" || err != nil || n != len(asked) {
			t.Errorf("%s: %d of %d probes, error %v (-first +second):\n%s", p.family, n, len(asked), err, diff)
		}
	}
}
