package jstest

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	// maxSource bounds what is read of one file, maxSources how many are looked at.
	maxSource  = 1 << 20
	maxSources = 20_000
)

// reTestFile is a file that these frameworks take for tests by default.
var reTestFile = regexp.MustCompile(`(?:[._-](?:test|spec)|(?:^|/)test[^/]*)\.[cm]?[jt]sx?$|(?:^|/)(?:__tests__|tests?)/.*\.[cm]?[jt]sx?$`)

// FilesWith are the test files below a directory of a tree that have a test's
// own name written out, relative to the tree with forward slashes.
func FilesWith(tree, dir, name string) []string {
	var found []string
	seen := 0
	root := filepath.Join(tree, filepath.FromSlash(dir))
	_ = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be read has no test for us
		case d.IsDir() && p != root && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		if seen++; seen > maxSources {
			return fs.SkipAll
		}
		rel, err := filepath.Rel(tree, p)
		if file := filepath.ToSlash(rel); err == nil && reTestFile.MatchString(file) && Mentions(tree, file, name) {
			found = append(found, file)
		}
		return nil
	})
	return found
}

// Mentions reports whether a file of a tree has a text in it. Quotes in it may
// be written with a backslash.
func Mentions(tree, file, text string) bool {
	p := filepath.Join(tree, filepath.FromSlash(path.Clean("/"+file)))
	if st, err := os.Stat(p); err != nil || !st.Mode().IsRegular() || st.Size() > maxSource {
		return false
	}
	b, err := os.ReadFile(p)
	return err == nil && text != "" && bytes.Contains(bytes.ReplaceAll(b, []byte(`\`), nil), []byte(strings.ReplaceAll(text, `\`, "")))
}
