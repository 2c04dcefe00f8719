package masked

import (
	"testing"
	"time"
)

func waitFor(t *testing.T, within time.Duration, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("timed out")
		}
	}
}

// RACY: waits for one outcome and asserts on the other. Delaying both workers
// alike hides it: the indexer has to be the later one.
func TestRacyStoredNotIndexed(t *testing.T) {
	b := New()
	b.Add("x")
	waitFor(t, 30*time.Second, func() bool { return b.Stored() == 1 })
	if !b.Indexed("x") {
		t.Fatal("not indexed")
	}
}

func TestOkBoth(t *testing.T) {
	b := New()
	b.Add("x")
	waitFor(t, 30*time.Second, func() bool { return b.Stored() == 1 && b.Indexed("x") })
}
