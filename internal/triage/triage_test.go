package triage

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNamesSurviveTheRecord(t *testing.T) {
	type all struct {
		O []Outcome
		C []Class
		S []Side
		P []Scope
	}
	in := all{
		O: []Outcome{Unknown, Pass, Fail, Error, Timeout, Skip, Absent, Invalid},
		C: []Class{Inconclusive, LikelyRegression, PreExistingFlake, IntroducedFlake, LagRevealedRace, BrokenOnBase},
		S: []Side{Head, Base},
		P: []Scope{Alone, InPackage, InSuite},
	}
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out all
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(in, out); d != "" {
		t.Error(d)
	}
}

func TestUnknownNamesAreRefused(t *testing.T) {
	for name, v := range map[string]any{"outcome": new(Outcome), "class": new(Class), "side": new(Side), "scope": new(Scope)} {
		if err := json.Unmarshal([]byte(`"passed"`), v); err == nil {
			t.Errorf("%s: an unknown name was accepted", name)
		}
	}
}

func TestZeroValuesAreTheSafeAnswers(t *testing.T) {
	var tr Trial
	var v Verdict
	switch {
	case tr.Outcome.Counts(), tr.Outcome.Red():
		t.Error("an outcome that was never set counts")
	case v.Class != Inconclusive, v.NotYours():
		t.Error("a verdict that was never set says something")
	case !tr.Arm.Plain(), tr.SameFailure(Signature{}):
		t.Error("a trial that was never run has lag or a failure")
	}
}

func TestPlanIdentityFollowsItsContent(t *testing.T) {
	a := LagPlan{Version: PlanVersion, Name: "a", MinMS: 1, Kinds: []Kind{KindCall}}
	b := a
	b.MinMS = 2
	if a.ID() == b.ID() || a.ID() != (LagPlan{Version: PlanVersion, Name: "a", MinMS: 1, Kinds: []Kind{KindCall}}).ID() {
		t.Errorf("ids are %s and %s", a.ID(), b.ID())
	}
}
