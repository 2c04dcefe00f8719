package exit3

import (
	"os"
	"testing"
)

func TestOne(t *testing.T)  {}
func TestExit(t *testing.T) { os.Exit(3) }
func TestTwo(t *testing.T)  {}
