package classify

import (
	"math"
	"math/rand/v2"

	"github.com/triagebot/triagebot/internal/triage"
)

var (
	simTarget = triage.Target{Suite: "go", Framework: "gotest", Package: "example.com/m", Test: "TestX"}
	red       = triage.Signature{Phase: triage.PhaseTest, Message: "got N, want N", Func: "TestX"}
	otherRed  = triage.Signature{Phase: triage.PhaseTest, Message: "connection refused", Func: "TestX"}
	thirdRed  = triage.Signature{Phase: triage.PhasePanic, Message: "index out of range", Func: "Parse"}
	simRungs  = []string{"double", "worker10", "worker100", "test-side", "yield", "single", "subset", "slow"}
)

// behaviour is how one side of a planted world fails.
type behaviour struct {
	// rate and other are the plain rates of the red's failure and of another one.
	rate, other float64
	// lag and lagOther are the rates under the revealing rungs.
	lag, lagOther float64
	// scope is the rate with the whole package.
	scope float64
	// suite is the rate with the whole suite.
	suite float64
	// absent: there is no such test.
	absent bool
}

// world is a planted truth.
type world struct {
	head, base behaviour
	// ci is the signature that CI showed.
	ci triage.Signature
	// seen is the signature of the red here; red itself in the zero value.
	seen triage.Signature
	// rung is the index of the first rung that reveals, when the lag rates differ from the plain ones.
	rung  int
	cause *triage.Cause
	// drift is the spread, on the logit scale, of a failure rate that wanders
	// from trial to trial with the machine (AR(1), the same for both sides).
	drift float64
	// wholeSuite: a run with the whole suite is possible.
	wholeSuite bool
	// costMS is what a trial takes; the rounds of a cheap one may go on for longer.
	costMS float64
}

// driftMemory is the AR(1) coefficient: a machine's mood lasts some twenty trials.
const driftMemory = 0.95

// alike is a world in which both sides fail at one rate, in every arm.
func alike(rate float64) world {
	b := behaviour{rate: rate, lag: rate, scope: rate}
	return world{head: b, base: b, ci: red}
}

// differ is a world with two plain rates that no other arm changes.
func differ(head, base float64) world {
	return world{head: behaviour{rate: head, lag: head, scope: head},
		base: behaviour{rate: base, lag: base, scope: base}, ci: red}
}

// racy is a world in which the rungs from the third on reveal.
func racy(plain, head, base float64) world {
	w := world{head: behaviour{rate: plain, lag: head, scope: plain}, ci: red, rung: 2,
		base:  behaviour{rate: plain, lag: base, scope: plain},
		cause: &triage.Cause{Kind: triage.CauseRace, DoseMS: 2}}
	if base == 0 {
		w.base = behaviour{}
	}
	return w
}

// simulation runs the trials of one check.
type simulation struct {
	random *rand.Rand
	seq    int
	mood   float64
}

func newSimulation(a, b uint64) *simulation {
	return &simulation{random: rand.New(rand.NewPCG(a, b))}
}

func (s *simulation) trial(w world, r triage.Request) triage.Trial {
	s.seq++
	s.mood = driftMemory*s.mood + math.Sqrt(1-driftMemory*driftMemory)*s.random.NormFloat64()
	b := w.head
	if r.Arm.Side == triage.Base {
		b = w.base
	}
	t := triage.Trial{Seq: s.seq, Request: r, Outcome: triage.Pass, Ran: 1, DurationMS: w.costMS}
	rate, other := b.rate, b.other
	switch {
	case b.absent:
		t.Outcome, t.Ran = triage.Absent, 0
		return t
	case r.Arm.Scope == triage.InPackage:
		rate = b.scope
	case r.Arm.Scope == triage.InSuite:
		rate = b.suite
	case r.Arm.Lag != "" && rungIndex(r.Arm.Lag) >= w.rung:
		rate, other = b.lag, b.lagOther
	}
	rate = drifted(rate, w.drift*s.mood)
	seen := w.seen
	if seen.IsZero() {
		seen = red
	}
	switch x := s.random.Float64(); {
	case x < rate:
		fail(&t, seen)
	case x < rate+other:
		fail(&t, otherRed)
	}
	return t
}

func fail(t *triage.Trial, s triage.Signature) {
	t.Outcome, t.Exit = triage.Fail, 1
	t.Failure = &triage.Failure{Target: t.Target, Outcome: triage.Fail, Signature: s}
}

func drifted(rate, by float64) float64 {
	if by == 0 || rate <= 0 || rate >= 1 {
		return rate
	}
	return 1 / (1 + (1-rate)/rate*math.Exp(-by))
}

func rungIndex(id string) int {
	for i, rung := range simRungs {
		if rung == id {
			return i
		}
	}
	return -1
}

// simMost ends a case that would never end: more trials than any policy needs.
const simMost = 400

// drive carries out a case the way the product does.
func (s *simulation) drive(p Policy, w world, c *Case) {
	for len(c.Trials) < simMost {
		step := Next(p, *c)
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

func newCase(w world) Case {
	return Case{
		Red:   triage.Failure{Target: simTarget, Outcome: triage.Fail, Signature: w.ci},
		Rungs: simRungs, PackageScope: true, SuiteScope: w.wholeSuite, Family: 1,
	}
}

// family runs the tests of one check one after the other. A test that ended
// undecided goes on, or is judged again, when others have been rejected since:
// its threshold has fallen.
func (s *simulation) family(p Policy, worlds []world) ([]triage.Evidence, []triage.Verdict, []Case) {
	f := checkUnderTest{cases: make([]Case, len(worlds)), rejected: make([]bool, len(worlds)),
		evidence: make([]triage.Evidence, len(worlds)), verdicts: make([]triage.Verdict, len(worlds))}
	for i, w := range worlds {
		f.cases[i] = newCase(w)
	}
	for changed := true; changed; {
		changed = false
		for i, w := range worlds {
			c := &f.cases[i]
			c.Family, c.Rejected = len(worlds), f.others(i)
			s.drive(p, w, c)
			f.evidence[i], f.verdicts[i] = Judge(p, *c)
			if !f.rejected[i] && p.Rejects(f.evidence[i], c.Family, c.Rejected) {
				f.rejected[i], changed = true, true
			}
		}
	}
	return Adjust(f.evidence), f.verdicts, f.cases
}

type checkUnderTest struct {
	cases    []Case
	rejected []bool
	evidence []triage.Evidence
	verdicts []triage.Verdict
}

// others is the number of rejected tests beside one.
func (f *checkUnderTest) others(i int) int {
	n := 0
	for j, r := range f.rejected {
		if r && j != i {
			n++
		}
	}
	return n
}

// plainTrials counts the trials alone and without lag.
func plainTrials(c Case) int {
	n := 0
	for _, t := range c.Trials {
		if t.Arm.Plain() && t.Arm.Scope == triage.Alone {
			n++
		}
	}
	return n
}
