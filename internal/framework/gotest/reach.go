package gotest

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// maxFirst bounds the file name kept in a [triage.Reach], in bytes.
const maxFirst = 256

// Reach counts the changed files (relative to the tree, with forward slashes)
// that a package's test can have loaded: those in or below a folder of a
// package it is built from, and the files of its modules.
func (a Adapter) Reach(ctx context.Context, exec triage.Exec, tree, pkg string, changed []string) (*triage.Reach, error) {
	mod, err := a.moduleDir(tree, pkg)
	if err != nil || mod == "" {
		return nil, err
	}
	argv := []string{"go", "list", "-e", "-deps", "-test", "-f", "{{if not .Standard}}{{.Dir}}{{end}}"}
	for _, f := range a.Flags {
		if listFlag(f) {
			argv = append(argv, f)
		}
	}
	out, end, err := exec(ctx, triage.Command{Dir: mod, Argv: append(argv, "--", pkg), Env: a.buildEnv(tree, mod)})
	if err != nil {
		return nil, fmt.Errorf("listing what %s loads: %w", pkg, err)
	}
	if end.Exit != 0 || end.Signal != "" {
		return nil, nil
	}
	var dirs []string
	for line := range strings.Lines(string(out)) {
		rel, err := filepath.Rel(tree, strings.TrimSpace(line))
		if err == nil && filepath.IsLocal(rel) && !slices.Contains(dirs, filepath.ToSlash(rel)) {
			dirs = append(dirs, filepath.ToSlash(rel))
		}
	}
	return reach(dirs, changed), nil
}

func reach(dirs, changed []string) *triage.Reach {
	r := &triage.Reach{Changed: len(changed)}
	for _, f := range changed {
		if !loads(dirs, f) {
			continue
		}
		if r.Loaded++; r.First == "" && len(f) <= maxFirst {
			r.First = f
		}
	}
	return r
}

func loads(dirs []string, file string) bool {
	switch filepath.Base(file) {
	case "go.mod", "go.sum", "go.work", "go.work.sum", "modules.txt":
		return true
	}
	return slices.ContainsFunc(dirs, func(d string) bool { return d == "." || strings.HasPrefix(file, d+"/") })
}
