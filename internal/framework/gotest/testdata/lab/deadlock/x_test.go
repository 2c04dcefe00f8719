package deadlock

import (
	"testing"
)

func TestDead(t *testing.T) { c := make(chan int); <-c }
