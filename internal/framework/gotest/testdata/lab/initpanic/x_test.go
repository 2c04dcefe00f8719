package initpanic

import (
	"testing"
)

var x = func() int { panic("no config") }()

func TestOne(t *testing.T) {}
