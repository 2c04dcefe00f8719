package golag

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// unit is one file to be rewritten, with its package's types.
type unit struct {
	path, rel string
	file      *ast.File
	fset      *token.FileSet
	info      *types.Info
	pkg       *types.Package
	// generics is set when the file's module and the runtime's allow them.
	generics bool
}

// phantom is the package that exists only in the overlay.
type phantom struct {
	// path is its import path, dir the absolute directory it pretends to be in.
	path, dir string
	generics  bool
}

// loaded is what the go command and the type checker know of a package's test.
type loaded struct {
	units   []unit
	phantom phantom
	skipped []Skip
	// testing is the path of package testing's testing.go, empty when unknown.
	testing string
	// project has the import paths of the main modules' packages.
	project map[string]bool
}

// maxFiles bounds the files of one instrumentation; beyond it the packages that
// are farthest from the test are left alone.
const maxFiles = 5000

const graphMode = packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule | packages.NeedForTest

func load(ctx context.Context, s Spec) (*loaded, error) {
	graph, err := packages.Load(config(ctx, s, graphMode, true), pattern(s))
	if err != nil {
		return nil, fmt.Errorf("listing packages: %w", err)
	}
	l := &loaded{project: map[string]bool{}}
	targets, deps, err := l.reach(s, graph)
	if err != nil {
		return nil, err
	}
	var pkgs []*packages.Package
	if len(deps) > 0 {
		if pkgs, err = packages.Load(config(ctx, s, packages.LoadSyntax|packages.NeedModule, false), deps...); err != nil {
			return nil, fmt.Errorf("loading packages: %w", err)
		}
	}
	tests, err := packages.Load(config(ctx, s, packages.LoadSyntax|packages.NeedModule|packages.NeedForTest, true), targets...)
	if err != nil {
		return nil, fmt.Errorf("loading packages: %w", err)
	}
	return l, l.collect(s, append(tests, pkgs...))
}

func config(ctx context.Context, s Spec, mode packages.LoadMode, tests bool) *packages.Config {
	c := &packages.Config{Context: ctx, Mode: mode, Tests: tests, Dir: s.Tree, Env: s.Env, BuildFlags: listFlags(s.Flags)}
	if s.Dir != "" {
		c.Dir = s.Dir
	}
	if c.Env == nil {
		c.Env = os.Environ()
	}
	return c
}

// listFlags leaves out what go list does not take.
func listFlags(flags []string) []string {
	return slices.DeleteFunc(slices.Clone(flags), func(f string) bool {
		name := strings.TrimLeft(f, "-")
		return strings.HasPrefix(name, "cover") || strings.HasPrefix(name, "vet")
	})
}

func pattern(s Spec) string {
	if s.Dir != "" && !strings.Contains(s.Package, "...") {
		return "."
	}
	return s.Package
}

// reach walks the import graph of the tests: the packages asked for, and the
// packages of the main modules below them. It also picks the phantom's place.
func (l *loaded) reach(s Spec, graph []*packages.Package) (targets, deps []string, err error) {
	roots := map[string]bool{}
	var first *packages.Module
	for _, p := range graph {
		if len(p.Errors) > 0 {
			return nil, nil, fmt.Errorf("listing packages: %w", p.Errors[0])
		}
		if p.ForTest == "" && !strings.HasSuffix(p.PkgPath, ".test") && p.Module != nil {
			roots[p.PkgPath] = true
			targets = append(targets, p.PkgPath)
			if first == nil {
				first = p.Module
			}
		}
	}
	if first == nil {
		return nil, nil, errors.New("listing packages: no package of a module found (module mode is needed)")
	}
	packages.Visit(graph, func(p *packages.Package) bool {
		if p.PkgPath == "testing" {
			l.findTesting(p)
		}
		if !ours(s, p.Module) {
			return true
		}
		l.project[p.PkgPath] = true
		if !roots[p.PkgPath] && p.ForTest == "" && !strings.HasSuffix(p.PkgPath, ".test") && !slices.Contains(deps, p.PkgPath) {
			deps = append(deps, p.PkgPath)
		}
		return true
	}, nil)
	l.phantom = placePhantom(first)
	return targets, deps, nil
}

func (l *loaded) findTesting(p *packages.Package) {
	for _, f := range p.GoFiles {
		if filepath.Base(f) == "testing.go" {
			l.testing = f
		}
	}
}

// ours reports whether a module's files may be replaced: those of the main
// modules, and of modules that a replace directive finds inside the tree.
func ours(s Spec, m *packages.Module) bool {
	if m == nil || m.Dir == "" {
		return false
	}
	return m.Main || m.Replace != nil && m.Replace.Version == "" && within(s.Tree, m.Dir)
}

func within(root, dir string) bool {
	rel, err := filepath.Rel(root, dir)
	return err == nil && filepath.IsLocal(rel)
}

// placePhantom puts the runtime into the module of the package under test, under
// a name that is not there yet. It is not below an internal folder, so every
// module of the workspace may import it.
func placePhantom(m *packages.Module) phantom {
	name := "zz_triagebot_lag"
	for exists(filepath.Join(m.Dir, name)) {
		name += "_"
	}
	return phantom{path: m.Path + "/" + name, dir: filepath.Join(m.Dir, name), generics: hasGenerics(m)}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// hasGenerics reports whether the module's language version is 1.18 or later.
// A module without a go directive is at 1.16.
func hasGenerics(m *packages.Module) bool {
	if m == nil {
		return false
	}
	v := strings.SplitN(m.GoVersion, ".", 3)
	if len(v) < 2 {
		return false
	}
	minor, err := strconv.Atoi(strings.TrimRightFunc(v[1], func(r rune) bool { return r < '0' || r > '9' }))
	return err == nil && (v[0] != "1" || minor >= 18)
}

// collect makes units of the files, each once, in the order of their names.
func (l *loaded) collect(s Spec, pkgs []*packages.Package) error {
	seen := map[string]bool{}
	for _, p := range pkgs {
		if strings.HasSuffix(p.PkgPath, ".test") || !ours(s, p.Module) {
			continue
		}
		if len(p.Errors) > 0 {
			return fmt.Errorf("loading packages: %w", p.Errors[0])
		}
		l.say(s, p, seen)
		for _, f := range p.Syntax {
			path := p.Fset.PositionFor(f.Pos(), false).Filename
			rel, err := filepath.Rel(s.Tree, path)
			if seen[path] || err != nil || !filepath.IsLocal(rel) || !slices.Contains(p.GoFiles, path) {
				continue
			}
			seen[path] = true
			u := unit{path: path, rel: filepath.ToSlash(rel), file: f, fset: p.Fset, info: p.TypesInfo, pkg: p.Types}
			u.generics = l.phantom.generics && hasGenerics(p.Module)
			if len(l.units) >= maxFiles {
				l.skipped = append(l.skipped, Skip{File: u.rel, Why: fmt.Sprintf("the test has more than %d files", maxFiles)})
				continue
			}
			l.units = append(l.units, u)
		}
	}
	slices.SortFunc(l.units, func(a, b unit) int { return strings.Compare(a.rel, b.rel) })
	return nil
}

// say notes the files that cgo reads, which are not among the compiled ones.
func (l *loaded) say(s Spec, p *packages.Package, seen map[string]bool) {
	for _, f := range p.GoFiles {
		if seen[f] || slices.Contains(p.CompiledGoFiles, f) {
			continue
		}
		seen[f] = true
		if rel, err := filepath.Rel(s.Tree, f); err == nil {
			l.skipped = append(l.skipped, Skip{File: filepath.ToSlash(rel), Why: "it uses cgo"})
		}
	}
}
