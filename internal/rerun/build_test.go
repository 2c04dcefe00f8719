package rerun

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/triagebot/triagebot/internal/triage"
)

// callPlan delays calls.
var callPlan = triage.LagPlan{Version: triage.PlanVersion, Name: "calls", Kinds: []triage.Kind{triage.KindCall}, MinMS: 3, MaxMS: 3}

// engine is an Engine whose copies change nothing.
type engine struct {
	copies []*laggedCopy
	// heals is how many sites each round of healing drops, until it is used up.
	heals []int
	err   error
}

type laggedCopy struct {
	out, overlay string
	e            *engine
}

func (e *engine) Instrument(_ context.Context, _ triage.Exec, _, pkg, pkgDir, out string) (Instrumentation, error) {
	if e.err != nil {
		return nil, e.err
	}
	if !filepath.IsAbs(pkgDir) || !filepath.IsAbs(out) {
		return nil, errors.New("directories are not absolute")
	}
	c := &laggedCopy{out: out, overlay: filepath.Join(out, "overlay.json"), e: e}
	e.copies = append(e.copies, c)
	return c, nil
}

func (c *laggedCopy) Overlay() string { return c.overlay }

func (c *laggedCopy) Sites() []triage.Site {
	return []triage.Site{{ID: "odd.go:F:call:1", Kind: triage.KindCall, File: "odd/odd.go", Line: 3, Func: "F"}}
}

func (c *laggedCopy) Heal([]byte) (int, error) {
	if len(c.e.heals) == 0 {
		return 0, nil
	}
	n := c.e.heals[0]
	c.e.heals = c.e.heals[1:]
	return n, nil
}

func (c *laggedCopy) Skipped() []string { return []string{"odd/cgo.go: uses cgo"} }

func TestOneBuildServesAFamily(t *testing.T) {
	e := &engine{}
	b := newBench(t, func(c *Config) { c.Engine = e })
	var told []string
	b.cfg.Building = func(side triage.Side, pkg string, lagged bool) {
		told = append(told, side.String()+" "+filepath.Base(pkg)+map[bool]string{true: " lagged"}[lagged])
	}
	for range 2 {
		for _, side := range []triage.Side{triage.Head, triage.Base} {
			for _, test := range []string{"TestPass", "TestFail"} {
				b.run(t, request(side, "odd", test), nil)
			}
			b.run(t, request(side, "odd", "TestPass"), &callPlan)
			b.run(t, request(side, "odd", "TestPass"), &triage.LagPlan{Version: 1, Name: "one processor", Procs: 1})
		}
	}
	want := []string{"head odd", "head odd lagged", "base odd", "base odd lagged"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("builds (-want +got):\n%s", diff)
	}
	if len(b.adapter.asked) != 4 || b.Stats().Builds != 4 {
		t.Errorf("%d builds, the statistics tell of %d", len(b.adapter.asked), b.Stats().Builds)
	}
	outs := map[string]bool{}
	for _, spec := range b.adapter.asked {
		outs[spec.Out] = true
	}
	if len(outs) != 4 {
		t.Errorf("binaries share a path: %v", outs)
	}
	if got := b.Skipped(); !slices.Equal(got, []string{"odd/cgo.go: uses cgo"}) {
		t.Errorf("skipped %v, want each file once", got)
	}
	if s, ok := b.Site("odd.go:F:call:1"); !ok || s.Line != 3 {
		t.Errorf("site %+v %v", s, ok)
	}
	if _, ok := b.Site("nowhere"); ok {
		t.Error("a site that nobody named is known")
	}
}

func TestAFailedBuildIsRememberedForNamedTestsOnly(t *testing.T) {
	b := newBench(t, nil)
	for range 3 {
		b.run(t, request(triage.Head, "bad", "TestBad"), nil)
	}
	if n := len(b.adapter.asked); n != 1 {
		t.Errorf("a named test had its package built %d times", n)
	}
	for range 2 {
		if got := b.run(t, request(triage.Head, "bad", ""), nil); got.Outcome != triage.Error {
			t.Errorf("got %s", describe(got))
		}
	}
	if n := len(b.adapter.asked); n != 3 {
		t.Errorf("%d builds: each trial of the command is a build of its own", n)
	}
}

func TestACopyThatDoesNotCompileIsHealed(t *testing.T) {
	e := &engine{heals: []int{2}}
	b := newBench(t, func(c *Config) { c.Engine = e })
	broken := 1
	b.adapter.broken = func(s triage.BuildSpec) bool {
		if s.Overlay == "" || broken == 0 {
			return false
		}
		broken--
		return true
	}
	got := b.run(t, request(triage.Head, "odd", "TestPass"), &callPlan)
	if got.Outcome != triage.Pass {
		t.Errorf("got %s", describe(got))
	}
	if n := len(b.adapter.asked); n != 3 {
		t.Errorf("%d builds, want the plain one, the broken copy, the healed copy", n)
	}
}

func TestOnlyTheInstrumentedCopyIsBroken(t *testing.T) {
	for name, e := range map[string]*engine{
		"no site is to blame":     {},
		"healing does not end":    {heals: []int{1, 1, 1, 1, 1, 1, 1, 1, 1}},
		"it cannot be made":       {err: errors.New("reading odd.go: permission denied")},
		"it breaks in two rounds": {heals: []int{1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(c *Config) { c.Engine = e })
			b.adapter.broken = func(s triage.BuildSpec) bool { return s.Overlay != "" }
			for range 2 {
				got := b.run(t, request(triage.Head, "odd", "TestPass"), &callPlan)
				if got.Outcome != triage.Invalid || got.Failure != nil || got.Note == "" {
					t.Errorf("got %s", describe(got))
				}
			}
			if n := len(b.adapter.asked); n > 1+maxHeals {
				t.Errorf("%d builds for one broken copy", n)
			}
			if got := b.run(t, request(triage.Head, "odd", "TestPass"), nil); got.Outcome != triage.Pass {
				t.Errorf("without lag: %s", describe(got))
			}
		})
	}
}

func TestABrokenTreeIsNotBlamedOnTheCopy(t *testing.T) {
	e := &engine{}
	b := newBench(t, func(c *Config) { c.Engine = e })
	got := b.run(t, request(triage.Base, "bad", "TestBad"), &callPlan)
	if got.Outcome != triage.Invalid || got.Note != "example.com/lab/bad does not build on base: bad/bad_test.go:5:30: undefined: undefined" || len(e.copies) > 0 {
		t.Errorf("%d copies, %s", len(e.copies), describe(got))
	}
}

func TestLagWithoutAnEngineSaysNothing(t *testing.T) {
	b := newBench(t, nil)
	got := b.run(t, request(triage.Head, "odd", "TestPass"), &callPlan)
	if got.Outcome != triage.Invalid || got.Note != "lag is not available here" {
		t.Errorf("got %s", describe(got))
	}
}

func TestAPlanReachesTheProcessAndItsDecisionsComeBack(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Engine = &engine{} })
	plan := callPlan
	got := b.run(t, request(triage.Head, "odd", "TestLag"), &plan)
	if got.Outcome != triage.Pass || got.DecisionCount != 500 || len(got.Decisions) != maxKept(triage.Pass) {
		t.Errorf("%d of %d decisions kept, %s", len(got.Decisions), got.DecisionCount, describe(got))
	}
	plan.Name, plan.Procs = "must-fail", 1
	got = b.run(t, request(triage.Head, "odd", "TestLag"), &plan)
	if got.Outcome != triage.Fail || got.DecisionCount != 500 || len(got.Decisions) != maxDecisions {
		t.Errorf("%d of %d decisions kept, %s", len(got.Decisions), got.DecisionCount, describe(got))
	}
	want := triage.Decision{Site: "odd.go:F:call:1", Kind: triage.KindCall, Role: triage.RoleWorker, Hit: 2, MS: 3}
	if got.Decisions[1] != want || !slices.Equal(got.Stretched, []string{"odd.go:F:timeout:1"}) {
		t.Errorf("decisions begin %+v, stretched %v", got.Decisions[:2], got.Stretched)
	}
	if !slices.Equal(got.LagNotes, []string{"clocks of another sort are left alone"}) {
		t.Errorf("the runtime's notes are %q", got.LagNotes)
	}
	if !strings.Contains(got.Output, "procs 1") {
		t.Errorf("GOMAXPROCS did not reach the test:\n%s", got.Output)
	}
	got = b.run(t, request(triage.Head, "odd", "TestLag"), nil)
	if got.Outcome != triage.Fail || got.DecisionCount != 0 || got.LagNotes != nil {
		t.Errorf("without a plan: %s", describe(got))
	}
}

func TestAPlanThatNoEngineCouldCarryOutIsAnError(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Engine = &engine{} })
	bad := callPlan
	bad.MinMS = -1
	if _, err := b.Run(t.Context(), request(triage.Head, "odd", "TestPass"), &bad); err == nil {
		t.Error("no error")
	}
	if left := b.roomsLeft(t); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestCloseRemovesReadOnlyLeftovers(t *testing.T) {
	b := newBench(t, nil)
	dir := filepath.Join(b.cfg.Dir, "tmp", "9", "mod")
	if err := os.MkdirAll(filepath.Join(dir, "cache"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Errorf("closing with a read-only directory left by a test: %v", err)
	}
}

func TestWhatRunsBesideIsNotedOnResultsOnly(t *testing.T) {
	const note = "other processes used 2.0 of 2 cores meanwhile"
	for name, tc := range map[string]struct {
		trial   triage.Trial
		results int
		note    string
		want    string
	}{
		"a pass":                 {triage.Trial{Outcome: triage.Pass}, 1, note, note},
		"a red with a note":      {triage.Trial{Outcome: triage.Fail, Note: "left a process"}, 2, note, "left a process; " + note},
		"nothing beside":         {triage.Trial{Outcome: triage.Pass}, 1, "", ""},
		"no result":              {triage.Trial{Outcome: triage.Pass}, 0, note, ""},
		"invalid, for a reason":  {triage.Trial{Outcome: triage.Invalid, Note: "does not build"}, 0, note, "does not build"},
		"absent, for no reason":  {triage.Trial{Outcome: triage.Absent}, 1, note, ""},
		"skipped, with a reason": {triage.Trial{Outcome: triage.Skip, Note: "short"}, 1, note, "short"},
	} {
		t.Run(name, func(t *testing.T) {
			noteBeside(&tc.trial, tc.results, tc.note)
			if tc.trial.Note != tc.want {
				t.Errorf("%q, want %q", tc.trial.Note, tc.want)
			}
		})
	}
}
