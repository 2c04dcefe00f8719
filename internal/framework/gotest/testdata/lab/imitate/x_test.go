package imitate

import (
	"fmt"
	"testing"
)

func TestLiar(t *testing.T) {
	fmt.Println("--- PASS: TestLiar (0.00s)")
	fmt.Println("PASS")
	fmt.Println("=== RUN   TestGhost")
	fmt.Println("--- FAIL: TestGhost (0.00s)")
	fmt.Println("ok  \texample.com/lab/imitate\t0.01s")
	t.Fatal("really failed")
}
