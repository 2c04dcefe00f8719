package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/triagebot/triagebot/internal/workspace"
)

// TestMain lets the test program be the real triagebot when a script, or a
// busy loop of a slow-machine rung, calls it by that name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "triagebot" {
		// The tests do not wait for whatever triagebot measures on this machine.
		os.Setenv(workspace.LockVar, filepath.Join(os.TempDir(), fmt.Sprintf("triagebot-test-%d.lock", os.Getpid())))
	}
	testscript.Main(m, map[string]func(){"triagebot": main})
}
