package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
	"github.com/triagebot/triagebot/internal/workspace"
	"golang.org/x/tools/txtar"
)

const schemaPath = "../../docs/report-v1.schema.json"

func TestScripts(t *testing.T) {
	p := testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		ContinueOnError:     true,
		Setup:               setUpScript,
		Condition:           scriptCondition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"repo":      cmdRepo,
			"exits":     cmdExits,
			"refused":   cmdRefused,
			"untouched": cmdUntouched,
			"verdict":   cmdVerdict,
			"stopped":   cmdStopped,
			"trials":    cmdTrials,
			"valid":     cmdValid,
			"lagged":    cmdLagged,
			"memory":    cmdMemory,
			"waitfor":   cmdWaitFor,
			"prefix":    cmdPrefix,
			"signal":    cmdSignal,
			"edit":      cmdEdit,
			"truncate":  cmdTruncate,
			"ample":     cmdAmple,
			"repeat":    cmdRepeat,
			"night":     cmdNight,
			"seeds":     cmdSeeds,
			"teststep":  cmdTestStep,
		},
	}
	testscript.Run(t, p)
}

// setUpScript gives a script a home, a cache for trees and a lock of its own, so
// that scripts do not wait for each other, and the Go cache of whoever runs the
// tests. A script without base/ gets the repository of testdata/app.txtar.
func setUpScript(e *testscript.Env) error {
	if _, err := os.Stat(filepath.Join(e.WorkDir, "base")); err != nil {
		a, err := txtar.ParseFile(filepath.Join("testdata", "app.txtar"))
		if err != nil {
			return err
		}
		for _, f := range a.Files {
			path := filepath.Join(e.WorkDir, filepath.FromSlash(f.Name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, f.Data, 0o644)); err != nil {
				return err
			}
		}
	}
	goenv, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		return fmt.Errorf("asking go for its caches: %w", err)
	}
	var caches map[string]string
	if err := json.Unmarshal(goenv, &caches); err != nil {
		return err
	}
	for _, kv := range [][2]string{
		{"GOCACHE", caches["GOCACHE"]}, {"GOMODCACHE", caches["GOMODCACHE"]}, {"GOPROXY", "off"}, {"GOTOOLCHAIN", "local"},
		{"HOME", e.WorkDir + "/home"}, {"XDG_CACHE_HOME", e.WorkDir + "/cache"}, {"TMPDIR", e.WorkDir + "/.tmp"}, {workspace.LockVar, e.WorkDir + "/.lock"},
		{"GIT_CONFIG_NOSYSTEM", "1"}, {"GIT_AUTHOR_NAME", "A"}, {"GIT_AUTHOR_EMAIL", "a@example.com"},
		{"GIT_COMMITTER_NAME", "A"}, {"GIT_COMMITTER_EMAIL", "a@example.com"},
	} {
		e.Setenv(kv[0], kv[1])
	}
	for name, program := range map[string]string{"GIT": "git", "TRIAGEBOT": "triagebot"} {
		path, err := exec.LookPath(program)
		if err != nil {
			return err
		}
		e.Setenv(name, path)
	}
	e.Setenv("PYTHON_BIN", filepath.Dir(os.Getenv("TRIAGEBOT_TEST_PYTHON")))
	e.Setenv("NODE_MODULES", os.Getenv("TRIAGEBOT_TEST_NODE_MODULES"))
	return errors.Join(os.MkdirAll(e.WorkDir+"/home", 0o755), os.MkdirAll(e.WorkDir+"/.tmp", 0o755))
}

func scriptCondition(cond string) (bool, error) {
	switch cond {
	case "pytest":
		return given("TRIAGEBOT_TEST_PYTHON", "TRIAGEBOT_REQUIRE_PYTHON")
	case "runners":
		return given("TRIAGEBOT_TEST_NODE_MODULES", "TRIAGEBOT_REQUIRE_NODE")
	case "root":
		return os.Geteuid() == 0, nil
	case "full":
		_, err := os.Stat("/dev/full")
		return err == nil, nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

// given tells whether the environment names what a script needs, and is an error
// where it demands that it does.
func given(variable, required string) (bool, error) {
	if os.Getenv(variable) == "" && os.Getenv(required) == "1" {
		return false, fmt.Errorf("%s is 1, and %s is not set", required, variable)
	}
	return os.Getenv(variable) != "", nil
}

// cmdRepo makes $WORK/repo: the commit "base" on main with the files of base/,
// and the branch "change" with those of head/ on top, checked out.
func cmdRepo(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) > 0 {
		ts.Fatalf("usage: repo")
	}
	script := `set -e; cd "$WORK"; git init -q -b main repo; cd repo
cp -R ../base/. .; git add -A; git commit -q -m base; git checkout -q -b change
cp -R ../head/. .; git add -A; git commit -q -m change`
	if err := ts.Exec("sh", "-c", script); err != nil {
		ts.Fatalf("making the repository: %v", err)
	}
	ts.Check(ts.Chdir(ts.MkAbs("repo")))
}

// exitOf runs a program and returns its exit code.
func exitOf(ts *testscript.TestScript, args []string) int {
	err := ts.Exec(args[0], args[1:]...)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	ts.Fatalf("running %q: %v", args, err)
	return -1
}

// cmdExits: "exits CODE PROGRAM ARGS…" runs a program and compares its exit code.
func cmdExits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := exitOf(ts, args[1:]); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// cmdRefused: "refused PATTERN ARGS…" runs triagebot and wants what bad input
// gets: exit code 2, nothing on standard output, one line that matches on
// standard error, and no ./triagebot-out.
func cmdRefused(ts *testscript.TestScript, _ bool, args []string) {
	_, before := os.Stat(ts.MkAbs(defaultOut))
	if got := exitOf(ts, append([]string{"triagebot"}, args[1:]...)); got != exitError {
		ts.Fatalf("exit code %d, want %d", got, exitError)
	}
	out, text := ts.ReadFile("stdout"), ts.ReadFile("stderr")
	line := strings.TrimSuffix(text, "\n")
	switch {
	case out != "":
		ts.Fatalf("something on standard output")
	case strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "triagebot: "):
		ts.Fatalf("standard error is not one line from triagebot")
	case !regexp.MustCompile(args[0]).MatchString(line):
		ts.Fatalf("the error does not match %q", args[0])
	case strings.Contains(text, "exit status") || strings.Count(text, ": ") > 5 || len(text) > 400:
		ts.Fatalf("the error is a chain, not a sentence")
	}
	if _, err := os.Stat(ts.MkAbs(defaultOut)); before != nil && err == nil {
		ts.Fatalf("%s was made", defaultOut)
	}
}

// cmdUntouched wants nothing of ours in the repository in the current directory,
// the cache of trees, or the temporary directory.
func cmdUntouched(ts *testscript.TestScript, _ bool, _ []string) {
	script := `set -e
test -z "$(git status --porcelain)" || { git status --short; exit 1; }
test "$(git worktree list | wc -l)" = 1 || { git worktree list; exit 1; }
test ! -e .git/worktrees || { find .git/worktrees; exit 1; }
test -z "$(find "$XDG_CACHE_HOME/triagebot/trees" -mindepth 2 -not -name .triagebot 2>/dev/null)" || { find "$XDG_CACHE_HOME"; exit 1; }
test -z "$(ls -A "$TMPDIR")" || { ls -A "$TMPDIR"; exit 1; }`
	if err := ts.Exec("sh", "-c", script); err != nil {
		ts.Fatalf("something is left behind")
	}
}

func reportOf(ts *testscript.TestScript, dir string) triage.Report {
	f, err := os.Open(filepath.Join(ts.MkAbs(dir), reportFile))
	ts.Check(err)
	defer f.Close()
	r, err := report.Decode(f)
	ts.Check(err)
	return r
}

// cmdVerdict: "verdict DIR TEST CLASS [REASON]" looks one test up in DIR/report.json.
func cmdVerdict(ts *testscript.TestScript, _ bool, args []string) {
	for _, v := range reportOf(ts, args[0]).Verdicts {
		if v.Target.String() != args[1] {
			continue
		}
		if v.Class.String() != args[2] || len(args) > 3 && !slices.Contains(v.Reasons, triage.Reason(args[3])) {
			ts.Fatalf("%s: %s %v", args[1], v.Class, v.Reasons)
		}
		return
	}
	ts.Fatalf("no verdict on %q", args[1])
}

// cmdValid: "valid FILE" holds a report against the published JSON Schema.
func cmdValid(ts *testscript.TestScript, _ bool, args []string) {
	text, err := os.ReadFile(schemaPath)
	ts.Check(err)
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	ts.Check(err)
	c := jsonschema.NewCompiler()
	ts.Check(c.AddResource("report.json", schema))
	compiled, err := c.Compile("report.json")
	ts.Check(err)
	r, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(compiled.Validate(r))
}

// cmdMemory: "memory DIR MB" bounds what the run took.
func cmdMemory(ts *testscript.TestScript, _ bool, args []string) {
	most, err := strconv.ParseFloat(args[1], 64)
	ts.Check(err)
	if got := reportOf(ts, args[0]).Cost.MemoryMB; got <= 0 || got > most {
		ts.Fatalf("the run took %v MB, at most %v are wanted", got, most)
	}
}

// cmdLagged: "lagged DIR" runs the first red trial of the ladder again, as
// "triagebot replay" would.
func cmdLagged(ts *testscript.TestScript, _ bool, args []string) {
	for _, t := range reportOf(ts, args[0]).Trials {
		if t.Purpose == triage.Ladder && t.Outcome.Red() {
			cmdExits(ts, false, []string{"0", "triagebot", "replay", "-q", filepath.Join(args[0], reportFile), "--trial", strconv.Itoa(t.Seq)})
			return
		}
	}
	ts.Fatalf("no trial of the ladder is red")
}

// cmdStopped: "stopped DIR WHY" compares plan.stopped.
func cmdStopped(ts *testscript.TestScript, _ bool, args []string) {
	if got := reportOf(ts, args[0]).Plan.Stopped; got != args[1] {
		ts.Fatalf("stopped %q, want %q", got, args[1])
	}
}

// cmdTrials: "trials DIR N" waits until N trials are on disk.
func cmdTrials(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	path := filepath.Join(ts.MkAbs(args[0]), journalFile)
	await(ts, fmt.Sprintf("%d trials", want), func() bool {
		b, _ := os.ReadFile(path)
		return bytes.Count(b, []byte{'\n'}) >= want
	})
}

// cmdWaitFor: "waitfor GLOB" waits until a file is there.
func cmdWaitFor(ts *testscript.TestScript, _ bool, args []string) {
	await(ts, args[0], func() bool {
		found, _ := filepath.Glob(ts.MkAbs(args[0]))
		return len(found) > 0
	})
}

// await looks again and again for what another process does, for a minute.
func await(ts *testscript.TestScript, what string, there func() bool) {
	for deadline := time.Now().Add(time.Minute); !there(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("no %s after a minute", what)
		}
	}
}

// cmdPrefix: "prefix A B" wants the journal in file A to be the beginning of that
// in file B, and something to follow.
func cmdPrefix(ts *testscript.TestScript, _ bool, args []string) {
	a, b := ts.ReadFile(args[0]), ts.ReadFile(args[1])
	a = a[:strings.LastIndexByte(a, '\n')+1] // a kill may cut the last line
	if !strings.HasPrefix(b, a) || len(a) == 0 || len(a) >= len(b) {
		ts.Fatalf("%s (%d bytes) is not the beginning of %s (%d bytes)", args[0], len(a), args[1], len(b))
	}
}

// cmdSignal: "signal TERM" sends a signal to the program in the background.
func cmdSignal(ts *testscript.TestScript, _ bool, args []string) {
	sig := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}[args[0]]
	for _, c := range ts.BackgroundCmds() {
		ts.Check(c.Process.Signal(sig))
	}
}

// cmdEdit: "edit FILE OLD NEW" replaces what must be there.
func cmdEdit(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o644))
}

// cmdTruncate: "truncate FROM TO SIZE" copies the first SIZE bytes; a negative
// size leaves out as many at the end.
func cmdTruncate(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	if n < 0 {
		n += len(text)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text[:n]), 0o644))
}

// cmdAmple: "ample FILE MB" appends harmless events to a go test -json file.
func cmdAmple(ts *testscript.TestScript, _ bool, args []string) {
	mb, err := strconv.Atoi(args[1])
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_WRONLY, 0)
	ts.Check(err)
	defer f.Close()
	line := []byte(`{"Action":"output","Package":"example.com/app/calc","Test":"TestFine","Output":"` + strings.Repeat("all is well ", 80) + `\n"}` + "\n")
	block := bytes.Repeat(line, 1<<20/len(line))
	for range mb {
		_, err := f.Write(block)
		ts.Check(err)
	}
}

// cmdRepeat: "repeat FILE TEXT SIZE" makes a file of SIZE bytes out of TEXT.
func cmdRepeat(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat(text, n/len(text)+1)[:n]), 0o644))
}
