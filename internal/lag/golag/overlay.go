package golag

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

//go:embed zzlag
var runtimeFiles embed.FS

const (
	// genericFile needs go1.18; the hook files are one or the other.
	genericFile = "wrap118.go"
	noHookFile  = "nohook.go"
	hookFile    = "hook.go.txt"
)

// writeRuntime lays down the phantom package and the overlay of package testing.
func (in *Instrumentation) writeRuntime(replace map[string]string) error {
	dir := filepath.Join(in.spec.Out, "zzlag")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	entries, err := runtimeFiles.ReadDir("zzlag")
	if err != nil {
		return err
	}
	widened := in.testing != nil
	for _, e := range entries {
		name := e.Name()
		unused := strings.HasSuffix(name, "_test.go") || name == genericFile && !in.phantom.generics ||
			name == noHookFile && widened || name == hookFile && !widened
		if unused {
			continue
		}
		b, err := runtimeFiles.ReadFile("zzlag/" + name)
		if err != nil {
			return err
		}
		name = strings.TrimSuffix(name, ".txt")
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
		replace[filepath.Join(in.phantom.dir, name)] = filepath.Join(dir, name)
	}
	if !widened {
		return nil
	}
	in.Sites = append(in.Sites, in.testing.site)
	replace[in.testing.path] = in.testing.out
	return os.WriteFile(in.testing.out, in.testing.src, 0o644)
}

// testingPkg is the rewritten testing.go of the tool chain.
type testingPkg struct {
	path, out string
	src       []byte
	site      triage.Site
}

// removal is the one call that removes a test's temporary directory, in the
// versions of package testing since go1.15.
var removal = regexp.MustCompile(`\b(os\.RemoveAll|removeAll)\(c\.tempDir\)`)

// testingTail gives package testing a variable through which the runtime takes
// over the removal. It uses no import.
const testingTail = `
// TriagebotCleanup removes a temporary directory in triagebot's lagged trials.
var TriagebotCleanup func(dir string, remove func(string) error) error

func triagebotRemove(remove func(string) error, dir string) error {
	if TriagebotCleanup != nil {
		return TriagebotCleanup(dir, remove)
	}
	return remove(dir)
}
`

// overlayTesting rewrites package testing, or says why temporary directories
// cannot be watched.
func (in *Instrumentation) overlayTesting(path string) *testingPkg {
	const name = "testing/testing.go"
	switch {
	case path == "":
		in.skip(name, "package testing was not found")
		return nil
	case strings.Contains(filepath.ToSlash(path), "/golang.org/toolchain@"):
		in.skip(name, "the tool chain lies in the module cache, whose files the go command does not replace")
		return nil
	}
	src, err := os.ReadFile(path)
	if err != nil {
		in.skip(name, err.Error())
		return nil
	}
	found := removal.FindAllSubmatchIndex(src, -1)
	if len(found) != 1 {
		in.skip(name, fmt.Sprintf("it removes temporary directories in %d places, not one", len(found)))
		return nil
	}
	m := found[0]
	call := string(src[m[2]:m[3]])
	b := string(src[:m[0]]) + "triagebotRemove(" + call + ", c.tempDir)" + string(src[m[1]:]) + testingTail
	return &testingPkg{
		path: path, out: filepath.Join(in.spec.Out, "testing.go"), src: []byte(b),
		site: triage.Site{
			ID: CleanupSite, Kind: triage.KindCleanup, File: name, Func: "(*common).TempDir",
			Line: 1 + strings.Count(string(src[:m[0]]), "\n"), Text: "the removal of t.TempDir()",
		},
	}
}
