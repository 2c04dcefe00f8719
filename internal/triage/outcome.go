package triage

import "fmt"

// Outcome is how one test ended in one trial. The zero value is Unknown.
type Outcome int

// Pass against Fail, Error and Timeout make a rate. The others are counted
// apart and shown, never folded into a rate.
const (
	// Unknown: nothing was learnt.
	Unknown Outcome = iota
	// Pass: the test ran and passed.
	Pass
	// Fail: the test ran and an assertion failed.
	Fail
	// Error: the test or its process broke: panic, data race, compile error, early exit.
	Error
	// Timeout: the time cap of the trial or of the test was reached.
	Timeout
	// Skip: the test skipped itself.
	Skip
	// Absent: the selection matched no test, as for a new test on base.
	Absent
	// Invalid: the trial says nothing about the test (our instrumented copy did
	// not compile, base loaded head's files, the runner crashed).
	Invalid
)

var outcomeNames = [...]string{"unknown", "pass", "fail", "error", "timeout", "skip", "absent", "invalid"}

// String is the outcome's name in the record.
func (o Outcome) String() string {
	if o < 0 || int(o) >= len(outcomeNames) {
		return fmt.Sprintf("outcome(%d)", int(o))
	}
	return outcomeNames[o]
}

// Red reports whether the outcome counts as a failure in a rate.
func (o Outcome) Red() bool { return o == Fail || o == Error || o == Timeout }

// Counts reports whether the outcome takes part in a rate at all.
func (o Outcome) Counts() bool { return o == Pass || o.Red() }

// MarshalText writes the outcome's name.
func (o Outcome) MarshalText() ([]byte, error) {
	if o < 0 || int(o) >= len(outcomeNames) {
		return nil, fmt.Errorf("encoding outcome %d: unknown value", int(o))
	}
	return []byte(outcomeNames[o]), nil
}

// UnmarshalText reads the outcome's name.
func (o *Outcome) UnmarshalText(b []byte) error {
	i, err := indexOf("outcome", outcomeNames[:], string(b))
	*o = Outcome(i)
	return err
}

// indexOf finds a name in a closed list; an unknown name is an error.
func indexOf(what string, names []string, name string) (int, error) {
	for i, n := range names {
		if n == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("decoding %s: unknown name %q", what, name)
}
