package bench

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

var scaling = flag.Bool("scaling", false, "measure what a sweep costs, and the error of the model of docs/scaling.md (make scaling)")

var scalingLarge = flag.Bool("scaling-large", false, "with -scaling, the first two steps over 1,000 tests instead of all over 100")

// costModel is what a sweep costs, read from the report of a small one. All times
// are in milliseconds.
type costModel struct {
	setup float64
	// A unit is a process of the whole suite: a package of Go.
	buildsPerUnit, perBuild float64
	wholesPerUnit, perWhole float64
	alonesPerTest, perAlone float64
	perRun                  float64 // what a run takes beside its process
	// plainPerUnit is a build and a run without lag, cheapPerUnit the first two
	// steps of a sweep: the control and the late doubles.
	plainPerUnit, cheapPerUnit float64
	testsOfUnit                float64
}

// modelOf reads the model from a report. The rest of the wall time, which belongs
// to no build and no process, is shared by the runs.
func modelOf(r triage.Report) costModel {
	units, tests := float64(r.Sweep.Units), float64(r.Sweep.Tests)
	m := costModel{
		setup: r.Cost.SetupMS, buildsPerUnit: float64(r.Cost.Builds) / units, perBuild: r.Cost.BuildMS / float64(r.Cost.Builds),
		testsOfUnit: tests / units,
	}
	var wholes, alones, wholeMS, aloneMS float64
	for i, rung := range r.Sweep.Rungs {
		if rung.Scope == triage.InSuite {
			wholes, wholeMS = wholes+float64(rung.Runs), wholeMS+rung.TrialMS
		} else {
			alones, aloneMS = alones+float64(rung.Runs), aloneMS+rung.TrialMS
		}
		if i == 0 {
			m.plainPerUnit = (rung.WallMS-rung.TrialMS)/units + rung.TrialMS/float64(rung.Runs)
		}
		if i < 2 {
			m.cheapPerUnit += rung.WallMS / units
		}
	}
	m.wholesPerUnit, m.perWhole = wholes/units, wholeMS/wholes
	if alones > 0 {
		m.alonesPerTest, m.perAlone = alones/tests, aloneMS/alones
	}
	m.perRun = (r.Cost.WallMS - r.Cost.SetupMS - r.Cost.BuildMS - wholeMS - aloneMS) / (wholes + alones)
	return m
}

// units are the processes of a suite of so many tests.
func (m costModel) units(tests int) float64 { return math.Ceil(float64(tests) / m.testsOfUnit) }

// all is what a sweep of so many tests costs, with every rung of the ladder.
func (m costModel) all(tests int) time.Duration {
	return inMS(m.setup + m.units(tests)*(m.buildsPerUnit*m.perBuild+m.wholesPerUnit*(m.perWhole+m.perRun)) +
		float64(tests)*m.alonesPerTest*(m.perAlone+m.perRun))
}

// cheap is what its first two steps cost, plain what one run of the suite costs,
// builds included.
func (m costModel) cheap(tests int) time.Duration {
	return inMS(m.setup + m.units(tests)*m.cheapPerUnit)
}
func (m costModel) plain(tests int) time.Duration { return inMS(m.units(tests) * m.plainPerUnit) }

func inMS(x float64) time.Duration { return time.Duration(x * float64(time.Millisecond)) }

// offBy is how far what the model says is from what was measured, in percent.
func offBy(says time.Duration, measuredMS float64) float64 {
	return 100 * (says.Seconds()*1000/measuredMS - 1)
}

// plantedSuite writes a module of packages with ten tests each; a test takes about
// 20 ms and hands a double to a goroutine of the product.
func plantedSuite(t *testing.T, packages int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	files := map[string]string{"go.mod": "module example.com/planted\n\ngo 1.24\n"}
	for p := range packages {
		files[fmt.Sprintf("p%d/p.go", p)] = fmt.Sprintf(`// Package p%d is planted.
package p%d

import "time"

// Store takes a number.
type Store interface{ Put(int) }

// Send puts a number into the store, elsewhere, and tells when it is there.
func Send(s Store, n int) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(20 * time.Millisecond)
		s.Put(n)
	}()
	return done
}
`, p, p)
		var b strings.Builder
		fmt.Fprintf(&b, "package p%d\n\nimport \"testing\"\n\ntype fakeStore struct{ n int }\n\nfunc (f *fakeStore) Put(n int) { f.n = n }\n", p)
		for i := range 10 {
			fmt.Fprintf(&b, "\nfunc TestSend%d(t *testing.T) {\n\tf := &fakeStore{}\n\t<-Send(f, %d)\n\tif f.n != %d {\n\t\tt.Fatal(f.n)\n\t}\n}\n", i, i+1, i+1)
		}
		files[fmt.Sprintf("p%d/p_test.go", p)] = b.String()
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "planted"}} {
		c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=A", "-c", "user.email=a@example.com"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

// sweepOf runs a real sweep and returns its report, and the time on the clock.
func sweepOf(t *testing.T, bin, dir string, env []string, flags ...string) (triage.Report, time.Duration) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	c := exec.CommandContext(ctx, bin, append([]string{"sweep", "-q", "--budget", "50m", "--out", out}, flags...)...)
	c.Dir, c.Env = dir, env
	began := time.Now()
	text, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("sweeping: %v\n%s", err, text)
	}
	took := time.Since(began)
	b, err := os.ReadFile(filepath.Join(out, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r triage.Report
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return r, took
}

// TestScaling fits the model to a sweep of 20 tests, holds it against one of 100,
// and prints the table of docs/scaling.md.
func TestScaling(t *testing.T) {
	if !*scaling {
		t.Skip("run with make scaling")
	}
	bin, env := buildTriagebot(t), checkEnv(t)
	small, smallTook := sweepOf(t, bin, plantedSuite(t, 2), env)
	m := modelOf(small)
	if *scalingLarge {
		compareLarge(t, m, bin, env)
		return
	}
	big, bigTook := sweepOf(t, bin, plantedSuite(t, 10), env)
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("load %s", strings.TrimSpace(string(load)))
	t.Logf("model, in ms: %+v", m)
	for name, x := range map[string]struct {
		r    triage.Report
		took time.Duration
	}{"fitted to": {small, smallTook}, "checked on": {big, bigTook}} {
		all, cheap := m.all(x.r.Sweep.Tests), m.cheap(x.r.Sweep.Tests)
		cheapMS := x.r.Sweep.Rungs[0].WallMS + x.r.Sweep.Rungs[1].WallMS
		t.Logf("%s %d tests in %d packages: all rungs %.1f s, the model says %.1f s, %+.0f %%; control and doubles %.1f s, %.1f s, %+.0f %%; %.1f s with the start of the program",
			name, x.r.Sweep.Tests, x.r.Sweep.Units, x.r.Cost.WallMS/1000, all.Seconds(), offBy(all, x.r.Cost.WallMS),
			cheapMS/1000, cheap.Seconds(), offBy(cheap, cheapMS), x.took.Seconds())
		for _, rung := range x.r.Sweep.Rungs {
			t.Logf("  %s, %s: %d runs of %d tests, %.1f s, of which %.1f s in tests", rung.Name, rung.Scope, rung.Runs, rung.Tests, rung.WallMS/1000, rung.TrialMS/1000)
		}
	}
	for _, n := range []int{100, 1000, 10_000} {
		t.Logf("%d tests: plain suite %.1f min, control and doubles %.1f min, all rungs %.1f min", n,
			m.plain(n).Minutes(), m.cheap(n).Minutes(), m.all(n).Minutes())
	}
	if off := offBy(m.all(100), big.Cost.WallMS); math.Abs(off) > 50 {
		t.Errorf("the model is %+.0f %% off", off) // the machine's load changed meanwhile, or the model is wrong
	}
	if big.Sweep.Tests != 100 || small.Sweep.Tests != 20 {
		t.Errorf("the sweeps saw %d and %d tests, want 20 and 100", small.Sweep.Tests, big.Sweep.Tests)
	}
}

// compareLarge holds the model of the first two steps against 1,000 tests.
func compareLarge(t *testing.T, m costModel, bin string, env []string) {
	r, _ := sweepOf(t, bin, plantedSuite(t, 100), env, "--lag", "doubles", "--budget", "6m")
	load, _ := os.ReadFile("/proc/loadavg")
	var ms float64
	for i, rung := range r.Sweep.Rungs {
		t.Logf("  %s, %s: %d runs of %d tests, %d left, %.1f s, of which %.1f s in tests", rung.Name, rung.Scope, rung.Runs, rung.Tests, rung.Left, rung.WallMS/1000, rung.TrialMS/1000)
		if i < 2 {
			ms += rung.WallMS
		}
	}
	t.Logf("load %s; %d tests in %d packages: control and doubles %.1f s, the model says %.1f s, %+.0f %%",
		strings.TrimSpace(string(load)), r.Sweep.Tests, r.Sweep.Units, ms/1000, m.cheap(1000).Seconds(), offBy(m.cheap(1000), ms))
	if r.Sweep.Tests != 1000 || len(r.Sweep.Rungs) < 2 || r.Sweep.Rungs[1].Left > 0 {
		t.Errorf("the budget did not suffice for %d tests", r.Sweep.Tests)
	}
}

// The arithmetic of the model, on a report that is made up.
func TestModelOfASweep(t *testing.T) {
	r := triage.Report{
		Cost: triage.Cost{WallMS: 16_000, SetupMS: 1000, Builds: 4, BuildMS: 8000},
		Sweep: &triage.Sweep{Tests: 20, Units: 2, Rungs: []triage.SweepRung{
			{Name: "control", Scope: triage.InSuite, Runs: 2, TrialMS: 400, WallMS: 4400},
			{Name: "doubles", Scope: triage.InSuite, Runs: 2, TrialMS: 800, WallMS: 4800},
			{Name: "worker-10", Scope: triage.Alone, Runs: 40, TrialMS: 4000, WallMS: 5000},
		}},
	}
	// 100 tests are 10 units: 1 s, 20 builds of 2 s, 20 whole runs of 300 ms, 200
	// runs alone of 100 ms, and 1800/44 ms beside each of the 220 runs. A plain unit
	// is 2 s of build and 200 ms of tests.
	m, beside := modelOf(r), 1800.0/44/1000
	for name, x := range map[string]struct {
		got  time.Duration
		want float64 // s
	}{
		"its own report":       {m.all(20), 16},
		"all of 100":           {m.all(100), 1 + 40 + 6 + 20 + 220*beside},
		"the first two of 100": {m.cheap(100), 1 + 46},
		"100 plainly":          {m.plain(100), 22},
		"101 plainly":          {m.plain(101), 24.2},
	} {
		if math.Abs(x.got.Seconds()-x.want) > 0.01 {
			t.Errorf("%s: %s, want %.2f s", name, x.got, x.want)
		}
	}
	if off := offBy(8*time.Second, 10_000); math.Abs(off+20) > 1e-6 {
		t.Errorf("8 s for 10 s is %+.0f %% off", off)
	}
}
