package jstest

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// Survey is what a tree has to run tests with.
type Survey struct {
	// Node is the version of Node, Tool that of the framework (empty for node:test).
	Node, Tool string
	// NodeProblem and ToolProblem say why one of them cannot be used, and what to
	// do; empty when it can.
	NodeProblem, ToolProblem string
}

// Survey asks for Node and looks for the framework, as [Project.Prepare] does.
func (p Project) Survey(ctx context.Context, exec triage.Exec, d Dialect, tree string) (Survey, error) {
	dir := filepath.Join(tree, filepath.FromSlash(p.Dir))
	node, _, problem, err := p.version(ctx, exec, dir)
	if err != nil {
		return Survey{}, err
	}
	s := Survey{Node: node, NodeProblem: problem}
	if d.Package == "" {
		return s, nil
	}
	_, s.ToolProblem = findScript(dir, tree, d.Package)
	if s.ToolProblem == "" {
		s.Tool = versionOf(dir, tree, d.Package)
	}
	return s, nil
}

// versionOf is the version of an installed package, empty when it cannot be told.
func versionOf(dir, tree, name string) string {
	for at := dir; strings.HasPrefix(at, tree); at = filepath.Dir(at) {
		b, err := os.ReadFile(filepath.Join(at, "node_modules", name, "package.json"))
		if err == nil {
			var m struct{ Version string }
			_ = json.Unmarshal(b, &m) // one that is not JSON tells no version
			return m.Version
		}
		if at == tree {
			break
		}
	}
	return ""
}
