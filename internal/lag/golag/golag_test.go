package golag

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/triagebot/triagebot/internal/triage"
)

// shared is a folder for what several tests build; TestMain removes it.
var shared string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "golag")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	shared = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// run carries out a command; it is the triage.Exec of these tests.
func run(ctx context.Context, c triage.Command) ([]byte, triage.End, error) {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Env = c.Dir, append(os.Environ(), c.Env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return out, triage.End{}, err
	}
	return out, triage.End{Exit: cmd.ProcessState.ExitCode()}, nil
}

// goRun runs the go command and fails the test when it fails.
func goRun(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, end, err := run(context.Background(), triage.Command{Dir: dir, Argv: append([]string{"go"}, args...)})
	if err != nil || end.Exit != 0 {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// corpus is the absolute path of the module of racy and correct tests.
func corpus(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("testdata/corpus")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// module writes a txtar of files into a new folder.
func module(t testing.TB, archive string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func instrument(t testing.TB, s Spec) *Instrumentation {
	t.Helper()
	if s.Out == "" {
		s.Out = t.TempDir()
	}
	in, err := Instrument(t.Context(), run, s)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// siteIDs are the ids of the sites of the kinds, or of all.
func siteIDs(in *Instrumentation, kinds ...triage.Kind) []string {
	var ids []string
	for _, s := range in.Sites {
		if len(kinds) == 0 || slices.Contains(kinds, s.Kind) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// corpusBuild is the corpus, instrumented and built once for all tests.
var corpusBuild = sync.OnceValues(func() ([]corpusTest, error) {
	dir, err := filepath.Abs("testdata/corpus")
	if err != nil {
		return nil, err
	}
	in, err := Instrument(context.Background(), run, Spec{Tree: dir, Package: "./...", Out: filepath.Join(shared, "corpus")})
	if err != nil {
		return nil, err
	}
	return buildAll(dir, filepath.Join(shared, "corpus"), in.BuildFlags())
})

// corpusTests are the tests of the corpus whose "package.Test" the filter takes.
func corpusTests(t testing.TB, keep func(pkg, name string) bool) []corpusTest {
	t.Helper()
	all, err := corpusBuild()
	if err != nil {
		t.Fatal(err)
	}
	var tests []corpusTest
	for _, c := range all {
		if keep(filepath.Base(c.dir), c.name) {
			tests = append(tests, c)
		}
	}
	if len(tests) == 0 {
		t.Fatal("the corpus has no such test")
	}
	return tests
}

func one(t testing.TB, pkg, name string) corpusTest {
	t.Helper()
	return corpusTests(t, func(p, n string) bool { return p == pkg && n == name })[0]
}

func TestTreeIsLeftAsItWas(t *testing.T) {
	digest := func() string {
		h := sha256.New()
		root := corpus(t)
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			fmt.Fprintf(h, "%s %x\n", path, sha256.Sum256(b))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%x", h.Sum(nil))
	}
	before := digest()
	in := instrument(t, Spec{Tree: corpus(t), Package: "./dispatch"})
	goRun(t, filepath.Join(corpus(t), "dispatch"), append([]string{"test", "-c", "-o", os.DevNull}, in.BuildFlags()...)...)
	if after := digest(); after != before {
		t.Error("the tree is not what it was")
	}
}

func TestOnlyWhatTheTestReachesIsInstrumented(t *testing.T) {
	in := instrument(t, Spec{Tree: corpus(t), Package: "example.com/corp/mirror", Dir: filepath.Join(corpus(t), "mirror")})
	files := map[string]bool{}
	for _, s := range in.Sites {
		files[s.File] = true
	}
	want := map[string]bool{"mirror/m.go": true, "mirror/m_test.go": true, "mirror/mockstore/store.go": true, "testing/testing.go": true}
	if d := cmp.Diff(want, files); d != "" {
		t.Errorf("files with sites (-want +got):\n%s", d)
	}
}

func TestSiteIDsDoNotMoveWithLines(t *testing.T) {
	const code = "-- go.mod --\nmodule m\n\ngo 1.22\n-- a/a.go --\npackage a\n%s\nfunc F(c chan int) { <-c }\n%s\nfunc (s *S) G(f func()) { f(); go func() { f() }() }\n\ntype S struct{}\n-- a/a_test.go --\npackage a\n"
	head := instrument(t, Spec{Tree: module(t, fmt.Sprintf(code, "", "")), Package: "./a"})
	base := instrument(t, Spec{Tree: module(t, fmt.Sprintf(code, "// one\n\n// two\n", "\nvar x = 1\n")), Package: "./a"})
	ids := siteIDs(head)
	if d := cmp.Diff(ids, siteIDs(base)); d != "" {
		t.Errorf("ids (-head +base):\n%s", d)
	}
	for _, want := range []string{"a/a.go:F:call:1", "a/a.go:F:wake:1", "a/a.go:(*S).G:return:1", "a/a.go:(*S).G.func1:start:1", "a/a.go:(*S).G.func1:return:1"} {
		if !slices.Contains(ids, want) {
			t.Errorf("no site %s among %q", want, ids)
		}
	}
	if head.Sites[0].Line == base.Sites[0].Line {
		t.Error("lines are the same: the test shows nothing")
	}
}

func TestSiteTextIsBounded(t *testing.T) {
	f := &source{src: []byte("x := 1\n\t" + strings.Repeat("é", 200) + "\n")}
	got := f.textAt(10)
	if len(got) > maxText+len("…") || !strings.HasSuffix(got, "é…") {
		t.Errorf("text is %q", got)
	}
}

func TestBadSpecsAreRefused(t *testing.T) {
	broken := module(t, "-- go.mod --\nmodule m\n\ngo 1.22\n-- a.go --\npackage a\n\nfunc f() { return 1 }\n")
	for _, tc := range []struct {
		name string
		spec Spec
		want string
	}{
		{"relative tree", Spec{Tree: "x", Out: t.TempDir(), Package: "."}, "not absolute"},
		{"own overlay", Spec{Tree: corpus(t), Out: t.TempDir(), Package: ".", Flags: []string{"-overlay=x"}}, "-overlay of its own"},
		{"no module", Spec{Tree: t.TempDir(), Out: t.TempDir(), Package: "./..."}, "listing packages"},
		{"unknown package", Spec{Tree: corpus(t), Out: t.TempDir(), Package: "./nowhere"}, "listing packages"},
		{"does not compile", Spec{Tree: broken, Out: t.TempDir(), Package: "."}, "too many return values"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Instrument(t.Context(), run, tc.spec)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error is %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestEnvNamesPlanAndLog(t *testing.T) {
	in := &Instrumentation{Overlay: "/o/overlay.json", spec: Spec{Flags: []string{"-race"}}}
	want := []string{PlanEnv + "=/p", LogEnv + "=/l", "GORACE=atexit_sleep_ms=0"}
	if d := cmp.Diff(want, in.Env("/p", "/l")); d != "" {
		t.Error(d)
	}
	in.spec.Flags = nil
	if d := cmp.Diff([]string{PlanEnv + "=/p"}, in.Env("/p", "")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"-overlay=/o/overlay.json", "-vet=off"}, in.BuildFlags()); d != "" {
		t.Error(d)
	}
}

// overlaid is the rewritten text of a file.
func overlaid(t testing.TB, in *Instrumentation, path string) string {
	t.Helper()
	b, err := os.ReadFile(in.Overlay)
	if err != nil {
		t.Fatal(err)
	}
	var o struct{ Replace map[string]string }
	if err := json.Unmarshal(b, &o); err != nil {
		t.Fatal(err)
	}
	if o.Replace[path] == "" {
		return ""
	}
	b, err = os.ReadFile(o.Replace[path])
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
