package rerun

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

// optionPlan delays by an option of the project's own alone.
func optionPlan() *triage.LagPlan {
	return &triage.LagPlan{Version: 1, Name: "declared", Decisions: []triage.Decision{{Site: "--lag={seconds}", Kind: triage.KindDeclared, Hit: 1, MS: 300}}}
}

func TestAnOptionOfTheProjectNeedsNoInstrumentedCopy(t *testing.T) {
	if instrumented(optionPlan()) {
		t.Error("a copy is built for an option alone")
	}
	p := optionPlan()
	p.Stretch.Timeouts = 50
	if !instrumented(p) {
		t.Error("an option with stretched clocks has no copy")
	}
	p = optionPlan()
	p.Decisions = append(p.Decisions, triage.Decision{Site: "a.go:f:call:1", Kind: triage.KindCall, MS: 1})
	if !instrumented(p) {
		t.Error("an option with a delay has no copy")
	}
}

func TestTrialsUnderAnOptionTellOfIt(t *testing.T) {
	taken := []triage.Decision{{Site: "--lag={seconds}", Kind: triage.KindDeclared, Role: triage.RoleWorker, Hit: 1, MS: 300}}
	for name, tc := range map[string]struct {
		trial   triage.Trial
		outcome triage.Outcome
		taken   []triage.Decision
	}{
		"it passed":                   {triage.Trial{Outcome: triage.Pass}, triage.Pass, taken},
		"it failed":                   {triage.Trial{Outcome: triage.Fail, Output: "unknown option chosen"}, triage.Fail, taken},
		"it crashed":                  {triage.Trial{Outcome: triage.Error, Output: "panic: boom"}, triage.Error, taken},
		"Go's flags do not have it":   {triage.Trial{Outcome: triage.Error, Output: "flag provided but not defined: -lag\nUsage of x.test:\n"}, triage.Invalid, nil},
		"pytest does not have it":     {triage.Trial{Outcome: triage.Invalid, Output: "pytest: error: unrecognized arguments: --lag=0.3\n"}, triage.Invalid, nil},
		"vitest does not have it":     {triage.Trial{Outcome: triage.Error, Output: "CACError: Unknown option `--lag`\n"}, triage.Invalid, nil},
		"jest does not have it":       {triage.Trial{Outcome: triage.Error, Output: "● Unrecognized CLI Parameter:\n  Unrecognized option \"lag\"."}, triage.Invalid, nil},
		"it was invalid for a reason": {triage.Trial{Outcome: triage.Invalid, Output: "no disk", Note: "no disk"}, triage.Invalid, taken},
	} {
		r := &Runner{sites: map[string]triage.Site{}}
		tr := tc.trial
		tr.Arm.Side = triage.Base
		r.noteOptions(&tr, optionPlan())
		if tr.Outcome != tc.outcome || !cmp.Equal(tr.Decisions, tc.taken) || tr.DecisionCount != len(tc.taken) {
			t.Errorf("%s: %s with %v", name, tr.Outcome, tr.Decisions)
		}
		if tc.taken == nil && tr.Note != "base does not know --lag=0.3" {
			t.Errorf("%s: note %q", name, tr.Note)
		}
		if _, ok := r.Site("--lag={seconds}"); ok != (tc.taken != nil) {
			t.Errorf("%s: the option is known as a site: %v", name, ok)
		}
	}
	none := triage.Trial{Outcome: triage.Error, Output: "Unknown option"}
	(&Runner{}).noteOptions(&none, &triage.LagPlan{Kinds: []triage.Kind{triage.KindCall}})
	if none.Outcome != triage.Error || none.DecisionCount != 0 {
		t.Errorf("a trial without an option became %+v", none)
	}
}
