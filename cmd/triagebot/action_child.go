package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/gh"
	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
	"github.com/triagebot/triagebot/internal/workspace"
)

// child is the measuring half: a process without the token, where it can be
// another user's, in a directory of its own.
type child struct {
	runner *gh.Runner
	// scratch belongs to us; of what is in it the child owns what it writes to.
	scratch string
	// workspace is the checkout, dir where the child runs.
	workspace, dir string
	args           []string
	env            []string
	// acc is who it runs as, nil for us.
	acc *account
	// exe is this program.
	exe     string
	restore []func()
}

// newChild makes the directories of a child and its environment.
func (a *actionRun) newChild() (*child, error) {
	c := &child{runner: a.runner, workspace: a.env("GITHUB_WORKSPACE")}
	var err error
	if c.exe, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("finding our own program: %w", err)
	}
	if c.workspace == "" {
		c.workspace = "."
	}
	if c.workspace, err = filepath.Abs(c.workspace); err != nil {
		return nil, fmt.Errorf("finding the workspace: %w", err)
	}
	if err := localPath("working-directory", a.in["working-directory"]); err != nil {
		return nil, err
	}
	if err := localPath("out", a.in["out"]); err != nil {
		return nil, err
	}
	c.dir = filepath.Join(c.workspace, filepath.FromSlash(a.in["working-directory"]))
	acc, other, err := chooseAccount(a.in["test-user"], os.Geteuid() == 0, user.Lookup)
	if err != nil {
		return nil, err
	}
	if other {
		c.acc = &acc
	}
	if err := c.makeScratch(); err != nil {
		return nil, errors.Join(err, c.close())
	}
	if c.env, err = c.environment(a.environ, a.in["pass-env"]); err != nil {
		return nil, errors.Join(err, c.close())
	}
	if err := c.ownProgram(a); err != nil {
		return nil, errors.Join(err, c.close())
	}
	if err := c.hide(a); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// localPath refuses a path that leaves the workspace.
func localPath(input, path string) error {
	if !filepath.IsLocal(filepath.FromSlash(path)) {
		return fmt.Errorf("reading input %s: %q is not a path inside the workspace", input, path)
	}
	return nil
}

// The directories in scratch.
const (
	childIn   = "in"
	childOut  = "out"
	childHome = "home"
	childTmp  = "tmp"
	childRepo = "repo"
)

func (c *child) path(name string) string { return filepath.Join(c.scratch, childIn, name) }
func (c *child) out() string             { return filepath.Join(c.scratch, childOut) }

func (c *child) makeScratch() error {
	dir, err := os.MkdirTemp("", "triagebot-action-")
	if err != nil {
		return fmt.Errorf("making a directory to work in: %w", err)
	}
	if c.scratch, err = filepath.EvalSymlinks(dir); err != nil {
		return fmt.Errorf("making a directory to work in: %w", err)
	}
	errs := []error{os.Chmod(c.scratch, 0o711), os.Mkdir(filepath.Join(c.scratch, childIn), 0o755)}
	for _, name := range []string{childOut, childHome, childTmp, childRepo} {
		path := filepath.Join(c.scratch, name)
		errs = append(errs, os.Mkdir(path, 0o700))
		if c.acc != nil {
			errs = append(errs, os.Chown(path, c.acc.uid, c.acc.gid))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("making a directory to work in: %w", err)
	}
	return nil
}

// ownPlaces are variables that name places of ours, which another user could not
// write to, or must not read.
var ownPlaces = []string{
	"HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME",
	"GOCACHE", "GOMODCACHE", "GOPATH", "GOBIN", "GOENV", "GOTMPDIR",
}

// environment is the whole environment of the child: the explicit list of what
// tools need, and what the input pass-env names.
func (c *child) environment(environ []string, passEnv string) ([]string, error) {
	var cfg config.Config
	if passEnv != "" {
		if err := cfg.Set("pass-env", passEnv); err != nil {
			return nil, fmt.Errorf("reading input pass-env: %w", err)
		}
	}
	env := proc.CleanEnv(environ, append(slices.Clone(cfg.PassEnv), workspace.LockVar)...)
	env = append(env, keptVar+"="+strings.Join(keptHere(environ, env), " "))
	if file := workflowFile(environ); file != "" {
		job, _ := lookIn(environ, "GITHUB_JOB")
		env = append(env, workflowVar+"="+file, jobVar+"="+job)
	}
	if c.acc == nil {
		return env, nil
	}
	env = slices.DeleteFunc(env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(ownPlaces, name) && !slices.Contains(cfg.PassEnv, name)
	})
	return append(env, "HOME="+filepath.Join(c.scratch, childHome), "TMPDIR="+filepath.Join(c.scratch, childTmp), "USER="+testUser, "LOGNAME="+testUser), nil
}

// workflowFile is the path of the workflow that runs us, below its repository's
// root, as GITHUB_WORKFLOW_REF ("owner/name/PATH@REF") has it; empty for none.
func workflowFile(environ []string) string {
	ref, _ := lookIn(environ, "GITHUB_WORKFLOW_REF")
	file, _, _ := strings.Cut(ref, "@")
	if parts := strings.SplitN(file, "/", 3); len(parts) == 3 {
		return parts[2]
	}
	return ""
}

// close removes what was made, and opens again what was shut. That comes last,
// when no process of the tests is left to read it, and else not at all.
func (c *child) close() error {
	var left, err error
	if c.acc != nil {
		left = endAll(*c.acc)
	}
	if c.scratch != "" {
		err = rerun.RemoveAll(c.scratch)
	}
	if left == nil {
		for _, f := range slices.Backward(c.restore) {
			f()
		}
	}
	c.restore = nil
	return errors.Join(left, err)
}

// end is how a child ended.
type end struct {
	code int
	// said is the end of its standard error.
	said string
}

// failure is the error of a child without a report.
func (e end) failure() error {
	last := strings.TrimPrefix(lastLine(e.said), "triagebot: ")
	switch {
	case e.code == exitKilled, e.code < 0:
		return errors.New("measuring: it was killed, and there is no report")
	case last == "":
		return fmt.Errorf("measuring: it ended with exit code %d and no report", e.code)
	}
	return errors.New(harmless(last))
}

const (
	// childGrace is how long a child may take to end in an orderly way.
	childGrace = 30 * time.Second
	saidCap    = 4 << 10
)

// run runs the child to its end. What it prints goes between the runner's fences.
func (c *child) run(ctx context.Context) (end, error) {
	var e end
	err := c.runner.Fence(func(w io.Writer) error {
		said := &tail{most: saidCap}
		both := &oneAtATime{w: w}
		code, err := c.start(ctx, c.dir, both, io.MultiWriter(both, said), c.exe, append([]string{"triagebot"}, c.args...))
		e = end{code, said.String()}
		return err
	})
	return e, err
}

// start runs a program as the child's user and returns its exit code.
func (c *child) start(ctx context.Context, dir string, out, errOut io.Writer, program string, argv []string) (int, error) {
	type result struct {
		code int
		err  error
	}
	done := make(chan result, 1)
	go func() {
		// The thread passes its loss of privileges on to the child, and its end
		// would be taken for ours: it has to live as long as the child, and no longer.
		runtime.LockOSThread()
		code, err := c.startLocked(ctx, dir, out, errOut, program, argv)
		done <- result{code, err}
	}()
	r := <-done
	return r.code, r.err
}

func (c *child) startLocked(ctx context.Context, dir string, out, errOut io.Writer, program string, argv []string) (int, error) {
	cmd := exec.CommandContext(ctx, program)
	cmd.Args, cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = argv, dir, c.env, out, errOut
	cmd.WaitDelay = childGrace
	cmd.Cancel = func() error { return interrupt(cmd.Process) }
	if err := isolate(cmd, c.acc); err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("starting the measuring process: %w", err)
	}
	err := cmd.Wait()
	killGroup(cmd.Process.Pid)
	if c.acc != nil {
		if err := endAll(*c.acc); err != nil {
			return 0, err
		}
	}
	var exit *exec.ExitError
	switch {
	case cmd.ProcessState == nil:
		return 0, fmt.Errorf("waiting for the measuring process: %w", err)
	case err == nil, errors.As(err, &exit), errors.Is(err, exec.ErrWaitDelay), ctx.Err() != nil:
		return cmd.ProcessState.ExitCode(), nil
	}
	return 0, fmt.Errorf("waiting for the measuring process: %w", err)
}

// report reads what the child wrote, as the bytes of a stranger: no links are
// followed out of the directory, and only a file counts. It is false when there is none.
func (c *child) report() (triage.Report, bool, error) {
	none := triage.Report{}
	root, err := os.OpenRoot(c.out())
	if err != nil {
		return none, false, fmt.Errorf("reading the report: %w", err)
	}
	defer root.Close()
	st, err := root.Lstat(reportFile)
	if errors.Is(err, os.ErrNotExist) {
		return none, false, nil
	}
	if err != nil {
		return none, false, fmt.Errorf("reading the report: %w", err)
	}
	if !st.Mode().IsRegular() {
		return none, false, errors.New("reading the report: it is not a file")
	}
	f, err := root.OpenFile(reportFile, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return none, false, fmt.Errorf("reading the report: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, report.MaxBytes+1))
	if err != nil {
		return none, false, fmt.Errorf("reading the report: %w", err)
	}
	r, err := report.Decode(bytes.NewReader(data))
	return r, err == nil, err
}

// tail keeps the end of what is written to it.
type tail struct {
	most int
	b    []byte
}

// Write implements [io.Writer].
func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if len(t.b) > t.most {
		t.b = t.b[len(t.b)-t.most:]
	}
	return len(p), nil
}

// String is what was kept.
func (t *tail) String() string { return strings.ToValidUTF8(string(t.b), "\uFFFD") }

// oneAtATime lets two streams write to one place.
type oneAtATime struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements [io.Writer].
func (o *oneAtATime) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(p)
}
