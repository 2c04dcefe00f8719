package sampletest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/triagebot/triagebot/internal/sample"
)

// Repo is a sample on disk with its red check.
type Repo struct {
	sample.Repo
	// Report is the absolute path of the red check's report.
	Report string
	// Tries is how often head was run until it was red, 0 for a recorded report.
	Tries int
	// Tools is the directory of commands that are to be found first, "" for none.
	Tools string
}

// ErrGreen is returned when head was never red.
var ErrGreen = errors.New("head was green every time")

// Build makes the repository and the red report of its check below dir, which
// must exist and be empty.
func (s Sample) Build(ctx context.Context, dir string) (Repo, error) {
	r, err := sample.Build(dir, s.Layout)
	if err != nil {
		return Repo{}, fmt.Errorf("building sample %q: %w", s.Name, err)
	}
	if err := tools[s.Framework].linkModules(r.Dir); err != nil {
		return Repo{}, fmt.Errorf("building sample %q: %w", s.Name, err)
	}
	repo := Repo{Repo: r, Report: filepath.Join(dir, s.reportName())}
	if s.Editable != "" {
		if repo.Tools, err = s.install(ctx, r.Dir, dir); err != nil {
			return Repo{}, fmt.Errorf("building sample %q: %w", s.Name, err)
		}
	}
	report := s.recorded
	if s.CI.Recorded == "" {
		if report, repo.Tries, err = s.red(ctx, repo); err != nil {
			return Repo{}, fmt.Errorf("building sample %q: %w", s.Name, err)
		}
	}
	if err := os.WriteFile(repo.Report, report, 0o644); err != nil {
		return Repo{}, fmt.Errorf("building sample %q: %w", s.Name, err)
	}
	return repo, nil
}

func (s Sample) reportName() string {
	switch {
	case s.CI.Recorded != "":
		return s.CI.Recorded
	case s.CI.Report != "":
		return s.CI.Report
	case s.Framework != "":
		return tools[s.Framework].report
	}
	return "ci.json"
}

// red runs the check on head until it fails and returns its report: the file
// that its command was asked for, or what it printed.
func (s Sample) red(ctx context.Context, r Repo) ([]byte, int, error) {
	argv := slices.Clone(s.CI.Run)
	asked := false
	for i, arg := range argv {
		argv[i] = strings.ReplaceAll(arg, "$REPORT", r.Report)
		asked = asked || argv[i] != arg
	}
	for try := 1; try <= max(s.CI.Tries, 1); try++ {
		out, code, err := run(ctx, r.Dir, s.env(true, r.Tools), argv[0], argv[1:]...)
		if err != nil {
			return nil, try, err
		}
		if code == 0 {
			continue
		}
		if !asked {
			return []byte(out), try, nil
		}
		b, err := os.ReadFile(r.Report)
		if err != nil {
			return nil, try, fmt.Errorf("running %v: %w: %s", argv, err, out)
		}
		return b, try, nil
	}
	return nil, s.CI.Tries, fmt.Errorf("running %v %d times: %w", s.CI.Run, max(s.CI.Tries, 1), ErrGreen)
}

// Args is the command line of triagebot that measures the sample into out.
func (s Sample) Args(r Repo, out string) []string {
	args := []string{"measure", "--repo", r.Dir, "--report", r.Report, "--out", out, "--json"}
	if !slices.Contains(s.Find, "head") {
		args = append(args, "--head", r.Head)
	}
	if !slices.Contains(s.Find, "base") {
		args = append(args, "--base", r.Base)
	}
	if filepath.Ext(r.Report) == ".log" {
		args[3] = "--log"
	}
	args = append(args, s.Flags...)
	if len(s.Suite) > 0 {
		args = append(append(args, "--"), s.Suite...)
	}
	return args
}

// Measure runs a triagebot binary on a built sample and returns its report.json.
func (s Sample) Measure(ctx context.Context, binary string, r Repo, out string) ([]byte, time.Duration, error) {
	start := time.Now()
	printed, code, err := run(ctx, r.Dir, s.env(false, r.Tools), binary, s.Args(r, out)...)
	wall := time.Since(start)
	if err != nil {
		return nil, wall, fmt.Errorf("measuring sample %q: %w", s.Name, err)
	}
	if code != 0 {
		return nil, wall, fmt.Errorf("measuring sample %q: exit %d: %s", s.Name, code, printed)
	}
	report, err := os.ReadFile(filepath.Join(out, "report.json"))
	if err != nil {
		return nil, wall, fmt.Errorf("measuring sample %q: %w", s.Name, err)
	}
	return report, wall, nil
}

// kept are the variables that the commands of a sample inherit: where tools and
// caches are, nothing else.
var kept = []string{"PATH", "HOME", "TMPDIR", "GOROOT", "GOPATH", "GOCACHE", "GOMODCACHE", "XDG_CACHE_HOME", "CC", "TRIAGEBOT_LOCK"}

// lookIn finds a command on the PATH that it will have itself, if env has one.
func lookIn(env []string, name string) string {
	for _, kv := range env {
		dirs, ok := strings.CutPrefix(kv, "PATH=")
		if !ok || filepath.Base(name) != name {
			continue
		}
		for _, dir := range filepath.SplitList(dirs) {
			if p, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return p
			}
		}
	}
	return name
}

// run carries out a command in a process group of its own, which is gone when run returns.
// The error is for a command that could not be started or was cut short.
func run(ctx context.Context, dir string, env []string, name string, args ...string) (string, int, error) {
	c := exec.CommandContext(ctx, lookIn(env, name), args...)
	c.Dir = dir
	c.Env = []string{
		"LC_ALL=C", "GOTOOLCHAIN=local", "GOPROXY=off", "GOFLAGS=", "PWD=" + dir,
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
	}
	for _, k := range kept {
		if v, ok := os.LookupEnv(k); ok {
			c.Env = append(c.Env, k+"="+v)
		}
	}
	c.Env = append(c.Env, env...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	if err := c.Start(); err != nil {
		return "", 0, fmt.Errorf("starting %s: %w", name, err)
	}
	err := c.Wait()
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // a child may outlive its leader
	if ctx.Err() != nil {
		return out.String(), 0, fmt.Errorf("running %s: %w", name, context.Cause(ctx))
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return out.String(), 0, fmt.Errorf("running %s: %w", name, err)
	}
	return out.String(), c.ProcessState.ExitCode(), nil
}
