package triage

// Tally counts the outcomes of one arm for one target.
type Tally struct {
	Arm Arm `json:"arm"`
	// Same are reds with the reference signature, Other reds with another one.
	Pass  int `json:"pass"`
	Same  int `json:"same"`
	Other int `json:"other"`
	// The rest never enters a rate.
	Skip    int `json:"skip,omitempty"`
	Absent  int `json:"absent,omitempty"`
	Invalid int `json:"invalid,omitempty"`
	Unknown int `json:"unknown,omitempty"`
	// Sequence shows the outcomes in the order they came: "." pass, "F" same
	// red, "o" other red, "-" what does not count.
	Sequence string `json:"sequence"`
}

// N is the number of trials that count.
func (t Tally) N() int { return t.Pass + t.Same + t.Other }

// Red is the number of trials that were red, whatever the signature.
func (t Tally) Red() int { return t.Same + t.Other }

// Comparison sets one head arm against its base arm. The counted event is a red
// with the reference signature.
type Comparison struct {
	Head Arm `json:"head"`
	Base Arm `json:"base"`
	// Difference is the head rate minus the base rate, with its interval.
	Difference float64 `json:"difference"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	// E is the e-value for "head fails more often than base".
	E float64 `json:"e"`
	// P is 1/E bounded by 1; AdjustedP is P after Holm over the check's tests.
	P         float64 `json:"p"`
	AdjustedP float64 `json:"adjusted_p"`
	// FisherP is the two-sided p of Fisher's exact test, shown because people know it.
	FisherP float64 `json:"fisher_p"`
}

// Evidence is what the trials of one target amount to.
type Evidence struct {
	Target Target `json:"target"`
	// Reference is the signature that counts as the red's failure.
	Reference   Signature    `json:"reference,omitzero"`
	Tallies     []Tally      `json:"tallies"`
	Comparisons []Comparison `json:"comparisons,omitempty"`
	Warnings    []string     `json:"warnings,omitempty"`
	// DurationMS is the test's own time in a plain run, in milliseconds: the
	// median, where it is known.
	DurationMS float64 `json:"duration_ms,omitempty"`
}

// Tally finds an arm's tally; the zero tally when the arm has no trials.
func (e Evidence) Tally(a Arm) Tally {
	for _, t := range e.Tallies {
		if t.Arm == a {
			return t
		}
	}
	return Tally{Arm: a}
}
