package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/framework"
	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
)

// goLanguage is Go's.
type goLanguage struct {
	gotest.Adapter
	// direct is set when the suite's command is go test's own.
	direct bool
}

func (g *goLanguage) adapter() rerun.Adapter { return g.Adapter }

func (g *goLanguage) sets() []string { return g.Env }

func (g *goLanguage) engine(s *session, su *suite) rerun.Engine {
	return goEngine{flags: g.Flags, env: s.before(su, g.Env...)}
}

// configure keeps the flags of a go test command. Any other command is run as it
// is for its output; single tests are then plain go test.
func (g *goLanguage) configure(top string, su *suite) error {
	if len(su.Command) > 0 {
		a, _, err := gotest.ParseCommand(su.Command)
		if err != nil && !errors.Is(err, gotest.ErrNotGoTest) {
			return err
		}
		g.Adapter, g.direct = a, err == nil
	}
	g.Suite, g.Checkout = su.Name, top
	if g.Dir == "" {
		g.Dir = su.Suite.Dir
	}
	return nil
}

// readScripts takes no command but go test's own: what another sets, single tests
// are run without.
func (g *goLanguage) readScripts(_, _, _ string, su *suite) []string {
	if g.direct || len(su.Command) == 0 {
		return nil
	}
	su.unlike = true
	doubt := fmt.Sprintf("%q does not show how it runs go test", shellWords(su.Command))
	return []string{su.notCIs([]string{doubt}, []string{"go", "test"}, "go test -tags TAG ./...")}
}

// ready tells a missing or too old Go apart from a tree that does not build.
func (g *goLanguage) ready(ctx context.Context, s *session, su *suite) error {
	dir := filepath.Join(s.ws.Tree(triage.Head).Dir, filepath.FromSlash(g.Dir))
	res, err := proc.Run(ctx, proc.Spec{Dir: dir, Argv: []string{"go", "list", "-m"}, Env: s.before(su), Timeout: time.Minute})
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

// command is the user's, or all packages of all modules.
func (g *goLanguage) command(_ context.Context, s *session, su *suite) ([]suiteCommand, error) {
	head := s.ws.Tree(triage.Head).Dir
	if len(su.Command) > 0 {
		return []suiteCommand{{Command: triage.Command{Dir: s.commandDir(su), Argv: withJSON(su.Command)}, report: g.Report}}, nil
	}
	found, err := framework.Detect(head)
	if err != nil {
		return nil, err
	}
	var out []suiteCommand
	for _, d := range found {
		if d.Framework == gotest.Name {
			out = append(out, suiteCommand{Command: triage.Command{Dir: filepath.Join(head, filepath.FromSlash(d.Dir)), Argv: withJSON(d.Command)}})
		}
	}
	if len(out) == 0 {
		return nil, errors.New("looking for a test suite: there is no go.mod, nor a sign of pytest, vitest, jest, mocha or node:test: name the failing tests, or the command after --")
	}
	return out, nil
}

func (g *goLanguage) plain() []string { return nil }

// reach asks the go command what the package is built from.
func (g *goLanguage) reach(ctx context.Context, s *session, pkg string) *triage.Reach {
	r, err := g.Reach(ctx, s.quick, s.ws.Tree(triage.Head).Dir, pkg, s.ws.Diff())
	if err != nil {
		return nil
	}
	return r
}

// goOptions tell the report readers what a checkout knows: which folder a
// package is, and the module that short package names are relative to.
func goOptions(dir, suite string) (gotest.Options, error) {
	mods, err := gotest.Modules(dir)
	if err != nil {
		return gotest.Options{}, err
	}
	dirs, err := gotest.PackageDirs(dir)
	if err != nil {
		return gotest.Options{}, err
	}
	opt := gotest.Options{Suite: suite, PackageDir: dirs}
	if len(mods) == 1 {
		opt.Module = mods[0].Path
	}
	return opt, nil
}

// testID is "import/path.TestName/sub", "import/path TestName/sub" or
// "./dir.TestName"; bareID is "TestName/sub". What begins like a test is one: its
// subtests may have spaces and dots before another such word.
var (
	testID = regexp.MustCompile(`^(.+?)[. ]((?:Test|Example|Fuzz)(?:\P{Ll}.*)?)$`)
	bareID = regexp.MustCompile(`^()((?:Test|Example|Fuzz)(?:\P{Ll}.*)?)$`)
)

// named makes a failure of a name of --test. A bare name has an empty package still.
func (g *goLanguage) named(id string, su *suite) (triage.Failure, bool) {
	m := bareID.FindStringSubmatch(id)
	if m == nil {
		m = testID.FindStringSubmatch(id)
	}
	if m == nil {
		return triage.Failure{}, false
	}
	return triage.Failure{
		Target:  triage.Target{Suite: su.Name, Framework: gotest.Name, Package: strings.TrimSuffix(m[1], "/"), Test: gotest.RewriteName(m[2])},
		Outcome: triage.Fail,
	}, true
}

// resolve gives the names of --test their import paths: a bare name is looked
// for in all packages, a relative folder is looked up.
func (g *goLanguage) resolve(ctx context.Context, s *session, su *suite, fs []triage.Failure) ([]triage.Failure, error) {
	mods, err := gotest.Modules(s.ws.Tree(triage.Head).Dir)
	if err != nil {
		return nil, err
	}
	var out []triage.Failure
	for _, f := range fs {
		switch pkg := f.Target.Package; {
		case pkg == "":
			pkgs, err := g.packagesOf(ctx, s, su, f.Target.Test, mods)
			if err != nil {
				return nil, err
			}
			for _, pkg := range pkgs {
				f.Target.Package = pkg
				out = append(out, f)
			}
		case strings.HasPrefix(pkg, "."):
			f.Target.Package = importPath(mods, path.Join(s.ws.Prefix(), pkg))
			out = append(out, f)
		default:
			out = append(out, f)
		}
	}
	return out, nil
}

// importPath is the import path of a folder relative to the tree.
func importPath(mods []gotest.Module, dir string) string {
	best := gotest.Module{}
	for _, m := range mods {
		if m.Dir == "." || dir == m.Dir || strings.HasPrefix(dir, m.Dir+"/") {
			if best.Path == "" || len(m.Dir) > len(best.Dir) || best.Dir == "." {
				best = m
			}
		}
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(dir, best.Dir), "/")
	if best.Dir == "." {
		rel = dir
	}
	return path.Join(best.Path, rel)
}

// lookupTimeout bounds the search for a bare name: it builds the tests of a whole
// module, which a cold cache makes slow.
const lookupTimeout = 10 * time.Minute

// packagesOf finds the packages of head that have a test of this name.
func (g *goLanguage) packagesOf(ctx context.Context, s *session, su *suite, test string, mods []gotest.Module) ([]string, error) {
	top, _, _ := strings.Cut(test, "/")
	var found, broken []string
	for _, m := range mods {
		argv := slices.Concat([]string{"go", "test", "-list", "^" + regexp.QuoteMeta(top) + "$"}, g.Flags, []string{"./..."})
		res, err := proc.Run(ctx, proc.Spec{
			Dir: filepath.Join(s.ws.Tree(triage.Head).Dir, filepath.FromSlash(m.Dir)), Argv: argv,
			Env: s.before(su, g.Env...), Timeout: lookupTimeout, OutputCap: 64 << 20,
		})
		if err != nil {
			return nil, fmt.Errorf("looking for %s: %w", test, err)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if res.TimedOut {
			return nil, fmt.Errorf("reading --test %q: looking for its package took longer than %s: name it as import/path.%s", test, lookupTimeout, test)
		}
		has, unbuilt := listed(res.Output, top)
		found, broken = append(found, has...), append(broken, unbuilt...)
	}
	if len(found) == 0 && len(broken) > 0 {
		return nil, fmt.Errorf("reading --test %q: no package on head has a test of that name, but %s does not build: name it as import/path.%s", test, several(broken), test)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("reading --test %q: no package on head has a test of that name", test)
	}
	return found, nil
}

// listed reads the output of go test -list: names, then the package they are of;
// or the package, and that it does not build.
func listed(out []byte, name string) (found, broken []string) {
	here := false
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if line == name {
			here = true
			continue
		}
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "ok" && f[0] != "FAIL" && f[0] != "?" {
			continue
		}
		switch {
		case here:
			found = append(found, f[1])
		case f[0] == "FAIL" && strings.HasSuffix(line, " failed]"):
			broken = append(broken, f[1])
		}
		here = false
	}
	return found, broken
}

// withJSON makes a go test command print events; any other is left as it is.
func withJSON(argv []string) []string {
	a, _, err := gotest.ParseCommand(argv)
	i := slices.Index(argv, "test")
	if err != nil || a.JSON || i < 0 || slices.ContainsFunc(argv, func(w string) bool { return filepath.Base(w) == "gotestsum" }) {
		return argv
	}
	return slices.Concat(argv[:i+1], []string{"-json"}, argv[i+1:])
}
