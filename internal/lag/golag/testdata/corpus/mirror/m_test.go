package mirror_test

import (
	"testing"
	"time"

	"example.com/corp/mirror"
	"example.com/corp/mirror/mockstore"
)

// RACY: waits until the mock has the key, asserts on the mirror's own state.
func TestRacyMockHasKey(t *testing.T) {
	s := &mockstore.Store{}
	m := mirror.New(s)
	m.Copy("k")
	for end := time.Now().Add(30 * time.Second); s.Len() == 0 && time.Now().Before(end); {
		time.Sleep(100 * time.Microsecond)
	}
	if got := m.State("k"); got != "copied" {
		t.Fatalf("state %q, want copied", got)
	}
}

func TestOkWaited(t *testing.T) {
	s := &mockstore.Store{}
	m := mirror.New(s)
	m.Copy("k")
	m.Wait()
	if got := m.State("k"); got != "copied" || s.Len() != 1 {
		t.Fatalf("state %q, want copied", got)
	}
}
