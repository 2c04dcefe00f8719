package pylag

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/triage"
)

//go:embed runtime/sitecustomize.py runtime/zzlag/*.py
var runtime embed.FS

// Plugin is the module that tells the runtime of pytest's tests; the adapter
// loads it in every trial of an instrumented package.
const Plugin = "zzlag.plugin"

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
	if err := lay(out); err != nil {
		return nil, fmt.Errorf("instrumenting %s: %w", pkg, err)
	}
	return &Instrumentation{dir: out}, nil
}

// lay writes the runtime's files below dir.
func lay(dir string) error {
	return fs.WalkDir(runtime, "runtime", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("runtime", filepath.FromSlash(name))
		if err != nil {
			return err
		}
		path := filepath.Join(dir, rel)
		if d.IsDir() {
			return os.MkdirAll(path, 0o755)
		}
		b, err := runtime.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(path, b, 0o644)
	})
}

// Overlay is the directory of the runtime, which goes on PYTHONPATH.
func (in *Instrumentation) Overlay() string { return in.dir }

// Sites is empty: they are learnt from the logs.
func (in *Instrumentation) Sites() []triage.Site { return nil }

// Heal drops nothing: nothing is compiled.
func (in *Instrumentation) Heal([]byte) (int, error) { return 0, nil }

// Skipped is empty: what the runtime cannot delay it says on a trial's standard error.
func (in *Instrumentation) Skipped() []string { return nil }

// Capabilities is what the engine can move.
func Capabilities() lag.Capabilities {
	return lag.Capabilities{
		Kinds: []triage.Kind{
			triage.KindDouble, triage.KindReturn, triage.KindCall, triage.KindStart,
			triage.KindWake, triage.KindSignal, triage.KindStep,
		},
		Yield:   true,
		PerTest: true,
	}
}
