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
	repo := Repo{Repo: r, Report: filepath.Join(dir, "ci.json")}
	report := s.recorded
	if s.CI.Recorded != "" {
		repo.Report = filepath.Join(dir, s.CI.Recorded)
	} else if report, repo.Tries, err = s.red(ctx, r.Dir); err != nil {
		return Repo{}, fmt.Errorf("building sample %q: %w", s.Name, err)
	}
	if err := os.WriteFile(repo.Report, report, 0o644); err != nil {
		return Repo{}, fmt.Errorf("building sample %q: %w", s.Name, err)
	}
	return repo, nil
}

// red runs the check on head until it fails and returns what it printed.
func (s Sample) red(ctx context.Context, dir string) ([]byte, int, error) {
	for try := 1; try <= max(s.CI.Tries, 1); try++ {
		out, code, err := run(ctx, dir, nil, s.CI.Run[0], s.CI.Run[1:]...)
		if err != nil {
			return nil, try, err
		}
		if code != 0 {
			return []byte(out), try, nil
		}
	}
	return nil, s.CI.Tries, fmt.Errorf("running %v %d times: %w", s.CI.Run, max(s.CI.Tries, 1), ErrGreen)
}

// Args is the command line of triagebot that measures the sample into out.
func (s Sample) Args(r Repo, out string) []string {
	args := []string{"measure", "--repo", r.Dir, "--report", r.Report, "--out", out, "--json", "--budget", "2m"}
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
	printed, code, err := run(ctx, r.Dir, nil, binary, s.Args(r, out)...)
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
var kept = []string{"PATH", "HOME", "TMPDIR", "GOROOT", "GOPATH", "GOCACHE", "GOMODCACHE", "XDG_CACHE_HOME", "CC"}

// run carries out a command in a process group of its own, which is gone when run returns.
// The error is for a command that could not be started or was cut short.
func run(ctx context.Context, dir string, env []string, name string, args ...string) (string, int, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	c.Env = append([]string{
		"LC_ALL=C", "GOTOOLCHAIN=local", "GOPROXY=off", "GOFLAGS=", "PWD=" + dir,
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
	}, env...)
	for _, k := range kept {
		if v, ok := os.LookupEnv(k); ok {
			c.Env = append(c.Env, k+"="+v)
		}
	}
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
