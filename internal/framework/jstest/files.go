package jstest

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	// maxSource bounds what is read of one file, maxSources how many test files are
	// looked at, maxWalked how many files there are to choose from.
	maxSource  = 1 << 20
	maxSources = 20_000
	maxWalked  = 1_000_000
)

// reTestFile is a file that these frameworks take for tests by default.
var reTestFile = regexp.MustCompile(`(?:[._-](?:test|spec)|(?:^|/)test[^/]*)\.[cm]?[jt]sx?$|(?:^|/)(?:__tests__|tests?)/.*\.[cm]?[jt]sx?$`)

// FilesWith are the test files below a directory of a tree that have a test's
// own name written out, relative to the tree with forward slashes.
func FilesWith(tree, dir, name string) []string {
	var found []string
	eachTestFile(tree, dir, func(file string) bool {
		if Mentions(tree, file, name) {
			found = append(found, file)
		}
		return true
	})
	return found
}

// eachTestFile visits the test files below a directory of a tree, until one ends it.
func eachTestFile(tree, dir string, visit func(file string) (more bool)) {
	seen, walked := 0, 0
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
		rel, err := filepath.Rel(tree, p)
		if file := filepath.ToSlash(rel); err == nil && reTestFile.MatchString(file) {
			if seen++; seen > maxSources || !visit(file) {
				return fs.SkipAll
			}
		}
		if walked++; walked > maxWalked {
			return fs.SkipAll
		}
		return nil
	})
}

// FilesWithTitles are, for each title, the test files of a tree that it may be of. A
// JUnit report has a test's title with those of its suites before it: the files are
// those that have the longest end of it between quotes, of them those that have the
// words before it too, if any do. All titles are looked for in one pass.
func FilesWithTitles(ctx context.Context, tree string, titles []string) (map[string][]string, error) {
	best := map[string]titled{}
	eachTestFile(tree, "", func(file string) bool {
		text := source(tree, file)
		for _, title := range titles {
			if at, ok := find(title, text); ok && at.better(best[title]) {
				best[title] = titled{at.words, at.before, []string{file}}
			} else if known := best[title]; ok && at.words == known.words && at.before == known.before {
				known.files = append(known.files, file)
				best[title] = known
			}
		}
		return ctx.Err() == nil
	})
	found := map[string][]string{}
	for title, at := range best {
		found[title] = at.files
	}
	return found, ctx.Err()
}

// titled is how much of a title files have: the words of its end, and whether they
// have those before it.
type titled struct {
	words  int
	before bool
	files  []string
}

func (t titled) better(o titled) bool {
	return t.words > o.words || t.words == o.words && t.before && !o.before
}

// find looks for the longest end of a title between quotes in a text. One that only
// stands there without quotes counts least.
func find(title, text string) (titled, bool) {
	title = strings.ReplaceAll(title, `\`, "")
	words := strings.Fields(title)
	if len(words) == 0 || !strings.Contains(text, words[len(words)-1]) {
		return titled{}, false
	}
	for i := range words {
		end := strings.Join(words[i:], " ")
		for _, quote := range []string{"'", `"`, "`"} {
			if !strings.Contains(text, quote+end+quote) {
				continue
			}
			before := !slices.ContainsFunc(words[:i], func(w string) bool { return !strings.Contains(text, w) })
			return titled{words: len(words) - i, before: before}, true
		}
	}
	return titled{}, strings.Contains(text, title) // within a template, or by chance
}

// source is the text of a file as titles are looked for in it: without backslashes.
func source(tree, file string) string {
	p := filepath.Join(tree, filepath.FromSlash(path.Clean("/"+file)))
	if st, err := os.Stat(p); err != nil || !st.Mode().IsRegular() || st.Size() > maxSource {
		return ""
	}
	b, err := os.ReadFile(p)
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(string(b), `\`, "")
}

// Mentions reports whether a file of a tree has a text in it. Quotes in it may
// be written with a backslash.
func Mentions(tree, file, text string) bool {
	return text != "" && strings.Contains(source(tree, file), strings.ReplaceAll(text, `\`, ""))
}
