package bench

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
)

const (
	// fixedRuns is the number of plain re-runs that people settle for.
	fixedRuns = 40
	// burners is the number of busy loops beside the burnt re-runs: twice the
	// cores, as the ladder's own slow machine has.
	burners = 4
)

// search is how one way of looking for a red went.
type search struct {
	red  bool
	runs int
	wall time.Duration
	// rung is the ladder's rung that was red.
	rung string
}

// climbToRed goes up the ladder, one trial a rung, until one is red.
func (l *lab) climbToRed(t testing.TB, c corpusTest) search {
	t.Helper()
	var s search
	began := time.Now()
	for i := range l.ladder {
		s.runs++
		if l.try(t, c, &l.ladder[i]).Outcome.Red() {
			s.red, s.rung = true, l.ladder[i].Name
			break
		}
	}
	s.wall = time.Since(began)
	return s
}

// rerunPlainly runs the test without lag until it is red, and at most for so
// long or so often. The last trial may end after the time is over.
func (l *lab) rerunPlainly(t testing.TB, c corpusTest, within time.Duration, runs int) search {
	t.Helper()
	var s search
	began := time.Now()
	for !s.red && (runs == 0 || s.runs < runs) && (within == 0 || time.Since(began) < within) {
		s.red = l.try(t, c, nil).Outcome.Red()
		s.runs++
	}
	s.wall = time.Since(began)
	return s
}

// rerunBurnt is rerunPlainly beside busy loops.
func (l *lab) rerunBurnt(t testing.TB, c corpusTest, within time.Duration) search {
	t.Helper()
	stop := burn(t)
	defer stop()
	return l.rerunPlainly(t, c, within, 0)
}

// burn starts busy loops; stop ends them.
func burn(t testing.TB) (stop func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var all []*exec.Cmd
	for range burners {
		c := exec.CommandContext(ctx, self, rerun.BurnArg)
		if _, err := c.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return func() {
		cancel()
		for _, c := range all {
			_ = c.Wait()
		}
	}
}

// bareBuild builds a package's ordinary test binary by hand.
func bareBuild(t testing.TB, c corpusTest) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), c.pkg+".test")
	cmd := exec.Command("go", "test", "-c", "-o", bin, "./"+c.pkg)
	cmd.Dir = corpusDir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", c.pkg, err, out)
	}
	return bin
}

// repeatInProcess has the bare binary repeat the test in one process, as go test
// -count does, for so long: the cheapest re-run there is. A leak of one round
// meets the next, and the processes' start is never tried.
func repeatInProcess(t testing.TB, bin string, c corpusTest, within time.Duration) search {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "-test.run=^"+c.name+"$", "-test.count="+strconv.Itoa(1<<30), "-test.failfast", "-test.timeout=0")
	cmd.Dir = filepath.Join(corpusDir, c.pkg)
	cmd.Env = append(proc.CleanEnv(os.Environ()), "TMPDIR="+t.TempDir())
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, time.Second
	began := time.Now()
	_ = cmd.Run() // killed, or red: the output tells
	return search{red: bytes.Contains(out.Bytes(), []byte("--- FAIL: "+c.name)) || bytes.Contains(out.Bytes(), []byte("panic: ")), wall: time.Since(began)}
}

// row is one round of one racy test: the ladder, and what the others do in its time.
type row struct {
	test                              corpusTest
	ladder, plain, fixed, burnt, loop search
}

func (l *lab) reveal(t testing.TB, c corpusTest, bin string) row {
	t.Helper()
	l.build(t, c)
	r := row{test: c, ladder: l.climbToRed(t, c)}
	r.plain = l.rerunPlainly(t, c, r.ladder.wall, 0)
	r.fixed = l.rerunPlainly(t, c, 0, fixedRuns)
	r.burnt = l.rerunBurnt(t, c, r.ladder.wall)
	r.loop = repeatInProcess(t, bin, c, r.ladder.wall)
	return r
}

// falseReds runs a test once under every rung and returns the rungs that were red.
func (l *lab) falseReds(t testing.TB, c corpusTest) (reds []hit, runs int) {
	t.Helper()
	l.build(t, c)
	for i := range l.ladder {
		tr := l.try(t, c, &l.ladder[i])
		runs++
		if tr.Outcome.Red() {
			reds = append(reds, hit{&l.ladder[i], tr})
		}
	}
	return reds, runs
}

// calledRace reports whether a cause says that a correct test has a race. That
// it cannot tell, or that a time budget was met, is no such claim.
func calledRace(c *triage.Cause) bool {
	return c.Kind != triage.CauseUnstable && c.Kind != triage.CauseTimeBudget && c.Kind != triage.CauseSlowMachine
}
