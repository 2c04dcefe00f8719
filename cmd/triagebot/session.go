package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/pipeline"
	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
	"github.com/triagebot/triagebot/internal/workspace"
)

// session is two trees made ready, and what runs tests on them.
type session struct {
	ws      *workspace.Workspace
	cfg     config.Config
	suite   config.Suite
	adapter gotest.Adapter
	command []string
	env     []string
	setup   time.Duration
	// dir is a temporary directory of this run for all that it starts: what a
	// killed tool leaves goes with it.
	dir string
}

// open makes the trees, reads the configuration from base, and sets both trees up.
func open(ctx context.Context, f *measureFlags, p *progress) (*session, error) {
	ws, err := workspace.Open(ctx, workspace.Options{
		Repo: f.repo, Head: f.head, Base: f.base, Ignore: f.ourFiles(), TrackedOnly: os.Getenv("CI") != "", NoWait: f.noWait, Logf: p.Say,
	})
	if ctx.Err() != nil && err != nil {
		return nil, ctx.Err() // a git that was cut short tells all sorts of things
	}
	if err != nil {
		return nil, err
	}
	s := &session{ws: ws}
	if err := s.makeDir(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.configure(f); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.ready(ctx, f); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *session) makeDir() error {
	dir, err := os.MkdirTemp("", "triagebot-")
	if err != nil {
		return fmt.Errorf("making the working directory: %w", err)
	}
	s.dir = dir
	return os.Mkdir(s.scratch(), 0o700)
}

// scratch is the TMPDIR of what runs before the trials, which have their own.
func (s *session) scratch() string { return filepath.Join(s.dir, "scratch") }

// before is the environment of what runs before the trials.
func (s *session) before(env ...string) []string {
	return slices.Concat(s.env, []string{"TMPDIR=" + s.scratch(), "GOTMPDIR="}, env)
}

// Close removes the trees and what this run needed.
func (s *session) Close() error {
	err := s.ws.Close()
	if s.dir == "" {
		return err
	}
	return errors.Join(err, rerun.RemoveAll(s.dir))
}

// configure merges flags, environment, the file of the base side, and defaults.
func (s *session) configure(f *measureFlags) error {
	env, err := config.FromEnv(os.LookupEnv)
	if err != nil {
		return err
	}
	file, err := readConfig(filepath.Join(s.ws.Tree(triage.Base).Dir, filepath.FromSlash(config.Path)))
	if err != nil {
		return err
	}
	s.cfg = config.Merge(f.settings, env, file, config.Defaults())
	if s.suite, err = chooseSuite(s.cfg.Suites, f.suite); err != nil {
		return err
	}
	s.command = s.suite.Command
	if len(f.command) > 0 {
		s.command = f.command
	}
	s.adapter, err = adapterFor(s.command)
	if err != nil {
		return err
	}
	s.adapter.Suite, s.adapter.Checkout = s.suite.Name, s.ws.Top()
	if s.adapter.Dir == "" {
		s.adapter.Dir = s.suite.Dir
	}
	s.env = withoutWorkFile(proc.CleanEnv(os.Environ(), append(slices.Clone(s.cfg.PassEnv), s.suite.PassEnv...)...))
	return nil
}

func readConfig(path string) (config.Config, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return config.Config{}, nil
	}
	if err != nil {
		return config.Config{}, fmt.Errorf("reading configuration: %w", err)
	}
	defer file.Close()
	return config.Load(file, config.Path)
}

// chooseSuite finds the suite by name; without suites in the configuration there
// is one, named "go".
func chooseSuite(suites []config.Suite, name string) (config.Suite, error) {
	if len(suites) == 0 {
		if name == "" {
			name = "go"
		}
		return config.Suite{Name: name}, nil
	}
	if name == "" {
		return suites[0], nil
	}
	var names []string
	for _, s := range suites {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return config.Suite{}, fmt.Errorf("reading --suite: no suite %q in %s (there are %s)", name, config.Path, strings.Join(names, ", "))
}

// adapterFor keeps the flags of a go test command. Any other command is run as
// it is for its output; single tests are then plain go test.
func adapterFor(command []string) (gotest.Adapter, error) {
	if len(command) == 0 {
		return gotest.Adapter{}, nil
	}
	a, _, err := gotest.ParseCommand(command)
	if errors.Is(err, gotest.ErrNotGoTest) {
		return gotest.Adapter{}, nil
	}
	return a, err
}

// ready runs the set-up commands and makes sure that there is a Go that can
// build the head tree.
func (s *session) ready(ctx context.Context, f *measureFlags) error {
	setup := slices.Clone(s.suite.Setup)
	for _, line := range f.setup {
		argv, err := config.Split(line)
		if err != nil {
			return fmt.Errorf("reading --setup: %w", err)
		}
		setup = append(setup, argv)
	}
	began := time.Now()
	if err := s.ws.SetUp(ctx, setup, s.env); err != nil {
		return err
	}
	s.setup = time.Since(began)
	return s.checkGo(ctx)
}

// checkGo tells a missing or too old Go apart from a tree that does not build.
func (s *session) checkGo(ctx context.Context) error {
	dir := filepath.Join(s.ws.Tree(triage.Head).Dir, filepath.FromSlash(s.adapter.Dir))
	res, err := proc.Run(ctx, proc.Spec{Dir: dir, Argv: []string{"go", "list", "-m"}, Env: s.before(), Timeout: time.Minute})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("looking for Go: there is none on the PATH: install Go, or put it on the PATH")
	case err != nil:
		return fmt.Errorf("looking for Go: %w", err)
	}
	out := string(res.Output)
	if res.Exit != 0 && (strings.Contains(out, "requires go >=") || strings.Contains(out, "toolchain not available") || strings.Contains(out, "invalid go version")) {
		return fmt.Errorf("looking for Go: %s: install that version of Go, or allow it with GOTOOLCHAIN=auto", strings.TrimPrefix(lastLine(out), "go: "))
	}
	return nil
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}

// runner makes what carries out trials on the session's trees.
func (s *session) runner(lagged bool, p *progress) (*rerun.Runner, error) {
	cfg := rerun.Config{
		Adapter: s.adapter,
		Trees:   map[triage.Side]string{},
		Dir:     filepath.Join(s.dir, "run"),
		Env:     s.env,
		Timeout: s.cfg.TrialTimeout,
		Command: s.command, CommandDir: path.Join(s.ws.Prefix(), s.suite.Dir),
		Building: func(side triage.Side, pkg string, lagged bool) {
			what := "building"
			if lagged {
				what = "building, instrumented for lag,"
			}
			p.Say("%s %s on %s", what, pkg, side)
		},
	}
	for _, side := range []triage.Side{triage.Head, triage.Base} {
		if t := s.ws.Tree(side); t.Unbuildable == "" {
			cfg.Trees[side] = t.Dir
		}
	}
	if lagged {
		cfg.Engine = goEngine{flags: s.adapter.Flags, env: s.before(s.adapter.Env...)}
	}
	return rerun.New(cfg)
}

var _ pipeline.Runner = (*rerun.Runner)(nil)

// withoutWorkFile drops a GOWORK that names a file: it stands in one checkout, and
// would make both trees load that one's modules. A go.work of a tree is found by
// the go command itself.
func withoutWorkFile(env []string) []string {
	return slices.DeleteFunc(env, func(kv string) bool {
		v, ok := strings.CutPrefix(kv, "GOWORK=")
		return ok && v != "off" && v != ""
	})
}
