package golag

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// The variables of a lagged trial's environment. Both hold absolute paths.
const (
	// PlanEnv names the plan, a triage.LagPlan as JSON.
	PlanEnv = "TRIAGEBOT_LAG_PLAN"
	// LogEnv names the decision log, to which JSON lines are appended.
	LogEnv = "TRIAGEBOT_LAG_LOG"
)

// CleanupSite is the id of the one site in package testing: the removal of
// temporary directories.
const CleanupSite = "testing/testing.go:(*common).TempDir:cleanup:1"

// LateNote begins the line of a trial's output that names the files that were
// written into a temporary directory after its test had ended. The test's own
// message does not name them, so that it stays the one that is seen without lag.
const LateNote = "triagebot: written after the test ended: "

// Spec says what to instrument.
type Spec struct {
	// Tree is the absolute root of the worktree; sites name files below it.
	Tree string
	// Package is an import path, or a pattern that go list takes in Dir.
	Package string
	// Dir is the absolute directory of the package, when known. Else Package is
	// looked up from Tree.
	Dir string
	// Flags are the suite's build flags: -tags, -race, -mod and the like.
	Flags []string
	// Env is the whole environment of the go command; nil is this process's own.
	Env []string
	// Out is an absolute directory outside the tree for the overlay's files.
	Out string
}

// Skip is a file that was left as it is.
type Skip struct {
	// File is relative to the tree with forward slashes.
	File string
	// Why is a phrase for people.
	Why string
}

// Instrumentation is a set of rewritten sources, ready to be built.
type Instrumentation struct {
	// Overlay is the absolute path of the file for go build -overlay.
	Overlay string
	// Sites are the places where the build can move time, in the order of their files.
	Sites []triage.Site
	// Skipped are the files that could not or should not be instrumented.
	Skipped []Skip

	spec    Spec
	phantom phantom
	files   []*source
	testing *testingPkg
}

// Instrument rewrites the sources of the package's test and of everything it
// imports from the main modules. The exec is for commands besides those that
// go/packages runs itself; none is needed today.
func Instrument(ctx context.Context, _ triage.Exec, s Spec) (*Instrumentation, error) {
	for _, p := range []string{s.Tree, s.Out} {
		if !filepath.IsAbs(p) {
			return nil, fmt.Errorf("instrumenting %s: path %q is not absolute", s.Package, p)
		}
	}
	if slices.ContainsFunc(s.Flags, func(f string) bool { return strings.HasPrefix(strings.TrimLeft(f, "-"), "overlay") }) {
		return nil, fmt.Errorf("instrumenting %s: the suite builds with an -overlay of its own", s.Package)
	}
	l, err := load(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("instrumenting %s: %w", s.Package, err)
	}
	in := &Instrumentation{spec: s, phantom: l.phantom, Skipped: l.skipped}
	for _, u := range l.units {
		in.rewrite(u, l)
	}
	in.testing = in.overlayTesting(l.testing)
	if err := in.write(); err != nil {
		return nil, fmt.Errorf("instrumenting %s: %w", s.Package, err)
	}
	return in, nil
}

// BuildFlags are the flags that a go test -c of the instrumented package needs
// besides the suite's own. Vet is off because it cannot read the package that
// exists only in the overlay.
func (in *Instrumentation) BuildFlags() []string {
	return []string{"-overlay=" + in.Overlay, "-vet=off"}
}

// Env is what a trial of the built binary adds to its environment. The log may
// be empty. GORACE spares the second that a race-enabled binary waits at exit.
func (in *Instrumentation) Env(plan, log string) []string {
	env := []string{PlanEnv + "=" + plan}
	if log != "" {
		env = append(env, LogEnv+"="+log)
	}
	if slices.ContainsFunc(in.spec.Flags, func(f string) bool { return f == "-race" || f == "--race" || f == "-race=true" }) {
		env = append(env, "GORACE=atexit_sleep_ms=0")
	}
	return env
}

// rewrite instruments one file, or says why not.
func (in *Instrumentation) rewrite(u unit, l *loaded) {
	rel := u.rel
	src, err := os.ReadFile(u.path)
	if err != nil {
		in.skip(rel, err.Error())
		return
	}
	if why := unfit(u, src); why != "" {
		in.skip(rel, why)
		return
	}
	f := newSource(u, src)
	w := newWalker(f, u, l)
	w.walkFile()
	if len(f.sites) == 0 {
		return
	}
	f.out = filepath.Join(in.spec.Out, fmt.Sprintf("f%05d_%s", len(in.files), filepath.Base(u.path)))
	in.files = append(in.files, f)
}

func (in *Instrumentation) skip(file, why string) {
	in.Skipped = append(in.Skipped, Skip{File: file, Why: why})
}

// write lays down the overlay and lists the sites.
func (in *Instrumentation) write() error {
	replace := map[string]string{}
	if err := os.MkdirAll(in.spec.Out, 0o755); err != nil {
		return fmt.Errorf("writing overlay: %w", err)
	}
	in.Sites = nil
	for _, f := range in.files {
		if f.dropped || f.live() == 0 {
			continue
		}
		if err := os.WriteFile(f.out, f.render(in.phantom.path), 0o644); err != nil {
			return fmt.Errorf("writing overlay: %w", err)
		}
		replace[f.path] = f.out
		in.Sites = append(in.Sites, f.list()...)
	}
	if err := in.writeRuntime(replace); err != nil {
		return fmt.Errorf("writing overlay: %w", err)
	}
	b, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return fmt.Errorf("writing overlay: %w", err)
	}
	in.Overlay = filepath.Join(in.spec.Out, "overlay.json")
	if err := os.WriteFile(in.Overlay, b, 0o644); err != nil {
		return fmt.Errorf("writing overlay: %w", err)
	}
	return nil
}
