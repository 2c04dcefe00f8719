package pipeline_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/pipeline"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

// polluted is a world whose test fails in its package after some others.
type polluted struct {
	*world
	before, needs []string
	hidden        string // a test of before that the record does not tell of
	bySeed        bool   // a seed is enough, without any of them
	probes        int
}

func (p *polluted) Run(ctx context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, error) {
	t, err := p.world.Run(ctx, req, plan)
	if err == nil && p.bySeed && req.Seed != 0 && req.Arm.Side == triage.Head && req.Arm.Scope == triage.Alone {
		fail(&t, req.Target, redSignature)
	}
	if err != nil || req.Arm.Scope != triage.InPackage || req.Arm.Side == triage.Base {
		return t, err
	}
	ran := p.before
	if req.With != nil {
		ran = req.With
		p.probes++
	}
	t.Outcome, t.Failure = triage.Pass, nil
	if !slices.ContainsFunc(p.needs, func(n string) bool { return !slices.Contains(ran, n) }) {
		fail(&t, req.Target, redSignature)
		if req.With == nil {
			t.Before = slices.DeleteFunc(slices.Clone(p.before), func(n string) bool { return n == p.hidden })
		}
	}
	return t, nil
}

func TestThePolluterIsFoundByHalving(t *testing.T) {
	before := []string{"TestA", "TestB", "TestC", "TestD", "TestE", "TestF", "TestG", "TestH", "TestI"}
	for name, c := range map[string]struct {
		needs, want []string
		most        int // probes
	}{
		"the first":                  {[]string{"TestA"}, []string{"TestA"}, 11},
		"the last":                   {[]string{"TestI"}, []string{"TestI"}, 7},
		"one in the middle":          {[]string{"TestD"}, []string{"TestD"}, 10},
		"two that stand together":    {[]string{"TestH", "TestI"}, []string{"TestH", "TestI"}, 9},
		"two that stand far apart":   {[]string{"TestA", "TestI"}, before, 5},
		"none of those that ran yet": {[]string{"TestZ"}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			in, w := check(1, planted{head: side{pack: 1}})
			p := &polluted{world: w, before: before, needs: c.needs}
			r := triageOf(t, in, p)
			v := r.Verdicts[0]
			if c.want == nil {
				if v.Polluters != nil {
					t.Fatalf("found %v, want none", v.Polluters)
				}
				return
			}
			if v.Class != triage.LikelyRegression || !slices.Contains(v.Reasons, triage.ReasonOrder) {
				t.Fatalf("verdict is %s %v, want a regression that depends on the order", v.Class, v.Reasons)
			}
			if v.Polluters == nil || !slices.Equal(v.Polluters.Tests, c.want) || v.Polluters.Red != 2 || v.Polluters.Runs != 2 || v.Polluters.Of != len(before) {
				t.Errorf("found %+v, want %v in 2 of 2 runs", v.Polluters, c.want)
			}
			if p.probes > c.most {
				t.Errorf("%d probes, want at most %d", p.probes, c.most)
			}
			again := triageOf(t, in, &pipeline.Recorded{Trials: r.Trials, Sites: r.Plan.Sites})
			if !slices.Equal(again.Verdicts[0].Polluters.Tests, c.want) {
				t.Errorf("replayed: %+v", again.Verdicts[0].Polluters)
			}
		})
	}
}

func TestThePolluterOfARandomOrderIsFoundInThatOrder(t *testing.T) {
	in, w := check(1, planted{head: side{pack: 1}})
	in.Report.Failures[0].Seed = 7
	p := &polluted{world: w, before: []string{"TestC", "TestA", "TestB"}, needs: []string{"TestA"}}
	v := triageOf(t, in, p).Verdicts[0]
	if v.Polluters == nil || !slices.Equal(v.Polluters.Tests, p.needs) || p.probes == 0 {
		t.Fatalf("found %+v in %d probes", v.Polluters, p.probes)
	}
	for _, req := range w.asked {
		if (req.Seed == 7) != (req.Arm.Scope == triage.InPackage || req.Purpose == triage.Explain) {
			t.Errorf("a trial in scope %v has seed %d", req.Arm.Scope, req.Seed)
		}
	}
}

func TestASeedThatIsRedByItselfNamesNoTest(t *testing.T) {
	in, w := check(1, planted{head: side{pack: 1}})
	in.Report.Failures[0].Seed = 7
	p := &polluted{world: w, before: []string{"TestC", "TestA"}, needs: nil, bySeed: true}
	r := triageOf(t, in, p)
	if v := r.Verdicts[0]; v.Polluters != nil || p.probes != 0 {
		t.Errorf("found %+v in %d probes", v.Polluters, p.probes)
	}
	if again := triageOf(t, in, &pipeline.Recorded{Trials: r.Trials, Sites: r.Plan.Sites}); again.Verdicts[0].Class != r.Verdicts[0].Class {
		t.Errorf("replayed: %s", again.Verdicts[0].Class)
	}
}

func TestTestsThatDoNotBringTheFailureBackAreNotNamed(t *testing.T) {
	in, w := check(1, planted{head: side{pack: 1}})
	// What it needs is no test of those that it is told of.
	p := &polluted{world: w, before: []string{"TestA", "TestB"}, needs: []string{"TestA"}, hidden: "TestA"}
	r := triageOf(t, in, p)
	v := r.Verdicts[0]
	if v.Class != triage.LikelyRegression || v.Polluters == nil || len(v.Polluters.Tests) != 0 || v.Polluters.Red != 0 || v.Polluters.Runs != 1 || v.Polluters.Of != 1 {
		t.Errorf("%s, polluters %+v", v.Class, v.Polluters)
	}
	if err := report.Validate(r); err != nil {
		t.Error(err)
	}
	if page := report.Markdown(r, report.Options{}); !strings.Contains(page, "No test can be named") {
		t.Errorf("the page does not say that none is named:\n%s", page)
	}
}
