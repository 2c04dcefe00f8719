package zzlag

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func planOf(t *testing.T, text string) plan {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := load(path)
	if err != "" {
		t.Fatal(err)
	}
	return p
}

func TestPlanIsRead(t *testing.T) {
	p := planOf(t, `{"version":1,"seed":18446744073709551615,"role":"worker","kinds":["double"],"min_ms":10,"max_ms":20,"cleanup_ms":5}`)
	if p.seed != 1<<64-1 || p.role != workerRole || !p.kinds["double"] || p.min != 10 || p.max != 20 || p.cleanupMS != 5 {
		t.Errorf("read %+v", p)
	}
	if p.hits != defaultHits || p.budgetUS != defaultBudgetMS*1000 || p.timeouts != 1 {
		t.Errorf("the limits that it leaves out are %+v", p)
	}
}

func TestUnreadablePlansAreRefused(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "no JSON": "{", "no object": "[]", "no version": "{}", "later version": `{"version":2}`} {
		path := filepath.Join(t.TempDir(), "plan")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := load(path); err == "" {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestPlanPicksSites(t *testing.T) {
	const double, wake, clock = "f:double:1", "f:wake:1", "f:timeout:1"
	for _, tc := range []struct {
		name, plan string
		want       []string // of double and wake in test code, wake in production code, clock
	}{
		{"nothing asked", `{}`, nil},
		{"a kind", `{"kinds":["wake"]}`, []string{"prod " + wake}},
		{"a kind in test code too", `{"kinds":["wake"],"test_sites":true}`, []string{"test " + wake, "prod " + wake}},
		{"doubles stand in test code by nature", `{"kinds":["double"]}`, []string{"test " + double}},
		{"a site by name", `{"sites":["f:wake:1"]}`, []string{"test " + wake, "prod " + wake}},
		{"a site by name of another kind", `{"sites":["f:wake:1"],"kinds":["double"]}`, nil},
		{"a clock is never delayed", `{"kinds":["timeout"]}`, nil},
		{"a replay is all there is", `{"kinds":["wake"],"decisions":[{"site":"f:double:1","hit":1,"ms":2}]}`, []string{"test " + double}},
	} {
		p := planOf(t, `{"version":1,`+strings.TrimPrefix(strings.Replace(tc.plan, "{}", `{"x":1}`, 1), "{"))
		var got []string
		for _, s := range []struct {
			id   string
			test bool
		}{{double, true}, {wake, true}, {wake, false}, {clock, false}} {
			where := map[bool]string{true: "test ", false: "prod "}[s.test]
			if p.picks(&site{id: s.id, kind: strings.Split(s.id, ":")[1], decisions: p.decisions[s.id]}, s.test) {
				got = append(got, where+s.id)
			}
		}
		if strings.Join(got, ",") != strings.Join(tc.want, ",") {
			t.Errorf("%s: picks %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestPlanNamesFunctions(t *testing.T) {
	const id = "pkg/a.go:(*Registry).Register:call:1"
	for _, tc := range []struct {
		site, id string
		want     bool
	}{
		{id, id, true},
		{"pkg/a.go:(*Registry).Register", id, true},
		{"pkg/a.go:Registry.Register", id, true},
		{"pkg/:Registry.Register", id, true},
		{"pkg/:(*Registry).Register", id, true},
		{"pkg/a.go:Registry.register", id, false},
		{"other/:Registry.Register", id, false},
		{"./:Registry.Register", id, false},
		{"./:run", "a.go:run:call:1", true},
		{"pkg/:run", "pkg/sub/a.go:run:call:1", false},
		{"pkg/a.go:Registry", id, false},
	} {
		p := planOf(t, `{"version":1,"kinds":["call"],"sites":["`+tc.site+`"]}`)
		if got := p.picks(&site{id: tc.id, kind: "call"}, false); got != tc.want {
			t.Errorf("%q picks %s: %v", tc.site, tc.id, got)
		}
		if p.picks(&site{id: strings.Replace(tc.id, ":call:", ":wake:", 1), kind: "wake"}, false) {
			t.Errorf("%q picks a site of a kind that is not asked for", tc.site)
		}
	}
}

func TestProbabilityPicksAShareByTheSeed(t *testing.T) {
	p := plan{kinds: map[string]bool{"wake": true}, probability: 0.3}
	count := func(seed uint64) (n int, which string) {
		p.seed = seed
		for i := 0; i < 1000; i++ {
			if p.picks(&site{kind: "wake", hash: hash(string(rune('a'+i%26)) + strings.Repeat("x", i))}, false) {
				n++
				which += "1"
			} else {
				which += "0"
			}
		}
		return n, which
	}
	n, one := count(1)
	_, again := count(1)
	_, two := count(2)
	if n < 250 || n > 350 || one != again || one == two {
		t.Errorf("picked %d of 1000; the same again %v, another seed the same %v", n, one == again, one == two)
	}
}

func TestDoseIsWithinItsBounds(t *testing.T) {
	p := plan{min: 5, max: 50, seed: 3}
	low, high := 100.0, 0.0
	for hit := int32(1); hit < 500; hit++ {
		d := p.dose(hash("site"), hit)
		if d != p.dose(hash("site"), hit) || d < 5 || d > 50 {
			t.Fatalf("dose %v at hit %d", d, hit)
		}
		if d < low {
			low = d
		}
		if d > high {
			high = d
		}
	}
	if low > 10 || high < 45 {
		t.Errorf("doses are between %v and %v only", low, high)
	}
}

func TestOffIsNothing(t *testing.T) {
	f := &File{Name: "x"}
	P(f, 7)
	if D(f, 7, time.Second) != time.Second || S(f, 7, 1) != 1 || !T(f, 7, time.Time{}).IsZero() {
		t.Error("a clock was changed without a plan")
	}
	ran := false
	W0(f, 7, func() { ran = true })()
	W(f, 7, func(int) {})(1)
	if !ran || f.sites != nil {
		t.Error("the wrapper does not call, or the sites were read")
	}
	if n := testing.AllocsPerRun(100, func() { P(f, 1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkOff(b *testing.B) {
	f := &File{Name: "x"}
	for i := 0; i < b.N; i++ {
		P(f, 1)
	}
}

func TestRoleIsThatOfTheGoroutine(t *testing.T) {
	at := func() int { return roleHere() }
	if got := via(at); got != testRole {
		t.Errorf("the test's own thread is %s", roleNames[got])
	}
	c := make(chan int)
	go func() { c <- via(at) }()
	if got := <-c; got != workerRole {
		t.Errorf("a goroutine is %s", roleNames[got])
	}
	var down func(n int) int
	down = func(n int) int {
		if n == 0 {
			return via(at)
		}
		return down(n - 1)
	}
	if got := down(300); got != testRole {
		t.Errorf("300 frames down the test's own thread is %s", roleNames[got])
	}
}

// via stands for the frames between a lag point and roleHere.
//
//go:noinline
func via(f func() int) int { return f() }

func TestSlowRemoveNamesWhatCameLate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	for _, d := range []string{dir, filepath.Join(dir, "sub")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Error(err)
		}
	}
	write("sub/early")
	old := block
	defer func() { block = old }()
	block = func(time.Duration) { write("sub/late") }
	err := slowRemove(dir, os.RemoveAll)
	if err == nil || err.Error() != "unlinkat "+filepath.Join(dir, "sub")+": directory not empty" {
		t.Errorf("error is %v", err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error("the folder is still there")
	}
	if got := lateNote(dir, []string{filepath.Join(dir, "sub", "late")}); got != "triagebot: written after the test ended: sub/late\n" {
		t.Errorf("note is %q", got)
	}
}
