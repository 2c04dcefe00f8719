package nonl

import (
	"fmt"
	"testing"
)

func TestNoNewline(t *testing.T)     { fmt.Print("no newline here"); t.Error("failed after print") }
func TestNoNewlinePass(t *testing.T) { fmt.Print("nor here") }
