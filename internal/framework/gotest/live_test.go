package gotest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/triagebot/triagebot/internal/triage"
)

// run is a real triage.Exec.
func run(ctx context.Context, c triage.Command) ([]byte, triage.End, error) {
	if len(c.Argv) == 0 {
		return nil, triage.End{}, errors.New("running nothing")
	}
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Dir = c.Dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=", "GOPROXY=off")
	cmd.Env = append(cmd.Env, c.Env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return out, triage.End{}, err
	}
	return out, triage.End{Exit: cmd.ProcessState.ExitCode()}, nil
}

// module writes a txtar archive as a tree.
func module(t *testing.T, archive string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func prepare(t *testing.T, a Adapter, tree, pkg string) triage.Prepared {
	t.Helper()
	p, err := a.Prepare(t.Context(), run, triage.BuildSpec{Tree: tree, Package: pkg, Out: filepath.Join(t.TempDir(), "x.test")})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func runTrial(t *testing.T, a Adapter, s triage.RunSpec) []triage.Result {
	t.Helper()
	s.Timeout = time.Minute
	out, end, err := run(t.Context(), a.Command(s))
	if err != nil {
		t.Fatal(err)
	}
	rs, err := a.Results(s, end, bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

// oddNames are names of subtests as people write them.
var oddNames = []string{
	"plain", "with space", "tab\there", "new\nline", "a/b", "a/b/c", "/lead", "trail/", "a//b", "",
	"plus+", "star*", "dot.", "(paren)", "[bracket]", "[a/b]", "{brace}", "a|b", "^caret$", `back\slash`, `\d+`,
	`"quoted"`, "'single'", "`tick`", "#hash", "name#01", "ünïcödé", "日本語", "emoji 🙂", "\x01control", "bad\xffutf8",
	"nbsp\u00a0here", "zero\u200bwidth", "percent%d", "equals=1", "-dash", "comma,semi;", "$HOME", "?", "a&b<c>", "(?i)flag",
	"got (0.01s)", "--- PASS: TestOdd", strings.Repeat("long", 60),
}

const oddModule = `
-- go.mod --
module example.com/odd

go 1.26
-- odd_test.go --
package odd

import (
	"fmt"
	"os"
	"testing"
)

func note(name string) {
	f, err := os.OpenFile(os.Getenv("NOTES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "%s\n", name)
}

func TestOdd(t *testing.T) {
	for _, n := range []string{ODD} {
		t.Run(n, func(t *testing.T) { note(t.Name()) })
	}
	t.Run("plain", func(t *testing.T) { note(t.Name()) })
}

func TestOddOther(t *testing.T) { note(t.Name()) }

func TestOddé(t *testing.T) { note(t.Name()) }

func ExampleOdd() {
	note("ExampleOdd")
	fmt.Println("x")
	// Output: x
}

func Example() {
	note("Example")
	fmt.Println("x")
	// Output: x
}

func FuzzOdd(f *testing.F) {
	f.Add(1)
	f.Add(2)
	f.Fuzz(func(t *testing.T, n int) { note(t.Name()) })
}
-- odd.go --
package odd

func Odd() {}
-- testdata/fuzz/FuzzOdd/582528ddfad69eb5 --
go test fuzz v1
int(3)
`

// TestExactSelectionLive builds a real module and runs each of its oddly named
// tests alone: the test itself notes that it ran.
func TestExactSelectionLive(t *testing.T) {
	t.Parallel()
	quoted := make([]string, len(oddNames))
	for i, n := range oddNames {
		quoted[i] = strconv.Quote(n)
	}
	tree := module(t, strings.Replace(oddModule, "ODD", strings.Join(quoted, ", "), 1))
	notes := filepath.Join(t.TempDir(), "notes")
	a := Adapter{Env: []string{"NOTES=" + notes}}
	p := prepare(t, a, tree, "example.com/odd")
	if p.Bin == "" {
		t.Fatalf("no binary: %s", p.Output)
	}
	whole := triage.RunSpec{Prepared: p, Tree: tree, Scope: triage.InPackage, Target: triage.Target{Suite: "go", Framework: Name, Package: "example.com/odd"}}
	if rs := runTrial(t, a, whole); rs[0].Outcome != triage.Pass {
		t.Fatalf("whole package: %+v", rs[0])
	}
	names := readNotes(t, notes)
	if len(names) < 50 {
		t.Fatalf("the package ran %d tests, want at least 50: %q", len(names), names)
	}
	for _, name := range names {
		spec := whole
		spec.Scope, spec.Target.Test = triage.Alone, name
		rs := runTrial(t, a, spec)
		if rs[0].Outcome != triage.Pass || rs[0].Target.Test != name {
			t.Errorf("%q alone: got %v (%+v), want pass", name, rs[0].Outcome, rs[0].Failure)
		}
		// A subtest named "a/b/c" looks like a child of one named "a/b": the
		// testing package itself cannot select one without the other.
		ran := slices.DeleteFunc(readNotes(t, notes), func(n string) bool {
			return strings.HasPrefix(n, name+"/") || strings.HasPrefix(name, n+"/")
		})
		if !slices.Equal(ran, []string{name}) {
			t.Errorf("%q alone: ran %q", name, ran)
		}
	}
	for _, name := range []string{"TestOdd/nothing", "TestNothing", "TestOd", "TestOdd/plai", "TestOdd/with"} {
		spec := whole
		spec.Scope, spec.Target.Test = triage.Alone, name
		if rs := runTrial(t, a, spec); rs[0].Outcome != triage.Absent {
			t.Errorf("%q: got %v, want absent", name, rs[0].Outcome)
		}
		readNotes(t, notes)
	}
}

// readNotes returns the noted names and forgets them.
func readNotes(t *testing.T, file string) []string {
	t.Helper()
	b, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

const workspace = `
-- go.work --
go 1.26

use (
	./a
	./b
)
-- a/go.mod --
module example.com/ws/a

go 1.26

require example.com/ws/b v0.0.0
-- a/a_test.go --
package a

import (
	"testing"

	"example.com/ws/b"
)

func TestA(t *testing.T) {
	if b.N != 1 {
		t.Errorf("N = %d, want 1", b.N)
	}
}
-- b/go.mod --
module example.com/ws/b

go 1.26
-- b/b.go --
package b

const N = 2
-- b/broken/x_test.go --
package broken

import "testing"

func TestX(t *testing.T) { undefined() }
-- b/tagged/x_test.go --
//go:build special

package tagged

import "testing"

func TestTagged(t *testing.T) { t.Fatal("tagged is wrong") }
-- b/vetted/x_test.go --
package vetted

import (
	"fmt"
	"testing"
)

func TestV(t *testing.T) { fmt.Printf("%d", "x") }
-- b/missing/x_test.go --
package missing

import (
	"testing"

	_ "example.com/nowhere"
)

func TestM(t *testing.T) {}
`

func TestPrepareLive(t *testing.T) {
	t.Parallel()
	tree := module(t, workspace)
	t.Run("module of a workspace", func(t *testing.T) {
		p := prepare(t, Adapter{}, tree, "example.com/ws/a")
		if p.Dir != filepath.Join(tree, "a") || p.Bin == "" {
			t.Fatalf("got %+v (%s)", p, p.Output)
		}
		rs := runTrial(t, Adapter{}, triage.RunSpec{Prepared: p, Tree: tree, Target: triage.Target{Package: "example.com/ws/a", Test: "TestA"}})
		if rs[0].Outcome != triage.Fail || rs[0].Failure.Location.File != "a/a_test.go" || rs[0].Failure.Signature.Message != "N = N, want 1" {
			t.Errorf("got %v, %+v", rs[0].Outcome, rs[0].Failure)
		}
	})
	for name, c := range map[string]struct {
		pkg   string
		flags []string
		phase string
		bin   bool
	}{
		"no test files":      {pkg: "example.com/ws/b"},
		"not there":          {pkg: "example.com/ws/b/nope"},
		"of no module":       {pkg: "example.com/other"},
		"compile error":      {pkg: "example.com/ws/b/broken", phase: triage.PhaseBuild},
		"vet error":          {pkg: "example.com/ws/b/vetted", phase: triage.PhaseBuild},
		"vet off":            {pkg: "example.com/ws/b/vetted", flags: []string{"-vet=off"}, bin: true},
		"import not found":   {pkg: "example.com/ws/b/missing", phase: triage.PhaseSetup},
		"files behind a tag": {pkg: "example.com/ws/b/tagged"},
		"tag given":          {pkg: "example.com/ws/b/tagged", flags: []string{"-tags=special"}, bin: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := prepare(t, Adapter{Flags: c.flags}, tree, c.pkg)
			phase := ""
			if p.Failure != nil {
				phase = p.Failure.Signature.Phase
				if len(p.Output) == 0 || p.Failure.Outcome != triage.Error || !p.Failure.Target.IsCommand() {
					t.Errorf("failure %+v without output, or of a test", p.Failure)
				}
				if want := strings.TrimPrefix(c.pkg, "example.com/ws/") + "/x_test.go"; p.Failure.Location.File != want {
					t.Errorf("location %q, want %q", p.Failure.Location.File, want)
				}
			}
			if phase != c.phase || (p.Bin != "") != c.bin {
				t.Errorf("phase %q, binary %q, want phase %q, binary %v\n%s", phase, p.Bin, c.phase, c.bin, p.Output)
			}
		})
	}
}

// TestBuildFailureEqualsTheLogs: the package that did not build in CI and here.
func TestBuildFailureEqualsTheLogs(t *testing.T) {
	t.Parallel()
	tree := module(t, workspace)
	for _, pkg := range []string{"example.com/ws/b/broken", "example.com/ws/b/vetted", "example.com/ws/b/missing"} {
		own := prepare(t, Adapter{}, tree, pkg).Failure
		out, _, err := run(t.Context(), triage.Command{Dir: filepath.Join(tree, "b"), Argv: []string{"go", "test", pkg}})
		if err != nil {
			t.Fatal(err)
		}
		logged := mustRead(t, ReadLog, out)
		if own == nil || len(logged) != 1 || logged[0].Signature != own.Signature || logged[0].Target != own.Target || own.Signature.Message == "" {
			t.Errorf("%s: here %+v\nin the log %+v\n%s", pkg, own, logged, out)
		}
	}
}

const redModule = `
-- go.mod --
module example.com/red

go 1.26
-- lib/lib.go --
package lib

func Half(n int) int {
	if n < 0 {
		panic("negative: it is below zero")
	}
	return n / 2
}
-- red_test.go --
package red

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestNumbers(t *testing.T) {
	t.Logf("started at %v in %s", time.Now(), t.TempDir())
	t.Errorf("got %d after %v, want 7", os.Getpid(), time.Since(time.Now()))
}

func TestTable(t *testing.T) {
	for _, n := range []string{"ok", "not ok"} {
		t.Run(n, func(t *testing.T) {
			if n != "ok" {
				_, err := os.ReadFile(filepath.Join(t.TempDir(), "gone.txt"))
				t.Fatalf("reading: %v", err)
			}
		})
	}
}

func TestOwnPath(t *testing.T) {
	wd, _ := os.Getwd()
	t.Fatalf("nothing in %s/sub/x.json", wd)
}
-- panics/p_test.go --
package panics

import (
	"testing"

	"example.com/red/lib"
)

func TestPanics(t *testing.T) { t.Run("sub", func(t *testing.T) { lib.Half(-1) }) }
-- async/a_test.go --
package async

import (
	"testing"

	"example.com/red/lib"
)

func TestAsync(t *testing.T) {
	done := make(chan bool)
	go func() { lib.Half(-1); close(done) }()
	<-done
	select {}
}
-- fatal/f_test.go --
package fatal

import (
	"log"
	"testing"
)

func TestFatal(t *testing.T) { log.Fatalf("cannot listen on 127.0.0.1:%d", 40000+len(t.Name())) }
-- hangs/h_test.go --
package hangs

import "testing"

func TestHangs(t *testing.T) { t.Run("sub", func(t *testing.T) { select {} }) }
`

// TestSameFailureLive runs one module in two places, once as CI does in four
// ways and once as our trials: the signatures are the same.
func TestSameFailureLive(t *testing.T) {
	t.Parallel()
	ci, own := module(t, redModule), module(t, strings.ReplaceAll(redModule, "func Test", "\n// moved down\nfunc Test"))
	got := map[string]map[triage.Target]triage.Signature{}
	for name, c := range map[string]struct {
		flag string
		read readFunc
	}{"plain": {"-short", ReadLog}, "verbose": {"-v", ReadLog}, "json": {"-json", ReadJSON}} {
		out, _, err := run(t.Context(), triage.Command{Dir: ci, Argv: []string{"go", "test", "-timeout=3s", c.flag, "./..."}})
		if err != nil {
			t.Fatal(err)
		}
		got[name] = signatures(mustRead(t, c.read, out))
	}
	want := got["json"]
	if len(want) != 7 {
		t.Fatalf("go test -json has %d failures, want 7: %v", len(want), want)
	}
	got["trials"] = map[triage.Target]triage.Signature{}
	prepared := map[string]triage.Prepared{}
	for target := range want {
		p, ok := prepared[target.Package]
		if !ok {
			p = prepare(t, Adapter{}, own, target.Package)
			prepared[target.Package] = p
		}
		a := Adapter{Timeout: 2 * time.Second}
		r := runTrial(t, a, triage.RunSpec{Prepared: p, Tree: own, Target: target})[0]
		if r.Failure == nil {
			t.Errorf("%s alone: %v, want red", target, r.Outcome)
			continue
		}
		got["trials"][target] = r.Failure.Signature
	}
	// Without -v the log does not tell which test called log.Fatal.
	quiet := triage.Target{Suite: "go", Framework: Name, Package: "example.com/red/fatal"}
	got["plain"][triage.Target{Suite: "go", Framework: Name, Package: quiet.Package, Test: "TestFatal"}] = got["plain"][quiet]
	delete(got["plain"], quiet)
	for name, sigs := range got {
		if d := cmp.Diff(want, sigs); d != "" {
			t.Errorf("%s differs from json (-json +%s):\n%s", name, name, d)
		}
	}
}
