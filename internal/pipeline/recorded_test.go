package pipeline_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/triagebot/triagebot/internal/pipeline"
	"github.com/triagebot/triagebot/internal/triage"
)

// worlds is how many random checks the properties are tried on.
const worlds = 40

// stride leads through n places: every one in a few worlds, some in the others.
func stride(seed uint64, n int) int {
	if seed < 4 {
		return 1
	}
	return 1 + n/3
}

func TestAReplayGivesTheSameBytesWhereverTheBudgetEnded(t *testing.T) {
	for seed := range uint64(worlds) {
		in, w := randomCheck(seed)
		whole := triageOf(t, in, w)
		if got, want := encoded(t, replayed(t, in, whole)), encoded(t, whole); got != want {
			t.Fatalf("world %d: replayed to something else:\n%s", seed, cmp.Diff(want, got))
		}
		for at := 0; at < len(whole.Trials); at += stride(seed, len(whole.Trials)) {
			end, stopped := pipeline.ErrBudget, "budget"
			if at%2 == 1 {
				end, stopped = pipeline.ErrInterrupted, "interrupted"
			}
			in, w := randomCheck(seed)
			w.cut, w.at = end, at
			r := triageOf(t, in, w)
			if r.Plan.Stopped != stopped || len(r.Trials) != at || len(r.Verdicts) != len(whole.Verdicts) {
				t.Fatalf("world %d: stopped %q after %d trials of %d with %d verdicts", seed, r.Plan.Stopped, len(r.Trials), at, len(r.Verdicts))
			}
			if got, want := encoded(t, replayed(t, in, r)), encoded(t, r); got != want {
				t.Fatalf("world %d cut at %d: replayed to something else:\n%s", seed, at, cmp.Diff(want, got))
			}
		}
	}
}

func TestAResumedRunEndsAsOneThatWasNotInterrupted(t *testing.T) {
	for seed := range uint64(worlds) {
		in, w := randomCheck(seed)
		whole := triageOf(t, in, w)
		for at := 0; at <= len(whole.Trials); at += stride(seed, len(whole.Trials)) {
			in, w := randomCheck(seed)
			w.done = at
			for _, tr := range whole.Trials[:at] { // the world goes on counting
				if w.of == nil {
					w.of = map[triage.Target]int{}
				}
				w.of[tr.Target]++
			}
			got := triageOf(t, in, &pipeline.Recorded{Trials: whole.Trials[:at], Next: w})
			if diff := cmp.Diff(encoded(t, whole), encoded(t, got)); diff != "" {
				t.Fatalf("world %d resumed after %d trials:\n%s", seed, at, diff)
			}
			if len(w.asked) != len(whole.Trials)-at {
				t.Fatalf("world %d resumed after %d trials ran %d of %d", seed, at, len(w.asked), len(whole.Trials))
			}
		}
	}
}

func TestADivergingRecord(t *testing.T) {
	in, w := check(1, regression)
	whole := triageOf(t, in, w)
	other := append([]triage.Trial{}, whole.Trials...)
	other[3].Arm.Side = 1 - other[3].Arm.Side
	t.Run("is an error when it is all there is", func(t *testing.T) {
		_, err := pipeline.Triage(t.Context(), in, &pipeline.Recorded{Trials: other})
		if !errors.Is(err, pipeline.ErrDiverged) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("is measured anew from there", func(t *testing.T) {
		in, w := check(1, regression)
		w.done, w.of = 3, map[triage.Target]int{target(0): 3}
		got := triageOf(t, in, &pipeline.Recorded{Trials: other, Next: w})
		if diff := cmp.Diff(encoded(t, whole), encoded(t, got)); diff != "" {
			t.Errorf("the report (-want +got):\n%s", diff)
		}
	})
	t.Run("that ends too early is an error", func(t *testing.T) {
		_, err := pipeline.Triage(t.Context(), in, &pipeline.Recorded{Trials: whole.Trials[:3]})
		if !errors.Is(err, pipeline.ErrDiverged) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("that goes on too long is told", func(t *testing.T) {
		rec := &pipeline.Recorded{Trials: append(append([]triage.Trial{}, whole.Trials...), whole.Trials[0])}
		if _, err := pipeline.Triage(t.Context(), in, rec); err != nil || rec.Left() != 1 {
			t.Errorf("error %v, %d left", err, rec.Left())
		}
	})
}

func TestSitesComeFromTheRecordFirst(t *testing.T) {
	own := triage.Site{ID: "own", Line: 7}
	r := &pipeline.Recorded{Sites: map[string]triage.Site{"own": own}}
	if s, ok := r.Site("own"); !ok || s != own {
		t.Errorf("got %+v %v", s, ok)
	}
	if _, ok := r.Site("a.go:F:call:1"); ok {
		t.Error("a site from nowhere")
	}
	r.Next = &world{}
	if s, ok := r.Site("a.go:F:call:1"); !ok || s.Line != 3 {
		t.Errorf("got %+v %v", s, ok)
	}
}

type runnerFunc func(triage.Request) (triage.Trial, error)

func (f runnerFunc) Run(_ context.Context, req triage.Request, _ *triage.LagPlan) (triage.Trial, error) {
	return f(req)
}

func (runnerFunc) Site(string) (triage.Site, bool) { return triage.Site{}, false }

func TestLimited(t *testing.T) {
	ran := 0
	pass := runnerFunc(func(triage.Request) (triage.Trial, error) {
		ran++
		return triage.Trial{Outcome: triage.Pass}, nil
	})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	soon := time.Now().Add(time.Hour)
	for name, tc := range map[string]struct {
		ctx      context.Context
		deadline time.Time
		err      error
		ran      int
	}{
		"in time":                    {t.Context(), soon, nil, 1},
		"too late":                   {t.Context(), time.Now().Add(-time.Second), pipeline.ErrBudget, 0},
		"cancelled":                  {cancelled, soon, pipeline.ErrInterrupted, 0},
		"cancelled and too late too": {cancelled, time.Now().Add(-time.Second), pipeline.ErrInterrupted, 0},
	} {
		t.Run(name, func(t *testing.T) {
			ran = 0
			_, err := pipeline.Limited{Runner: pass, Deadline: tc.deadline}.Run(tc.ctx, triage.Request{}, nil)
			if !errors.Is(err, tc.err) || ran != tc.ran {
				t.Errorf("error %v, ran %d times", err, ran)
			}
		})
	}
}

func TestATrialThatIsCutShortSaysNothing(t *testing.T) {
	for name, want := range map[string]error{"by the budget": pipeline.ErrBudget, "by the user": pipeline.ErrInterrupted} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			deadline := time.Now().Add(time.Hour)
			if want == pipeline.ErrBudget {
				deadline = time.Now().Add(20 * time.Millisecond)
			}
			got, err := pipeline.Limited{Runner: blocking{cancel: cancel, byUser: want == pipeline.ErrInterrupted}, Deadline: deadline}.Run(ctx, triage.Request{}, nil)
			if !errors.Is(err, want) || got.Outcome != triage.Unknown {
				t.Errorf("error %v, outcome %s", err, got.Outcome)
			}
		})
	}
}

// blocking is a trial that is killed when its context ends.
type blocking struct {
	cancel func()
	byUser bool
}

func (b blocking) Run(ctx context.Context, _ triage.Request, _ *triage.LagPlan) (triage.Trial, error) {
	if b.byUser {
		b.cancel()
	}
	<-ctx.Done()
	return triage.Trial{Outcome: triage.Fail}, nil
}

func (blocking) Site(string) (triage.Site, bool) { return triage.Site{}, false }
