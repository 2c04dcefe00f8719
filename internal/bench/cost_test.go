package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/triage"
)

const (
	// pairs is how often the bare binary and a trial are run in turn.
	pairs = 60
	// checkTrials is what a plain check takes of trials: mostly 8 to 22.
	checkTrials = 20
)

// pair is a test's bare runs beside its trials, in milliseconds, in turn.
type pair struct {
	test        corpusTest
	bare, trial []float64
}

// sums are the wall times of all bare runs and of all trials.
func (p pair) sums() (bare, trial float64) {
	for i := range p.bare {
		bare, trial = bare+p.bare[i], trial+p.trial[i]
	}
	return bare, trial
}

// overheads are the differences, pair by pair.
func (p pair) overheads() []float64 {
	d := make([]float64, len(p.bare))
	for i := range d {
		d[i] = p.trial[i] - p.bare[i]
	}
	return d
}

// extras are what each checkTrials trials in a row took beyond 1.05 times their
// bare runs, in milliseconds.
func (p pair) extras() []float64 {
	var out []float64
	for i := 0; i+checkTrials <= len(p.bare); i += checkTrials {
		bare, trial := pair{bare: p.bare[i : i+checkTrials], trial: p.trial[i : i+checkTrials]}.sums()
		out = append(out, trial-reachRatio*bare)
	}
	return out
}

// bareRun starts the binary as a person would and waits for it.
func bareRun(t testing.TB, bin string, c corpusTest, tmp string) time.Duration {
	t.Helper()
	cmd := exec.Command(bin, "-test.run=^"+c.name+"$", "-test.count=1", "-test.v")
	cmd.Dir = filepath.Join(corpusDir, c.pkg)
	cmd.Env = append(proc.CleanEnv(os.Environ()), "TMPDIR="+tmp)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(began)
	if err != nil {
		t.Fatalf("%s: %v\n%s", c, err, out)
	}
	return took
}

// cost runs a green test bare and as a trial, in turn; who is first changes.
func (l *lab) cost(t testing.TB, c corpusTest, bin string) pair {
	t.Helper()
	l.build(t, c)
	tmp := t.TempDir()
	p := pair{test: c}
	trial := func() {
		began := time.Now()
		if tr := l.try(t, c, nil); tr.Outcome != triage.Pass {
			t.Fatalf("%s: %s\n%s", c, tr.Outcome, tr.Output)
		}
		p.trial = append(p.trial, ms(time.Since(began)))
	}
	for i := range pairs {
		if i%2 == 0 {
			trial()
		}
		p.bare = append(p.bare, ms(bareRun(t, bin, c, tmp)))
		if i%2 == 1 {
			trial()
		}
	}
	return p
}

// builds are the times of a package's builds with a warm build cache, and of the
// way from the end of a build to the start of the first trial, in milliseconds.
type builds struct{ plain, lagged, gap []float64 }

// timeBuilds builds a package anew so often, each time for new runners, plainly
// and for lag. The first round warms the cache and does not count.
func timeBuilds(t testing.TB, c corpusTest, rounds int) builds {
	t.Helper()
	var b builds
	for i := range rounds + 1 {
		l := newLab(t)
		began := time.Now()
		tr := l.try(t, c, nil)
		plain := l.Stats().BuildMS
		gap := ms(tr.Start.Sub(began)) - plain
		l.try(t, c, l.plan(t, "yield"))
		lagged := l.Stats().BuildMS - plain
		if i > 0 {
			b.plain, b.lagged, b.gap = append(b.plain, plain), append(b.lagged, lagged), append(b.gap, gap)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// median is the middle value; of an even number the mean of the two.
func median(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(xs))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

func TestMedian(t *testing.T) {
	for want, xs := range map[float64][]float64{0: nil, 3: {9, 3, 1}, 2.5: {4, 1, 2, 3}} {
		if got := median(xs); got != want {
			t.Errorf("the median of %v is %v, want %v", xs, got, want)
		}
	}
}
