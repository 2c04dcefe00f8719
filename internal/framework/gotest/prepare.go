package gotest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// Prepare builds the test binary of one package.
//
// A package that is not there, or has no tests, gives a Prepared without Bin
// and without Failure: its tests are Absent. A package that does not build
// gives a Failure. The error is for a tool that could not be run.
func (a Adapter) Prepare(ctx context.Context, exec triage.Exec, s triage.BuildSpec) (triage.Prepared, error) {
	mod, err := a.moduleDir(s.Tree, s.Package)
	if err != nil {
		return triage.Prepared{}, err
	}
	if mod == "" {
		return triage.Prepared{Dir: s.Tree}, nil
	}
	if f := a.contaminated(s.Tree, mod, s.Package); f != nil {
		return triage.Prepared{Dir: mod, Failure: f}, nil
	}
	env := a.buildEnv(s.Tree, mod)
	info, prepared, err := a.list(ctx, exec, s, mod, env)
	if err != nil || info == nil {
		return prepared, err
	}
	argv := append([]string{"go", "test", "-c", "-o", s.Out}, a.buildFlags(s)...)
	// No "--": go test takes it for the end of its packages. An import path that
	// go list printed cannot begin with a dash.
	argv = append(argv, info.importPath)
	out, end, err := exec(ctx, triage.Command{Dir: mod, Argv: argv, Env: env})
	if err != nil {
		return triage.Prepared{}, fmt.Errorf("building %s: %w", s.Package, err)
	}
	p := triage.Prepared{Dir: info.dir, Output: out}
	switch {
	case end.TimedOut || end.Signal != "":
		return p, fmt.Errorf("building %s: killed (%s)", s.Package, cmp.Or(end.Signal, "timed out"))
	case end.Exit != 0:
		f := a.buildFailure(s, mod, out)
		p.Failure = &f
	default:
		if _, err := os.Stat(s.Out); err == nil {
			p.Bin = s.Out
		}
	}
	return p, nil
}

func (a Adapter) buildFailure(s triage.BuildSpec, mod string, out []byte) triage.Failure {
	f := buildFailure(a.target(s.Package, ""), out, bytes.Contains(out, []byte("[setup failed]")))
	if f.Location.File != "" {
		if !path.IsAbs(f.Location.File) {
			f.Location.File = filepath.ToSlash(filepath.Join(mod, filepath.FromSlash(f.Location.File)))
		}
		if rel, err := filepath.Rel(s.Tree, filepath.FromSlash(f.Location.File)); err == nil && filepath.IsLocal(rel) {
			f.Location.File = filepath.ToSlash(rel)
		}
	}
	return f
}

// buildFlags are the flags of "go test -c". With an overlay vet is off: it
// would judge the instrumented copy.
func (a Adapter) buildFlags(s triage.BuildSpec) []string {
	var flags []string
	for _, f := range a.Flags {
		if s.Overlay != "" && (strings.HasPrefix(f, "-vet=") || strings.HasPrefix(f, "-overlay=")) {
			continue
		}
		flags = append(flags, f)
	}
	if s.Detector == "race" && !a.Race {
		flags = append(flags, "-race")
	}
	if s.Overlay != "" {
		flags = append(flags, "-vet=off", "-overlay="+s.Overlay)
	}
	return flags
}

// buildEnv is the environment of a build. A go.work above the tree belongs to
// someone else and is turned off.
func (a Adapter) buildEnv(tree, mod string) []string {
	env := append([]string{"PWD=" + mod}, a.Env...)
	if slices.ContainsFunc(a.Env, func(e string) bool { return strings.HasPrefix(e, "GOWORK=") }) {
		return env
	}
	for dir := mod; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return env
		}
		if dir == tree || dir == filepath.Dir(dir) {
			return append(env, "GOWORK=off")
		}
	}
}

// pkgInfo is what go list says of a package.
type pkgInfo struct {
	importPath, dir string
}

const listFormat = `{{.ImportPath}}|{{len .TestGoFiles}}|{{len .XTestGoFiles}}|{{.Dir}}`

// list asks the go command for the package. info is nil when there is nothing
// to build; prepared then says why.
func (a Adapter) list(ctx context.Context, exec triage.Exec, s triage.BuildSpec, mod string, env []string) (*pkgInfo, triage.Prepared, error) {
	argv := []string{"go", "list", "-e", "-find", "-f", listFormat}
	for _, f := range a.Flags {
		if listFlag(f) {
			argv = append(argv, f)
		}
	}
	argv = append(argv, "--", s.Package)
	out, end, err := exec(ctx, triage.Command{Dir: mod, Argv: argv, Env: env})
	if err != nil {
		return nil, triage.Prepared{}, fmt.Errorf("listing %s: %w", s.Package, err)
	}
	if end.Exit != 0 || end.Signal != "" {
		f := a.buildFailure(s, mod, out)
		return nil, triage.Prepared{Dir: mod, Failure: &f, Output: out}, nil
	}
	var fields [][]byte
	for line := range bytes.SplitSeq(out, []byte{'\n'}) {
		if f := bytes.SplitN(bytes.TrimRight(line, "\r"), []byte{'|'}, 4); len(f) == 4 {
			fields = f
		}
	}
	if fields == nil || len(fields[3]) == 0 {
		return nil, triage.Prepared{Dir: mod, Output: out}, nil
	}
	info := &pkgInfo{importPath: string(fields[0]), dir: string(fields[3])}
	if string(fields[1]) == "0" && string(fields[2]) == "0" {
		return nil, triage.Prepared{Dir: info.dir, Output: out}, nil
	}
	return info, triage.Prepared{}, nil
}

// listFlag reports whether a build flag changes which files a package has.
func listFlag(f string) bool {
	for _, p := range []string{"-tags", "-mod", "-modfile", "-race", "-msan", "-asan", "-compiler"} {
		if f == p || strings.HasPrefix(f, p+"=") {
			return true
		}
	}
	return false
}

// moduleDir is the directory from which a package's import path is resolved:
// that of the module with the longest matching path that has the package's
// directory. It is empty when no module of the tree has it.
func (a Adapter) moduleDir(tree, pkg string) (string, error) {
	if strings.HasPrefix(pkg, ".") || filepath.IsAbs(pkg) {
		return filepath.Join(tree, filepath.FromSlash(a.Dir)), nil
	}
	mods, err := Modules(tree)
	if err != nil {
		return "", err
	}
	best, bestLen := "", -1
	for _, m := range mods {
		rest, ok := strings.CutPrefix(pkg, m.Path)
		if !ok || rest != "" && rest[0] != '/' || len(m.Path) <= bestLen {
			continue
		}
		dir := filepath.Join(tree, filepath.FromSlash(m.Dir))
		if st, err := os.Stat(filepath.Join(dir, filepath.FromSlash(rest))); err == nil && st.IsDir() {
			best, bestLen = dir, len(m.Path)
		}
	}
	return best, nil
}

// Module is a Go module of a tree.
type Module struct {
	// Path is the module's path, Dir its directory relative to the tree with
	// forward slashes, "." for the root.
	Path, Dir string
}

// maxModules bounds the modules looked for in one tree.
const maxModules = 1000

// Modules finds the modules of a tree, in the order of their directories. Like
// the go command it does not look into vendor, testdata, or directories that
// begin with "." or "_".
func Modules(tree string) ([]Module, error) {
	var out []Module
	err := filepath.WalkDir(tree, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if p == tree {
				return err
			}
			return nil // an unreadable corner of the tree has no tests for us
		}
		name := d.Name()
		if d.IsDir() && p != tree && skipDir(name) {
			return fs.SkipDir
		}
		if name != "go.mod" || !d.Type().IsRegular() || len(out) >= maxModules {
			return nil
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return fmt.Errorf("reading %s: %w", p, err)
		}
		if mp := modulePath(data); mp != "" {
			rel, err := filepath.Rel(tree, filepath.Dir(p))
			if err != nil {
				return err
			}
			out = append(out, Module{Path: mp, Dir: filepath.ToSlash(rel)})
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.SkipAll) {
		return nil, fmt.Errorf("finding Go modules: %w", err)
	}
	return out, nil
}

func skipDir(name string) bool {
	return name == "vendor" || name == "testdata" || name == "node_modules" || name[0] == '.' || name[0] == '_'
}

// modulePath reads the module line of a go.mod.
func modulePath(gomod []byte) string {
	for line := range strings.SplitSeq(string(gomod), "\n") {
		line, _, _ = strings.Cut(line, "//")
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "module"); ok && rest != "" && (rest[0] == ' ' || rest[0] == '\t' || rest[0] == '"') {
			return strings.Trim(strings.TrimSpace(rest), "\"`")
		}
	}
	return ""
}

// PackageDirs maps the import paths of a tree's modules to directories relative
// to the tree, for [Options].PackageDir.
func PackageDirs(tree string) (func(importPath string) (string, bool), error) {
	mods, err := Modules(tree)
	if err != nil {
		return nil, err
	}
	return func(pkg string) (string, bool) {
		best := -1
		dir := ""
		for _, m := range mods {
			rest, ok := strings.CutPrefix(pkg, m.Path)
			if ok && (rest == "" || rest[0] == '/') && len(m.Path) > best {
				best, dir = len(m.Path), path.Join(m.Dir, rest)
			}
		}
		return dir, best >= 0
	}, nil
}
