package nodelag

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/triage"
)

//go:embed runtime
var runtime embed.FS

const (
	// Preload is the file of an overlay that a trial's Node loads first.
	Preload = "preload.cjs"
	// EnvTree names the environment variable with the root that sites are named below.
	EnvTree = "TRIAGEBOT_TREE"
)

// Engine makes directories with the runtime. The zero value works.
type Engine struct{}

// Instrumentation is the runtime, laid down for one tree.
type Instrumentation struct {
	dir string
}

// Instrument lays the runtime into the directory out, which must be outside the
// tree. Nothing of the tree is read.
func (Engine) Instrument(_ context.Context, _ triage.Exec, _, pkg, _, out string) (*Instrumentation, error) {
	if !filepath.IsAbs(out) {
		return nil, fmt.Errorf("instrumenting %s: path %q is not absolute", pkg, out)
	}
	if strings.ContainsAny(out, "\n\r\x00") {
		return nil, fmt.Errorf("instrumenting %s: path %q cannot stand in NODE_OPTIONS", pkg, out)
	}
	if err := lay(out); err != nil {
		return nil, fmt.Errorf("instrumenting %s: %w", pkg, err)
	}
	return &Instrumentation{dir: out}, nil
}

// lay writes the runtime's files into dir.
func lay(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files, err := fs.ReadDir(runtime, "runtime")
	if err != nil {
		return err
	}
	for _, f := range files {
		b, err := runtime.ReadFile("runtime/" + f.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name()), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Overlay is the directory of the runtime.
func (in *Instrumentation) Overlay() string { return in.dir }

// Sites is empty: they are learnt from the logs.
func (in *Instrumentation) Sites() []triage.Site { return nil }

// Heal drops nothing: a source that the runtime cannot parse stays as it was.
func (in *Instrumentation) Heal([]byte) (int, error) { return 0, nil }

// Skipped is empty: what a run compiles is known only to it.
func (in *Instrumentation) Skipped() []string { return nil }

// Capabilities is what the engine can move.
func Capabilities() lag.Capabilities {
	return lag.Capabilities{Kinds: []triage.Kind{triage.KindStart, triage.KindWake}, Yield: true}
}
