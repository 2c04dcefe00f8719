package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/lag/golag"
	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
)

const (
	corpusDir    = "../lag/golag/testdata/corpus"
	corpusModule = "example.com/corp"
	// laterPackages were added to the corpus after the 16 racy tests that the
	// promise of the design counts.
	laterPackages = "masked mirror notify"
	// ladderSeed feeds the random rungs; the product's default.
	ladderSeed = 1
	// trialTimeout is far above what any test of the corpus takes.
	trialTimeout = time.Minute
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == rerun.BurnArg {
		rerun.Burn()
		return
	}
	os.Exit(m.Run())
}

// corpusTest is one test of the Go engine's corpus.
type corpusTest struct{ pkg, name string }

func (c corpusTest) String() string { return c.pkg + "." + strings.TrimPrefix(c.name, "Test") }

// The sorts of tests, by their names.
const (
	racy    = "TestRacy"
	correct = "TestOk"
	honest  = "TestHonest"
)

func (c corpusTest) is(sort string) bool { return strings.HasPrefix(c.name, sort) }

// counted reports whether the design's "16 of 16" is about this test.
func (c corpusTest) counted() bool {
	return c.is(racy) && !strings.Contains(laterPackages, c.pkg)
}

func (c corpusTest) target() triage.Target {
	return triage.Target{Suite: "go", Framework: gotest.Name, Package: corpusModule + "/" + c.pkg, Test: c.name}
}

var testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)

// corpus lists the tests, in the order of their files.
func corpus(t testing.TB) []corpusTest {
	t.Helper()
	files, err := filepath.Glob(corpusDir + "/*/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all []corpusTest
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testFunc.FindAllStringSubmatch(string(b), -1) {
			all = append(all, corpusTest{filepath.Base(filepath.Dir(f)), m[1]})
		}
	}
	return all
}

func only(all []corpusTest, keep func(corpusTest) bool) []corpusTest {
	return slices.DeleteFunc(slices.Clone(all), func(c corpusTest) bool { return !keep(c) })
}

// engine is the Go engine behind rerun's port, as cmd/triagebot wires it. It
// remembers every site, so that the truth table can be held against them.
type engine struct {
	env   []string
	sites map[string]triage.Site
}

func (e *engine) Instrument(ctx context.Context, exec triage.Exec, tree, pkg, pkgDir, out string) (rerun.Instrumentation, error) {
	var in *golag.Instrumentation
	var err error
	proc.Aside(func() { // go/packages starts the go command in a group of its own
		in, err = golag.Instrument(ctx, exec, golag.Spec{Tree: tree, Package: pkg, Dir: pkgDir, Env: e.env, Out: out})
	})
	if err != nil {
		return nil, err
	}
	for _, s := range in.Sites {
		e.sites[s.ID] = s
	}
	return instrumented{in}, nil
}

type instrumented struct{ *golag.Instrumentation }

func (c instrumented) Overlay() string              { return c.Instrumentation.Overlay }
func (c instrumented) Sites() []triage.Site         { return c.Instrumentation.Sites }
func (c instrumented) Heal(out []byte) (int, error) { return c.Instrumentation.Heal(out) }
func (c instrumented) Skipped() []string            { return nil }

// lab runs trials of the corpus as the product does.
type lab struct {
	*rerun.Runner
	engine *engine
	ladder []triage.LagPlan
	// built are the packages whose binaries are there, plain and for lag.
	built map[string]bool
}

func newLab(t testing.TB) *lab {
	t.Helper()
	tree, err := filepath.Abs(corpusDir)
	if err != nil {
		t.Fatal(err)
	}
	env := proc.CleanEnv(os.Environ())
	l := &lab{engine: &engine{env: env, sites: map[string]triage.Site{}}, built: map[string]bool{}}
	l.Runner, err = rerun.New(rerun.Config{
		Adapter: gotest.Adapter{}, Engine: l.engine, Trees: map[triage.Side]string{triage.Head: tree},
		Dir: t.TempDir(), Env: env, Timeout: trialTimeout,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	l.ladder, err = lag.Ladder(lag.Capabilities{
		Kinds: []triage.Kind{
			triage.KindDouble, triage.KindReturn, triage.KindCall, triage.KindStart,
			triage.KindWake, triage.KindSignal, triage.KindStep,
		},
		Cleanup: true, Yield: true,
	}, ladderSeed, "auto")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// plan finds a rung by its name.
func (l *lab) plan(t testing.TB, name string) *triage.LagPlan {
	t.Helper()
	i := slices.IndexFunc(l.ladder, func(p triage.LagPlan) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("the ladder has no rung %q", name)
	}
	return &l.ladder[i]
}

// try carries out one trial on head; a nil plan is no lag. A trial that says
// nothing ends the benchmark: nothing here may be Invalid or Absent.
func (l *lab) try(t testing.TB, c corpusTest, p *triage.LagPlan) triage.Trial {
	t.Helper()
	req := triage.Request{Target: c.target(), Purpose: triage.Measure}
	if p != nil {
		req.Arm.Lag = p.ID()
	}
	tr, err := l.Run(t.Context(), req, p)
	if err != nil {
		t.Fatal(err)
	}
	if !tr.Outcome.Counts() {
		t.Fatalf("%s: %s: %s\n%s", c, tr.Outcome, tr.Note, tr.Output)
	}
	return tr
}

// build has the test's package built, plainly and for lag, so that no build
// falls into what is timed.
func (l *lab) build(t testing.TB, c corpusTest) {
	t.Helper()
	if l.built[c.pkg] {
		return
	}
	l.try(t, c, nil)
	l.try(t, c, l.plan(t, "yield"))
	l.built[c.pkg] = true
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func share(n, of int) string {
	return fmt.Sprintf("%d of %d = %.0f %%", n, of, 100*float64(n)/float64(max(1, of)))
}
