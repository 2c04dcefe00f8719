package zzlag

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

const (
	cleanupKind = "cleanup"
	cleanupSite = "testing/testing.go:(*common).TempDir:cleanup:1"
)

var (
	cleanups    int32
	errNotEmpty = errors.New("directory not empty")
)

// slowRemove removes a test's temporary directory the slow way: the files go,
// then comes a pause, then what has appeared meanwhile was written after the
// test had ended. It fails as the plain removal fails when it loses that race.
func slowRemove(dir string, remove func(string) error) error {
	kept := map[string]bool{}
	walk(dir, func(path string, isDir bool) {
		if isDir || os.Remove(path) != nil {
			kept[path] = true
		}
	})
	d := decision{site: cleanupSite, kind: cleanupKind, role: testRole, hit: atomic.AddInt32(&cleanups, 1), ms: current.cleanupMS}
	d.log()
	block(milliseconds(d.ms))
	var late []string
	walk(dir, func(path string, isDir bool) {
		if !kept[path] {
			late = append(late, path)
		}
	})
	err := remove(dir)
	if len(late) == 0 {
		return err
	}
	os.Stdout.WriteString(lateNote(dir, late))
	return &os.PathError{Op: "unlinkat", Path: filepath.Dir(late[0]), Err: errNotEmpty}
}

// lateNote names the files on a line of its own: the error has to read as it
// does without us.
func lateNote(root string, files []string) string {
	names := make([]string, 0, len(files))
	for _, f := range files {
		if r, err := filepath.Rel(root, f); err == nil {
			f = r
		}
		names = append(names, filepath.ToSlash(f))
	}
	return "triagebot: written after the test ended: " + strings.Join(names, ", ") + "\n"
}

// walk calls f for everything below dir, a directory before what is in it.
func walk(dir string, f func(path string, isDir bool)) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		f(path, e.IsDir())
		if e.IsDir() {
			walk(path, f)
		}
	}
}
