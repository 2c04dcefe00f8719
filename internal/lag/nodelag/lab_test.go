package nodelag_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/framework/vitest"
	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/lag/nodelag"
	"github.com/triagebot/triagebot/internal/triage"
)

// lab runs tests of the corpus as rerun does: through the adapter, under plans.
type lab struct {
	t       *testing.T
	tree    string
	in      *nodelag.Instrumentation
	adapter adapter
	ready   map[string]triage.Prepared
	sites   map[string]triage.Site
	seq     int
}

type adapter interface {
	Prepare(ctx context.Context, exec triage.Exec, b triage.BuildSpec) (triage.Prepared, error)
	Command(r triage.RunSpec) triage.Command
	Results(r triage.RunSpec, end triage.End, output io.Reader) ([]triage.Result, error)
}

func newLab(t *testing.T, args ...string) *lab {
	t.Helper()
	return newLabOf(t, "corpus", vitest.Adapter{Args: args})
}

func newLabOf(t *testing.T, dir string, a adapter) *lab {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node here")
	}
	modules := os.Getenv("TRIAGEBOT_TEST_NODE_MODULES")
	if modules == "" {
		t.Skip("TRIAGEBOT_TEST_NODE_MODULES does not name a node_modules with vitest (internal/framework/jstest/testdata/npm)")
	}
	tree, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(tree, os.DirFS(filepath.Join("testdata", dir))); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(tree, "node_modules")); err != nil {
		t.Fatal(err)
	}
	in, err := nodelag.Engine{}.Instrument(t.Context(), start, tree, "", "", filepath.Join(t.TempDir(), "lag"))
	if err != nil {
		t.Fatal(err)
	}
	return &lab{t: t, tree: tree, in: in, adapter: a, ready: map[string]triage.Prepared{}, sites: map[string]triage.Site{}}
}

// start is a triage.Exec with a clean environment.
func start(ctx context.Context, c triage.Command) ([]byte, triage.End, error) {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Dir = c.Dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, c.Env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, triage.End{}, err
	}
	return out, triage.End{Exit: cmd.ProcessState.ExitCode()}, nil
}

func (l *lab) prepared(file string) triage.Prepared {
	l.t.Helper()
	if p, ok := l.ready[file]; ok {
		return p
	}
	p, err := l.adapter.Prepare(l.t.Context(), start, triage.BuildSpec{
		Tree: l.tree, Package: file, Out: filepath.Join(l.t.TempDir(), "out"), Overlay: l.in.Overlay(),
	})
	if err != nil || p.Failure != nil || p.Bin == "" {
		l.t.Fatalf("preparing %s: %v %+v\n%s", file, err, p.Failure, p.Output)
	}
	l.ready[file] = p
	return p
}

// target is the one test of a file of the corpus; the name of the file is enough
// to know it.
func target(file, test string) triage.Target {
	return triage.Target{Suite: vitest.Name, Framework: vitest.Name, Package: "test/" + file + ".test.ts", Test: test}
}

// run carries out one trial, under a plan when it is not nil.
func (l *lab) run(t triage.Target, plan *triage.LagPlan) triage.Trial {
	l.t.Helper()
	l.seq++
	dir := l.t.TempDir()
	spec := triage.RunSpec{Prepared: l.prepared(t.Package), Tree: l.tree, Target: t}
	c := l.adapter.Command(spec)
	c.Env = append(c.Env, "TMPDIR="+dir)
	log := filepath.Join(dir, "log")
	if plan != nil {
		if err := lag.WritePlan(filepath.Join(dir, "plan"), *plan); err != nil {
			l.t.Fatal(err)
		}
		c.Env = append(c.Env, lag.EnvPlan+"="+filepath.Join(dir, "plan"), lag.EnvLog+"="+log)
	}
	began := time.Now()
	out, end, err := start(l.t.Context(), c)
	if err != nil {
		l.t.Fatal(err)
	}
	tr := triage.Trial{Seq: l.seq, Request: triage.Request{Target: t}, DurationMS: float64(time.Since(began).Milliseconds()), Exit: end.Exit}
	rs, err := l.adapter.Results(spec, end, bytes.NewReader(out))
	if err != nil {
		l.t.Fatal(err)
	}
	for _, r := range rs {
		if r.Target == t {
			tr.Outcome, tr.Failure, tr.Note = r.Outcome, r.Failure, r.Note
		}
	}
	if !tr.Outcome.Counts() {
		l.t.Fatalf("%v came to %v (%s)\n%s", t, tr.Outcome, tr.Note, out)
	}
	if plan != nil {
		l.readLog(&tr, log)
	}
	return tr
}

// readLog takes the decisions and learns the sites.
func (l *lab) readLog(tr *triage.Trial, path string) {
	l.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		l.t.Fatal(err) // the runtime opens its log at once
	}
	log, err := lag.ReadLog(bytes.NewReader(b))
	if err != nil || log.Bad > 0 {
		l.t.Fatalf("the log has %d bad lines, error %v\n%s", log.Bad, err, b)
	}
	tr.Decisions, tr.DecisionCount, tr.Stretched = log.Decisions, log.Count, log.Stretched
	sites, err := l.in.Learn(bytes.NewReader(b))
	if err != nil {
		l.t.Fatal(err)
	}
	for _, s := range sites {
		if _, ok := l.sites[s.ID]; !ok {
			l.sites[s.ID] = s
		}
	}
}

// rungs are the ladder's plans by name, those that need an engine.
func rungs(t *testing.T) []triage.LagPlan {
	t.Helper()
	plans, err := lag.Ladder(nodelag.Capabilities(), 1, "worker-10,worker-100,test-50,yield,random,all-400")
	if err != nil {
		t.Fatal(err)
	}
	return plans
}
