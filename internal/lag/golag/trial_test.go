package golag

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

// A handful of the corpus stands here for the whole that -golag.reveal measures.

func TestDoublesRevealAttemptAgainstOutcome(t *testing.T) {
	p := policy(triage.RoleWorker, 400, 3, triage.KindDouble)
	for _, c := range []corpusTest{one(t, "dispatch", "TestRacyPollAttempt"), one(t, "mirror", "TestRacyMockHasKey"), one(t, "errg", "TestRacyLoadOnce")} {
		if o := try(t, c, &p); !o.red || len(o.log) == 0 {
			t.Errorf("%s is not red:\n%s%s", c.name, o.output, o.raw)
		}
	}
}

func TestCorrectTestsStayGreen(t *testing.T) {
	every := append(slices.Clone(workerKinds), triage.KindStep)
	side := policy(triage.RoleTest, 5, 1, every...)
	side.TestSites = true
	yield := policy(triage.RoleAny, 0, 100, every...)
	yield.Yield = true
	plans := map[string]triage.LagPlan{
		"worker": policy(triage.RoleWorker, 20, 2, every...), "test side": side, "yield": yield,
		"any": policy(triage.RoleAny, 10, 2, every...),
	}
	tests := corpusTests(t, func(_, n string) bool { return strings.HasPrefix(n, "TestOk") })
	slots := make(chan bool, 8) // they mostly sleep
	var wg sync.WaitGroup
	for name, p := range plans {
		p.CleanupMS = 20
		for _, c := range tests {
			slots <- true
			wg.Go(func() {
				defer func() { <-slots }()
				if o := try(t, c, &p); o.red {
					t.Errorf("%s: %s is red:\n%s", name, c.name, o.output)
				}
			})
		}
	}
	wg.Wait()
}

func TestSynctestClockStandsStill(t *testing.T) {
	p := policy(triage.RoleAny, 40, 3, append(slices.Clone(workerKinds), triage.KindStep)...)
	p.TestSites = true
	for _, c := range corpusTests(t, func(pkg, _ string) bool { return pkg == "bubble" }) {
		o := try(t, c, &p)
		if o.red || len(o.log) < 3 {
			t.Errorf("%s is red, or was delayed %d times only:\n%s", c.name, len(o.log), o.output)
		}
	}
}

func TestHotLoopStaysFast(t *testing.T) {
	c := one(t, "hot", "TestOkHot") // 200,000 values through an unbuffered channel
	plain := try(t, c, nil)
	for _, role := range []triage.Role{triage.RoleWorker, triage.RoleTest} {
		p := policy(role, 1, 3, append(slices.Clone(workerKinds), triage.KindStep)...)
		o := try(t, c, &p)
		t.Logf("no lag %v, role %s %v", plain.took, role, o.took)
		if o.red || o.took > plain.took+2*time.Second {
			t.Errorf("role %s: %v against %v\n%s", role, o.took, plain.took, o.output)
		}
	}
}

func TestReplayTakesTheSameDecisions(t *testing.T) {
	c := one(t, "dispatch", "TestOkJoin") // every site is passed equally often each time
	p := policy(triage.RoleAny, 2, 2, workerKinds...)
	p.MaxMS, p.Seed, p.Probability = 6, 7, 0.7
	first := try(t, c, &p)
	if first.red || len(first.log) == 0 {
		t.Fatalf("nothing was delayed:\n%s", first.output)
	}
	again := triage.LagPlan{Version: 1, Decisions: first.log}
	if d := cmp.Diff(sortedLog(first.log), sortedLog(try(t, c, &again).log)); d != "" {
		t.Errorf("decisions (-first +replayed):\n%s", d)
	}
	second := doses(try(t, c, &p).log)
	for hit, ms := range doses(first.log) {
		if again, ok := second[hit]; ok && again != ms {
			t.Errorf("the same seed delays %+v by %v ms, then by %v ms", hit, ms, again)
		}
	}
}

func sortedLog(ds []triage.Decision) []triage.Decision {
	s := slices.Clone(ds)
	slices.SortFunc(s, func(a, b triage.Decision) int {
		return strings.Compare(a.Site+string(a.Role)+string(rune(a.Hit)), b.Site+string(b.Role)+string(rune(b.Hit)))
	})
	return s
}

// doses are the delays by site, role and hit.
func doses(ds []triage.Decision) map[triage.Decision]float64 {
	m := map[triage.Decision]float64{}
	for _, d := range ds {
		m[triage.Decision{Site: d.Site, Role: d.Role, Hit: d.Hit}] = d.MS
	}
	return m
}

func TestReplayOfEveryHitKeepsToTheRole(t *testing.T) {
	c := one(t, "dispatch", "TestRacyPollAttempt")
	const site = "dispatch/dispatch.go:(*Dispatcher).handle:return:2"
	p := triage.LagPlan{Version: 1, Decisions: []triage.Decision{{Site: site, Role: triage.RoleWorker, MS: 100}}}
	o := try(t, c, &p)
	want := []triage.Decision{{Site: site, Kind: triage.KindReturn, Role: triage.RoleWorker, Hit: 1, MS: 100}}
	if !o.red || cmp.Diff(want, o.log) != "" {
		t.Errorf("red %v, decisions (-want +got):\n%s", o.red, cmp.Diff(want, o.log))
	}
	p.Decisions[0].Role = triage.RoleTest
	if o := try(t, c, &p); len(o.log) != 0 {
		t.Errorf("the test's own thread never passes there, but: %v", o.log)
	}
}

func TestStretchSavesTheHonestDeadline(t *testing.T) {
	c := one(t, "honest", "TestHonestTimeout200")
	p := policy(triage.RoleWorker, 100, 3, triage.KindDouble)
	if o := try(t, c, &p); !o.red {
		t.Fatalf("three delays of 100 ms do not exceed 200 ms:\n%s", o.output)
	}
	p.Stretch = triage.Stretch{Timeouts: 50, CapMS: 5000}
	const clock = "honest/h_test.go:TestHonestTimeout200:timeout:1"
	o := try(t, c, &p)
	if o.red || strings.Count(o.raw, `{"stretched":"`+clock+`"}`+"\n") != 1 {
		t.Errorf("stretched and still red, or not told:\n%s%s", o.output, o.raw)
	}
	p.Stretch.Sites = []string{"elsewhere"}
	if o := try(t, c, &p); !o.red || strings.Contains(o.raw, "stretched") {
		t.Errorf("a clock that the plan does not name was stretched:\n%s", o.raw)
	}
}

func TestStretchLengthensSleeps(t *testing.T) {
	c := one(t, "sleepy", "TestRacySleep20ms")
	p := triage.LagPlan{Version: 1, Decisions: []triage.Decision{{Site: "sleepy/s.go:(*Svc).run:wake:1", MS: 60}}}
	if o := try(t, c, &p); !o.red {
		t.Fatal("60 ms late and 20 ms waited, but green")
	}
	p.Stretch.Sleeps = 20
	if o := try(t, c, &p); o.red {
		t.Errorf("the sleep of 400 ms is too short:\n%s", o.output)
	}
}

func TestLateWriterIsNamed(t *testing.T) {
	c := one(t, "tmpdir", "TestRacyCloseThenCleanup")
	p := policy(triage.RoleWorker, 30, 3, triage.KindStart)
	p.CleanupMS = 300
	o := try(t, c, &p)
	_, note, named := strings.Cut(o.output, LateNote)
	if !o.red || !named || !strings.Contains(note, "001/") || !strings.Contains(o.output, ": directory not empty\n") {
		t.Errorf("the late file is not named:\n%s", o.output)
	}
	i := slices.IndexFunc(o.log, func(d triage.Decision) bool { return d.Kind == triage.KindCleanup })
	if i < 0 || o.log[i].Site != CleanupSite || o.log[i].MS != 300 {
		t.Errorf("decisions are %v", o.log)
	}
	again := triage.LagPlan{Version: 1, Decisions: o.log}
	if o := try(t, c, &again); !o.red || !strings.Contains(o.output, LateNote) {
		t.Errorf("the replay does not find it:\n%s", o.output)
	}
	if o := try(t, one(t, "tmpdir", "TestOkCloseWait"), &p); o.red {
		t.Errorf("the correct twin is red:\n%s", o.output)
	}
}

func TestBadPlanStopsTheProcess(t *testing.T) {
	p := triage.LagPlan{Version: 99}
	o := try(t, one(t, "order", "TestOkCancelled"), &p)
	if !o.red || !strings.Contains(o.output, "triagebot lag: plan") {
		t.Errorf("a plan of version 99 was carried out:\n%s", o.output)
	}
}
