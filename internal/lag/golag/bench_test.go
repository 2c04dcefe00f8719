package golag

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

var (
	benchRuns = flag.Int("golag.reveal", 0, "measure the reveal of each rung on the corpus with so many runs a test")
	benchOnly = flag.String("golag.rungs", "", "only the rungs whose names hold this")
)

// aRung is a row of the table.
type aRung struct {
	name string
	plan *triage.LagPlan
}

func policy(role triage.Role, ms float64, hits int, kinds ...triage.Kind) triage.LagPlan {
	return triage.LagPlan{Version: 1, Role: role, Kinds: kinds, MinMS: ms, MaxMS: ms, Hits: hits}
}

var workerKinds = []triage.Kind{triage.KindDouble, triage.KindReturn, triage.KindCall, triage.KindStart, triage.KindWake, triage.KindSignal}

func benchRungs() []aRung {
	rungs := []aRung{{"no lag", nil}}
	add := func(name string, p triage.LagPlan) { rungs = append(rungs, aRung{name, &p}) }
	add("double 400", policy(triage.RoleWorker, 400, 3, triage.KindDouble))
	d := policy(triage.RoleWorker, 400, 3, triage.KindDouble)
	d.CleanupMS = 200
	add("double 400 + cleanup 200", d)
	for _, ms := range []float64{10, 50, 100} {
		add(fmt.Sprintf("worker all %g", ms), policy(triage.RoleWorker, ms, 3, workerKinds...))
	}
	for _, k := range workerKinds {
		add("worker "+string(k)+" 50", policy(triage.RoleWorker, 50, 3, k))
	}
	every := append(slices.Clone(workerKinds), triage.KindStep)
	side := policy(triage.RoleTest, 50, 1, every...)
	side.TestSites = true
	add("test side 50", side)
	y := policy(triage.RoleAny, 0, 3, every...)
	y.Yield = true
	add("yield", y)
	y.Hits = 1000
	add("yield, 1000 hits", y)
	for seed := uint64(1); seed <= 5; seed++ {
		r := policy(triage.RoleAny, 0, 3, workerKinds...)
		r.MaxMS, r.Probability, r.Seed, r.TestSites = 100, 0.3, seed, true
		add(fmt.Sprintf("random, seed %d", seed), r)
	}
	add("worker all 400, 1 hit", policy(triage.RoleWorker, 400, 1, workerKinds...))
	return slices.DeleteFunc(rungs, func(r aRung) bool { return !strings.Contains(r.name, *benchOnly) })
}

// corpusTest is one test of the corpus and how to run it.
type corpusTest struct{ dir, bin, name string }

func (c corpusTest) racy() bool { return strings.HasPrefix(c.name, "TestRacy") }

// buildAll builds every test of a tree and lists them.
func buildAll(tree, out string, flags []string) ([]corpusTest, error) {
	args := append([]string{"go", "test", "-c", "-o", out + "/"}, flags...)
	if b, end, err := run(context.Background(), triage.Command{Dir: tree, Argv: append(args, "./...")}); err != nil || end.Exit != 0 {
		return nil, fmt.Errorf("building: %v\n%s", err, b)
	}
	var tests []corpusTest
	bins, err := filepath.Glob(filepath.Join(out, "*.test"))
	if err != nil {
		return nil, err
	}
	for _, bin := range bins {
		b, err := exec.Command(bin, "-test.list", ".").Output()
		if err != nil {
			return nil, err
		}
		dir := filepath.Join(tree, strings.TrimSuffix(filepath.Base(bin), ".test"))
		for name := range strings.FieldsSeq(string(b)) {
			tests = append(tests, corpusTest{dir, bin, name})
		}
	}
	return tests, nil
}

// outcome is one trial of a corpus test.
type outcome struct {
	red    bool
	output string
	log    []triage.Decision
	raw    string
	took   time.Duration
}

// try runs a corpus test under a plan; nil is none.
func try(t testing.TB, c corpusTest, p *triage.LagPlan) outcome {
	t.Helper()
	dir, err := os.MkdirTemp("", "golag")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.bin, "-test.run", "^"+c.name+"$", "-test.timeout", "50s")
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "GORACE=atexit_sleep_ms=0")
	logFile := filepath.Join(dir, "log")
	if p != nil {
		b, _ := json.Marshal(p)
		plan := filepath.Join(dir, "plan")
		if err := os.WriteFile(plan, b, 0o644); err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(cmd.Env, PlanEnv+"="+plan, LogEnv+"="+logFile)
	}
	began := time.Now()
	b, err := cmd.CombinedOutput()
	o := outcome{red: err != nil, output: string(b), took: time.Since(began)}
	raw, _ := os.ReadFile(logFile)
	o.raw = string(raw)
	for line := range bytes.Lines(raw) {
		var d triage.Decision
		if json.Unmarshal(line, &d) == nil && d.Site != "" {
			o.log = append(o.log, d)
		}
	}
	return o
}

// TestRevealOnTheCorpus prints the table of docs/decisions/0004 when asked to.
func TestRevealOnTheCorpus(t *testing.T) {
	if *benchRuns == 0 {
		t.Skip("run with -golag.reveal=N to measure")
	}
	tests := corpusTests(t, func(_, _ string) bool { return true })
	seen := map[string]map[string]int{}
	for _, r := range benchRungs() {
		reds, slowest, mean := measureRung(t, tests, r.plan)
		seen[r.name] = reds
		printRow(tests, r.name, reds, slowest, mean)
	}
	for _, c := range tests {
		if !c.racy() {
			continue
		}
		var by []string
		for _, r := range benchRungs() {
			if n := seen[r.name][c.bin+c.name]; n > 0 {
				by = append(by, fmt.Sprintf("%s %d", r.name, n))
			}
		}
		fmt.Printf("%s.%s: %s\n", filepath.Base(c.dir), c.name, strings.Join(by, "; "))
	}
}

func measureRung(t *testing.T, tests []corpusTest, p *triage.LagPlan) (reds map[string]int, slowest, mean time.Duration) {
	reds = map[string]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan bool, 3)
	n := 0
	for range *benchRuns {
		for _, c := range tests {
			slots <- true
			wg.Go(func() {
				defer func() { <-slots }()
				o := try(t, c, p)
				mu.Lock()
				defer mu.Unlock()
				if o.red {
					reds[c.bin+c.name]++
				}
				slowest, mean, n = max(slowest, o.took), mean+o.took, n+1
			})
		}
	}
	wg.Wait()
	return reds, slowest, mean / time.Duration(n)
}

func printRow(tests []corpusTest, name string, reds map[string]int, slowest, mean time.Duration) {
	var racy, always, runs int
	var honest, wrong []string
	for _, c := range tests {
		n := reds[c.bin+c.name]
		switch {
		case n == 0:
		case c.racy():
			racy++
			runs += n
			if n == *benchRuns {
				always++
			}
		case strings.HasPrefix(c.name, "TestHonest"):
			honest = append(honest, fmt.Sprintf("%d", n))
		default:
			wrong = append(wrong, fmt.Sprintf("%s %d", c.name, n))
		}
	}
	fmt.Printf("| %s | %d | %d | %d | %s | %s | %.2f | %.1f |\n", name, racy, always, runs, strings.Join(honest, " "), strings.Join(wrong, " "), mean.Seconds(), slowest.Seconds())
}
