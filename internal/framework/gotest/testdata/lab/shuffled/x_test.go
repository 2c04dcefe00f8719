package shuffled

import "testing"

var order []string

func TestFirst(t *testing.T)  { order = append(order, "first") }
func TestSecond(t *testing.T) { order = append(order, "second") }

// TestNeedsOrder fails unless it is the last.
func TestNeedsOrder(t *testing.T) {
	if len(order) != 2 {
		t.Fatalf("ran after %d tests, want 2", len(order))
	}
}
