package triage

// Class is what a red test is. The zero value is Inconclusive.
type Class int

const (
	Inconclusive Class = iota
	LikelyRegression
	PreExistingFlake
	IntroducedFlake
	LagRevealedRace
	BrokenOnBase
)

var classNames = [...]string{"inconclusive", "likely-regression", "pre-existing-flake", "introduced-flake", "lag-revealed-race", "broken-on-base"}

// String is the class's name in the record.
func (c Class) String() string { return name(classNames[:], int(c)) }

// MarshalText writes the class's name.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the class's name.
func (c *Class) UnmarshalText(b []byte) error {
	i, err := indexOf("class", classNames[:], string(b))
	*c = Class(i)
	return err
}

// Origin is the tree that brought the fault. The zero value is "not known".
type Origin string

const (
	OriginHead Origin = "head"
	OriginBase Origin = "base"
)

// Reason is a code that refines a class. ReasonText in package report has the sentences.
type Reason string

// Reasons of Inconclusive.
const (
	ReasonNotReproduced     Reason = "not-reproduced"
	ReasonLeaningRegression Reason = "leaning-regression"
	ReasonNoTestID          Reason = "no-test-id"
	ReasonBaseUnbuildable   Reason = "base-unbuildable"
	ReasonEnvironment       Reason = "environment"
	// ReasonUnlikeCI: both sides fail alike, in trials that may lack what CI gives the test.
	ReasonUnlikeCI          Reason = "unlike-ci"
	ReasonSignatureMismatch Reason = "signature-mismatch"
	ReasonLagArtefact       Reason = "lag-artefact"
	ReasonUnstable          Reason = "unstable"
	ReasonContaminated      Reason = "contaminated"
	ReasonBudgetExhausted   Reason = "budget-exhausted"
	ReasonNoLog             Reason = "no-log"
	ReasonInterrupted       Reason = "interrupted"
	// ReasonNoMatch: the id selected no test on head.
	ReasonNoMatch Reason = "no-match"
)

// Reasons that refine the other classes.
const (
	ReasonNewTest       Reason = "new-test"
	ReasonMadeWorse     Reason = "made-worse"
	ReasonOtherOnBase   Reason = "other-failure-on-base"
	ReasonOrder         Reason = "order-dependent"
	ReasonSameSignature Reason = "same-signature"
	ReasonDataRace      Reason = "data-race"
	ReasonBuild         Reason = "build"
	// ReasonSignatureDiffers: the failure measured here is steady but is not the one CI showed.
	ReasonSignatureDiffers Reason = "signature-differs"
)

// Bound is the error bound printed beside a verdict.
type Bound struct {
	// Wrong is an upper bound on the probability that the class is wrong in the
	// costly direction, 0 when none can be given.
	Wrong float64 `json:"wrong,omitempty"`
	// RateLow and RateHigh are the interval of the failure rate, where a rate is
	// what the verdict is about; both 0 when it is not.
	RateLow  float64 `json:"rate_low,omitempty"`
	RateHigh float64 `json:"rate_high,omitempty"`
	// Confidence is the level of the interval, for example 0.95.
	Confidence float64 `json:"confidence,omitempty"`
	// Text is the bound in words: "wrong ≤ 1 %", "≤ 14 % at 95 %".
	Text string `json:"text"`
}

// CauseKind is the sort of timing fault that lag laid bare.
type CauseKind string

const (
	CauseRace       CauseKind = "race"
	CauseFixedSleep CauseKind = "fixed-sleep"
	CauseTimeBudget CauseKind = "time-budget"
	CauseUnstable   CauseKind = "unstable"
	// CauseLateWriter: something wrote into the test's temporary directory after the test had ended.
	CauseLateWriter CauseKind = "late-writer"
	// CauseSlowMachine: only fewer or busier processors turn it red.
	CauseSlowMachine CauseKind = "slow-machine"
)

// Cause is why a test fails under lag.
type Cause struct {
	Kind CauseKind `json:"kind"`
	// Sites are the late places, or the sleep or budget, the first one leading.
	Sites []Site `json:"sites"`
	// AnyOf is set when each of the sites alone is enough.
	AnyOf bool `json:"any_of,omitempty"`
	// DoseMS is the least delay that still failed, MarginMS the largest that passed.
	DoseMS   float64 `json:"dose_ms"`
	MarginMS float64 `json:"margin_ms,omitempty"`
	// Plan is the id of the minimal plan; Red of Runs is how often it failed on head.
	Plan string `json:"plan"`
	Red  int    `json:"red"`
	Runs int    `json:"runs"`
	// Deadline is set when it is green once the timeouts are stretched: for an
	// unstable cause that speaks for a deadline and against a race.
	Deadline bool `json:"deadline,omitempty"`
	// Undelayed is set when it was red though no delay was taken: lag has no part in it.
	Undelayed bool `json:"undelayed,omitempty"`
	// Attempt is what the test waited for when that can be told.
	Attempt *Site `json:"attempt,omitempty"`
	// Advice is one sentence: what to wait on.
	Advice string `json:"advice,omitempty"`
	// Note says what is uncertain.
	Note string `json:"note,omitempty"`
}

// Polluters are tests of the same package, or files of the same suite, after which
// a test fails that passes alone.
type Polluters struct {
	// Files are the files after which it fails, in the order they run, where it does
	// not fail with its own package; empty otherwise.
	Files []string `json:"files,omitempty"`
	// Tests are the ids of the tests, in the order they run: of the one of Files, or
	// of its own package. There is one where a single one is enough. There is none
	// where those that ran before it do not bring the failure back when they are run
	// in that order by themselves, or where Files is all that can be named.
	Tests []string `json:"tests"`
	// Red of Runs is how often the test failed on head after these and no others;
	// where there is no such test, in all runs of the search.
	Red  int `json:"red"`
	Runs int `json:"runs"`
	// Of is how many tests run before it in the package, or how many files in the
	// suite, where InSuite is set.
	Of int `json:"of"`
	// InSuite is set when the search was for files of the suite.
	InSuite bool `json:"in_suite,omitempty"`
}

// Verdict is what is said of one red test.
type Verdict struct {
	Target  Target   `json:"target"`
	Class   Class    `json:"class"`
	Origin  Origin   `json:"origin,omitempty"`
	Reasons []Reason `json:"reasons,omitempty"`
	Bound   Bound    `json:"bound"`
	Cause   *Cause   `json:"cause,omitempty"`
	// Polluters is the least found set of tests after which it fails, for one
	// that depends on the tests around it.
	Polluters *Polluters `json:"polluters,omitempty"`
	// Settle says what would decide an inconclusive one.
	Settle string `json:"settle,omitempty"`
	// SameAs is the measured target whose verdict this one shares.
	SameAs *Target `json:"same_as,omitempty"`
	// Trial is the sequence number of the trial to replay, 0 when there is none.
	Trial int `json:"trial,omitempty"`
	// Reproduce is the command line that shows the failure again.
	Reproduce string `json:"reproduce,omitempty"`
}

// Yours reports whether the verdict says that the pull request brought the fault.
func (v Verdict) Yours() bool {
	switch v.Class {
	case LikelyRegression, IntroducedFlake:
		return true
	case LagRevealedRace:
		return v.Origin == OriginHead
	}
	return false
}

// NotYours reports whether the verdict says that the fault was there before.
// A race whose origin is not known is neither.
func (v Verdict) NotYours() bool {
	switch v.Class {
	case PreExistingFlake, BrokenOnBase:
		return true
	case LagRevealedRace:
		return v.Origin == OriginBase
	}
	return false
}
