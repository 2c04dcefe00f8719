package lag

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

// goCaps is what the Go engine is expected to do.
var goCaps = Capabilities{
	Kinds: []triage.Kind{
		triage.KindDouble, triage.KindReturn, triage.KindCall, triage.KindStart,
		triage.KindWake, triage.KindSignal, triage.KindStep,
	},
	Cleanup: true, Yield: true,
}

func mustLadder(t *testing.T, c Capabilities, seed uint64, spec string) []triage.LagPlan {
	t.Helper()
	plans, err := Ladder(c, seed, spec)
	if err != nil {
		t.Fatal(err)
	}
	return plans
}

func names(plans []triage.LagPlan) string {
	var ns []string
	for _, p := range plans {
		ns = append(ns, p.Name)
	}
	return strings.Join(ns, " ")
}

// The ids stand in every report: a change here makes old reports replay
// differently and belongs into the change log.
func TestLadderIsStable(t *testing.T) {
	var got []string
	for _, p := range mustLadder(t, goCaps, 7, "auto") {
		got = append(got, p.ID()+" "+p.Name+": "+Describe(p))
	}
	want := []string{
		"9d8219bec8a5 doubles: workers 400 ms late at double, removal of temporary directories held for 200 ms",
		"0920402dd91a worker-10: workers 10 ms late at double, return, call, start, wake, signal",
		"a6e2ba3452d8 test-50: the test's own thread 50 ms late at double, return, call, start, wake, signal, step",
		"3c2e0b412591 worker-100: workers 100 ms late at double, return, call, start, wake, signal",
		"1a96232f0a1e yield: all threads giving up the processor at double, return, call, start, wake, signal, step",
		"700c0a4b363e cleanup: removal of temporary directories held for 200 ms",
		"eba0f226b693 random-1: all threads 0 to 100 ms late at 30 % of double, return, call, start, wake, signal (seed 8)",
		"b3a19a702667 random-2: all threads 0 to 100 ms late at 30 % of double, return, call, start, wake, signal (seed 9)",
		"3d0512717686 random-3: all threads 0 to 100 ms late at 30 % of double, return, call, start, wake, signal (seed 10)",
		"f9b5a923d0ed random-4: all threads 0 to 100 ms late at 30 % of double, return, call, start, wake, signal (seed 11)",
		"288b198d55c3 random-5: all threads 0 to 100 ms late at 30 % of double, return, call, start, wake, signal (seed 12)",
		"d642a9b7359f all-400: workers 400 ms late at double, return, call, start, wake, signal",
		"24f634c18d3d slow-machine: on 1 processor(s), beside 4 busy loops",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ladder (-want +got):\n%s", diff)
	}
}

func TestPlansAreDistinctAndDosesBounded(t *testing.T) {
	ids := map[string]string{}
	for _, p := range mustLadder(t, goCaps, 1, "") {
		if other, ok := ids[p.ID()]; ok {
			t.Errorf("%s and %s have the same id", other, p.Name)
		}
		ids[p.ID()] = p.Name
		if p.MaxMS < 0 || p.MaxMS > 500 || p.MinMS > p.MaxMS {
			t.Errorf("%s: %g to %g ms", p.Name, p.MinMS, p.MaxMS)
		}
		if len(p.Kinds) > 0 && (p.Hits < 1 || p.Hits > 3 || !p.Yield && p.BudgetMS <= 0) {
			t.Errorf("%s: %d hits, budget %g ms", p.Name, p.Hits, p.BudgetMS)
		}
		if err := checkPlan(p); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

func TestAnotherSeedChangesTheRandomRungsOnly(t *testing.T) {
	a, b := mustLadder(t, goCaps, 1, ""), mustLadder(t, goCaps, 100, "")
	for i := range a {
		if random := strings.HasPrefix(a[i].Name, "random-"); (a[i].ID() == b[i].ID()) == random {
			t.Errorf("%s: ids %s and %s", a[i].Name, a[i].ID(), b[i].ID())
		}
	}
}

func TestLadderKeepsToTheEngine(t *testing.T) {
	for _, tc := range []struct {
		name string
		caps Capabilities
		want string
	}{
		{"nothing", Capabilities{}, "slow-machine"},
		{"clean-up only", Capabilities{Cleanup: true}, "cleanup slow-machine"},
		{"no doubles told apart, no yield", Capabilities{Kinds: []triage.Kind{triage.KindReturn, triage.KindCall}},
			"doubles worker-10 test-50 worker-100 random-1 random-2 random-3 random-4 random-5 all-400 slow-machine"},
		{"calls only", Capabilities{Kinds: []triage.Kind{triage.KindCall}, Yield: true},
			"worker-10 test-50 worker-100 yield random-1 random-2 random-3 random-4 random-5 all-400 slow-machine"},
	} {
		plans := mustLadder(t, tc.caps, 1, "auto")
		if got := names(plans); got != tc.want {
			t.Errorf("%s: rungs %q, want %q", tc.name, got, tc.want)
		}
		for _, p := range plans {
			for _, k := range p.Kinds {
				if !strings.Contains(cmp.Diff(nil, tc.caps.Kinds), string(k)) {
					t.Errorf("%s: rung %s delays at %s", tc.name, p.Name, k)
				}
			}
		}
	}
}

func TestSpecChoosesRungs(t *testing.T) {
	for _, tc := range []struct{ spec, want string }{
		{"off", ""},
		{" auto ", "doubles worker-10 test-50 worker-100 yield cleanup random-1 random-2 random-3 random-4 random-5 all-400 slow-machine"},
		{"yield, doubles,yield", "yield doubles"},
		{"random", "random-1 random-2 random-3 random-4 random-5"},
		{"worker-500,worker-7,worker-10", "worker-500 worker-7 worker-10"},
		{"random-3,random", "random-3 random-1 random-2 random-4 random-5"},
	} {
		if got := names(mustLadder(t, goCaps, 1, tc.spec)); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.spec, got, tc.want)
		}
	}
}

func TestSpecThatCannotBeHadIsAnError(t *testing.T) {
	for spec, want := range map[string]string{
		"worker-011":    `no rung "worker-011"; there are auto, off, random, doubles, worker-10`,
		"worker-2001":   `no rung "worker-2001"`,
		"worker--5":     `no rung "worker--5"`,
		"doubles,":      `no rung ""`,
		"auto,doubles":  `no rung "auto"`,
		"yield,doubles": `"yield" is not to be had with this engine`,
	} {
		_, err := Ladder(Capabilities{Kinds: goCaps.Kinds}, 1, spec)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", spec, err, want)
		}
	}
}

func TestADoseByNumber(t *testing.T) {
	for spec, hits := range map[string]int{"worker-300": ladderHits, "worker-500": 1} {
		p := mustLadder(t, goCaps, 1, spec)[0]
		if p.MinMS != p.MaxMS || p.Hits != hits || p.Role != triage.RoleWorker || len(p.Kinds) == 0 {
			t.Errorf("%s: %+v", spec, p)
		}
		if want := strings.TrimPrefix(spec, "worker-"); strconv.Itoa(int(p.MaxMS)) != want {
			t.Errorf("%s delays by %v ms", spec, p.MaxMS)
		}
	}
	if _, err := Ladder(Capabilities{}, 1, "worker-500"); err == nil {
		t.Error("an engine without any place to delay took worker-500")
	}
}

func TestSinglesDelayOneSiteEach(t *testing.T) {
	seen := []triage.Decision{
		{Site: "a", Kind: triage.KindCall, Role: triage.RoleWorker, Hit: 1, MS: 10},
		{Site: "b", Kind: triage.KindWake, Role: triage.RoleTest, Hit: 1, MS: 10},
		{Site: "a", Kind: triage.KindCall, Role: triage.RoleWorker, Hit: 2, MS: 10},
		{Site: "c", Kind: triage.KindWake, Role: triage.RoleWorker, Hit: 1, MS: 10},
	}
	var got [][]triage.Decision
	for _, p := range Singles(seen, 2) {
		got = append(got, p.Decisions)
	}
	want := [][]triage.Decision{
		{{Site: "a", Kind: triage.KindCall, Role: triage.RoleWorker, MS: 100}},
		{{Site: "b", Kind: triage.KindWake, Role: triage.RoleTest, MS: 100}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("plans (-want +got):\n%s", diff)
	}
	if n := len(Singles(seen, 0)); n != 3 {
		t.Errorf("%d plans without a limit, want 3", n)
	}
}

func TestDescribe(t *testing.T) {
	for _, tc := range []struct {
		plan triage.LagPlan
		want string
	}{
		{triage.LagPlan{}, "no lag"},
		{triage.LagPlan{Decisions: []triage.Decision{{Site: "d.go:f:call:1", MS: 2.3456}}}, "d.go:f:call:1 late by 2.35 ms"},
		{triage.LagPlan{Decisions: []triage.Decision{{Site: "a", MS: 2}, {Site: "b", MS: 3}}, Stretch: triage.Stretch{Timeouts: 50}}, "2 sites late by up to 3 ms, timeouts × 50"},
		{triage.LagPlan{Decisions: []triage.Decision{{Site: "a", Yield: true}}, Stretch: triage.Stretch{Sleeps: 20}}, "processor given up at 1 site(s), sleeps × 20"},
	} {
		if got := Describe(tc.plan); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

// A rung behind known deadlines may not use up the longer ones as well.
func TestBehindDelaysLessThanTheDeadlinesGain(t *testing.T) {
	plans := mustLadder(t, goCaps, 1, "auto")
	plans = append(plans, Singles([]triage.Decision{{Site: "a.go:A:call:1", Kind: triage.KindCall, Hit: 1}}, 0)...)
	for _, p := range plans {
		if b := Behind(p); b.Stretch.Timeouts > 1 && !b.Yield && (b.BudgetMS <= 0 || b.BudgetMS >= b.Stretch.CapMS) {
			t.Errorf("%s: %g ms of delay against deadlines made %g ms longer", b.Name, b.BudgetMS, b.Stretch.CapMS)
		}
	}
}
