package triage

// Substrate is one finding about several tests: different tests of one place are
// red in different runs and none of them steadily, or one late place turns
// several of them red. It is no verdict on any of them.
type Substrate struct {
	// Place is the file or package that the tests have in common.
	Place string `json:"place"`
	// Site is the late place that the causes of several of the tests name; nil
	// when there is none.
	Site *Site `json:"site,omitempty"`
	// Signature is the failure that all the reds have in common, zero when they
	// have none.
	Signature Signature `json:"signature,omitzero"`
	// Victims are the tests that were red, in any of the arms, by name.
	Victims []Target `json:"victims"`
	// Arms are the runs, each arm by itself: runs with company and runs alone, of
	// head and of base, are never pooled. The first is the one that shows it best.
	Arms []SubstrateArm `json:"arms,omitempty"`
	// Earlier is the number of earlier reports that it was found in, 0 when this
	// check's own runs show it.
	Earlier int `json:"earlier,omitempty"`
}

// SubstrateArm is what one arm's runs of the place came to.
type SubstrateArm struct {
	Arm Arm `json:"arm"`
	// CI is set for the red runs of CI that reports were made of. Its green runs
	// are not known.
	CI bool `json:"ci,omitempty"`
	// Runs counts the runs, RedRuns those of them with a red test of the place.
	Runs    int `json:"runs"`
	RedRuns int `json:"red_runs"`
	// Victims counts the different tests that were red, Most how often the one
	// that was red most often was.
	Victims int `json:"victims"`
	Most    int `json:"most"`
}
