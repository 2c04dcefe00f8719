package gopanic

import (
	"testing"
)

func work(c chan int)     { defer close(c); panic("worker broke: id 4711") }
func TestGo(t *testing.T) { c := make(chan int); go work(c); select {} }
