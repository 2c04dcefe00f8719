package main

import (
	"context"
	"os"
	"path"
	"path/filepath"

	"github.com/triagebot/triagebot/internal/framework/jstest"
	"github.com/triagebot/triagebot/internal/lag/nodelag"
	"github.com/triagebot/triagebot/internal/triage"
	"github.com/triagebot/triagebot/internal/workspace"
)

// nodeLimits are what the engine leaves alone.
const nodeLimits = "not moved: listeners of an EventEmitter and streams, the callbacks of exec, execFile and stream.pipeline, generators, timers that are not Node's own (jsdom's, doubles), code compiled down to callbacks, node_modules"

// surveyor is an adapter that tells what a tree has.
type surveyor interface {
	Survey(ctx context.Context, exec triage.Exec, tree string) (jstest.Survey, error)
}

func (j *scriptLanguage) diagnose(d *diagnosis, su *suite) []finding {
	s, err := j.adapter().(surveyor).Survey(d.ctx, d.exec(su), d.top)
	if err != nil {
		return []finding{{"Node", err.Error(), "", true}}
	}
	pins := workspace.ModulesPins(d.top, su.dir())
	installed := len(pins) == 0
	for at := path.Join(".", su.dir()); !installed; at = path.Dir(at) {
		installed = isDir(filepath.Join(d.top, filepath.FromSlash(at), "node_modules"))
		if at == "." {
			break
		}
	}
	out := []finding{toolFinding("Node", s.Node, s.NodeProblem)}
	if j.dialect.name != "nodetest" && (installed || len(pins) == 0) {
		out = append(out, toolFinding(j.dialect.name, s.Tool, s.ToolProblem))
	}
	return append(out, d.pinned(su, pins, installed), lagFinding(su, "Node", nodelag.Capabilities(), nodeLimits))
}

// toolFinding is a tool's version, or what is wrong with it.
func toolFinding(what, version, problem string) finding {
	if problem == "" {
		return finding{what: what, found: version}
	}
	found, fix := partFix(problem)
	return finding{what, found, fix, true}
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}
