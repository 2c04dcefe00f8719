package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test program be the real triagebot when a script, or a
// busy loop of a slow-machine rung, calls it by that name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"triagebot": main})
}
