package sweep

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

// world is a suite with a planted truth.
type world struct {
	tests []planted
	// after is how many trials are run before end is returned; 0 for no end.
	after int
	end   error
	// substrate makes one test of its package red in each run of the package.
	substrate string
	rand      *rand.Rand
	// trials are those that were really run.
	trials []triage.Trial
	began  time.Time
}

// planted is one test and what it does.
type planted struct {
	target triage.Target
	// under are the rungs that turn it red, rate is how often it is red plainly.
	under []string
	rate  float64
	// cause is what the search for it finds.
	cause triage.CauseKind
	// company is set when it is red only beside others, idle when it has no threads.
	company bool
	idle    bool
	// words differ from red to red where it has none in common.
	chaos bool
}

func (w *world) redIn(p planted, req triage.Request, plan *triage.LagPlan) bool {
	if w.rand.Float64() < p.rate && (!p.company || req.Arm.Scope != triage.Alone) {
		return true
	}
	return plan != nil && slices.ContainsFunc(p.under, func(name string) bool { return name == plan.Name || name+", many tests" == plan.Name })
}

func (w *world) failure(p planted) *triage.Failure {
	message := "not fine"
	if p.chaos {
		message = fmt.Sprint("not fine ", w.rand.Int())
	}
	return &triage.Failure{Target: p.target, Outcome: triage.Fail, Message: message, Signature: triage.Signature{Phase: triage.PhaseTest, Message: message, Func: p.target.Test}}
}

func (w *world) Run(_ context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, []triage.Result, error) {
	if w.after > 0 && len(w.trials) >= w.after {
		return triage.Trial{}, nil, w.end
	}
	t := triage.Trial{Request: req, Start: w.began.Add(time.Duration(len(w.trials)) * time.Second), DurationMS: 1000, Outcome: triage.Pass}
	var results []triage.Result
	victim := w.rand.IntN(max(1, len(w.tests)))
	for i, p := range w.tests {
		mine := req.Target == p.target || req.Target.IsCommand() && (req.Target.Package == "" || req.Target.Package == p.target.Package)
		if !mine {
			continue
		}
		if plan != nil && !p.idle {
			t.DecisionCount++
		}
		res := triage.Result{Target: p.target, Outcome: triage.Pass, DurationMS: 10}
		if w.redIn(p, req, plan) || w.substrate == p.target.Package && i == victim && req.Arm.Scope != triage.Alone {
			res.Outcome, res.Failure = triage.Fail, w.failure(p)
			t.Outcome, t.Failure = triage.Fail, res.Failure
			if req.Target.IsCommand() {
				t.Others = append(t.Others, res)
			}
		}
		t.Ran++
		results = append(results, res)
	}
	w.trials = append(w.trials, t)
	if !req.Target.IsCommand() {
		results = nil
	}
	return t, results, nil
}

func (w *world) Site(id string) (triage.Site, bool) {
	return late, id == site
}

const site = "hub/hub.go:Hub.close:call:1"

var late = triage.Site{ID: site, Kind: triage.KindCall, File: "hub/hub.go", Line: 7, Func: "Hub.close"}

// explain names the planted cause after a probe.
func (w *world) explain(red Red, probe func(triage.LagPlan) (triage.Trial, error)) (*triage.Cause, error) {
	i := slices.IndexFunc(w.tests, func(p planted) bool { return p.target == red.Trial.Target })
	c := &triage.Cause{Kind: w.tests[i].cause, Sites: []triage.Site{}, Plan: red.Plan.ID(), Red: 3, Runs: 3}
	if c.Kind == triage.CauseRace {
		c.Sites, c.DoseMS = []triage.Site{late}, 12
	}
	_, err := probe(red.Plan)
	return c, err
}

func rungOf(name string, kinds ...triage.Kind) triage.LagPlan {
	return triage.LagPlan{Version: triage.PlanVersion, Name: name, Role: triage.RoleWorker, Kinds: kinds, MinMS: 10, MaxMS: 10, Hits: 3, BudgetMS: 20_000}
}

// ladderOf are two rungs: one over doubles, one over all that workers do.
var ladderOf = map[string][]triage.LagPlan{"gotest": {rungOf("doubles", triage.KindDouble), rungOf("worker-10", triage.KindCall)}}

func newWorld(tests ...planted) *world {
	return &world{tests: tests, rand: rand.New(rand.NewPCG(1, 2)), began: day}
}

// input is a sweep of the world, each package a unit.
func (w *world) input() Input {
	in := Input{Ladders: ladderOf, Explain: w.explain}
	in.Report = triage.Report{
		Schema: triage.Schema, Tool: triage.Tool{Name: "triagebot", Version: "v0.1.0", Go: "go1.26.0", Platform: "linux/amd64", Cores: 2},
		Check: triage.Check{Repo: "acme/loop", Suite: "go", Source: "run", Head: triage.Rev{SHA: "main"}, Base: triage.Rev{SHA: "main"}},
		Plan:  triage.Plan{Created: day, BudgetMS: 600_000, TrialTimeoutMS: 60_000, Lag: "auto", Alpha: 0.01},
	}
	seen := map[string]bool{}
	for _, p := range w.tests {
		if !seen[p.target.Package] {
			seen[p.target.Package] = true
			u := Unit{Target: p.target, Scope: triage.InPackage}
			u.Target.Test = ""
			in.Units = append(in.Units, u)
		}
	}
	return in
}

// sweep runs it and holds the report against the schema's rules.
func (w *world) sweep(t *testing.T, in Input) triage.Report {
	t.Helper()
	r, err := Sweep(t.Context(), in, w)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Validate(r); err != nil {
		t.Fatal(err)
	}
	return r
}

// verdict is "class reason" of a test, empty for none.
func verdict(r triage.Report, test string) string {
	for _, v := range r.Verdicts {
		if v.Target.Test == test {
			s := v.Class.String()
			for _, reason := range v.Reasons {
				s += " " + string(reason)
			}
			return s
		}
	}
	return ""
}
