package triage

import "time"

// Past is what earlier reports tell of a failing test, on the code without the
// change ("main"). It is a prior that is printed and orders the work, and never
// part of a verdict.
type Past struct {
	// Scope is the company of the runs that are counted: they are of one scope.
	Scope Scope `json:"scope"`
	// Runs counts the runs without lag, Red the red ones, Same those of them with
	// the signature of the failure.
	Runs int `json:"runs"`
	Red  int `json:"red"`
	Same int `json:"same"`
	// Since is when the first run was, LastRed the last red one (zero for none).
	Since   time.Time `json:"since"`
	LastRed time.Time `json:"last_red,omitzero"`
	// Low and High are the Clopper-Pearson interval of the rate of red runs at 95 %.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Older and Newer split the runs by time; P is the two-sided p of Fisher's
	// exact test between them, 1 when there is nothing to compare.
	Older Half    `json:"older"`
	Newer Half    `json:"newer"`
	P     float64 `json:"p"`
	// Reports is the number of reports that tell of the test.
	Reports int `json:"reports"`
}

// Half is one half of the past.
type Half struct {
	Red  int `json:"red"`
	Runs int `json:"runs"`
}

// OfMain reports whether the runs of a side were of the code without a change:
// those on base, and those on head of a sweep, whose two trees are one.
func (c Check) OfMain(s Side) bool {
	if s == Base {
		return !c.Base.Dirty
	}
	return c.Head.SHA == c.Base.SHA && !c.Head.Dirty
}
