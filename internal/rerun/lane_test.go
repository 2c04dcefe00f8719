package rerun

import (
	"sync"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestLanesShareABuildAndKeepTheirLeftoversApart(t *testing.T) {
	b := newBench(t, nil)
	leave, pass := request(triage.Head, "odd", "TestLeaveFile"), request(triage.Head, "odd", "TestPass")
	if err := b.Runner.Prepare(t.Context(), pass, nil); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	got := make([][]triage.Trial, 4)
	lanes := make([]*Runner, len(got))
	for i := range got {
		lane, err := b.Runner.Lane(string(rune('a' + i)))
		if err != nil {
			t.Fatal(err)
		}
		lanes[i] = lane
		req := []triage.Request{leave, pass}[i%2]
		group.Go(func() {
			for range 5 {
				tr, err := lane.Run(t.Context(), req, nil)
				if err != nil {
					t.Error(err)
					return
				}
				got[i] = append(got[i], tr)
			}
		})
	}
	group.Wait()
	for i, trials := range got {
		for _, tr := range trials {
			if want := 1 - i%2; tr.Outcome != triage.Pass || len(tr.Leftovers) != want {
				t.Errorf("lane %d: %s, leftovers %v, want %d", i, tr.Outcome, tr.Leftovers, want)
			}
		}
		if s := lanes[i].Stats(); s.Builds != 0 {
			t.Errorf("lane %d built %d times", i, s.Builds)
		}
	}
	if s := b.Runner.Stats(); s.Builds != 1 {
		t.Errorf("%d builds, want 1", s.Builds)
	}
}
