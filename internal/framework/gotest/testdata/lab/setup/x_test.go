package setup

import (
	"example.com/nowhere/x"
	"testing"
)

func TestB(t *testing.T) { x.Y() }
