package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

// TestSweepBench measures what a sweep costs beside the plain suite and how right
// its findings are, for docs/sweep.md. It takes minutes: "make sweep-bench".
func TestSweepBench(t *testing.T) {
	which := os.Getenv("TRIAGEBOT_SWEEP_BENCH")
	if which == "" {
		t.Skip("it takes minutes: run make sweep-bench")
	}
	if strings.Contains(which, "python") {
		t.Run("python", benchPython)
	}
	if strings.Contains(which, "go") {
		t.Run("go", benchGo)
	}
}

// slowTests is a file of correct tests that wait for real work, as those of the
// suites that this is for do: the corpus alone is over in a second.
const slowTests = `import threading
import time
from tests.fakes import FakeTmux, until
from shop.core import Dispatcher, EventLog, Registry


def work(pause):
    r = Registry()
    d = Dispatcher(FakeTmux(), r, EventLog())
    done = threading.Event()
    t = threading.Thread(target=lambda: (time.sleep(pause), d.submit("a"), done.set()))
    t.start()
    assert done.wait(60)
    until(lambda: r.get("a") == "pane-a", timeout=60)
    t.join()

`

// pythonSuite is the corpus of the Python engine with correct slow tests beside it,
// 91 in all.
func pythonSuite(t *testing.T) string {
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "internal", "lag", "pylag", "testdata", "corpus"))))
	var b strings.Builder
	b.WriteString(slowTests)
	for i := range 32 {
		fmt.Fprintf(&b, "\ndef test_slow_%d():\n    work(%.2f)\n", i, 0.5+0.02*float64(i))
	}
	must(t, os.WriteFile(filepath.Join(dir, "tests", "test_slow.py"), []byte(b.String()), 0o644))
	commitAll(t, dir)
	return dir
}

func commitAll(t *testing.T, dir string) {
	t.Helper()
	script := `git init -q -b main && git add -A && git -c user.name=a -c user.email=a@example.com commit -q -m all`
	c := exec.Command("sh", "-c", script)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func benchPython(t *testing.T) {
	python := os.Getenv("TRIAGEBOT_TEST_PYTHON")
	if python == "" {
		t.Skip("there is no interpreter with pytest: run make python-env")
	}
	dir := pythonSuite(t)
	t.Setenv("PATH", filepath.Dir(python)+string(os.PathListSeparator)+os.Getenv("PATH"))
	r := sweepHere(t, dir, "--budget", benchBudget(), "--", python, "-m", "pytest")
	tellCost(t, r)
	var truth struct {
		Racy, Correct, Honest []struct{ File, Test string }
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "internal", "lag", "pylag", "testdata", "truth.json"))
	must(t, err)
	must(t, json.Unmarshal(text, &truth))
	racy, honest := map[string]bool{}, map[string]bool{}
	for _, x := range truth.Racy {
		racy[x.Test] = true
	}
	for _, x := range truth.Honest {
		honest[x.Test] = true
	}
	tellTruth(t, r, func(x triage.Target) string {
		switch {
		case x.Package != "tests/test_correct.py" && racy[x.Test]:
			return "racy"
		case honest[x.Test] && strings.Contains(x.Package, "honest"):
			return "honest"
		}
		return "correct"
	})
}

// benchGo sweeps packages of this repository: nothing is planted in them.
func benchGo(t *testing.T) {
	top, err := filepath.Abs(filepath.Join("..", ".."))
	must(t, err)
	dir := t.TempDir()
	c := exec.Command("sh", "-c", `git -C "$0" archive HEAD | tar -x -C "$1"`, top, dir)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	commitAll(t, dir)
	pkgs := []string{"./internal/classify", "./internal/stats", "./internal/triage", "./internal/config", "./internal/slash", "./internal/lag",
		"./internal/pipeline", "./internal/publish", "./internal/report", "./internal/history", "./internal/gh"}
	argv := append([]string{"go", "test", "-short", "-count=1"}, pkgs...)
	plain := exec.Command(argv[0], argv[1:]...)
	plain.Dir = dir
	began := time.Now()
	out, err := plain.CombinedOutput()
	t.Logf("go test -short of %d packages: %.1f s (%v)", len(pkgs), time.Since(began).Seconds(), err)
	if err != nil {
		t.Logf("%s", out)
	}
	r := sweepHere(t, dir, append([]string{"--lag", "doubles", "--budget", benchBudget(), "--"}, argv...)...)
	tellCost(t, r)
	tellTruth(t, r, func(triage.Target) string { return "nothing planted" })
}

func benchBudget() string {
	if b := os.Getenv("TRIAGEBOT_SWEEP_BUDGET"); b != "" {
		return b
	}
	return "15m"
}

func sweepHere(t *testing.T, dir string, args ...string) triage.Report {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	out := filepath.Join(t.TempDir(), "out")
	code := execute(t.Context(), append([]string{"sweep", "--repo", dir, "--out", out}, args...), streams{in: strings.NewReader(""), out: &strings.Builder{}, err: os.Stderr})
	if code != exitOK {
		t.Fatalf("exit code %d", code)
	}
	r, err := readReportFile(filepath.Join(out, reportFile))
	must(t, err)
	return r
}

// tellCost sets a rung over the whole suite against one plain run of it.
func tellCost(t *testing.T, r triage.Report) {
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("%d tests, load %s", r.Sweep.Tests, strings.TrimSpace(string(load)))
	control := r.Sweep.Rungs[0]
	perRun := control.TrialMS / float64(control.Runs) * float64(r.Sweep.Units)
	for _, g := range r.Sweep.Rungs {
		t.Logf("| %s | %s | %d | %d | %.1f s | %.1f s | %.2f |", g.Name, g.Scope, g.Tests, g.Runs, g.TrialMS/1000, g.WallMS/1000, g.TrialMS/perRun)
	}
	t.Logf("one plain run: %.1f s; all %.0f s, %d trials", perRun/1000, r.Cost.WallMS/1000, r.Cost.Trials)
}

// tellTruth counts what was said of each kind of test.
func tellTruth(t *testing.T, r triage.Report, kind func(triage.Target) string) {
	counts := map[string]int{}
	for _, v := range r.Verdicts {
		said := v.Class.String()
		if v.Class == triage.Inconclusive {
			said = string(v.Reasons[0])
			if v.Cause != nil {
				said = "confirmed, " + said
			}
		}
		counts[kind(v.Target)+": "+said]++
		t.Logf("%s: %s, %s", kind(v.Target), said, v.Target)
	}
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%d %s", counts[k], k)
	}
}
