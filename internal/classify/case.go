package classify

import "github.com/triagebot/triagebot/internal/triage"

// Case is all that is known of one red test.
type Case struct {
	// Red is the failure as CI showed it. Its Signature is zero when CI left no
	// message. It is why we are here and is never counted in a rate.
	Red triage.Failure
	// Rungs are the ids of the lag plans in ladder order; empty when lag is off
	// or not to be had.
	Rungs []string
	// PackageScope is set when a run with the whole package is possible.
	PackageScope bool
	// SuiteScope is set when a run with the whole suite is possible, and is more
	// than one with the package.
	SuiteScope bool
	// Unlike is set when trials may not be run as CI runs the test (see [triage.Plan]).
	Unlike bool
	// Trials are this target's trials so far, in order, of all purposes.
	Trials []triage.Trial
	// Causes has, for each rung that a [StepExplain] named, what the search for
	// its cause came to; nil when it ended without one.
	Causes map[string]*triage.Cause
	// Polluted is set once a [StepPolluter] was carried out; Polluters is what it found, nil for
	// nothing.
	Polluted  bool
	Polluters *triage.Polluters
	// Detector is a detector of data races that the suite does not use itself and
	// that is to be had here ("race"); empty for none.
	Detector string
	// HeadUnbuildable and BaseUnbuildable say why nothing can be run there.
	HeadUnbuildable, BaseUnbuildable string
	// Family is the number of measured tests of the check, Rejected how many of
	// the others have been rejected already (see [Policy.Rejects]).
	Family, Rejected int
	// MaxTrials is the user's cap on this target's trials, 0 for none.
	MaxTrials int
	// Stopped is "budget" or "interrupted" when nothing more will be run.
	Stopped string
}

// Values of [Case.Stopped] and of plan.stopped in the record.
const (
	StoppedBudget      = "budget"
	StoppedInterrupted = "interrupted"
)

// StepKind is what a [Step] is for. The zero value is StepDone.
type StepKind int

const (
	// StepDone: nothing more is to be run; [Judge] has the verdict.
	StepDone StepKind = iota
	// StepPlain: a round on head and base without lag.
	StepPlain
	// StepLadder: a try of one rung.
	StepLadder
	// StepConfirm: a round of the same plan on head and base.
	StepConfirm
	// StepExplain: the caller looks for the cause of Rung and enters it into [Case.Causes].
	StepExplain
	// StepScope: a probe or round with the whole package.
	StepScope
	// StepDetect: a run under the detector.
	StepDetect
	// StepPolluter: the caller looks for the tests after which the target fails
	// and enters them into [Case.Polluters].
	StepPolluter
	// StepSuite: a probe or round with the whole suite.
	StepSuite
)

var stepNames = [...]string{"done", "plain", "ladder", "confirm", "explain", "scope", "detect", "polluter", "suite"}

// String is the step's name for progress lines.
func (k StepKind) String() string {
	if k < 0 || int(k) >= len(stepNames) {
		return "unknown"
	}
	return stepNames[k]
}

// Step is what to do next: the Requests are run in their order.
type Step struct {
	Kind     StepKind
	Requests []triage.Request
	// Rung is the lag plan id of a ladder, confirm or explain step.
	Rung string
}

// Next says what to do next for a case, StepDone when its verdict is ready or
// nothing more may be run.
func Next(p Policy, c Case) Step {
	if c.Stopped != "" {
		return Step{}
	}
	d := newView(p, c).decide()
	// The search for a cause needs trials too, though it asks for none itself.
	if d.final || c.MaxTrials > 0 && len(c.Trials)+max(1, len(d.step.Requests)) > c.MaxTrials {
		return Step{}
	}
	return d.step
}

// Judge gives the evidence and the verdict on what was measured so far. It is
// valid at any moment: a case that is not decided is inconclusive, with the
// reason and what would settle it.
func Judge(p Policy, c Case) (triage.Evidence, triage.Verdict) {
	v := newView(p, c)
	d := v.decide()
	if !d.final {
		d = v.unfinished(d.step)
	}
	d.verdict.Target = c.Red.Target
	return v.evidence(), d.verdict
}

// decision is either final, with a verdict, or the next step.
type decision struct {
	final   bool
	verdict triage.Verdict
	step    Step
}

func final(v triage.Verdict) decision { return decision{final: true, verdict: v} }

func run(s Step) decision { return decision{step: s} }
