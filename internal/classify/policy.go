package classify

import "github.com/triagebot/triagebot/internal/stats"

// Policy has the numbers of the procedure. All rounds are one trial on head and
// one on base.
type Policy struct {
	// Alpha bounds the probability, over the whole check, that a failure which
	// head and base share is laid at the pull request's door.
	Alpha float64
	// ExcuseMargin and ExcuseE are what "not significantly worse" means: the
	// e-value against "head's rate is above base's by ExcuseMargin or more" must
	// reach ExcuseE.
	ExcuseMargin, ExcuseE float64
	// ExcuseChosenE is what the failure itself must reach beside ExcuseE for all
	// reds, when it was chosen from head's own for want of a message from CI.
	ExcuseChosenE float64
	// HopeE of that e-value after MaxRounds is worth ExtraRounds.
	HopeE float64
	// MinRounds come before any judgement, MaxRounds end an undecided comparison.
	MinRounds, MaxRounds int
	// ExtraRounds are added when the comparison is within FutileFactor of a decision.
	ExtraRounds int
	// QuietRuns of head end the plain runs when neither alone, nor under lag, nor
	// in package scope the red was seen.
	QuietRuns int
	// MixedRounds come before the ladder when head is mixed and base clean: the
	// next few base runs usually tell.
	MixedRounds int
	// FutileRounds is when a mixed head with a clean base is given up if going on
	// like that to MaxRounds would miss the threshold by more than FutileFactor.
	FutileRounds int
	FutileFactor float64
	// BrokenRounds of both sides failing alike make broken-on-base. A new test
	// that fails is run as often.
	BrokenRounds int
	// LagConfirm is how often a red under a rung must repeat on head.
	LagConfirm int
	// LagBaseReds under the same plan put a race on base.
	LagBaseReds int
	// RaceRuns of head without lag come before a race is put on base: a head that
	// makes main's race show by itself has to answer for that.
	RaceRuns int
	// LagRounds end an undecided comparison under a plan.
	LagRounds int
	// LagPlainRate is the plain failure rate of head above which three reds in a
	// row under lag say nothing about the lag.
	LagPlainRate float64
	// HiccupMS is the delay in milliseconds that any busy machine adds: a time
	// budget that breaks at so small a delay is a race, not an honest deadline.
	HiccupMS float64
	// ScopeAfter rungs comes the run with the whole package.
	ScopeAfter int
	// OrderLevel is the chance, for a test that fails as often alone as in company,
	// below which one that did not is said to depend on the tests around it.
	OrderLevel float64
	// DetectRuns under the race detector, on head and then on base, end a search
	// that found nothing.
	DetectRuns int
	// AbsentRuns of "no such test" are believed.
	AbsentRuns int
	// EmptyRun is the number of trials in a row that say nothing after which an
	// arm is given up; EmptyTotal is the same over the arm's whole life.
	EmptyRun, EmptyTotal int
	// CheapMS is the mean cost of a plain trial in milliseconds below which the
	// rounds may go on twice as long.
	CheapMS float64
	// LongMS is the same for the rounds alone, where nothing else is asked twice as
	// often: what a check can afford of its budget, see [Policy.Within]. 0 is never.
	LongMS float64
	// Confidence is the level of the printed intervals and bounds.
	Confidence float64
}

const (
	// One false accusation in a hundred checks is rare enough that people keep
	// reading, and four rounds of perfect separation suffice for it.
	defaultAlpha = 0.01
	// A regression in a 20 % flake that itself fails in only 90 % of the runs is
	// 70 points worse than base: the hardest case that DESIGN promises for.
	defaultExcuseMargin = 0.7
	// Ville's inequality gives 1 % at 100; enumerated over all rates at that
	// margin the true figure is 0.36 % (the promise is 0.5 %), see the tests.
	defaultExcuseE = 100
	// All reds together already bound the error; this only keeps a failure that is
	// head's in the main from being excused by base's other one.
	defaultExcuseChosenE = 10
	// Nearly there: at 10 the mean would pass the 12 plain trials a test that DESIGN
	// allows, and what costs next to nothing to run has longer rounds anyway.
	defaultHopeE = 30
	// Two rounds of separation happen to one flake in 16: nothing is said before three.
	defaultMinRounds = 3
	// At 20 rounds a head that always fails against a base that fails in 20 % is
	// told in 99.9 %; more than 40 runs of one test no one waits for.
	defaultMaxRounds = 20
	// Simulated, they find 3 in 4 of the regressions still undecided, and only those
	// cases pay for them.
	defaultExtraRounds = 10
	// Ten passes bound the rate at 26 %; the next ten would only reach 14 %.
	// Only head is run for them: the bound is on its rate.
	defaultQuietRuns = 10
	// By five rounds base has shown a 1-in-3 flake with 87 %.
	defaultMixedRounds = 5
	// A failure of one run in ten cannot be told from base's silence in 20 rounds;
	// simulated, going on costs 3 trials a test and settles one such flake in ten.
	defaultFutileRounds = 8
	defaultFutileFactor = 10
	// A base that fails in 20 % fails five times in a row in 0.03 %.
	defaultBrokenRounds = 5
	// Red three times in three: a 1-in-3 flake does that in 4 %, and the same plan
	// is then measured afresh, these runs not counted.
	defaultLagConfirm  = 2
	defaultLagBaseReds = 2
	// The rounds that come first anyway; ten where a run costs next to nothing.
	defaultRaceRuns     = 3
	defaultLagRounds    = 10
	defaultLagPlainRate = 1.0 / 3
	// A time slice of a loaded Linux scheduler plus a short garbage collection.
	defaultHiccupMS = 20
	// The first rungs find nearly all races cheaply; order dependence is the next
	// likely reason of "passes alone".
	defaultScopeAfter = 4
	// Four of four in company after none of three alone pass it, two of three do not: a
	// flake that came up like that was said to depend on others in up to 10 % of its
	// checks, and tests that have nothing to do with it were named.
	defaultOrderLevel = 0.05
	// The detector sees a race whenever both accesses happen, in whatever order: two
	// runs show most of those that twenty would.
	defaultDetectRuns = 2
	defaultAbsentRuns = 2
	defaultEmptyRun   = 3
	defaultEmptyTotal = 8
	// Sixty rounds of a tenth of a second are done in the time that building takes.
	defaultCheapMS = 100
	// The other half is for builds, lag and the search for a cause.
	longShare         = 0.5
	defaultConfidence = 0.95
)

// DefaultPolicy is the policy that docs/simulation.md was measured with.
func DefaultPolicy() Policy {
	return Policy{
		Alpha:         defaultAlpha,
		ExcuseMargin:  defaultExcuseMargin,
		ExcuseE:       defaultExcuseE,
		ExcuseChosenE: defaultExcuseChosenE,
		HopeE:         defaultHopeE,
		MinRounds:     defaultMinRounds,
		MaxRounds:     defaultMaxRounds,
		ExtraRounds:   defaultExtraRounds,
		QuietRuns:     defaultQuietRuns,
		MixedRounds:   defaultMixedRounds,
		FutileRounds:  defaultFutileRounds,
		FutileFactor:  defaultFutileFactor,
		BrokenRounds:  defaultBrokenRounds,
		LagConfirm:    defaultLagConfirm,
		LagBaseReds:   defaultLagBaseReds,
		RaceRuns:      defaultRaceRuns,
		LagRounds:     defaultLagRounds,
		LagPlainRate:  defaultLagPlainRate,
		HiccupMS:      defaultHiccupMS,
		ScopeAfter:    defaultScopeAfter,
		OrderLevel:    defaultOrderLevel,
		AbsentRuns:    defaultAbsentRuns,
		DetectRuns:    defaultDetectRuns,
		EmptyRun:      defaultEmptyRun,
		EmptyTotal:    defaultEmptyTotal,
		CheapMS:       defaultCheapMS,
		Confidence:    defaultConfidence,
	}
}

// patient is the policy for a test that costs next to nothing to run: six rounds
// before anything is said, so that a coin flip passes for a regression in 1.6 %
// and not in 6 %, four reds before a race is put on base, and twice as many rounds
// before it is left open.
func (p Policy) patient() Policy {
	p = p.long()
	p.MinRounds *= 2
	p.BrokenRounds += 3
	p.LagBaseReds *= 2
	return p
}

// Within is the policy of a check with a budget in milliseconds and so many red
// tests: an undecided one may go on twice as long when the rounds then take at
// most longShare of its part.
func (p Policy) Within(budgetMS float64, reds int) Policy {
	const sides = 2
	rounds := p.long().MaxRounds + p.long().ExtraRounds
	p.LongMS = longShare * budgetMS / float64(max(1, reds)) / float64(sides*rounds)
	return p
}

// long lets undecided rounds go on for twice as long. A head that makes main's
// race show plainly in half of its runs is green in three of them too often.
func (p Policy) long() Policy {
	p.RaceRuns = p.QuietRuns
	p.MaxRounds *= 2
	p.ExtraRounds *= 2
	p.FutileRounds *= 2
	return p
}

// Threshold is the e-value at which one test of a family is decided: sequentially
// rejective, as Holm's method, so it falls as other tests of the check are rejected.
func (p Policy) Threshold(family, rejected int) float64 {
	return float64(max(1, family-rejected)) / p.Alpha
}

// NeedsCompany reports whether the reds of a test in the company of others are
// beyond what its runs alone allow, by Fisher's exact test, one-sided: 2 of 2 against
// 0 of 5 alone has 0.048, 1 of 1 has 0.17, 2 of 3 against 0 of 3 has 0.2.
func (p Policy) NeedsCompany(reds, runs, redsAlone, runsAlone int) bool {
	return stats.FisherGreater(reds, runs, redsAlone, runsAlone) <= p.OrderLevel
}
