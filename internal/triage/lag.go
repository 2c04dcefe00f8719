package triage

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Kind is the sort of place where a lag engine can move time.
type Kind string

// The kinds, shared by all engines. Not every engine has every kind.
const (
	// KindDouble: after a test double returns to production code.
	KindDouble Kind = "double"
	// KindReturn: after a call that may be a double (interface method, function value) returned.
	KindReturn Kind = "return"
	// KindCall: on entry of a project function.
	KindCall Kind = "call"
	// KindStart: before a new goroutine, thread or task runs its body.
	KindStart Kind = "start"
	// KindWake: after a receive, lock hand-over, await or queue get.
	KindWake Kind = "wake"
	// KindSignal: after a send, close, unlock, cancel or atomic store.
	KindSignal Kind = "signal"
	// KindStep: between two statements.
	KindStep Kind = "step"
	// KindCleanup: while a test's temporary directory is removed.
	KindCleanup Kind = "cleanup"
	// KindDeclared: an option of the project's own that delays something (a
	// declared seam). The site is the option as it is declared, and the dose is
	// put into it; no engine is needed for it.
	KindDeclared Kind = "declared"
	// KindTimeout marks a clock that bounds a wait. It is stretched, never delayed.
	KindTimeout Kind = "timeout"
	// KindSleep marks a sleep outside loops. It is stretched, never delayed.
	KindSleep Kind = "sleep"
)

// Role is whose thread is delayed.
type Role string

const (
	// RoleAny delays every thread.
	RoleAny Role = "any"
	// RoleWorker delays threads whose stack is not rooted in the test.
	RoleWorker Role = "worker"
	// RoleTest delays the test's own thread.
	RoleTest Role = "test"
)

// Site is a place where time can be moved. Head and base share its id.
type Site struct {
	// ID is file, function, kind and the ordinal of the kind within the
	// function: "dispatch/d.go:(*D).handle:return:1". It holds no line number.
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	// File is relative to the repository's root, with forward slashes.
	File string `json:"file"`
	Line int    `json:"line"`
	Func string `json:"func"`
	// Text is the source line, trimmed and bounded.
	Text string `json:"text,omitempty"`
	// Test marks a site in test code.
	Test bool `json:"test,omitempty"`
}

// Decision is one delay: the Hit-th time that Role passes Site, wait MS
// milliseconds. In a plan Hit 0 means every hit up to the plan's cap.
type Decision struct {
	Site string `json:"site"`
	Kind Kind   `json:"kind,omitempty"`
	Role Role   `json:"role,omitempty"`
	Hit  int    `json:"hit"`
	// MS is the delay; 0 with Yield set gives up the processor instead.
	MS    float64 `json:"ms"`
	Yield bool    `json:"yield,omitempty"`
}

// Stretch multiplies the clocks of the code under test.
type Stretch struct {
	// Timeouts and Sleeps are factors; 0 and 1 leave the clocks alone.
	Timeouts float64 `json:"timeouts,omitempty"`
	Sleeps   float64 `json:"sleeps,omitempty"`
	// CapMS bounds what a stretch may add to one clock, in milliseconds; 0 is no bound.
	CapMS float64 `json:"cap_ms,omitempty"`
	// Sites limits the stretch to these sites; empty means all.
	Sites []string `json:"sites,omitempty"`
}

// LagPlan says which delays one trial injects. It is written to a file whose
// path the test process finds in TRIAGEBOT_LAG_PLAN.
type LagPlan struct {
	Version int `json:"version"`
	// Name is for people: "doubles, 400 ms".
	Name string `json:"name"`
	Seed uint64 `json:"seed,omitempty"`
	Role Role   `json:"role,omitempty"`
	// Kinds are the kinds of sites that are delayed.
	Kinds []Kind `json:"kinds,omitempty"`
	// Sites limits the plan to these site ids; empty means every site of Kinds.
	// "file:function" stands for all sites of a function, "folder/:function" for
	// those of the functions of that name in any file of a folder; a Go method is
	// written without the brackets and star of its receiver.
	Sites []string `json:"sites,omitempty"`
	// TestSites also delays the sites that stand in test code.
	TestSites bool `json:"test_sites,omitempty"`
	// MinMS and MaxMS bound one delay; equal for a fixed dose, else uniform by Seed.
	MinMS float64 `json:"min_ms,omitempty"`
	MaxMS float64 `json:"max_ms,omitempty"`
	// Yield gives up the processor instead of waiting.
	Yield bool `json:"yield,omitempty"`
	// Probability picks sites by Seed; 0 means every site.
	Probability float64 `json:"probability,omitempty"`
	// Hits caps the delays per site, BudgetMS the sum of them in the process.
	Hits int `json:"hits,omitempty"`
	// PerTest counts the hits anew for each test of the process, by the engines
	// that can.
	PerTest  bool    `json:"per_test,omitempty"`
	BudgetMS float64 `json:"budget_ms,omitempty"`
	// Decisions, when not empty, are replayed and are all that is delayed.
	Decisions []Decision `json:"decisions,omitempty"`
	Stretch   Stretch    `json:"stretch,omitzero"`
	// CleanupMS pauses the removal of temporary directories, so that a late
	// writer is caught and named.
	CleanupMS float64 `json:"cleanup_ms,omitempty"`
	// Procs limits the processors of the test process (GOMAXPROCS, CPU quota); 0 is no limit.
	Procs int `json:"procs,omitempty"`
	// Burners is the number of busy loops beside the test; 0 is none.
	Burners int `json:"burners,omitempty"`
}

// PlanVersion is the version of the plan file and of the decision log.
const PlanVersion = 1

// ID is the plan's identity: twelve hex digits of the hash of its JSON. Equal
// plans have equal ids, so an arm can be found again on resume and replay.
func (p LagPlan) ID() string {
	b, err := json.Marshal(p)
	if err != nil { // floats that are NaN or infinite: no engine accepts them
		return "invalid-plan"
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}
