package parallel

import (
	"fmt"
	"testing"
	"time"
)

func TestA(t *testing.T) {
	t.Parallel()
	for i := 0; i < 3; i++ {
		t.Log("a says", i)
		fmt.Println("a prints")
		time.Sleep(time.Millisecond)
	}
	t.Error("a failed")
}
func TestB(t *testing.T) {
	t.Parallel()
	for i := 0; i < 3; i++ {
		t.Log("b says", i)
		time.Sleep(time.Millisecond)
	}
	t.Run("s", func(t *testing.T) { t.Parallel(); t.Error("b/s failed\nwith more") })
}
