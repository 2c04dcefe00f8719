package main

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/framework/nodetest"
	"github.com/triagebot/triagebot/internal/framework/vitest"
	"github.com/triagebot/triagebot/internal/lag"
)

// withoutOptions are the frameworks whose tests cannot be given an option of the
// project's own, and why.
var withoutOptions = map[string]string{
	nodetest.Name: "node:test hands no options on to tests",
	vitest.Name:   "vitest ends at an option that is not its own",
}

// findSeams reads the declared seams of a suite: options stay as they are, and
// functions are looked for in the trees. One side may lack a function, but not both.
func (su *suite) findSeams(trees []string) error {
	for _, text := range su.Seams {
		if strings.HasPrefix(text, "-") {
			if why := withoutOptions[su.Framework]; why != "" {
				return fmt.Errorf("seam %q: %s: declare a function", text, why)
			}
			su.seams = append(su.seams, lag.Seam{Option: text})
			continue
		}
		module, function, _ := strings.Cut(text, ":")
		sites, err := su.lang.places(trees, su, module, function)
		if err == nil && len(sites) == 0 {
			err = errors.New("there is no such file or module on either side: correct it, or leave it out")
		}
		if err != nil {
			return fmt.Errorf("seam %q: %w", text, err)
		}
		su.seams = append(su.seams, lag.Seam{Sites: sites})
	}
	return nil
}

// withoutDeclared leaves the rungs of declared seams out of a list: which there
// are is known only once the configuration is read.
func withoutDeclared(spec string) string {
	var kept []string
	for name := range strings.SplitSeq(spec, ",") {
		if !strings.HasPrefix(strings.TrimSpace(name), "declared") {
			kept = append(kept, name)
		}
	}
	return strings.Join(kept, ",")
}

// filesIn are those of the candidates that one of the trees has, each once, and
// as places of the function.
func filesIn(trees, candidates []string, function string) []string {
	var out []string
	for _, c := range candidates {
		c = path.Clean(c)
		site := c + ":" + function
		there := slices.ContainsFunc(trees, func(t string) bool { return fileIn(t)(c) })
		if there && !slices.Contains(out, site) {
			out = append(out, site)
		}
	}
	return out
}

// places finds a package by its import path, or a file.
func (g *goLanguage) places(trees []string, _ *suite, pkg, function string) ([]string, error) {
	if strings.HasSuffix(pkg, ".go") {
		return filesIn(trees, []string{pkg}, function), nil
	}
	var out []string
	for _, tree := range trees {
		mods, err := gotest.Modules(tree)
		if err != nil {
			return nil, err
		}
		for _, m := range mods {
			rel, ok := strings.CutPrefix(pkg, m.Path)
			if !ok || rel != "" && rel[0] != '/' {
				continue
			}
			dir := path.Join(m.Dir, "."+rel)
			site := dir + "/:" + function
			if isDir(filepath.Join(tree, filepath.FromSlash(dir))) && !slices.Contains(out, site) {
				out = append(out, site)
			}
		}
	}
	return out, nil
}

// places finds a module where Python would, or a file: below the suite's
// directory and the root, and below "src" of each.
func (p *pythonLanguage) places(trees []string, su *suite, module, function string) ([]string, error) {
	file := strings.HasSuffix(module, ".py")
	var candidates []string
	for _, dir := range []string{su.dir(), "", path.Join(su.dir(), "src"), "src"} {
		if file {
			candidates = append(candidates, path.Join(dir, module))
			continue
		}
		name := path.Join(dir, strings.ReplaceAll(module, ".", "/"))
		candidates = append(candidates, name+".py", name+"/__init__.py")
	}
	return filesIn(trees, candidates, function), nil
}

// places finds a file.
func (j *scriptLanguage) places(trees []string, su *suite, file, function string) ([]string, error) {
	return filesIn(trees, []string{path.Join(su.dir(), file), file}, function), nil
}
