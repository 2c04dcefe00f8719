package triage

// Sweep is what a sweep of a whole suite did. Its trials are all on head; the
// report of a red check has none.
type Sweep struct {
	// Tests counts the tests that ran in the control. Units are the processes that
	// one run of the whole suite takes: the packages of Go, else one.
	Tests int `json:"tests"`
	Units int `json:"units"`
	// Since is the commit that an earlier sweep was of: what changed since then
	// was looked at first. It is empty when that is not known.
	Since string `json:"since,omitempty"`
	// Rungs are the steps in the order they were taken, the control first.
	Rungs []SweepRung `json:"rungs"`
}

// SweepRung is one step of a sweep: the control, or one lag plan over all tests.
type SweepRung struct {
	// Name is "control" or the rung's own, as in "doubles".
	Name string `json:"name"`
	// Lag is the id of the plan, empty for the control. A plan over a whole suite
	// is scaled to each process, and this is the first of them.
	Lag string `json:"lag,omitempty"`
	// Scope is suite when whole processes were run, alone when each test was.
	Scope Scope `json:"scope"`
	// Runs counts the processes, Tests the different tests that had a result.
	Runs  int `json:"runs"`
	Tests int `json:"tests"`
	// Left counts the tests that the time did not suffice for, Skipped those that
	// had nothing to be delayed, or a verdict already.
	Left    int `json:"left,omitempty"`
	Skipped int `json:"skipped,omitempty"`
	// Leads counts the tests that were red here and green in the control.
	Leads int `json:"leads,omitempty"`
	// WallMS is the time on the clock with all builds, TrialMS that of the processes.
	WallMS  float64 `json:"wall_ms"`
	TrialMS float64 `json:"trial_ms"`
	// Short counts the processes whose delays were used up before their end.
	Short int `json:"short,omitempty"`
}
