package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheDigestKnowsEveryChange(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files := []string{"a", "b", "gone", "link"}
	write("a", "1")
	write("b", "2")
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	step := func(what string, change func()) {
		t.Helper()
		change()
		d, err := digest(dir, files)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := digest(dir, files); err != nil || again != d {
			t.Errorf("%s: two digests of one tree, %v", what, err)
		}
		if old, ok := seen[d]; ok {
			t.Errorf("%s: the digest is that of %q", what, old)
		}
		seen[d] = what
	}
	step("at first", func() {})
	step("another content", func() { write("a", "3") })
	step("a content moved on", func() { write("a", ""); write("b", "32") })
	step("a new file", func() { write("gone", "") })
	step("a mode", func() {
		if err := os.Chmod(filepath.Join(dir, "b"), 0o755); err != nil {
			t.Fatal(err)
		}
	})
	step("a link", func() {
		if err := os.Remove(filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("b", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
	})
	step("fewer files", func() { files = files[:2] })
}
