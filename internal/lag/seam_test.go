package lag

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

var everyKind = []triage.Kind{triage.KindDouble, triage.KindReturn, triage.KindCall, triage.KindStart, triage.KindWake, triage.KindSignal, triage.KindStep}

func TestSeamsAreTheFirstRungs(t *testing.T) {
	plain := Capabilities{Kinds: everyKind, Yield: true}
	without, err := Ladder(plain, 1, "auto")
	if err != nil {
		t.Fatal(err)
	}
	with := plain
	with.Seams = []Seam{{Option: "--lag={seconds}"}, {Sites: []string{"a.py:A.f"}}, {Sites: []string{"b/:g"}}}
	plans, err := Ladder(with, 1, "auto")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range plans[:5] {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff([]string{"declared", "declared2", "declared-50", "declared2-50", "doubles"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(without, plans[4:]); diff != "" {
		t.Errorf("the rungs behind the seams are others (-without +with):\n%s", diff)
	}
	option, places := plans[2], plans[1]
	if diff := cmp.Diff([]triage.Decision{{Site: "--lag={seconds}", Kind: triage.KindDeclared, Hit: 1, MS: 50}}, option.Decisions); diff != "" {
		t.Error(diff)
	}
	if places.MinMS != 300 || places.MaxMS != 300 || !cmp.Equal(places.Sites, []string{"a.py:A.f", "b/:g"}) || !cmp.Equal(places.Kinds, seamKinds) || places.Role != triage.RoleWorker {
		t.Errorf("the plan of the functions is %+v", places)
	}
}

// Without seams nothing may change: these are the ids that the ladder had before
// there were any.
func TestTheLadderWithoutSeamsIsWhatItWas(t *testing.T) {
	for _, c := range []Capabilities{{Kinds: everyKind, Yield: true}, {Kinds: everyKind, Yield: true, Cleanup: true}, {Kinds: []triage.Kind{triage.KindStart, triage.KindWake}, Yield: true}} {
		plans, err := Ladder(c, 1, "auto")
		if err != nil {
			t.Fatal(err)
		}
		c.Seams = []Seam{}
		again, err := Ladder(c, 1, "auto")
		if err != nil || !cmp.Equal(plans, again) {
			t.Errorf("an empty list makes other plans, error %v", err)
		}
		for _, p := range plans {
			if strings.HasPrefix(p.Name, "declared") || len(p.Sites) > 0 || len(p.Decisions) > 0 || Options(&p) != nil {
				t.Errorf("plan %+v has something of a seam", p)
			}
		}
	}
	plans, err := Ladder(Capabilities{Kinds: everyKind, Yield: true}, 1, "auto")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, p := range plans[:3] {
		ids = append(ids, p.ID())
	}
	if diff := cmp.Diff([]string{"edf154d82d8c", "0920402dd91a", "a6e2ba3452d8"}, ids); diff != "" {
		t.Errorf("ids (-before +now):\n%s", diff)
	}
}

func TestDeclaredRungsWantSeams(t *testing.T) {
	_, err := Ladder(Capabilities{Kinds: everyKind}, 1, "declared")
	if err == nil || !strings.Contains(err.Error(), "wants seams in the suite's configuration") {
		t.Errorf("error %v", err)
	}
	plans, err := Ladder(Capabilities{Kinds: everyKind, Seams: []Seam{{Option: "-x={ms}"}}}, 1, "declared-50,doubles")
	if err != nil || len(plans) != 2 || plans[0].Name != "declared-50" {
		t.Errorf("%v, %v", plans, err)
	}
	if plans, err := Ladder(Capabilities{Seams: []Seam{{Sites: []string{"a.c:f"}}}}, 1, "auto"); err != nil || plans[0].Name == "declared" {
		t.Errorf("functions are delayed without an engine: %v, %v", plans, err)
	}
}

func TestOptionsHaveTheirDose(t *testing.T) {
	for want, d := range map[string]triage.Decision{
		"--lag=0.3":      {Site: "--lag={seconds}", MS: 300},
		"--lag=0.000781": {Site: "--lag={seconds}", MS: 0.781},
		"-lag=50ms":      {Site: "-lag={ms}ms", MS: 50},
		"-lag=1ms":       {Site: "-lag={ms}ms", MS: 0.25},
	} {
		d.Kind = triage.KindDeclared
		got := Options(&triage.LagPlan{Decisions: []triage.Decision{{Site: "a.py:f:call:1", Kind: triage.KindCall, MS: 9}, d}})
		if !cmp.Equal(got, []string{want}) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if Options(nil) != nil {
		t.Error("no plan has options")
	}
}

func TestSinglesLeaveOptionsOut(t *testing.T) {
	got := Singles([]triage.Decision{{Site: "--lag={ms}", Kind: triage.KindDeclared, Hit: 1, MS: 50}, {Site: "a.py:f:call:1", Kind: triage.KindCall, Hit: 1, MS: 5}}, 0)
	if len(got) != 1 || got[0].Decisions[0].Site != "a.py:f:call:1" {
		t.Errorf("got %+v", got)
	}
}

// A red under an option alone is named as the option, at its least dose.
func TestTheCauseOfARedUnderAnOptionIsTheOption(t *testing.T) {
	const option = "--lag={seconds}"
	reference := triage.Signature{Phase: triage.PhaseTest, Message: "lost"}
	trial := func(p triage.LagPlan) triage.Trial {
		tr := triage.Trial{Outcome: triage.Pass, DurationMS: 20}
		for _, d := range p.Decisions {
			d.Role, d.Hit = triage.RoleWorker, 1
			tr.Decisions = append(tr.Decisions, d)
			if d.MS >= 8 {
				tr.Outcome, tr.Failure = triage.Fail, &triage.Failure{Outcome: triage.Fail, Signature: reference}
			}
		}
		return tr
	}
	plan := declared(Capabilities{Seams: []Seam{{Option: option}}})[0].plan
	res, err := Explain(Input{Plan: plan, Red: trial(plan), Reference: reference, Sites: map[string]triage.Site{option: OptionSite(option)}, Control: Control{Runs: 6}},
		func(p triage.LagPlan) (triage.Trial, error) { return trial(p), nil })
	if err != nil {
		t.Fatal(err)
	}
	c := res.Cause
	if c.Kind != triage.CauseRace || len(c.Sites) != 1 || c.Sites[0].ID != option || c.DoseMS < 8 || c.DoseMS > 12 || c.Red != c.Runs {
		t.Errorf("cause %+v", c)
	}
	if got := Options(&res.Plan); len(got) != 1 || !strings.HasPrefix(got[0], "--lag=0.01") {
		t.Errorf("the smallest plan runs %q", got)
	}
}
