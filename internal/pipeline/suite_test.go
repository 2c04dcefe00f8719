package pipeline_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/pipeline"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

// fileOf is a file of the planted suite and its tests.
type fileOf struct {
	name  string
	tests []string
}

// company is a world whose test fails in the whole suite after some others.
type company struct {
	*world
	files []fileOf
	// needs are files, or "file::test", that have to run before; onBase tells that it
	// is so on base too, byFile that no order is known.
	needs          []string
	onBase, byFile bool
	wholes, probes int
}

func (p *company) Run(ctx context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, error) {
	t, err := p.world.Run(ctx, req, plan)
	if err != nil || req.Arm.Scope != triage.InSuite {
		return t, err
	}
	var ran, files, last []string
	for _, f := range p.files {
		if req.WithFiles != nil && !slices.Contains(req.WithFiles, f.name) {
			continue
		}
		ran, files, last = append(ran, f.name), append(files, f.name), nil
		for _, test := range f.tests {
			if req.With == nil || slices.Contains(req.With, test) {
				ran, last = append(ran, f.name+"::"+test), append(last, test)
			}
		}
	}
	if p.probes++; req.WithFiles == nil {
		p.probes--
		p.wholes++
	}
	missing := slices.ContainsFunc(p.needs, func(n string) bool { return !slices.Contains(ran, n) })
	t.Outcome, t.Failure = triage.Pass, nil
	if missing || req.Arm.Side == triage.Base && !p.onBase {
		return t, nil
	}
	fail(&t, req.Target, redSignature)
	switch {
	case req.WithFiles == nil && !p.byFile:
		t.BeforeFiles = files
	case len(req.WithFiles) == 1 && req.With == nil:
		t.Before = last
	}
	return t, nil
}

// suiteCheck is a check of one test that is quiet alone and with its file.
func suiteCheck(files ...fileOf) (pipeline.Input, *company) {
	in, w := check(1, planted{})
	in.Report.Plan.SuiteScope = []string{"go"}
	return in, &company{world: w, files: files}
}

var someFiles = []fileOf{
	{"a", []string{"one", "two", "three"}}, {"b", []string{"one"}}, {"c", []string{"one", "two"}}, {"d", nil}, {"e", []string{"one", "two"}},
}

func TestTheFileThatATestFailsAfterIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		needs, files, tests []string
		most                int // probes
	}{
		"a test of the first":             {[]string{"a::two"}, []string{"a"}, []string{"two"}, 18},
		"the only test of one":            {[]string{"b::one"}, []string{"b"}, []string{"one"}, 8},
		"a file as it is loaded":          {[]string{"c"}, []string{"c"}, nil, 16},
		"a file of which no test is told": {[]string{"d"}, []string{"d"}, nil, 8},
		"two tests of one file":           {[]string{"e::one", "e::two"}, []string{"e"}, nil, 12},
		"two files far apart":             {[]string{"a", "e"}, []string{"a", "b", "c", "d", "e"}, nil, 6},
	} {
		t.Run(name, func(t *testing.T) {
			in, p := suiteCheck(someFiles...)
			p.needs = c.needs
			r := triageOf(t, in, p)
			v := r.Verdicts[0]
			if v.Class != triage.LikelyRegression || !slices.Contains(v.Reasons, triage.ReasonOrder) {
				t.Fatalf("verdict is %s %v, want a regression that depends on the order", v.Class, v.Reasons)
			}
			want := &triage.Polluters{InSuite: true, Files: c.files, Tests: c.tests, Of: len(someFiles), Red: 2, Runs: 2}
			if want.Tests == nil {
				want.Tests = []string{}
			}
			if d := cmp.Diff(want, v.Polluters); d != "" {
				t.Errorf("polluters (-want +got):\n%s", d)
			}
			if p.probes > c.most {
				t.Errorf("%d probes, want at most %d", p.probes, c.most)
			}
			if again := replayed(t, in, r); encoded(t, again) != encoded(t, r) {
				t.Error("replayed, the report is another one")
			}
		})
	}
}

func TestAnOrderOfFilesThatIsMainsToo(t *testing.T) {
	in, p := suiteCheck(someFiles...)
	p.needs, p.onBase = []string{"b::one"}, true
	v := triageOf(t, in, p).Verdicts[0]
	if v.Class != triage.BrokenOnBase || v.Origin != triage.OriginBase || !slices.Contains(v.Reasons, triage.ReasonOrder) {
		t.Errorf("verdict is %s of %s %v", v.Class, v.Origin, v.Reasons)
	}
	if v.Polluters == nil || !slices.Equal(v.Polluters.Files, []string{"b"}) {
		t.Errorf("polluters %+v", v.Polluters)
	}
}

func TestWithoutAnOrderOfFilesNoneIsNamed(t *testing.T) {
	in, p := suiteCheck(someFiles...)
	p.needs, p.byFile = []string{"b"}, true
	v := triageOf(t, in, p).Verdicts[0]
	if v.Class != triage.LikelyRegression || v.Polluters != nil || p.probes > 0 {
		t.Errorf("verdict is %s after %+v with %d probes", v.Class, v.Polluters, p.probes)
	}
}

func TestTheSuiteIsRunForSuitesOfThePlanOnly(t *testing.T) {
	for _, suites := range [][]string{nil, {"other"}} {
		in, p := suiteCheck(someFiles...)
		p.needs, in.Report.Plan.SuiteScope = []string{"b"}, suites
		v := triageOf(t, in, p).Verdicts[0]
		if p.wholes > 0 || !slices.Contains(v.Reasons, triage.ReasonNotReproduced) {
			t.Errorf("plan %v: %d runs of the suite, %v", suites, p.wholes, v.Reasons)
		}
	}
}

func TestACapOnTheTrialsEndsTheSearchForFiles(t *testing.T) {
	in, p := suiteCheck(someFiles...)
	p.needs = []string{"a::two"}
	whole := triageOf(t, in, p)
	for most := 20; most < len(whole.Trials); most++ {
		in, p := suiteCheck(someFiles...)
		p.needs, in.Report.Plan.MaxTrials = []string{"a::two"}, most
		r := triageOf(t, in, p)
		if v := r.Verdicts[0]; len(r.Trials) > most || v.NotYours() {
			t.Errorf("at most %d: %d trials, %s", most, len(r.Trials), v.Class)
		}
		if err := report.Validate(r); err != nil {
			t.Errorf("at most %d: %v", most, err)
		}
	}
}

// endless is a suite that does not come to its end.
type endless struct{ *company }

func (e endless) Run(ctx context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, error) {
	if req.Arm.Scope != triage.InSuite {
		return e.company.Run(ctx, req, plan)
	}
	<-ctx.Done()
	return triage.Trial{}, ctx.Err()
}

func TestASuiteThatIsTooLongLeavesTimeForTheOthers(t *testing.T) {
	in, p := suiteCheck(someFiles...)
	in.Report.Plan.BudgetMS = 1 // as good as spent
	r := triageOf(t, in, pipeline.Limited{Runner: endless{p}, Deadline: time.Now().Add(time.Minute)})
	v := r.Verdicts[0]
	if !slices.Contains(v.Reasons, triage.ReasonNotReproduced) || r.Plan.Stopped != "" {
		t.Errorf("verdict is %s %v, stopped by %q", v.Class, v.Reasons, r.Plan.Stopped)
	}
	last := r.Trials[len(r.Trials)-1]
	if last.Outcome != triage.Invalid || !strings.Contains(last.Note, "the whole suite did not end within") {
		t.Errorf("the last trial is %s: %q", last.Outcome, last.Note)
	}
	if page := report.Markdown(r, report.Options{}); !strings.Contains(page, "the whole suite did not end within") {
		t.Errorf("the page does not tell that the suite is too long:\n%s", page)
	}
	if again := replayed(t, in, r); encoded(t, again) != encoded(t, r) {
		t.Error("replayed, the report is another one")
	}
}

func TestASuiteThatWasTooLongOnceIsNotRunForTheOtherTests(t *testing.T) {
	in, w := check(1, planted{}, planted{}, planted{})
	in.Report.Plan.SuiteScope, in.Report.Plan.BudgetMS = []string{"go"}, 1
	r := triageOf(t, in, pipeline.Limited{Runner: endless{&company{world: w, files: someFiles}}, Deadline: time.Now().Add(time.Minute)})
	wholes := 0
	for _, tr := range r.Trials {
		if tr.Arm.Scope == triage.InSuite {
			wholes++
		}
	}
	if wholes != 1 {
		t.Errorf("%d runs of a suite that does not end", wholes)
	}
	for _, v := range r.Verdicts {
		if !slices.Contains(v.Reasons, triage.ReasonNotReproduced) {
			t.Errorf("%s: %s %v", v.Target.Test, v.Class, v.Reasons)
		}
	}
	if again := replayed(t, in, r); encoded(t, again) != encoded(t, r) {
		t.Error("replayed, the report is another one")
	}
}
