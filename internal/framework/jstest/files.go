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

// eachTestFile visits the test files of a tree, relative to it with forward slashes,
// until one ends it.
func eachTestFile(tree string, visit func(file string) (more bool)) {
	seen, walked := 0, 0
	_ = filepath.WalkDir(tree, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be read has no test for us
		case d.IsDir() && p != tree && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".")):
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
	all := make([]sought, len(titles))
	for i, title := range titles {
		bare := strings.ReplaceAll(title, `\`, "")
		all[i] = sought{bare: bare, words: strings.Fields(bare)}
	}
	eachTestFile(tree, func(file string) bool {
		text := source(tree, file)
		for i := range all {
			all[i].look(file, text)
		}
		return ctx.Err() == nil
	})
	found := map[string][]string{}
	for i, title := range titles {
		if len(all[i].files) > 0 {
			found[title] = all[i].files
		}
	}
	return found, ctx.Err()
}

// sought is a title, and the files that have most of it so far.
type sought struct {
	bare  string
	words []string
	best  part
	files []string
}

// part is how much of a title a file has: the words of its end that stand between
// quotes, and whether it has those before them too.
type part struct {
	words  int
	before bool
}

func (t *sought) look(file, text string) {
	switch at, ok := t.in(text); {
	case !ok:
	case at.words > t.best.words, at.words == t.best.words && at.before && !t.best.before:
		t.best, t.files = at, []string{file}
	case at == t.best:
		t.files = append(t.files, file)
	}
}

// in looks for the longest end of the title between quotes in a text. One that only
// stands there without quotes counts least.
func (t *sought) in(text string) (part, bool) {
	if len(t.words) == 0 || !strings.Contains(text, t.words[len(t.words)-1]) {
		return part{}, false
	}
	for i := range t.words {
		end := strings.Join(t.words[i:], " ")
		for _, quote := range []string{"'", `"`, "`"} {
			if strings.Contains(text, quote+end+quote) {
				before := !slices.ContainsFunc(t.words[:i], func(w string) bool { return !strings.Contains(text, w) })
				return part{len(t.words) - i, before}, true
			}
		}
	}
	return part{}, strings.Contains(text, t.bare) // within a template, or by chance
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

// globsSince is the first major version of Node whose own runner takes patterns; before,
// a shell spells them out.
const globsSince = 21

// spelt are words that choose files, with the files of a directory in place of patterns.
func spelt(words []string, dir string, major int) []string {
	if major >= globsSince {
		return words
	}
	var out []string
	for _, w := range words {
		files, err := fs.Glob(os.DirFS(dir), path.Clean(w))
		if err != nil || len(files) == 0 {
			files = []string{w}
		}
		out = append(out, files...)
	}
	return out
}
