package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/classify"
	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/pipeline"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

var (
	redSignature   = triage.Signature{Phase: triage.PhaseTest, Message: "got N, want N", Func: "TestX"}
	otherSignature = triage.Signature{Phase: triage.PhaseTest, Message: "connection refused", Func: "TestX"}
	began          = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
)

// side is how a planted test behaves on one tree: the probability of its red
// plainly, under lag and with its package, and of another red.
type side struct {
	plain, lag, pack, other float64
	// outcome, when set, is the outcome of every trial.
	outcome triage.Outcome
}

// planted is the truth of one test.
type planted struct {
	head, base side
	// odd overrides the outcome of the target's trials by their number, from 0.
	odd map[int]triage.Outcome
}

// world is a deterministic Runner: what it answers depends on its seed, the
// request and the number of the trial, so a second one that begins at a later
// trial goes on as the first would have.
type world struct {
	seed  uint64
	tests map[triage.Target]planted
	// done is the number of trials before this one.
	done int
	// cut, when not nil, is returned instead of trial number at.
	cut error
	at  int

	asked []triage.Request
	of    map[triage.Target]int
}

func (w *world) Run(_ context.Context, req triage.Request, plan *triage.LagPlan) (triage.Trial, error) {
	if w.cut != nil && w.done >= w.at {
		return triage.Trial{}, w.cut
	}
	if (plan != nil) != (req.Arm.Lag != "") || plan != nil && plan.ID() != req.Arm.Lag {
		return triage.Trial{}, fmt.Errorf("asked for plan %q with %+v", req.Arm.Lag, plan)
	}
	w.asked = append(w.asked, req)
	w.done++
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %v %d", w.seed, req, w.done)
	random := rand.New(rand.NewPCG(w.seed, h.Sum64()))
	return w.trial(req, random), nil
}

func (w *world) trial(req triage.Request, random *rand.Rand) triage.Trial {
	p, ok := w.tests[req.Target]
	if !ok {
		panic("not planted: " + req.Target.String())
	}
	if w.of == nil {
		w.of = map[triage.Target]int{}
	}
	n := w.of[req.Target]
	w.of[req.Target]++
	s := p.head
	if req.Arm.Side == triage.Base {
		s = p.base
	}
	t := triage.Trial{Start: began.Add(time.Duration(w.done) * time.Second), DurationMS: 1 + float64(random.IntN(100)), Outcome: triage.Pass, Ran: 1}
	rate := s.plain
	switch {
	case s.outcome != triage.Unknown:
		t.Outcome, t.Note = s.outcome, "planted"
	case req.Arm.Scope == triage.InPackage:
		rate = s.pack
	case req.Arm.Lag != "":
		rate = s.lag
		t.Decisions = []triage.Decision{{Site: "a.go:F:call:1", Kind: triage.KindCall, Role: triage.RoleWorker, Hit: 1, MS: 10}}
		t.DecisionCount = 1
	}
	if o, ok := p.odd[n]; ok {
		t.Outcome, t.Note = o, "planted"
	}
	if x := random.Float64(); t.Outcome == triage.Pass && x < rate {
		fail(&t, req.Target, redSignature)
	} else if t.Outcome == triage.Pass && x < rate+s.other {
		fail(&t, req.Target, otherSignature)
	}
	return t
}

func fail(t *triage.Trial, target triage.Target, s triage.Signature) {
	t.Outcome, t.Exit = triage.Fail, 1
	t.Failure = &triage.Failure{Target: target, Outcome: triage.Fail, Signature: s, Message: s.Message}
}

func (w *world) Site(id string) (triage.Site, bool) {
	return triage.Site{ID: id, Kind: triage.KindCall, File: "a.go", Line: 3, Func: "F"}, id == "a.go:F:call:1"
}

// ladder are the rungs of the planted checks.
var ladder = []triage.LagPlan{
	{Version: 1, Name: "10 ms", Kinds: []triage.Kind{triage.KindCall}, MinMS: 10, MaxMS: 10},
	{Version: 1, Name: "100 ms", Kinds: []triage.Kind{triage.KindCall}, MinMS: 100, MaxMS: 100},
	{Version: 1, Name: "some at random", Seed: 1, Kinds: []triage.Kind{triage.KindCall}, MinMS: 100, MaxMS: 100, Probability: 0.5},
}

// explain asks for three smaller doses and calls the red a race.
func explain(red pipeline.Lagged, probe func(triage.LagPlan) (triage.Trial, error)) (*triage.Cause, error) {
	c := &triage.Cause{Kind: triage.CauseRace, Plan: red.Plan.ID(), Sites: []triage.Site{}, DoseMS: red.Plan.MinMS}
	for _, d := range red.Red.Decisions {
		if s, ok := red.Site(d.Site); ok {
			c.Sites = append(c.Sites, s)
		}
	}
	for ms := red.Plan.MinMS / 2; ms > red.Plan.MinMS/10; ms /= 2 {
		t, err := probe(triage.LagPlan{Version: 1, Name: "smaller", Kinds: red.Plan.Kinds, MinMS: ms, MaxMS: ms})
		if err != nil {
			c.Note = "the search was cut short"
			return c, err
		}
		c.Runs++
		if t.SameFailure(red.Reference) {
			c.Red, c.DoseMS, c.Plan = c.Red+1, ms, t.Arm.Lag
		}
	}
	return c, nil
}

func target(i int) triage.Target {
	return triage.Target{Suite: "go", Framework: "gotest", Package: "example.com/m", Test: fmt.Sprintf("Test%02d", i)}
}

func failure(t triage.Target) triage.Failure {
	return triage.Failure{Target: t, Outcome: triage.Fail, Signature: redSignature, Message: redSignature.Message}
}

// check is a planted check with one target for each test.
func check(seed uint64, tests ...planted) (pipeline.Input, *world) {
	w := &world{seed: seed, tests: map[triage.Target]planted{}}
	r := triage.Report{
		Schema: triage.Schema,
		Tool:   triage.Tool{Name: "triagebot", Version: "test", Go: "go1.26", Platform: "linux/amd64", Cores: 2},
		Check: triage.Check{Repo: "m", Suite: "go", Source: "report",
			Head: triage.Rev{SHA: "1111111111111111111111111111111111111111"}, Base: triage.Rev{SHA: "2222222222222222222222222222222222222222"}},
		Plan:     triage.Plan{Created: began, BudgetMS: 600_000, TrialTimeoutMS: 60_000, Lag: "auto", Seed: 1, Alpha: 0.01, Ladders: map[string][]string{}, LagPlans: map[string]triage.LagPlan{}},
		Warnings: []string{},
	}
	for _, p := range ladder {
		r.Plan.Ladders["gotest"] = append(r.Plan.Ladders["gotest"], p.ID())
		r.Plan.LagPlans[p.ID()] = p
	}
	for i, p := range tests {
		w.tests[target(i)] = p
		r.Failures = append(r.Failures, failure(target(i)))
	}
	return pipeline.Input{Report: r, Policy: classify.DefaultPolicy(), PackageScope: true, Explain: explain}, w
}

// Some planted truths.
var (
	regression = planted{head: side{plain: 1, lag: 1, pack: 1}}
	flake      = planted{head: side{plain: 0.4, lag: 0.4, pack: 0.4}, base: side{plain: 0.4, lag: 0.4, pack: 0.4}}
	broken     = planted{head: side{plain: 1, lag: 1, pack: 1}, base: side{plain: 1, lag: 1, pack: 1}}
	raceOnBase = planted{head: side{lag: 1}, base: side{lag: 1}}
	raceByHead = planted{head: side{lag: 1}}
	quiet      = planted{}
	ordered    = planted{head: side{pack: 1}}
	absent     = planted{head: side{plain: 1, lag: 1, pack: 1}, base: side{outcome: triage.Absent}}
	invalid    = planted{head: side{outcome: triage.Invalid}, base: side{outcome: triage.Invalid}}
)

// randomCheck plants one to ten tests of any kind.
func randomCheck(seed uint64) (pipeline.Input, *world) {
	random := rand.New(rand.NewPCG(seed, 7))
	known := []planted{regression, flake, broken, raceOnBase, raceByHead, quiet, ordered, absent, invalid}
	tests := make([]planted, 1+random.IntN(3)*random.IntN(5)/2)
	for i := range tests {
		if tests[i] = known[random.IntN(len(known))]; random.IntN(3) == 0 {
			tests[i].head.plain, tests[i].base.other = random.Float64(), random.Float64()/2
		}
		if random.IntN(3) == 0 {
			tests[i].odd = map[int]triage.Outcome{random.IntN(10): triage.Invalid, random.IntN(30): triage.Skip}
		}
	}
	in, w := check(seed, tests...)
	in.Behind = lag.Behind
	in.Singles = func(seen []triage.Decision) []triage.LagPlan { return lag.Singles(seen, 2) }
	if seed%2 == 0 {
		in.Explain = deadline
	}
	return in, w
}

// deadline calls every red under lag an honest deadline, so that the ladder goes on.
func deadline(red pipeline.Lagged, probe func(triage.LagPlan) (triage.Trial, error)) (*triage.Cause, error) {
	c, err := explain(red, probe)
	c.Kind, c.DoseMS = triage.CauseTimeBudget, 1000
	return c, err
}

func triageOf(t *testing.T, in pipeline.Input, run pipeline.Runner) triage.Report {
	t.Helper()
	r, err := pipeline.Triage(t.Context(), in, run)
	if err != nil {
		t.Fatalf("Triage: %v", err)
	}
	return r
}

// replayed judges a report again from its own record.
func replayed(t *testing.T, in pipeline.Input, r triage.Report) triage.Report {
	t.Helper()
	in.Report, in.Record, in.Observer = r, nil, nil
	rec := &pipeline.Recorded{Trials: r.Trials, Sites: r.Plan.Sites}
	switch r.Plan.Stopped {
	case "budget":
		rec.End = pipeline.ErrBudget
	case "interrupted":
		rec.End = pipeline.ErrInterrupted
	}
	again, err := pipeline.Triage(t.Context(), in, rec)
	if err != nil || rec.Left() > 0 {
		t.Fatalf("replaying: %v, %d trials not asked for", err, rec.Left())
	}
	return again
}

// encoded is the report's JSON, which must be valid and can be read again.
func encoded(t *testing.T, r triage.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Encode(&b, r); err != nil {
		t.Fatal(err)
	}
	if _, err := report.Decode(bytes.NewReader(b.Bytes())); err != nil {
		t.Fatalf("the report does not decode: %v", err)
	}
	return b.String()
}

var errDisk = errors.New("no space left on device")
