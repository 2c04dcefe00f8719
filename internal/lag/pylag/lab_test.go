package pylag_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/framework/pytest"
	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/lag/pylag"
	"github.com/triagebot/triagebot/internal/triage"
)

// lookPython finds an interpreter that can import a module, or says why not.
func lookPython(module string) (path, why string) {
	name := os.Getenv("TRIAGEBOT_TEST_PYTHON")
	if name == "" {
		name = "python3"
	}
	out, err := exec.Command(name, "-c", "import sys, "+module+"; assert sys.version_info >= (3, 9), sys.version; print(sys.executable)").CombinedOutput()
	if err != nil {
		return "", name + " is no Python 3.9 that can import " + module + " (TRIAGEBOT_TEST_PYTHON names another): " + string(out)
	}
	return strings.TrimSpace(string(out)), ""
}

var pythonWithPytest = sync.OnceValues(func() (string, string) { return lookPython("pytest") })

// lab runs tests of the corpus as rerun does: through the adapter, under plans.
type lab struct {
	t       *testing.T
	adapter pytest.Adapter
	tree    string
	in      *pylag.Instrumentation
	ready   map[string]triage.Prepared
	sites   map[string]triage.Site
	seq     int
}

func newLab(t *testing.T) *lab {
	t.Helper()
	python, why := pythonWithPytest()
	if python == "" {
		t.Skip(why)
	}
	tree, err := filepath.Abs(filepath.Join("testdata", "corpus"))
	if err != nil {
		t.Fatal(err)
	}
	in, err := pylag.Engine{}.Instrument(t.Context(), start, tree, "", "", filepath.Join(t.TempDir(), "lag"))
	if err != nil {
		t.Fatal(err)
	}
	return &lab{
		t: t, adapter: pytest.Adapter{Python: python}, tree: tree, in: in,
		ready: map[string]triage.Prepared{}, sites: map[string]triage.Site{},
	}
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
	if err != nil || p.Failure != nil {
		l.t.Fatalf("preparing %s: %v %+v\n%s", file, err, p.Failure, p.Output)
	}
	l.ready[file] = p
	return p
}

func target(file, test string) triage.Target {
	return triage.Target{Suite: "pytest", Framework: pytest.Name, Package: "tests/" + file, Test: test}
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

// rungs are the ladder's plans by name.
func rungs(t *testing.T) []triage.LagPlan {
	t.Helper()
	plans, err := lag.Ladder(pylag.Capabilities(), 1, "")
	if err != nil {
		t.Fatal(err)
	}
	return plans
}
