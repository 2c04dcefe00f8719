package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/sampletest"
	"github.com/triagebot/triagebot/internal/triage"
)

const samplesDir = "../../testdata/samples"

// oneRed are samples with one red test that ends soon by itself: what a person
// waits for when a fast test is red.
var oneRed = []string{
	"regression", "broken-on-base", "flake", "made-worse", "race-on-base", "race-by-head", "fixed-sleep",
	"two-outcomes", "late-writer", "honest-deadline", "lost-event",
}

// check is one run of triagebot measure as a process.
type check struct {
	wall time.Duration
	// setUp is the time from the start of the process to its first build.
	setUp time.Duration
	// after is the time from the end of the last trial to that of the process.
	after time.Duration
	// peakMB is the largest resident set of the process itself, in MiB; the
	// compilers and tests that it starts are not in it.
	peakMB float64
	report triage.Report
	// wrong is what differs from the sample's expected verdict.
	wrong []string
}

// own is the time that was neither a build nor a test's own, in milliseconds.
func (c check) own() float64 { return ms(c.wall) - c.report.Cost.BuildMS - c.report.Cost.TrialMS }

// extra is what a check took beyond 1.05 times its builds and tests, in milliseconds.
func (c check) extra() float64 {
	return ms(c.wall) - reachRatio*(c.report.Cost.BuildMS+c.report.Cost.TrialMS)
}

// plain reports whether the check ran nothing under lag.
func (c check) plain() bool {
	return !slices.ContainsFunc(c.report.Trials, func(t triage.Trial) bool { return t.Arm.Lag != "" })
}

func buildTriagebot(t testing.TB) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "triagebot")
	cmd := exec.Command("go", "build", "-o", bin, "../../cmd/triagebot")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building triagebot: %v\n%s", err, out)
	}
	return bin
}

// checkEnv is the environment of a check: the machine's build cache, and a cache
// folder and a lock of its own, so that it does not wait for another triagebot's lock.
func checkEnv(t testing.TB) []string {
	t.Helper()
	b, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return append(proc.CleanEnv(os.Environ()), "GOCACHE="+strings.TrimSpace(string(b)), "XDG_CACHE_HOME="+t.TempDir(), "TRIAGEBOT_LOCK="+filepath.Join(t.TempDir(), "lock"),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GOFLAGS=", "GOPROXY=off")
}

// measure runs triagebot on a built sample.
func measure(t testing.TB, bin string, s sampletest.Sample, r sampletest.Repo, env []string) check {
	t.Helper()
	out := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, s.Args(r, out)...)
	cmd.Dir = r.Dir
	cmd.Env = env
	lines, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var c check
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended, peak := make(chan struct{}), make(chan float64)
	go watchPeak(cmd.Process.Pid, ended, peak)
	var said strings.Builder
	for in := bufio.NewScanner(lines); in.Scan(); {
		if c.setUp == 0 && strings.HasPrefix(in.Text(), "building ") {
			c.setUp = time.Since(began)
		}
		fmt.Fprintln(&said, in.Text())
	}
	err = cmd.Wait()
	c.wall = time.Since(began)
	close(ended)
	c.peakMB = <-peak
	if err != nil {
		t.Fatalf("measuring %s: %v\n%s", s.Name, err, said.String())
	}
	b, err := os.ReadFile(filepath.Join(out, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	if c.report, err = report.Decode(bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	if n := len(c.report.Trials); n > 0 {
		last := c.report.Trials[n-1]
		c.after = began.Add(c.wall).Sub(last.Start) - time.Duration(last.DurationMS*1e6)
	}
	a := s.Check(b, r)
	c.wrong = append(a.Wrong, a.Strays...)
	return c
}

// watchPeak reads the high-water mark of a process's memory until it has ended.
// The rusage of a child does not do: it holds the largest of its children too.
func watchPeak(pid int, ended <-chan struct{}, peak chan<- float64) {
	most := 0.0
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if mb, ok := highWater(pid); ok {
			most = max(most, mb)
		}
		select {
		case <-ended:
			peak <- most
			return
		case <-tick.C:
		}
	}
}

// highWater is VmHWM of proc(5) in MiB; not there on other systems than Linux.
func highWater(pid int) (float64, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, false
	}
	_, rest, ok := strings.Cut(string(b), "VmHWM:")
	if !ok {
		return 0, false
	}
	kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	return kb / 1024, err == nil
}

// checks are the runs of one sample; the first, which warms the caches, is not among them.
type checks struct {
	name string
	runs []check
	// said is the verdict of the last run.
	said string
}

func timeChecks(t testing.TB, bin, name string, rounds int) checks {
	t.Helper()
	s, err := sampletest.Load(filepath.Join(samplesDir, name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c, env := checks{name: name}, checkEnv(t)
	for i := range rounds + 1 {
		run := measure(t, bin, s, r, env)
		if i > 0 {
			c.runs = append(c.runs, run)
		}
		for _, w := range run.wrong {
			say(name + ": " + w)
		}
		c.said = run.report.Verdicts[0].Class.String()
	}
	return c
}

func (c checks) each(f func(check) float64) []float64 {
	var xs []float64
	for _, r := range c.runs {
		xs = append(xs, f(r))
	}
	return xs
}
