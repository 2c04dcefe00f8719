package golag

import (
	"flag"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

var realTree = flag.String("golag.tree", "", "instrument and build every test of the module in this folder")

// TestRealTree tells how a module of one's own choice fares, when asked to.
func TestRealTree(t *testing.T) {
	if *realTree == "" {
		t.Skip("run with -golag.tree=DIR")
	}
	began := time.Now()
	in := instrument(t, Spec{Tree: *realTree, Package: "./..."})
	t.Logf("%d files, %d sites, %d skipped, %.1f s", len(in.files), len(in.Sites), len(in.Skipped), time.Since(began).Seconds())
	for _, s := range in.Skipped {
		t.Logf("skipped %s: %s", s.File, s.Why)
	}
	for round := range 20 {
		began := time.Now()
		argv := append([]string{"go", "test", "-run=^$", "-count=1"}, in.BuildFlags()...)
		out, end, err := run(t.Context(), triage.Command{Dir: *realTree, Argv: append(argv, "./...")})
		t.Logf("build %d: %.1f s", round, time.Since(began).Seconds())
		if err != nil {
			t.Fatal(err)
		}
		if end.Exit == 0 {
			return
		}
		n, err := in.Heal(out)
		t.Logf("healed %d sites of\n%s", n, out)
		if n == 0 || err != nil {
			t.Fatalf("the instrumented copy does not build: %v", err)
		}
	}
}
