package nodelag

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/triage"
)

// node is the interpreter; without one, or with one too old, the test is skipped.
func node(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node here")
	}
	out, err := exec.Command(path, "-p", "Number(process.versions.node.split('.')[0]) >= 20").Output()
	if err != nil || strings.TrimSpace(string(out)) != "true" {
		t.Skip("node here is older than 20")
	}
	return path
}

// TestRuntime runs the runtime's own unit tests.
func TestRuntime(t *testing.T) {
	t.Parallel()
	bin := node(t)
	files, err := filepath.Glob("testdata/unit/*.test.cjs")
	if err != nil || len(files) == 0 {
		t.Fatalf("no unit tests: %v", err)
	}
	out, err := exec.Command(bin, append([]string{"--test", "--test-reporter=tap"}, files...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if s := string(out); !strings.Contains(s, "\n# fail 0\n") || strings.Contains(s, "\n# pass 0\n") {
		t.Fatalf("odd count:\n%s", out)
	}
}

func TestInstrumentLaysTheRuntimeDown(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	in, err := Engine{}.Instrument(context.Background(), nil, "/tree", "a.test.ts", "/tree", dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{Preload, "acorn.cjs", "acorn.LICENSE", "loader.mjs"} {
		if info, err := os.Stat(filepath.Join(in.Overlay(), f)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
	if _, err := (Engine{}).Instrument(context.Background(), nil, "/tree", "a", "/tree", "relative"); err == nil {
		t.Error("a relative path was accepted")
	}
}

func run(t *testing.T, bin, dir string, env []string, args ...string) string {
	t.Helper()
	c := exec.Command(bin, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// lagged lays the runtime down, with a plan, and gives the environment of a trial.
func lagged(t *testing.T, tree, plan string) (env []string, log string) {
	t.Helper()
	dir := t.TempDir()
	in, err := Engine{}.Instrument(context.Background(), nil, tree, "", tree, filepath.Join(dir, "runtime"))
	if err != nil {
		t.Fatal(err)
	}
	env = []string{"NODE_OPTIONS=--require " + filepath.Join(in.Overlay(), Preload), EnvTree + "=" + tree}
	if plan == "" {
		return env, ""
	}
	file := filepath.Join(dir, "plan.json")
	if err := os.WriteFile(file, []byte(plan), 0o644); err != nil {
		t.Fatal(err)
	}
	log = filepath.Join(dir, "log")
	return append(env, "TRIAGEBOT_LAG_PLAN="+file, "TRIAGEBOT_LAG_LOG="+log), log
}

const plan = `{"version":1,"name":"x","kinds":["wake"],"min_ms":5,"max_ms":5}`

func TestOffInstallsNothing(t *testing.T) {
	t.Parallel()
	bin, tree := node(t), t.TempDir()
	env, _ := lagged(t, tree, "")
	code := `const vm=require("vm");console.log(typeof globalThis.__zzlag, vm.runInThisContext.toString().includes("transform"), Object.keys(require.cache).length)`
	if got := strings.TrimSpace(run(t, bin, tree, env, "-e", code)); got != "undefined false 1" {
		t.Errorf("got %q", got)
	}
}

func TestEveryKindOfModuleIsRewritten(t *testing.T) {
	t.Parallel()
	bin := node(t)
	body := "async function f() { await new Promise((r) => setImmediate(r)) }\nf()\n"
	for _, name := range []string{"a.cjs", "a.mjs"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := t.TempDir()
			if err := os.WriteFile(filepath.Join(tree, name), []byte(body), 0o644); err != nil {
				t.Fatal(err)
			}
			env, log := lagged(t, tree, plan)
			run(t, bin, tree, env, name)
			f, err := os.Open(log)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got, err := lag.ReadSites(f)
			want := []triage.Site{{
				ID: name + ":f:wake:1", Kind: triage.KindWake, File: name, Func: "f", Line: 1,
				Text: "async function f() { await new Promise((r) => setImmediate(r)) }",
			}}
			if d := cmp.Diff(want, got); d != "" || err != nil {
				t.Errorf("%v\n%s", err, d)
			}
		})
	}
}

func TestAPlanThatCannotBeReadEndsTheProcess(t *testing.T) {
	t.Parallel()
	bin, tree := node(t), t.TempDir()
	env, _ := lagged(t, tree, `{"version":99}`)
	c := exec.Command(bin, "-e", "console.log('ran')")
	c.Env = append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	if err == nil || strings.Contains(string(out), "ran") || !strings.Contains(string(out), "version 99") {
		t.Errorf("%v\n%s", err, out)
	}
}
