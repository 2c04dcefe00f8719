package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/beside"
	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/framework"
	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
	"github.com/triagebot/triagebot/internal/workspace"
)

// session is two trees made ready, and what runs tests on them.
type session struct {
	ws     *workspace.Workspace
	cfg    config.Config
	suites []*suite
	setup  time.Duration
	// warnings are those of the suites that were made ready.
	warnings []string
	// dir is a temporary directory of this run for all that it starts: what a
	// killed tool leaves goes with it.
	dir string
	// beside watches what else uses the machine, once there is a runner.
	beside *beside.Watch
}

// open makes the trees, reads the configuration from base, and sets both trees up.
func open(ctx context.Context, f *measureFlags, p *progress) (*session, error) {
	ws, err := workspace.Open(ctx, workspace.Options{
		Repo: f.repo, Head: f.head, Base: f.base, Ignore: f.ourFiles(), TrackedOnly: os.Getenv("CI") != "", NoWait: f.noWait, OneTree: f.oneTree, Logf: p.Say,
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
	if err := s.setUp(ctx); err != nil {
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

// before is the environment of what runs before the trials of a suite.
func (s *session) before(su *suite, env ...string) []string {
	return slices.Concat(su.env, []string{"TMPDIR=" + s.scratch(), "GOTMPDIR="}, env)
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
	suites, err := chosen(s.cfg.Suites, f.command, s.ws.Tree(triage.Head).Dir, s.ws.Prefix(), f.suite)
	if err != nil {
		return err
	}
	for i, c := range suites {
		su := &suite{Suite: c, typed: len(f.command) > 0}
		lang, ok := newLanguage(c.Framework)
		if !ok {
			return fmt.Errorf("%s: no such framework: %q (there are %s)", s.cfg.At(fmt.Sprintf("suites[%d].framework", i)), c.Framework, strings.Join(framework.Names(), ", "))
		}
		su.lang = lang
		su.env = slices.Concat(uncached, withoutWorkFile(proc.CleanEnv(os.Environ(), append(slices.Clone(s.cfg.PassEnv), c.PassEnv...)...)))
		for _, line := range f.setup {
			argv, err := config.Split(line)
			if err != nil {
				return fmt.Errorf("reading --setup: %w", err)
			}
			su.Setup = append(slices.Clone(su.Setup), argv)
		}
		if err := lang.configure(s.ws.Top(), su); err != nil {
			return err
		}
		s.readScripts(su)
		if err := su.findSeams([]string{s.ws.Tree(triage.Head).Dir, s.ws.Tree(triage.Base).Dir}); err != nil {
			return fmt.Errorf("%s: %w", s.cfg.At(fmt.Sprintf("suites[%d].seams", i)), err)
		}
		s.suites = append(s.suites, su)
	}
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

// setUp runs the declared set-up commands in both trees, each once.
func (s *session) setUp(ctx context.Context) error {
	began := time.Now()
	var done [][]string
	for _, su := range s.suites {
		var own [][]string
		for _, argv := range su.Setup {
			if !slices.ContainsFunc(done, func(d []string) bool { return slices.Equal(d, argv) }) {
				own, done = append(own, argv), append(done, argv)
			}
		}
		if err := s.ws.SetUp(ctx, own, su.env); err != nil {
			return err
		}
	}
	s.setup = time.Since(began)
	return nil
}

// ready makes a suite ready to run, once: its tools are looked for, and its
// trees get what the project does not set up itself.
func (s *session) ready(ctx context.Context, su *suite) error {
	if su.ready {
		return nil
	}
	began := time.Now()
	err := su.lang.ready(ctx, s, su)
	s.setup += time.Since(began)
	if err == nil { // only of suites that are measured
		s.warnings = append(s.warnings, su.doubts...)
	}
	su.ready = err == nil
	return err
}

// install lets the workspace give both trees their packages. When neither tree
// can have them, nothing can be measured: that is an error, and no verdict.
func (s *session) install(su *suite, give func() error) error {
	head, base := s.ws.Tree(triage.Head), s.ws.Tree(triage.Base)
	before := head.Unbuildable != "" && base.Unbuildable != ""
	if err := give(); err != nil || before {
		return err
	}
	if why := s.ws.Tree(triage.Head).Unbuildable; why != "" && s.ws.Tree(triage.Base).Unbuildable != "" {
		return fmt.Errorf("making %s ready: %s", su.Name, why)
	}
	return nil
}

// tryBoth prepares a suite once on each side, without a package. What fails on
// head is our own error; what fails on base alone makes base unbuildable.
func (s *session) tryBoth(ctx context.Context, su *suite, a rerun.Adapter) error {
	for _, side := range []triage.Side{triage.Head, triage.Base} {
		t := s.ws.Tree(side)
		if t.Unbuildable != "" {
			continue
		}
		p, err := a.Prepare(ctx, s.exec(su), triage.BuildSpec{Tree: t.Dir, Out: filepath.Join(s.dir, "try-"+fileName(su.Name)+"-"+side.String())})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && p.Failure != nil {
			err = errors.New(p.Failure.Message)
		}
		switch {
		case err == nil:
		case side == triage.Head:
			return fmt.Errorf("making %s ready: %w", su.Name, err)
		default:
			s.ws.GiveUp(side, lastLine(err.Error()))
		}
	}
	return nil
}

// exec runs a tool under the suite's environment, for adapters.
func (s *session) exec(su *suite) triage.Exec {
	return func(ctx context.Context, c triage.Command) ([]byte, triage.End, error) {
		res, err := proc.Run(ctx, proc.Spec{Dir: c.Dir, Argv: c.Argv, Env: s.before(su, c.Env...), Timeout: readyTimeout, OutputCap: 4 << 20})
		if err != nil {
			return nil, triage.End{}, err
		}
		return res.Output, triage.End{Exit: res.Exit, Signal: res.Signal, TimedOut: res.TimedOut}, ctx.Err()
	}
}

// readyTimeout bounds one question to a tool: a first start of an interpreter on
// a loaded machine is slow.
const readyTimeout = 2 * time.Minute

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}

// uncached makes programs that keep what a command came to run it again: a run from a
// cache is no run.
var uncached = []string{"TURBO_FORCE=true", "NX_SKIP_NX_CACHE=true", "NX_DAEMON=false", "WIREIT_CACHE=none"}

// withoutWorkFile drops a GOWORK that names a file: it stands in one checkout, and
// would make both trees load that one's modules. A go.work of a tree is found by
// the go command itself.
func withoutWorkFile(env []string) []string {
	return slices.DeleteFunc(env, func(kv string) bool {
		v, ok := strings.CutPrefix(kv, "GOWORK=")
		return ok && v != "off" && v != ""
	})
}
