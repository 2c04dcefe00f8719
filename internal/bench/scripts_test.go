package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/framework/pytest"
	"github.com/triagebot/triagebot/internal/framework/vitest"
	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/lag/lagtest"
	"github.com/triagebot/triagebot/internal/lag/nodelag"
	"github.com/triagebot/triagebot/internal/lag/pylag"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
)

const scriptsPage = "../../docs/benchmarks-scripts.md"

// scriptLang is one of the languages that are measured on this page.
type scriptLang struct {
	name, framework, corpus string
	lab                     func(t testing.TB) *lagtest.Lab
	// cost is what an instrumented process pays, in its own words.
	cost func(t testing.TB) []costRow
}

// scriptRow is one racy test, looked at in every way.
type scriptRow struct {
	c                    lagtest.Racy
	ladder, plain, burnt search
	cause                *triage.Cause
	probes               int
}

// scriptResult is what was measured of one language.
type scriptResult struct {
	lang                      scriptLang
	rows                      []scriptRow
	correctTests, correctRuns int
	correctReds               []string
	honestRuns, honestReds    int
	honestSaid                map[string]int
	calledRace                []string
	costs                     []costRow
	began                     time.Time
	took                      time.Duration
	load                      [2]string
}

// costRow is one figure of a language's own cost.
type costRow struct{ what, reach, measured string }

var scriptLangs = []scriptLang{
	{"Python", pytest.Name, "internal/lag/pylag/testdata/corpus", pythonLab, pythonCost},
	{"Node", vitest.Name, "internal/lag/nodelag/testdata/corpus", nodeLab, nodeCost},
}

// TestBenchScripts measures the promises of Python and Node, language by language.
func TestBenchScripts(t *testing.T) {
	if !*table {
		t.Skip("run with -bench-table to measure")
	}
	var all []scriptResult
	for _, lang := range scriptLangs {
		r := scriptResult{lang: lang, honestSaid: map[string]int{}, began: time.Now()}
		r.load[0] = load()
		l := lang.lab(t)
		known, err := lagtest.ReadTruth(filepath.Join("..", "..", filepath.Dir(lang.corpus), "truth.json"))
		if err != nil {
			t.Fatal(err)
		}
		for range *rounds {
			r.measureRacy(l, known.Racy)
			r.measureFalse(l, known)
		}
		r.costs = lang.cost(t)
		r.took, r.load[1] = time.Since(r.began), load()
		all = append(all, r)
	}
	text := scriptsText(all, *rounds)
	fmt.Println(text)
	if *write {
		if err := os.WriteFile(scriptsPage, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// measureRacy goes test by test, so that a change of the machine's load meets all
// ways of looking alike.
func (r *scriptResult) measureRacy(l *lagtest.Lab, racy []lagtest.Racy) {
	for _, c := range racy {
		t := l.Target(c.File, c.Test)
		l.Try(t, nil) // what is prepared once is not timed
		l.Try(t, l.Plan("yield"))
		row := scriptRow{c: c}
		began := time.Now()
		plan, red, runs := l.Reveal(t, l.Plans)
		row.ladder = search{red: red.Outcome.Red(), runs: runs, wall: time.Since(began), rung: plan.Name}
		row.plain = plainly(l, t, row.ladder.wall)
		stop := burn(l.T)
		row.burnt = plainly(l, t, row.ladder.wall)
		stop()
		row.cause, _, _, row.probes = l.Explain(t)
		r.rows = append(r.rows, row)
		say(fmt.Sprintf("%s: %s %d runs, cause right %v", r.lang.name, c.Test, runs, c.Right(row.cause)))
	}
}

// plainly re-runs a test without lag until it is red, and for so long at most.
func plainly(l *lagtest.Lab, t triage.Target, within time.Duration) search {
	var s search
	for began := time.Now(); !s.red && time.Since(began) < within; s.wall = time.Since(began) {
		s.red = l.Try(t, nil).Outcome.Red()
		s.runs++
	}
	return s
}

func (r *scriptResult) measureFalse(l *lagtest.Lab, known lagtest.Truth) {
	r.correctTests = len(known.Correct)
	for _, c := range known.Correct {
		t := l.Target(c.File, c.Test)
		for i := range l.Plans {
			r.correctRuns++
			if tr := l.Try(t, &l.Plans[i]); tr.Outcome.Red() {
				r.correctReds = append(r.correctReds, fmt.Sprintf("%s under %s: %s", c.Test, l.Plans[i].Name, tr.Failure.Message))
			}
		}
	}
	for _, c := range known.Honest {
		t := l.Target(c.File, c.Test)
		for i := range l.Plans {
			r.honestRuns++
			tr := l.Try(t, &l.Plans[i])
			if !tr.Outcome.Red() {
				continue
			}
			r.honestReds++
			cause := l.Search(t, l.Plans[i], tr).Cause
			r.honestSaid[string(cause.Kind)]++
			if cause.Kind == triage.CauseRace || cause.Kind == triage.CauseFixedSleep {
				r.calledRace = append(r.calledRace, fmt.Sprintf("%s under %s: %s", c.Test, l.Plans[i].Name, cause.Kind))
			}
		}
	}
	say(r.lang.name + ": correct and honest tests run")
}

func pythonLab(t testing.TB) *lagtest.Lab {
	t.Helper()
	python := os.Getenv("TRIAGEBOT_TEST_PYTHON")
	if python == "" {
		t.Skip("TRIAGEBOT_TEST_PYTHON names no Python with pytest: run \"make python-env\"")
	}
	tree, err := filepath.Abs(filepath.Join("..", "lag", "pylag", "testdata", "corpus"))
	if err != nil {
		t.Fatal(err)
	}
	return lagtest.New(t, pytest.Name, tree, pytest.Adapter{Python: python}, func(ctx context.Context, exec triage.Exec, tree, pkg, pkgDir, out string) (rerun.Instrumentation, error) {
		return pylag.Engine{}.Instrument(ctx, exec, tree, pkg, pkgDir, out)
	}, pylag.Capabilities())
}

func nodeLab(t testing.TB) *lagtest.Lab {
	t.Helper()
	tree := nodeTree(t, "corpus")
	return lagtest.New(t, vitest.Name, tree, vitest.Adapter{}, layNode, nodelag.Capabilities())
}

func layNode(ctx context.Context, exec triage.Exec, tree, pkg, pkgDir, out string) (rerun.Instrumentation, error) {
	return nodelag.Engine{}.Instrument(ctx, exec, tree, pkg, pkgDir, out)
}

// nodeTree is a copy of a corpus with the pinned runners in it.
func nodeTree(t testing.TB, name string) string {
	t.Helper()
	modules := os.Getenv("TRIAGEBOT_TEST_NODE_MODULES")
	if modules == "" {
		t.Skip("TRIAGEBOT_TEST_NODE_MODULES names no node_modules with vitest: run \"make node-env\"")
	}
	tree, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(tree, os.DirFS(filepath.Join("..", "lag", "nodelag", "testdata", name))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tree, "package.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(tree, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return tree
}

// figure runs a program that prints one number, in nanoseconds.
func figure(t testing.TB, dir string, env []string, argv ...string) float64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.Output()
	var ns float64
	if err == nil {
		_, err = fmt.Sscan(string(out), &ns)
	}
	if err != nil {
		t.Fatalf("%v: %v\n%s", argv, err, out)
	}
	return ns
}

func pythonCost(t testing.TB) []costRow {
	out := filepath.Join(t.TempDir(), "runtime")
	if _, err := (pylag.Engine{}).Instrument(t.Context(), nil, "", "", "", out); err != nil {
		t.Fatal(err)
	}
	ns := map[string]float64{}
	for _, mode := range []string{"off", "idle", "on"} {
		var runs []float64
		for range 3 {
			runs = append(runs, figure(t, filepath.Join("..", "lag", "pylag", "testdata", "unit"),
				[]string{"TRIAGEBOT_LAG_RUNTIME=" + out, "PYTHONDONTWRITEBYTECODE=1"}, os.Getenv("TRIAGEBOT_TEST_PYTHON"), "overhead.py", mode))
		}
		ns[mode] = median(runs)
	}
	return []costRow{
		{"a call on a worker without a plan", "as without triagebot", fmt.Sprintf("%.0f ns: nothing is loaded", ns["off"])},
		{"the same under a plan, every site spent", "≤ 1,500 ns more", fmt.Sprintf("%.0f ns more (medians of 3 runs, each the least of 5 rounds of 200,000)", ns["on"]-ns["off"])},
	}
}

func nodeCost(t testing.TB) []costRow {
	tree := nodeTree(t, "bench")
	dir := t.TempDir()
	in, err := layNode(t.Context(), nil, tree, "", "", filepath.Join(dir, "lag"))
	if err != nil {
		t.Fatal(err)
	}
	plans, err := lag.Ladder(nodelag.Capabilities(), 1, "worker-10")
	if err != nil {
		t.Fatal(err)
	}
	if err := lag.WritePlan(filepath.Join(dir, "plan"), plans[0]); err != nil {
		t.Fatal(err)
	}
	off := []string{"NODE_OPTIONS=--require " + filepath.Join(in.Overlay(), nodelag.Preload), nodelag.EnvTree + "=" + tree}
	on := append(off[:2:2], lag.EnvPlan+"="+filepath.Join(dir, "plan"), lag.EnvLog+"="+filepath.Join(dir, "log"))
	ns := map[string]float64{}
	for name, env := range map[string][]string{"without": nil, "off": off, "on": on} {
		var runs []float64
		for range 3 {
			runs = append(runs, figure(t, tree, env, "node", "awaits.cjs"))
		}
		ns[name] = median(runs)
	}
	return []costRow{
		{"an await without a plan", "as without triagebot", fmt.Sprintf("%.0f ns, and %.0f ns without the preload", ns["off"], ns["without"])},
		{"an await under a plan, where nothing is delayed", "≤ 150 ns more", fmt.Sprintf("%.0f ns more (medians of 3 runs, each the least of 7 rounds of 300,000)", ns["on"]-ns["off"])},
	}
}
