package lagtest

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/triagebot/triagebot/internal/triage"
)

// Racy is a test with a planted fault of timing.
type Racy struct {
	// File is the test's package as a target has it, Test its id.
	File string `json:"file"`
	Test string `json:"test"`
	// Rung is one that shows it; "single" is the rung of one site at a time.
	Rung string `json:"rung"`
	// Kinds are what its cause may be called, Funcs the functions that may lead it.
	Kinds []triage.CauseKind `json:"kinds"`
	Funcs []string           `json:"funcs"`
	// Later is set for those that came after the tests that a promise counts.
	Later bool `json:"later,omitempty"`
}

// Named is a test without a fault.
type Named struct {
	File string `json:"file"`
	Test string `json:"test"`
}

// Truth is what is known of a corpus.
type Truth struct {
	Racy []Racy `json:"racy"`
	// Correct are repaired variants, and code whose order the language fixes;
	// Honest have a real deadline.
	Correct []Named `json:"correct"`
	Honest  []Named `json:"honest"`
}

// ReadTruth reads it from a JSON file.
func ReadTruth(path string) (Truth, error) {
	var t Truth
	b, err := os.ReadFile(path)
	if err != nil {
		return t, fmt.Errorf("reading the truth of a corpus: %w", err)
	}
	if err := json.Unmarshal(b, &t); err != nil {
		return t, fmt.Errorf("reading the truth of a corpus: %s: %w", path, err)
	}
	return t, nil
}

// Right reports whether a cause is what was planted: its kind, and the function
// of its leading site.
func (r Racy) Right(c *triage.Cause) bool {
	return c != nil && len(c.Sites) > 0 && slices.Contains(r.Kinds, c.Kind) && slices.Contains(r.Funcs, c.Sites[0].Func)
}

// WrongPlace reports whether a cause names a place that has nothing to do with it.
func (r Racy) WrongPlace(c *triage.Cause) bool {
	return c != nil && len(c.Sites) > 0 && c.Kind != triage.CauseUnstable && !slices.Contains(r.Funcs, c.Sites[0].Func)
}
