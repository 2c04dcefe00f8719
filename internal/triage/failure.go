package triage

// Signature is what makes two failures the same failure. It is normalised: no
// line numbers, times, addresses, temporary paths, ports or goroutine ids. The
// zero value means that nothing is known of the failure but that it was one.
// It is comparable.
type Signature struct {
	// Phase is where it broke: "test", "panic", "race", "timeout", "exit",
	// "build", "setup".
	Phase string `json:"phase,omitempty"`
	// Message is the normalised message.
	Message string `json:"message,omitempty"`
	// Func is the failing function; for a data race the racing functions,
	// sorted.
	Func string `json:"func,omitempty"`
}

// Phases of a [Signature].
const (
	PhaseTest    = "test"
	PhasePanic   = "panic"
	PhaseRace    = "race"
	PhaseTimeout = "timeout"
	PhaseExit    = "exit"
	PhaseBuild   = "build"
	PhaseSetup   = "setup"
)

// IsZero reports whether nothing is known of the failure.
func (s Signature) IsZero() bool { return s == Signature{} }

// Location is a place in the code under test.
type Location struct {
	// File is relative to the repository's root, with forward slashes.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Func string `json:"func,omitempty"`
}

// Failure is one red test as it was seen: in CI's report, or in a trial.
type Failure struct {
	Target    Target    `json:"target"`
	Outcome   Outcome   `json:"outcome"`
	Message   string    `json:"message,omitempty"`
	Signature Signature `json:"signature,omitzero"`
	Location  Location  `json:"location,omitzero"`
	// Excerpt is the part of the output that shows the failure, bounded.
	Excerpt string `json:"excerpt,omitempty"`
	// Seed is the order seed of the run that was red ("-test.shuffle" of Go),
	// 0 when the order was the source's or is not known.
	Seed int64 `json:"seed,omitempty"`
	// Reach is what the pull request's files have to do with the test; nil when
	// that is not known.
	Reach *Reach `json:"reach,omitempty"`
	// Past is what earlier reports tell of the test; nil when there are none.
	Past *Past `json:"past,omitempty"`
	// Ledger is set when the test is on base's ledger of known reds.
	Ledger bool `json:"ledger,omitempty"`
}

// Reach tells how many of the changed files a test can have loaded. It is a
// prior that is printed, and never part of a verdict: data, configuration and
// tools reach a test in other ways.
type Reach struct {
	// Changed is the number of files that differ between base and head, Loaded
	// how many of them stand in or below a folder of a package that the test is
	// built from.
	Changed int `json:"changed"`
	Loaded  int `json:"loaded"`
	// First is one of the loaded files, empty for none.
	First string `json:"first,omitempty"`
}

// Result is the outcome of one test in one process.
type Result struct {
	Target  Target  `json:"target"`
	Outcome Outcome `json:"outcome"`
	// DurationMS is the test's own time in milliseconds, as its runner tells it.
	DurationMS float64 `json:"duration_ms,omitempty"`
	// Failure is set when the outcome is red.
	Failure *Failure `json:"failure,omitempty"`
	// Start numbers the tests of a process from 1 as they began; 0 when that is
	// not known. It is not recorded with the result either.
	Start int `json:"-"`
	// Note says why the outcome is Invalid, where the framework can tell. It is
	// not recorded with the result but with its trial.
	Note string `json:"-"`
}
