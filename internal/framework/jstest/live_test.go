package jstest_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/framework/jest"
	"github.com/triagebot/triagebot/internal/framework/mocha"
	"github.com/triagebot/triagebot/internal/framework/nodetest"
	"github.com/triagebot/triagebot/internal/framework/vitest"
	"github.com/triagebot/triagebot/internal/triage"
)

type adapter interface {
	Prepare(ctx context.Context, exec triage.Exec, b triage.BuildSpec) (triage.Prepared, error)
	Command(r triage.RunSpec) triage.Command
	Results(r triage.RunSpec, end triage.End, output io.Reader) ([]triage.Result, error)
}

var frameworks = []struct {
	name, file, broken, separator string
	adapter                       adapter
	// release is the runner's name in the node_modules of the tests; its own when empty.
	release string
}{
	{vitest.Name, "vitest.test.ts", "vitest-broken.test.ts", " > ", vitest.Adapter{}, ""},
	{vitest.Name, "vitest.test.ts", "vitest-broken.test.ts", " > ", vitest.Adapter{}, "vitest-4"},
	{jest.Name, "jest.test.js", "jest-broken.test.js", " ", jest.Adapter{}, ""},
	{mocha.Name, "mocha.cjs", "mocha-broken.cjs", " ", mocha.Adapter{}, ""},
	{nodetest.Name, "nodetest.mjs", "nodetest-broken.mjs", " > ", nodetest.Adapter{}, ""},
}

// modules is the node_modules of the runners; without it the test is skipped.
func modules(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real runners")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node here")
	}
	dir := os.Getenv("TRIAGEBOT_TEST_NODE_MODULES")
	if dir == "" {
		t.Skip("TRIAGEBOT_TEST_NODE_MODULES does not name a node_modules with the runners of testdata/npm")
	}
	return dir
}

// released is a node_modules whose vitest is the one of a name in that of the
// runners; that itself for no name.
func released(t *testing.T, name string) string {
	t.Helper()
	from := modules(t)
	if name == "" {
		return from
	}
	if _, err := os.Stat(filepath.Join(from, name)); err != nil {
		t.Skipf("TRIAGEBOT_TEST_NODE_MODULES has no %s: run \"make node-env\"", name)
	}
	dir := filepath.Join(t.TempDir(), "node_modules")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Symlink(filepath.Join(from, name), filepath.Join(dir, vitest.Name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// tree is a copy of a directory with the runners of a release.
func tree(t *testing.T, source, release string) string {
	t.Helper()
	from := released(t, release)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(from, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func run(ctx context.Context, c triage.Command) ([]byte, triage.End, error) {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Dir = c.Dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir()}, c.Env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return out, triage.End{Exit: exit.ExitCode()}, nil
	}
	return out, triage.End{}, err
}

// lab runs trials of one framework in one tree.
type lab struct {
	t     *testing.T
	a     adapter
	name  string
	dir   string
	ready triage.Prepared
}

func newLab(t *testing.T, name, file, release string, a adapter) *lab {
	t.Helper()
	l := &lab{t: t, a: a, name: name, dir: tree(t, "testdata/live", release)}
	p, err := a.Prepare(t.Context(), run, triage.BuildSpec{Tree: l.dir, Package: file, Out: filepath.Join(t.TempDir(), "out")})
	if err != nil || p.Failure != nil {
		t.Fatalf("%v %+v", err, p.Failure)
	}
	l.ready = p
	return l
}

// trial runs one test alone and gives its result, and the other results.
func (l *lab) trial(file, test string, scope triage.Scope) (triage.Result, []triage.Result, string) {
	l.t.Helper()
	spec := triage.RunSpec{
		Prepared: l.ready, Tree: l.dir, Scope: scope,
		Target: triage.Target{Suite: l.name, Framework: l.name, Package: file, Test: test},
	}
	out, end, err := run(l.t.Context(), l.a.Command(spec))
	if err != nil {
		l.t.Fatal(err)
	}
	results, err := l.a.Results(spec, end, bytes.NewReader(out))
	if err != nil {
		l.t.Fatal(err)
	}
	var own triage.Result
	var others []triage.Result
	for _, r := range results {
		if r.Target == spec.Target {
			own = r
		} else {
			others = append(others, r)
		}
	}
	return own, others, string(out)
}

// The exact command of one test is run for each name, and nothing but that test
// may run. The second release of a runner has a third of the names, in turn.
func TestOddNamesRoundTrip(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/live/names.json")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	if err := json.Unmarshal(b, &names); err != nil {
		t.Fatal(err)
	}
	all := os.Getenv("TRIAGEBOT_TEST_ALL") != ""
	for _, f := range frameworks {
		t.Run(cmp.Or(f.release, f.name), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, f.name, f.file, f.release, f.adapter)
			for i, name := range names {
				if f.release != "" && i%3 != 0 && !all {
					continue
				}
				own, others, out := l.trial(f.file, "group [1]"+f.separator+name, triage.Alone)
				if own.Outcome != triage.Pass || len(others) != 0 {
					t.Errorf("%q: %v, beside %d others %s\n%.1500s", name, own.Outcome, len(others), own.Note, out)
				}
			}
		})
	}
}

func TestWhatEachRedComesTo(t *testing.T) {
	t.Parallel()
	timeout := triage.Signature{Phase: triage.PhaseTimeout, Message: "test timed out"}
	for _, f := range frameworks {
		t.Run(cmp.Or(f.release, f.name), func(t *testing.T) {
			l := newLab(t, f.name, f.file, f.release, f.adapter)
			asserts := triage.Signature{Phase: triage.PhaseTest, Message: "Expected values to be strictly equal: N !== N"}
			hooked, hookPhase := triage.Error, triage.PhaseSetup
			if f.name == jest.Name { // it words assertions anew, and fails the tests behind a hook themselves
				asserts.Message = "assert.strictEqual(received, expected) Expected value to strictly be equal to:"
				hooked, hookPhase = triage.Fail, triage.PhaseTest
			}
			for _, c := range []struct {
				test    string
				outcome triage.Outcome
				want    triage.Signature
			}{
				{"reds/asserts", triage.Fail, asserts},
				{"reds/throws", triage.Fail, triage.Signature{Phase: triage.PhaseTest, Message: "TypeError: bad value N"}},
				{"reds/hangs", triage.Timeout, timeout},
				{"reds/skips", triage.Skip, triage.Signature{}},
				{"reds/none", triage.Absent, triage.Signature{}},
				{"hooked/under", hooked, triage.Signature{Phase: hookPhase, Message: "no set-up"}},
			} {
				id := strings.ReplaceAll(c.test, "/", f.separator)
				own, _, out := l.trial(f.file, id, triage.Alone)
				var got triage.Signature
				if own.Failure != nil {
					got = own.Failure.Signature
					got.Func = ""
				}
				if own.Outcome != c.outcome || got != c.want {
					t.Errorf("%s: %v %+v, want %v %+v (%s)\n%.1500s", c.test, own.Outcome, got, c.outcome, c.want, own.Note, out)
				}
				if f := own.Failure; f != nil && c.outcome == triage.Fail && f.Location.Line == 0 {
					t.Errorf("%s: no line in %+v\n%.300s", c.test, f.Location, f.Excerpt)
				}
			}
			own, _, out := l.trial(f.file, "reds"+f.separator+"dies", triage.Alone)
			if !own.Outcome.Red() {
				t.Errorf("dies: %v\n%s", own.Outcome, out)
			}
		})
	}
}

func TestAFileThatCannotBeImportedIsABuildFailure(t *testing.T) {
	t.Parallel()
	for _, f := range frameworks {
		t.Run(cmp.Or(f.release, f.name), func(t *testing.T) {
			l := newLab(t, f.name, f.broken, f.release, f.adapter)
			// For the file that is the failure; for a test of it, it says nothing.
			for test, want := range map[string]triage.Outcome{"": triage.Error, "any": triage.Invalid} {
				own, _, out := l.trial(f.broken, test, triage.Alone)
				said := test == "" || strings.Contains(own.Note, "does not build: ")
				if own.Outcome != want || own.Failure == nil || own.Failure.Signature.Phase != triage.PhaseBuild ||
					!strings.Contains(own.Failure.Signature.Message, "nope") || !said {
					t.Errorf("%q: %v %+v %s\n%.1500s", test, own.Outcome, own.Failure, own.Note, out)
				}
			}
		})
	}
}

func TestAFileThatIsNotThereHasNoCommand(t *testing.T) {
	t.Parallel()
	for _, f := range frameworks {
		l := newLab(t, f.name, "gone.test.js", f.release, f.adapter)
		c := f.adapter.Command(triage.RunSpec{Prepared: l.ready, Tree: l.dir, Target: triage.Target{Package: "gone.test.js", Test: "x"}})
		if len(c.Argv) != 0 {
			t.Errorf("%s: %v", f.name, c.Argv)
		}
	}
}

func TestNothingIsWrittenIntoTheTree(t *testing.T) {
	t.Parallel()
	for _, f := range frameworks {
		t.Run(cmp.Or(f.release, f.name), func(t *testing.T) {
			l := newLab(t, f.name, f.file, f.release, f.adapter)
			before := listing(t, l.dir)
			l.trial(f.file, "group [1]"+f.separator+"plain", triage.Alone)
			if after := listing(t, l.dir); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, "\n")
}

func TestSubtestsOfNodeRunWithinTheirParent(t *testing.T) {
	t.Parallel()
	l := newLab(t, nodetest.Name, "nodetest-nested.mjs", "", nodetest.Adapter{})
	own, _, out := l.trial("nodetest-nested.mjs", "parent > child [1]", triage.Alone)
	if own.Outcome != triage.Pass {
		t.Errorf("%v\n%.1500s", own.Outcome, out)
	}
}
