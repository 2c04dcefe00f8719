package bench

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/lag/nodelag"
	"github.com/triagebot/triagebot/internal/lag/pylag"
	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/triage"
)

const (
	// figureRuns is how often each way of a micro-benchmark runs, in turn.
	figureRuns = 15
	// clearlyMore of figureRuns pairs: if neither way cost more, one would be dearer
	// that often in 1.8 % of all measurements only.
	clearlyMore = 12
	// resolutionNS is a difference that the layout of memory alone makes.
	resolutionNS = 1
	// scriptPairs is how often the bare command and a trial run in turn.
	scriptPairs = 32
	costsPage   = "../../docs/benchmarks-costs.md"
)

// ownCosts says where the time goes that a trial takes beyond its bare command.
var ownCosts = map[string]string{
	"Python": "our plugin, which tells of each test, and pytest's cache directory, which is made anew outside the tree for each trial, take about half each; a cache that is kept would tell one trial of the other.",
	"Node":   "the set-up file that takes a test's own retries out, which each worker loads, takes about half; our reporter, the trial's own directories and the sweep of its processes the rest.",
}

// TestBenchScriptCosts measures what the engines and the trials of Python and Node cost.
func TestBenchScriptCosts(t *testing.T) {
	if !*table {
		t.Skip("run with -bench-table to measure")
	}
	refuseParts(t)
	began, before := time.Now(), load()
	costs := map[string][]costRow{}
	for _, lang := range scriptLangs {
		costs[lang.name] = append(lang.cost(t), ownCost(t, lang)...)
		say(lang.name + ": cost measured")
	}
	text := costsText(costs, fmt.Sprintf("%s, %s. Load average (1, 5, 15 minutes) %s at the start, %s at the end; the run itself adds about 1.", machine(), began.UTC().Format("2006-01-02 15:04 MST"), before, load()))
	fmt.Println(text)
	writePage(t, costsPage, text)
}

func costsText(costs map[string][]costRow, where string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# What the Python and Node lag engines and their trials cost\n\nWritten by `make bench-costs BENCH=-bench-write`: measured side by side, in turn. Do not edit. What the engines find has [a page of its own](benchmarks-scripts.md).\n\n%s\n", where)
	for _, lang := range scriptLangs {
		fmt.Fprintf(&b, "\n## %s\n\n| what | reach | measured | met |\n|---|---|---|---|\n", lang.name)
		missed := false
		for _, c := range costs[lang.name] {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.what, c.reach, c.measured, met(c.ok))
			missed = missed || c.own && !c.ok
		}
		if missed {
			fmt.Fprintf(&b, "\nWhere the time beyond the bare command goes: %s\n", ownCosts[lang.name])
		}
	}
	b.WriteString("\nWithout a plan nothing of the engine is loaded. What a runtime on the path would cost all the same is measured in turn, and \"none measurable\" is a sign test of the pairs at 2 %, or less than 1 ns.\n")
	return b.String()
}

// costRow is one figure of a language's own cost.
type costRow struct {
	what, reach, measured string
	ok                    bool
	// own is set for the cost of a whole trial.
	own bool
}

// way is one way of running a program that prints one number, in nanoseconds.
type way struct {
	dir  string
	env  []string
	argv []string
}

func (w way) figure(t testing.TB) float64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), w.argv[0], w.argv[1:]...)
	cmd.Dir, cmd.Env = w.dir, append(proc.CleanEnv(os.Environ()), w.env...)
	out, err := cmd.Output()
	var ns float64
	if err == nil {
		_, err = fmt.Sscan(string(out), &ns)
	}
	if err != nil {
		t.Fatalf("%v: %v\n%s", w.argv, err, out)
	}
	return ns
}

// figures runs the ways in turn, so that the machine's load meets them alike.
func figures(t testing.TB, ways ...way) [][]float64 {
	t.Helper()
	all := make([][]float64, len(ways))
	for range figureRuns {
		for i, w := range ways {
			all[i] = append(all[i], w.figure(t))
		}
	}
	return all
}

// noneMeasurable judges that the second way costs what the first does.
func noneMeasurable(what string, without, off []float64) costRow {
	more, diffs := 0, []float64{}
	for i := range off {
		diffs = append(diffs, off[i]-without[i])
		if off[i] > without[i] {
			more++
		}
	}
	return costRow{what: what, reach: "none measurable", measured: fmt.Sprintf("%.1f ns, and %.1f ns without it; of %d pairs it was dearer in %d, by %+.1f ns in the median", median(off), median(without), len(off), more, median(diffs)),
		ok: more < clearlyMore || math.Abs(median(diffs)) < resolutionNS}
}

// atMost judges what the second way costs more.
func atMost(what string, reach float64, off, on []float64) costRow {
	more := median(on) - median(off)
	return costRow{what: what, reach: fmt.Sprintf("≤ %.0f ns more", reach), measured: fmt.Sprintf("%.0f ns more (medians of %d runs in turn)", more, len(on)), ok: more <= reach}
}

func pythonCost(t testing.TB) []costRow {
	out := filepath.Join(t.TempDir(), "runtime")
	if _, err := (pylag.Engine{}).Instrument(t.Context(), nil, "", "", "", out); err != nil {
		t.Fatal(err)
	}
	quiet, name := []string{"PYTHONDONTWRITEBYTECODE=1"}, python(t)
	plain := figures(t,
		way{"testdata", quiet, []string{name, "worker.py"}},
		way{"testdata", append(quiet[:1:1], "PYTHONPATH="+out), []string{name, "worker.py"}})
	dir, env := filepath.Join("..", "lag", "pylag", "testdata", "unit"), append(quiet[:1:1], "TRIAGEBOT_LAG_RUNTIME="+out)
	hooked := figures(t, way{dir, env, []string{name, "overhead.py", "off"}}, way{dir, env, []string{name, "overhead.py", "on"}})
	return []costRow{
		noneMeasurable("a worker's call with the runtime on the path and no plan", plain[0], plain[1]),
		atMost("a worker's call under a plan, every site spent", reachCallNS, hooked[0], hooked[1]),
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
	argv := []string{"node", "awaits.cjs"}
	ns := figures(t, way{tree, nil, argv}, way{tree, off, argv}, way{tree, on, argv})
	return []costRow{
		noneMeasurable("an await with the preload and no plan", ns[0], ns[1]),
		atMost("an await under a plan, where nothing is delayed", reachAwaitNS, ns[0], ns[2]),
	}
}

// bareCommand makes the command by which a person runs one test.
type bareCommand func(file, test string) *exec.Cmd

// barePytest runs in a tree of its own, for it leaves the caches there that a
// person's has, and a trial may not.
func barePytest(t testing.TB) bareCommand {
	tree, name := pythonTree(t), python(t)
	return func(file, test string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), name, "-m", "pytest", file+"::"+test)
		cmd.Dir = tree
		return cmd
	}
}

// bareVitest leaves npx out, which takes half a second to find vitest.
func bareVitest(t testing.TB) bareCommand {
	tree := nodeTree(t, "corpus")
	return func(file, test string) *exec.Cmd {
		pattern := "^" + regexp.QuoteMeta(strings.ReplaceAll(test, " > ", " ")) + "$"
		cmd := exec.CommandContext(t.Context(), filepath.Join(tree, "node_modules", ".bin", "vitest"), "run", file, "-t", pattern)
		cmd.Dir = tree
		return cmd
	}
}

// ownCost runs two correct tests of the corpus bare and as trials without lag, in
// turn; who is first changes.
func ownCost(t testing.TB, lang scriptLang) []costRow {
	var rows []costRow
	l, bare, correct := lang.lab(t), lang.bare(t), lang.truth(t).Correct
	for _, c := range slices.Concat(correct[:1], correct[len(correct)-1:]) {
		p := pairUp(t, func() { runBare(t, bare(c.File, c.Test)) }, func() {
			if tr := l.Try(l.Target(c.File, c.Test), nil); tr.Outcome != triage.Pass {
				t.Fatalf("%s: %s\n%s", c.Test, tr.Outcome, tr.Output)
			}
		})
		rows = append(rows, costRow{
			what: fmt.Sprintf("a trial without lag of `%s` over its bare command", c.Test), reach: fmt.Sprintf("≤ %.2f ×", reachRatio),
			measured: fmt.Sprintf("%.3f × in the median of %d pairs (%.0f ms, bare %.0f ms)", median(p.ratios()), len(p.bare), median(p.trial), median(p.bare)),
			ok:       median(p.ratios()) <= reachRatio, own: true,
		})
	}
	return rows
}

// pairUp times two ways in turn, each once before so that its caches are warm.
func pairUp(t testing.TB, bare, trial func()) pair {
	t.Helper()
	var p pair
	timed := func(f func()) float64 {
		began := time.Now()
		f()
		return ms(time.Since(began))
	}
	bare()
	trial()
	for i := range scriptPairs {
		if i%2 == 0 {
			p.trial = append(p.trial, timed(trial))
		}
		p.bare = append(p.bare, timed(bare))
		if i%2 == 1 {
			p.trial = append(p.trial, timed(trial))
		}
	}
	return p
}

// ratios are the trials over the bare runs, pair by pair.
func (p pair) ratios() []float64 {
	d := make([]float64, len(p.bare))
	for i := range d {
		d[i] = p.trial[i] / p.bare[i]
	}
	return d
}

// runBare runs a command that must have run one test, and passed.
func runBare(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	cmd.Env = append(proc.CleanEnv(os.Environ()), "NO_COLOR=1")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "1 passed") {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}

func TestNoneMeasurable(t *testing.T) {
	at := func(ns float64) []float64 { return slices.Repeat([]float64{ns}, figureRuns) }
	jitter := at(30)
	for i := range clearlyMore - 1 {
		jitter[i] = 35
	}
	for _, c := range []struct {
		name string
		off  []float64
		want bool
	}{
		{"the same", at(30), true},
		{"dearer in every pair", at(35), false},
		{"below the resolution", at(30.5), true},
		{"dearer in some pairs", jitter, true},
		{"cheaper", at(20), true},
	} {
		if got := noneMeasurable("", at(30), c.off); got.ok != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestCostsTextJudgesEachReachAndSaysWhereTheTimeGoes(t *testing.T) {
	for _, c := range []struct {
		name  string
		row   costRow
		want  string
		cause bool
	}{
		{"an own cost within its reach", costRow{"a trial", "≤ 1.05 ×", "1.03 ×", true, true}, "| a trial | ≤ 1.05 × | 1.03 × | yes |", false},
		{"an own cost beyond it", costRow{"a trial", "≤ 1.05 ×", "1.06 ×", false, true}, "| a trial | ≤ 1.05 × | 1.06 × | **no** |", true},
		{"another cost beyond it", costRow{"an await", "≤ 1 ns", "2 ns", false, false}, "| an await | ≤ 1 ns | 2 ns | **no** |", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := costsText(map[string][]costRow{"Node": {c.row}}, "here")
			if !strings.Contains(text, c.want) {
				t.Errorf("no %q in\n%s", c.want, text)
			}
			if got := strings.Contains(text, ownCosts["Node"]); got != c.cause {
				t.Errorf("where the time goes is said: %v, want %v\n%s", got, c.cause, text)
			}
		})
	}
}
