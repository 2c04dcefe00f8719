package triage

import "time"

// Schema is the value of [Report.Schema].
const Schema = "triagebot/report/v1"

// Report is the record of one check.
type Report struct {
	Schema string `json:"schema"`
	Tool   Tool   `json:"tool"`
	Check  Check  `json:"check"`
	Plan   Plan   `json:"plan"`
	// Failures are the reds that were triaged, as CI showed them.
	Failures []Failure  `json:"failures"`
	Trials   []Trial    `json:"trials"`
	Evidence []Evidence `json:"evidence"`
	Verdicts []Verdict  `json:"verdicts"`
	// Substrate has the causes that several tests seem to share.
	Substrate []Substrate `json:"substrate,omitempty"`
	// Sweep tells what a sweep did; nil for the report of a red check.
	Sweep    *Sweep   `json:"sweep,omitempty"`
	Cost     Cost     `json:"cost"`
	Warnings []string `json:"warnings"`
}

// Tool is the program that wrote a report.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Go is the tool chain it was built with, Platform the machine's OS/arch.
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Cores    int    `json:"cores"`
}

// Check is the red check that was triaged.
type Check struct {
	// Repo is the repository's name when known ("owner/name"), else its folder's name.
	Repo  string `json:"repo"`
	Suite string `json:"suite"`
	Head  Rev    `json:"head"`
	Base  Rev    `json:"base"`
	// Command is the suite's own command, when there is one.
	Command []string `json:"command,omitempty"`
	// Source tells where the failures were found: "report", "log", "test", "run".
	Source string `json:"source"`
}

// Rev is one of the two trees.
type Rev struct {
	SHA string `json:"sha"`
	// Ref is how the user named it, or the rule that found it ("first parent").
	Ref string `json:"ref,omitempty"`
	// Dirty is set when uncommitted changes were measured with it.
	Dirty bool `json:"dirty,omitempty"`
	// Unbuildable says why nothing could be run on it, empty when it could.
	Unbuildable string `json:"unbuildable,omitempty"`
}

// LadderOf is the key of a suite's own ladder in [Plan.Ladders].
func LadderOf(framework, suite string) string { return framework + " of " + suite }

// Plan is what was to be done, and the limits it was done under.
type Plan struct {
	Created time.Time `json:"created"`
	// BudgetMS bounds the whole check, TrialTimeoutMS one trial.
	BudgetMS       int64 `json:"budget_ms"`
	TrialTimeoutMS int64 `json:"trial_timeout_ms"`
	// MaxTrials bounds the trials per test; 0 is the policy's own bound.
	MaxTrials int `json:"max_trials,omitempty"`
	// Lag is "auto", "off", or the names of the rungs.
	Lag  string `json:"lag"`
	Seed uint64 `json:"seed"`
	// Alpha is the bound on a false likely-regression over the whole check.
	Alpha float64 `json:"alpha"`
	// Detectors names for a framework the detector that is tried last: "race" for
	// Go. A framework without one is not in it.
	Detectors map[string]string `json:"detectors,omitempty"`
	// SuiteScope names the suites that are run whole for a test which is quiet
	// alone and with its package.
	SuiteScope []string `json:"suite_scope,omitempty"`
	// Unlike names the suites whose trials may not be run as CI runs them: their
	// command or script hides what it sets, or makes something first.
	Unlike []string `json:"unlike,omitempty"`
	// Ladders lists for each framework the ids of its lag plans in the order they
	// are tried; a framework that lag is not to be had for, or off for, has none.
	// A suite that declares seams has its own, by [LadderOf].
	Ladders map[string][]string `json:"ladders,omitempty"`
	// LagPlans has every plan that a trial names, by id.
	LagPlans map[string]LagPlan `json:"lag_plans,omitempty"`
	// Sites has every site that a decision or cause names, by id.
	Sites map[string]Site `json:"sites,omitempty"`
	// Stopped says why measuring ended early: "interrupted", "budget"; empty when it ran to its end.
	Stopped string `json:"stopped,omitempty"`
	// Shard is the part of the check that was measured, zero for all of it. Parts
	// are the shards that the report was joined from, in the order of their trials.
	Shard Shard  `json:"shard,omitzero"`
	Parts []Part `json:"parts,omitempty"`
}

// Cost is what the check used.
type Cost struct {
	WallMS   float64 `json:"wall_ms"`
	SetupMS  float64 `json:"setup_ms"`
	BuildMS  float64 `json:"build_ms"`
	TrialMS  float64 `json:"trial_ms"`
	Trials   int     `json:"trials"`
	Builds   int     `json:"builds"`
	MemoryMB float64 `json:"memory_mb,omitempty"`
}
