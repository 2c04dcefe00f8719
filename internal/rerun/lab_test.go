package rerun

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/triage"
)

// labFiles is a module whose tests do what trials have to cope with.
var labFiles = map[string]string{
	"go.mod":          "module example.com/lab\n\ngo 1.24\n",
	"bad/bad_test.go": "package bad\n\nimport \"testing\"\n\nfunc TestBad(t *testing.T) { undefined() }\n",
	"none/none.go":    "package none\n",
	"odd/odd_test.go": `package odd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPass(t *testing.T) {}

func TestFail(t *testing.T) { t.Error("one is not two") }

func TestHang(t *testing.T) { time.Sleep(time.Hour) }

func TestLeaveFile(t *testing.T) {
	if err := os.WriteFile(filepath.Join(os.TempDir(), "late.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLeaveProcess(t *testing.T) {
	if err := exec.Command("sleep", "300").Start(); err != nil {
		t.Fatal(err)
	}
}

func TestFlood(t *testing.T) {
	line := strings.Repeat("x", 1<<16)
	for range 1200 { // 75 MiB
		fmt.Println(line)
	}
	if os.Getenv("FLOOD_PASSES") == "" {
		t.Error("after the flood")
	}
}

func TestFloodAfterwards(t *testing.T) {
	t.Run("red", func(t *testing.T) { t.Error("before the flood") })
	TestFlood(t)
}

func TestEnvironment(t *testing.T) {
	for _, kv := range os.Environ() {
		t.Log("env " + kv)
	}
	entries, err := os.ReadDir(os.TempDir())
	t.Logf("tmp holds %d %v", len(entries), err)
	t.Fail()
}

func TestLag(t *testing.T) {
	plan, err := os.ReadFile(os.Getenv("TRIAGEBOT_LAG_PLAN"))
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.OpenFile(os.Getenv("TRIAGEBOT_LAG_LOG"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for hit := 1; hit <= 500; hit++ {
		fmt.Fprintf(log, "{\"site\":\"odd.go:F:call:1\",\"kind\":\"call\",\"role\":\"worker\",\"hit\":%d,\"ms\":3}\n", hit)
	}
	fmt.Fprintln(log, "{\"stretched\":\"odd.go:F:timeout:1\"}")
	fmt.Fprintln(os.Stderr, "triagebot lag: clocks of another sort are left alone")
	if strings.Contains(string(plan), "must-fail") {
		t.Errorf("plan %s, procs %s", plan, os.Getenv("GOMAXPROCS"))
	}
}
`,
}

// lab is the module of labFiles with its binaries: built once for all tests.
var lab = &laboratory{built: map[string]triage.Prepared{}}

type laboratory struct {
	once  sync.Once
	dir   string
	err   error
	built map[string]triage.Prepared
}

func (l *laboratory) remove() { os.RemoveAll(l.dir) }

func (l *laboratory) tree(t *testing.T) string {
	t.Helper()
	l.once.Do(func() {
		if l.dir, l.err = os.MkdirTemp("", "rerun-lab-"); l.err == nil {
			l.err = writeFiles(filepath.Join(l.dir, "tree"), labFiles)
		}
	})
	if l.err != nil {
		t.Fatal(l.err)
	}
	return filepath.Join(l.dir, "tree")
}

func writeFiles(dir string, files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// labAdapter is the Go adapter; builds that succeed are shared by all tests.
// It counts what it is asked for.
type labAdapter struct {
	gotest.Adapter
	asked []triage.BuildSpec
	// broken says whether a build is to be broken by something that is not the tree's.
	broken func(triage.BuildSpec) bool
}

func (a *labAdapter) Prepare(ctx context.Context, exec triage.Exec, b triage.BuildSpec) (triage.Prepared, error) {
	a.asked = append(a.asked, b)
	if a.broken != nil && a.broken(b) {
		f := triage.Failure{Outcome: triage.Error, Message: "odd/odd.go:9:2: syntax error", Signature: triage.Signature{Phase: triage.PhaseBuild}}
		return triage.Prepared{Dir: b.Tree, Failure: &f, Output: []byte(f.Message)}, nil
	}
	if p, ok := lab.built[b.Package]; ok {
		return p, nil
	}
	out := b
	out.Out = filepath.Join(lab.dir, filepath.Base(b.Package)+".test")
	out.Overlay = ""
	p, err := a.Adapter.Prepare(ctx, exec, out)
	if err == nil && p.Failure == nil {
		lab.built[b.Package] = p
	}
	return p, err
}

// bench is a runner on the lab, whose base tree is the same as head.
type bench struct {
	*Runner
	adapter *labAdapter
}

func newBench(t *testing.T, change func(*Config)) bench {
	t.Helper()
	tree := lab.tree(t)
	a := &labAdapter{}
	cfg := Config{
		Adapter: a,
		Trees:   map[triage.Side]string{triage.Head: tree, triage.Base: tree},
		Dir:     filepath.Join(t.TempDir(), "work"),
		Env:     proc.CleanEnv(os.Environ()),
		Timeout: time.Minute,
	}
	if change != nil {
		change(&cfg)
	}
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if _, err := os.Stat(cfg.Dir); !os.IsNotExist(err) {
			t.Errorf("%s is still there after Close", cfg.Dir)
		}
	})
	return bench{r, a}
}

func request(side triage.Side, pkg, test string) triage.Request {
	target := triage.Target{Suite: "go", Framework: gotest.Name, Package: "example.com/lab/" + pkg, Test: test}
	return triage.Request{Target: target, Arm: triage.Arm{Side: side}, Purpose: triage.Measure}
}

func (b bench) run(t *testing.T, req triage.Request, plan *triage.LagPlan) triage.Trial {
	t.Helper()
	got, err := b.Run(t.Context(), req, plan)
	if err != nil {
		t.Fatalf("running %s: %v", req.Target, err)
	}
	if !got.Request.Equal(req) {
		t.Errorf("the trial is of %+v, asked for %+v", got.Request, req)
	}
	return got
}

// began reports whether the trial that is running has come to a test.
func (b bench) began(test string) bool {
	outputs, _ := filepath.Glob(filepath.Join(b.cfg.Dir, "tmp", "*", "output"))
	return slices.ContainsFunc(outputs, func(path string) bool {
		out, _ := os.ReadFile(path)
		return bytes.Contains(out, []byte("=== RUN   "+test))
	})
}

// roomsLeft lists the directories of trials that are still there.
func (b bench) roomsLeft(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(b.cfg.Dir, "tmp"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func describe(t triage.Trial) string {
	return fmt.Sprintf("%s exit %d %s note %q failure %+v\n%s", t.Outcome, t.Exit, t.Signal, t.Note, t.Failure, t.Output)
}
