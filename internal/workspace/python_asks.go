package workspace

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// requirementPlaces are the directories of a project that files of pip's
// requirements are kept in, beside those that have requirements in their name.
var requirementPlaces = []string{".", "tests", "test", "ci", "dev", "deps"}

// reInclude is a line of a requirements file that names another one.
var reInclude = regexp.MustCompile(`^(?:-r|-c|--requirement|--constraint)[ =]*(?:"([^"]+)"|'([^']+)'|(\S+))`)

// reLocal is a line that names a project of the repository by its directory.
var reLocal = regexp.MustCompile(`^(?:(?:-e|--editable)[ =]*)?(\.[^\s;\[]*)`)

// reNamedFile is a file of requirements that the asking part of a manifest names:
// setuptools' "file:", what a setup.py reads, the options of a tox.ini.
var reNamedFile = regexp.MustCompile(`(?:^|[\s"'=:,\[({}]|-[rc])/?(\w[\w./-]*\.(?:txt|in|pip|reqs?))\b`)

// reDocument is a text for people that a setup.py reads.
var reDocument = regexp.MustCompile(`(?i)^(?:readme|changes|changelog|history|news|authors|licen[cs]e|manifest|version|about|description)\b`)

// maxIncludes bounds how many files the requirements of a project may name.
const maxIncludes = 200

// asked is what the files of a project ask for: the path of each file relative to
// the root, with forward slashes, and its part that concerns packages. A file
// that asks for none is not there.
type asked map[string]string

// differs lists the files that ask otherwise here than there, or only in one of
// the two, sorted.
func (a asked) differs(b asked) []string {
	var names []string
	for name, text := range a {
		if b[name] != text {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// requirementsAsked is what the files of pip's requirements and constraints in a
// directory of a tree ask for, with the files that they include.
func requirementsAsked(root, dir string) asked {
	files := requirementFiles(root, dir)
	for _, place := range requirementPlaces {
		files = append(files, globBelow(root, path.Join(dir, place), "*constraints*.txt")...)
	}
	return withIncluded(root, files)
}

// withIncluded is what these files, those that they include and the projects that
// they name by their directories ask for.
func withIncluded(root string, files []string) asked {
	found, local := asked{}, asked{}
	for len(files) > 0 && len(found) < maxIncludes {
		name := files[0]
		files = files[1:]
		text, err := readBounded(filepath.Join(root, filepath.FromSlash(name)), maxManifest)
		if _, seen := found[name]; seen || err != nil {
			continue
		}
		lines := plainLines(text)
		found[name] = strings.Join(lines, "\n")
		for _, line := range lines {
			if m := reLocal.FindStringSubmatch(line); m != nil {
				for _, from := range []string{path.Dir(name), "."} { // pip's is where it is started
					if at := path.Join(from, m[1]); filepath.IsLocal(at) {
						maps.Copy(local, manifestTexts(root, at))
					}
				}
			}
			if m := reInclude.FindStringSubmatch(line); m != nil {
				if other := path.Join(path.Dir(name), filepath.ToSlash(m[1]+m[2]+m[3])); filepath.IsLocal(other) {
					files = append(files, other)
				}
			}
		}
	}
	maps.DeleteFunc(found, func(_, text string) bool { return text == "" })
	maps.Copy(found, local)
	return found
}

// requirementFiles are the files of pip's requirements of the project in a
// directory, relative to the root: those with the word in their names, and all
// that are in directories with it. A file *.in counts where nothing was made of it.
func requirementFiles(root, dir string) []string {
	var files []string
	for _, place := range requirementPlaces {
		at := path.Join(dir, place)
		files = append(files, globBelow(root, at, "*requirements*.txt")...)
		files = append(files, uncompiled(globBelow(root, at, "*requirements*.in"), root)...)
		for _, d := range globBelow(root, at, "requirements*") {
			files = append(files, uncompiled(filesUnder(root, d), root)...)
		}
	}
	return files
}

// uncompiled leaves out what is no requirements file, and the sources of those
// that are there.
func uncompiled(files []string, root string) []string {
	return slices.DeleteFunc(files, func(f string) bool {
		source, in := strings.CutSuffix(f, ".in")
		return !in && path.Ext(f) != ".txt" || in && there(root, ".", source+".txt")
	})
}

func globBelow(root, dir, pattern string) []string {
	entries, _ := os.ReadDir(filepath.Join(root, filepath.FromSlash(dir))) // one that is not there has none
	var found []string
	for _, e := range entries {
		if ok, _ := path.Match(pattern, e.Name()); ok { // the pattern is ours
			found = append(found, path.Join(dir, e.Name()))
		}
	}
	return found
}

// filesUnder lists the files under a directory, none for a file.
func filesUnder(root, dir string) []string {
	var files []string
	top := filepath.Join(root, filepath.FromSlash(dir))
	_ = filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if err == nil && p != top && d.Type().IsRegular() && len(files) < maxIncludes {
			rel, _ := filepath.Rel(root, p)
			files = append(files, filepath.ToSlash(rel))
		}
		return nil
	})
	return files
}

// manifestsAsked is what a directory's other files ask for, with the files of
// requirements that they name.
func manifestsAsked(root, dir string) asked {
	found := manifestTexts(root, dir)
	for _, asks := range maps.Clone(found) {
		maps.Copy(found, withIncluded(root, namedFiles(dir, asks)))
	}
	return found
}

// manifestTexts is what the manifests ask for that name packages without pinning
// all of them, and what conda reads.
func manifestTexts(root, dir string) asked {
	found := asked{}
	readers := map[string]func([]byte) string{
		"pyproject.toml": pyprojectAsks, "setup.cfg": iniAsks, "tox.ini": iniAsks, "setup.py": setupAsks, "Pipfile": plainText,
	}
	for _, name := range append(globBelow(root, dir, "environment*.yml"), globBelow(root, dir, "environment*.yaml")...) {
		readers[path.Base(name)] = plainText
	}
	if there(root, dir, "Pipfile.lock") {
		delete(readers, "Pipfile")
	}
	for name, read := range readers {
		text, err := readBounded(filepath.Join(root, filepath.FromSlash(dir), name), maxManifest)
		if err != nil {
			continue
		}
		if asks := read(text); asks != "" {
			found[path.Join(dir, name)] = asks
		}
	}
	return found
}

// namedFiles are the files of requirements that the asking part of a manifest names.
func namedFiles(dir, asks string) []string {
	var files []string
	for _, m := range reNamedFile.FindAllStringSubmatch(asks, -1) {
		if f := path.Join(dir, m[1]); filepath.IsLocal(f) && !reDocument.MatchString(path.Base(f)) {
			files = append(files, f)
		}
	}
	return files
}

// plainLines are the lines that say something: without comments and what
// surrounds them, a line that is continued joined to the next.
func plainLines(text []byte) []string {
	text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\\\n"), []byte(" "))
	var lines []string
	for line := range bytes.Lines(text) {
		s := string(line)
		if at := strings.Index(" "+s, " #"); at >= 0 {
			s = s[:max(at-1, 0)]
		}
		if s = strings.Join(strings.Fields(s), " "); s != "" && s[0] != '#' {
			lines = append(lines, s)
		}
	}
	return lines
}

func plainText(text []byte) string { return strings.Join(plainLines(text), "\n") }

// missingLock is a lock file that only the checkout has.
func (w *Workspace) missingLock(tree, dir string) string {
	for _, name := range pythonLocks {
		if !there(tree, dir, name) && there(w.top, dir, name) {
			return path.Join(dir, name)
		}
	}
	return ""
}

// asksOtherwise lists the files of a tree's directory that ask for other packages
// than the checkout's, and are not what an environment can be made from.
func (w *Workspace) asksOtherwise(tree, dir string) []string {
	names := manifestsAsked(tree, dir).differs(manifestsAsked(w.top, dir))
	if lock := w.missingLock(tree, dir); lock != "" {
		names = append([]string{lock}, names...)
	}
	return names
}

// changedRequirements are the files of pip's requirements that an environment of
// the tree is made from, relative to its directory, and those of them, or of what
// they include, that are not as the checkout has them.
func (w *Workspace) changedRequirements(tree, dir string) (pins, changed []string) {
	changed = requirementsAsked(tree, dir).differs(requirementsAsked(w.top, dir))
	for _, f := range requirementFiles(tree, dir) {
		if rel, err := filepath.Rel(filepath.FromSlash(dir), filepath.FromSlash(f)); err == nil {
			pins = append(pins, filepath.ToSlash(rel))
		}
	}
	return pins, changed
}

// sameFile reports whether the checkout has a file of the tree, byte for byte.
func (w *Workspace) sameFile(tree, name string) (bool, error) {
	theirs, err := fileDigest(filepath.Join(tree, filepath.FromSlash(name)))
	if err != nil {
		return false, err
	}
	ours, err := fileDigest(filepath.Join(w.top, filepath.FromSlash(name)))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && ours == theirs, err
}
