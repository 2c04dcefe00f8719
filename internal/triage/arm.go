package triage

// Side is the tree a trial runs on. The zero value is Head.
type Side int

const (
	// Head is the red tree.
	Head Side = iota
	// Base is that tree without the pull request.
	Base
)

var sideNames = [...]string{"head", "base"}

// String is "head" or "base".
func (s Side) String() string { return name(sideNames[:], int(s)) }

// MarshalText writes the side's name.
func (s Side) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the side's name.
func (s *Side) UnmarshalText(b []byte) error {
	i, err := indexOf("side", sideNames[:], string(b))
	*s = Side(i)
	return err
}

// Scope is the company a test runs in. The zero value is Alone.
type Scope int

const (
	// Alone: the one test and nothing else.
	Alone Scope = iota
	// InPackage: its whole package or file, in the original order and seed.
	InPackage
	// InSuite: the suite's own command.
	InSuite
)

var scopeNames = [...]string{"alone", "package", "suite"}

// String is the scope's name in the record.
func (s Scope) String() string { return name(scopeNames[:], int(s)) }

// MarshalText writes the scope's name.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the scope's name.
func (s *Scope) UnmarshalText(b []byte) error {
	i, err := indexOf("scope", scopeNames[:], string(b))
	*s = Scope(i)
	return err
}

func name(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return "unknown"
	}
	return names[i]
}

// Arm is one cell of the experiment. Trials of different arms are never pooled.
// It is comparable; the zero value is head, alone, no lag.
type Arm struct {
	Side  Side  `json:"side"`
	Scope Scope `json:"scope"`
	// Lag is the id of the lag plan, empty for none.
	Lag string `json:"lag,omitempty"`
	// Detector is set when the trial ran under a detector that the suite does
	// not use itself: "race" for Go's -race.
	Detector string `json:"detector,omitempty"`
}

// On is the same arm on the other or same tree.
func (a Arm) On(s Side) Arm { a.Side = s; return a }

// Plain reports whether the arm has neither lag nor an added detector.
func (a Arm) Plain() bool { return a.Lag == "" && a.Detector == "" }
