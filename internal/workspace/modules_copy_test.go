//go:build unix

package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// roots makes a checkout with files, and an empty tree.
func roots(t *testing.T, files map[string]string) *copier {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &copier{top: filepath.Join(dir, "top"), tree: filepath.Join(dir, "tree"), say: func(_, _ int64) {}}
	if err := os.Mkdir(c.tree, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		(&repo{t, c.top}).write(name, text)
	}
	return c
}

func TestCopyIsTheSameAndApart(t *testing.T) {
	files := map[string]string{"node_modules/empty": "", "node_modules/@a/b/large": strings.Repeat("x", 300<<10)}
	for i := range 600 { // more than the walk may be ahead
		files[fmt.Sprintf("node_modules/d%d/f%d", i%7, i)] = fmt.Sprint(i)
	}
	c := roots(t, files)
	run := filepath.Join(c.top, "node_modules/.bin/run")
	(&repo{t, c.top}).write("node_modules/.bin/run", "#!")
	if err := os.Chmod(run, 0o555); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, c.top)
	if err := c.run(t.Context(), []string{"node_modules"}); err != nil {
		t.Fatal(err)
	}
	after := snapshot(t, c.tree)
	if len(after) != len(before) || c.files.Load() != int64(len(files)+1) {
		t.Errorf("%d names, want %d; %d files counted", len(after), len(before), c.files.Load())
	}
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s differs", name)
		}
	}
	if st, err := os.Stat(filepath.Join(c.tree, "node_modules/.bin/run")); err != nil || st.Mode().Perm() != 0o555 {
		t.Errorf("mode is %v, %v", st.Mode(), err)
	}
	if err := os.WriteFile(filepath.Join(c.tree, "node_modules/@a/b/large"), []byte("written by a test"), 0o644); err != nil {
		t.Fatal(err)
	}
	if snapshot(t, c.top)["node_modules/@a/b/large"] != before["node_modules/@a/b/large"] {
		t.Error("a write in the tree reached the checkout")
	}
}

func TestCachesAndSocketsAreNotCopied(t *testing.T) {
	c := roots(t, map[string]string{"node_modules/.vite/deps/a.js": "", "node_modules/.cache/b": "", "node_modules/c/.cache/kept": "1"})
	if err := syscall.Mkfifo(filepath.Join(c.top, "node_modules/pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := c.run(t.Context(), []string{"node_modules"}); err != nil {
		t.Fatal(err)
	}
	got := snapshot(t, c.tree)
	delete(got, ".")
	if len(got) != 4 || got["node_modules/c/.cache/kept"] != "1" {
		t.Errorf("copied %v", got)
	}
}

func TestLinksLeadIntoTheTree(t *testing.T) {
	c := roots(t, map[string]string{"packages/a/x": "1"})
	outside := t.TempDir()
	alias := filepath.Join(t.TempDir(), "alias")
	if err := os.Symlink(c.top, alias); err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]struct {
		rel, target, want string
		outside           bool
	}{
		"relative":                      {"node_modules/a", "../packages/a", "../packages/a", false},
		"absolute into the checkout":    {"node_modules/a", c.top + "/packages/a", "../packages/a", false},
		"by another name of the root":   {"node_modules/a", alias + "/packages/a", "../packages/a", false},
		"of a scope":                    {"node_modules/@s/a", c.top + "/packages/a", "../../packages/a", false},
		"absolute and elsewhere":        {"node_modules/a", outside, outside, true},
		"relative out of the checkout":  {"node_modules/a", "../../sibling", filepath.Join(filepath.Dir(c.top), "sibling"), true},
		"to a name that only begins so": {"node_modules/a", c.top + "2/a", c.top + "2/a", true},
	} {
		t.Run(name, func(t *testing.T) {
			if got, out := c.aim(l.rel, l.target); got != l.want || out != l.outside {
				t.Errorf("leads to %q (outside: %v), want %q (%v)", got, out, l.want, l.outside)
			}
		})
	}
}

func TestCopyStopsAtTheFirstError(t *testing.T) {
	files := map[string]string{}
	for i := range 1000 {
		files[fmt.Sprintf("node_modules/f%d", i)] = "x"
	}
	c := roots(t, files)
	(&repo{t, c.tree}).write("packages/a/node_modules", "in the way")
	(&repo{t, c.top}).write("packages/a/node_modules/x", "")
	if err := c.run(t.Context(), []string{"node_modules", "packages/a/node_modules"}); !errors.Is(err, os.ErrExist) {
		t.Errorf("got %v", err)
	}
}

func TestCopyEndsWithItsContext(t *testing.T) {
	files := map[string]string{}
	for i := range 1000 {
		files[fmt.Sprintf("node_modules/d%d/f", i)] = "x"
	}
	c := roots(t, files)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.run(ctx, []string{"node_modules"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if n := c.files.Load(); n > copyAhead {
		t.Errorf("%d files were copied", n)
	}
}

// TestCopySpeed copies a real node_modules when one is named.
func TestCopySpeed(t *testing.T) {
	from := os.Getenv("TRIAGEBOT_TEST_NODE_MODULES")
	if from == "" || testing.Short() {
		t.Skip("TRIAGEBOT_TEST_NODE_MODULES does not name a node_modules")
	}
	real, err := filepath.EvalSymlinks(from)
	if err != nil {
		t.Fatal(err)
	}
	c := roots(t, nil)
	c.top = filepath.Dir(real)
	began := time.Now()
	if err := c.run(t.Context(), []string{filepath.Base(real)}); err != nil {
		t.Fatal(err)
	}
	wall := time.Since(began)
	t.Logf("%d files, %.0f MB in %.2f s: %.0f MB/s", c.files.Load(), float64(c.bytes.Load())/1e6, wall.Seconds(), float64(c.bytes.Load())/1e6/wall.Seconds())
}
