package classify

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

// follow drives a case and shows it to see after every trial.
func (s *simulation) follow(p Policy, w world, c *Case, see func(Step)) {
	for len(c.Trials) < simMost {
		step := Next(p, *c)
		see(step)
		switch step.Kind {
		case StepDone:
			return
		case StepExplain:
			causes(c)[step.Rung] = w.cause
		default:
			for _, r := range step.Requests {
				c.Trials = append(c.Trials, s.trial(w, r))
			}
		}
	}
	panic("the case does not end")
}

// Whatever the truth, and whenever one looks: a class other than inconclusive is
// given exactly when there is nothing more to do, stopping changes no verdict
// that was reached, and an interrupted case says why it is undecided.
func TestAVerdictIsGivenExactlyWhenTheProcedureEnds(t *testing.T) {
	p := DefaultPolicy()
	for i, r := range rows() {
		for k := range 6 {
			s := newSimulation(uint64(500+i), uint64(k))
			w := r.plant(s.random)
			c := newCase(w)
			s.follow(p, w, &c, func(step Step) {
				e, v := Judge(p, c)
				if step.Kind != StepDone && v.Class != triage.Inconclusive {
					t.Fatalf("%s: judged %v while %v is still to be run", r.name, v.Class, step.Kind)
				}
				stopped := c
				stopped.Stopped = StoppedInterrupted
				if got := Next(p, stopped).Kind; got != StepDone {
					t.Fatalf("%s: asks for %v after the interrupt", r.name, got)
				}
				es, vs := Judge(p, stopped)
				if d := cmp.Diff(e, es); d != "" {
					t.Fatalf("%s: the interrupt changed the evidence:\n%s", r.name, d)
				}
				if step.Kind == StepDone && cmp.Diff(v, vs) != "" {
					t.Fatalf("%s: the interrupt changed a verdict that was reached", r.name)
				}
				checkForm(t, r.name, c, e, v)
			})
		}
	}
}

// checkForm holds what every verdict has, and that its evidence can be written.
func checkForm(t *testing.T, name string, c Case, e triage.Evidence, v triage.Verdict) {
	t.Helper()
	if v.Bound.Text == "" {
		t.Fatalf("%s: %v %v has no bound", name, v.Class, v.Reasons)
	}
	if v.Class == triage.Inconclusive && (len(v.Reasons) == 0 || v.Settle == "") {
		t.Fatalf("%s: inconclusive without a reason or a way out: %+v", name, v)
	}
	if v.Class != triage.Inconclusive && (v.Origin == "" || v.Trial == 0) {
		t.Fatalf("%s: %v without an origin or a trial: %+v", name, v.Class, v)
	}
	if v.Trial != 0 && !c.Trials[v.Trial-1].Outcome.Red() {
		t.Fatalf("%s: trial %d is to be replayed but was not red", name, v.Trial)
	}
	measured := 0
	for _, tr := range c.Trials {
		if tr.Purpose == triage.Measure {
			measured++
		}
	}
	for _, tally := range e.Tallies {
		measured -= len(tally.Sequence)
	}
	if measured != 0 {
		t.Fatalf("%s: %d measured trials are in no tally", name, measured)
	}
	for _, cmp := range e.Comparisons {
		for _, x := range []float64{cmp.Difference, cmp.Low, cmp.High, cmp.E, cmp.P, cmp.AdjustedP, cmp.FisherP} {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Fatalf("%s: a comparison is not finite: %+v", name, cmp)
			}
		}
		if cmp.Low > cmp.Difference || cmp.Difference > cmp.High {
			t.Fatalf("%s: the difference is outside its interval: %+v", name, cmp)
		}
	}
}

func TestTheUsersCapIsNeverExceeded(t *testing.T) {
	for i, r := range rows() {
		for limit := 1; limit < 12; limit += 3 {
			s := newSimulation(uint64(900+i), uint64(limit))
			w := r.plant(s.random)
			c := newCase(w)
			c.MaxTrials = limit
			s.drive(DefaultPolicy(), w, &c)
			if len(c.Trials) > limit {
				t.Errorf("%s: %d trials, the cap is %d", r.name, len(c.Trials), limit)
			}
		}
	}
}

// A verdict must not depend on what other targets did in the same report.
func TestTrialsOfOtherTargetsAreNotCounted(t *testing.T) {
	c := scripted().plain("FFF", "...")
	stranger := *scripted()
	stranger.Red.Target.Test = "TestY"
	stranger.plain("......", "FFFFFF")
	c.Trials = append(c.Trials, stranger.Trials...)
	e, _ := Judge(DefaultPolicy(), *c)
	if got := e.Tally(base); got.Pass != 3 || got.Red() != 0 {
		t.Errorf("base's tally is %+v, want 3 passes", got)
	}
}

func TestExplainTrialsAndDetectorArmsAreNotCounted(t *testing.T) {
	c := scripted().plain("FFF", "...")
	c.ran(triage.Explain, head, "....").ran(triage.Explain, base, "FFFF")
	c.measured(triage.Arm{Side: triage.Base, Detector: "race"}, "FFFF")
	if step := Next(DefaultPolicy(), *c); step.Kind != StepPlain {
		t.Errorf("next step is %v, want a fourth round", step.Kind)
	}
	e, _ := Judge(DefaultPolicy(), *c)
	if got := e.Tally(base); got.N() != 3 {
		t.Errorf("base has %d trials, want 3", got.N())
	}
}

// The promise on excuses, exactly and not by simulation: for a head that is 70
// points worse, or more, the probability that the plain rounds ever excuse it.
func TestARegressionIsExcusedInAtMostHalfAPerCent(t *testing.T) {
	policies := map[string]Policy{"usual": DefaultPolicy()}
	if *simChecks > simDefault { // the longer rounds have half a million courses
		policies["patient"], policies["long"] = DefaultPolicy().patient(), DefaultPolicy().long()
	}
	for name, p := range policies {
		for _, rates := range [][2]float64{{0.9, 0.2}, {0.95, 0.2}, {0.9, 0}, {0.7, 0}, {0.85, 0.14}, {0.99, 0.29}, {1, 0.3}} {
			if got := excuseProbability(p, rates[0], rates[1]); got > promisedExcuse {
				t.Errorf("%s: head %.2f, base %.2f: excused with probability %.4f", name, rates[0], rates[1], got)
			}
		}
	}
}

// excuseProbability follows every course of the rounds, merging those that the
// rule cannot tell apart.
func excuseProbability(p Policy, headRate, baseRate float64) float64 {
	type state struct{ both, headOnly, baseOnly, neither int }
	alive := map[state]float64{{}: 1}
	excusedBy := 0.0
	for range p.MaxRounds + p.ExtraRounds {
		next := map[state]float64{}
		for s, weight := range alive {
			for add, rate := range map[state]float64{
				{both: 1}: headRate * baseRate, {headOnly: 1}: headRate * (1 - baseRate),
				{baseOnly: 1}: (1 - headRate) * baseRate, {neither: 1}: (1 - headRate) * (1 - baseRate),
			} {
				if rate > 0 {
					next[state{s.both + add.both, s.headOnly + add.headOnly, s.baseOnly + add.baseOnly, s.neither + add.neither}] += weight * rate
				}
			}
		}
		for s, weight := range next {
			switch rulingOf(p, s.both, s.headOnly, s.baseOnly, s.neither) {
			case excused, broken:
				excusedBy += weight
				delete(next, s)
			case regressed, flaky:
				delete(next, s)
			}
		}
		alive = next
	}
	return excusedBy
}

func rulingOf(p Policy, both, headOnly, baseOnly, neither int) ruling {
	c := scripted()
	for _, kind := range []struct {
		n          int
		head, base string
	}{{both, "F", "F"}, {headOnly, "F", "."}, {baseOnly, ".", "F"}, {neither, ".", "."}} {
		for range kind.n {
			c.plain(kind.head, kind.base)
		}
	}
	v := newView(p, *c)
	return v.rule(v.pair(triage.Alone, ""))
}

// A race that main has, and that head makes show without lag in 40 to 80 % of the
// runs, is the pull request's to answer for: under lag both sides fail alike, so
// only the plain rounds can tell.
func TestARaceThatHeadMakesShowIsSeldomExcused(t *testing.T) {
	const n = 300
	for _, c := range []struct {
		name   string
		policy Policy
		most   int
	}{
		{"cheap runs", DefaultPolicy().patient(), n / 50},
		{"runs that the budget has room for", DefaultPolicy().long(), n / 50},
		{"dear runs", DefaultPolicy(), n / 5},
	} {
		excused := 0
		for i := range n {
			s := newSimulation(61, uint64(i))
			w := racy(between(s.random, 0.4, 0.8), 1, 1)
			w.base.rate, w.base.scope = 0, 0
			one := newCase(w)
			s.drive(c.policy, w, &one)
			if _, v := Judge(c.policy, one); v.NotYours() {
				excused++
			}
		}
		t.Logf("%s: excused in %d of %d", c.name, excused, n)
		if excused > c.most {
			t.Errorf("%s: excused in %d of %d, at most %d are allowed", c.name, excused, n, c.most)
		}
	}
}

// The longer rounds of all red tests together take at most half of the budget.
func TestLongerRoundsFitIntoHalfOfTheBudget(t *testing.T) {
	const budgetMS = 600_000
	for _, reds := range []int{0, 1, 4} {
		p := DefaultPolicy().Within(budgetMS, reds)
		rounds := p.long().MaxRounds + p.long().ExtraRounds
		if got := float64(max(1, reds)*2*rounds) * p.LongMS; got > budgetMS/2+1 || got < budgetMS/2-1 {
			t.Errorf("%d red tests: %.0f ms of %d", reds, got, budgetMS)
		}
	}
}
