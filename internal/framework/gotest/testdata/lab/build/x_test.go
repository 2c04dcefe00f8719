package build

import (
	"testing"
)

func TestB(t *testing.T) { foo(1); var x int = "s"; bar.Baz() }
