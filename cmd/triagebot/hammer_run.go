package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
)

// hammerer repeats one test in several lanes.
type hammerer struct {
	plan   hammerPlan
	target triage.Target
	run    *rerun.Runner
	// record keeps a finished trial, whose number is set.
	record func(triage.Trial) error
	p      *progress
}

// oddAtFirst is how many runs without a result at the very beginning end the
// hammering: the test is not there, or cannot be run.
const oddAtFirst = 3

// request is the run with a seed.
func (h *hammerer) request(seed int64) triage.Request {
	r := triage.Request{Target: h.target, Arm: triage.Arm{Scope: h.plan.Scope}, Purpose: triage.Measure, Seed: seed}
	if h.plan.Lag != nil {
		r.Arm.Lag = h.plan.Lag.ID()
	}
	return r
}

// hammer makes the runs that done does not have, and adds them to the tally. An
// interrupt ends it without an error, with stopped set.
func (h *hammerer) hammer(ctx context.Context, tally *hammerTally, done map[int64]bool) (stopped bool, err error) {
	if err := h.run.Prepare(ctx, h.request(h.plan.Seed), h.plan.Lag); err != nil {
		if ctx.Err() != nil {
			return true, nil
		}
		return false, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopLoad, err := rerun.Load(ctx, h.plan.Load)
	if err != nil {
		return false, err
	}
	defer stopLoad()
	trials, failed, wait, err := h.lanes(ctx, h.seeds(done))
	if err != nil {
		return false, err
	}
	seq, began := len(done), time.Now()
	for t := range trials {
		seq++
		t.Seq = seq
		slim(&t)
		if err = h.record(t); err != nil {
			break
		}
		tally.add(t)
		if tally.runs == 0 && tally.odd >= min(oddAtFirst, h.plan.N) {
			err = fmt.Errorf("hammering %s: no run has a result: %s", h.target, harmless(tally.note))
			break
		}
		h.tell(tally, began, seq-len(done), h.plan.N-len(done))
	}
	interrupted := ctx.Err() != nil
	cancel()
	for range trials { // the lanes must not wait for a reader
	}
	wait()
	if err == nil {
		err = *failed
	}
	return interrupted && err == nil, err
}

// seeds are those that are left.
func (h *hammerer) seeds(done map[int64]bool) []int64 {
	var out []int64
	for i := range int64(h.plan.N) {
		if s := h.plan.Seed + i; !done[s] {
			out = append(out, s)
		}
	}
	return out
}

// lanes starts the lanes. The channel is closed when all have ended; failed is the
// first error of one, set then.
func (h *hammerer) lanes(ctx context.Context, seeds []int64) (trials chan triage.Trial, failed *error, wait func(), err error) {
	var group sync.WaitGroup
	var once sync.Once
	next := make(chan int64)
	trials, failed = make(chan triage.Trial), new(error)
	ctx, cancel := context.WithCancel(ctx)
	for i := range min(h.plan.Jobs, max(1, len(seeds))) {
		lane, err := h.run.Lane(strconv.Itoa(i + 1))
		if err != nil {
			cancel()
			return nil, nil, nil, err
		}
		group.Go(func() {
			for seed := range next {
				t, err := lane.Run(ctx, h.request(seed), h.plan.Lag)
				if err != nil {
					if !errors.Is(err, context.Canceled) {
						once.Do(func() { *failed = err })
					}
					cancel()
					return
				}
				trials <- t
			}
		})
	}
	go func() {
		defer close(next)
		for _, s := range seeds {
			select {
			case next <- s:
			case <-ctx.Done():
				return
			}
		}
	}()
	go func() {
		group.Wait()
		cancel()
		close(trials)
	}()
	return trials, failed, group.Wait, nil
}

// slim drops what a journal of thousands of runs has no use for.
func slim(t *triage.Trial) {
	t.Decisions, t.Stretched = nil, nil
	if !t.Outcome.Red() {
		t.Output = ""
	}
}

// tell shows how far it is: always on a terminal, else twenty times in all.
func (h *hammerer) tell(tally *hammerTally, began time.Time, n, of int) {
	if step := max(1, of/20); !h.p.live && n%step != 0 && n != of {
		return
	}
	each := time.Since(began) / time.Duration(n)
	h.p.Say("run %d of %d: %d red; %.0f runs a second, %s left", n, of, tally.red, 1/max(each.Seconds(), 1e-6), (each * time.Duration(of-n)).Round(time.Second))
}
