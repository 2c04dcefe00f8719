package plain

import (
	"fmt"
	"testing"
)

func TestOK(t *testing.T) { t.Log("fine"); fmt.Println("printed by ok") }
func TestErr(t *testing.T) {
	t.Log("starting on 127.0.0.1:43121")
	t.Errorf("got %d, want %d", 3, 4)
	t.Errorf("second: got %q", "a b")
}
func TestFatal(t *testing.T) {
	fmt.Println("noise on stdout")
	t.Fatalf("cannot open /tmp/TestFatal123/001/x.db after 12.5ms: line1\nline two")
}
func TestSkip(t *testing.T)      { t.Skip("not here") }
func TestFail(t *testing.T)      { t.Fail() }
func TestHelper(t *testing.T)    { helper(t, 5) }
func helper(t *testing.T, n int) { t.Helper(); t.Fatalf("n = %d, want 6", n) }
