package pytest

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Found is a directory of a repository whose tests pytest runs.
type Found struct {
	// Dir is relative to the root with forward slashes, "" for the root.
	Dir string
	// Why is a phrase for people: "pytest.ini".
	Why string
}

// The files that show a use of pytest. With a mark the file must hold it.
var evidence = []struct{ file, mark string }{
	{"pytest.ini", ""},
	{"pytest.toml", ""},
	{".pytest.ini", ""},
	{"pyproject.toml", "[tool.pytest"},
	{"setup.cfg", "[tool:pytest]"},
	{"tox.ini", "[pytest]"},
	{"tox.ini", "pytest"},
	{"noxfile.py", "pytest"},
	{"pyproject.toml", "pytest"},
	{"setup.cfg", "pytest"},
	{"setup.py", "pytest"},
	{"requirements-dev.txt", "pytest"},
	{"requirements-test.txt", "pytest"},
	{"requirements.txt", "pytest"},
	{"conftest.py", ""},
	{"tests/conftest.py", ""},
	{"test/conftest.py", ""},
}

const (
	// maxConfig bounds what is read of one file, in bytes.
	maxConfig = 1 << 20
	// maxDirs bounds the directories looked at: a repository of many packages
	// names its suites in the configuration.
	maxDirs = 200
	// maxLevels is how deep a suite may lie below the root.
	maxLevels = 3
)

// Detect finds the directories that pytest is run in: the root, else those at
// most three levels below it. It returns nothing for a repository without Python
// tests.
func Detect(root fs.FS) []Found {
	if why := detectIn(root, "."); why != "" {
		return []Found{{Why: why}}
	}
	var found []Found
	for _, dir := range subdirs(root) {
		if slices.ContainsFunc(found, func(f Found) bool { return strings.HasPrefix(dir, f.Dir+"/") }) {
			continue
		}
		if why := detectIn(root, dir); why != "" {
			found = append(found, Found{Dir: dir, Why: why})
		}
	}
	return found
}

// detectIn says why a directory's tests are pytest's, empty when they are not.
func detectIn(root fs.FS, dir string) string {
	for _, e := range evidence {
		if holds(root, path.Join(dir, e.file), e.mark) {
			return e.file
		}
	}
	for _, d := range []string{"tests", "test", "."} {
		for _, name := range []string{"test_*.py", "*_test.py"} { // pytest's own patterns
			files, _ := fs.Glob(root, path.Join(dir, d, name))
			if len(files) > 0 {
				return strings.TrimPrefix(files[0], dir+"/")
			}
		}
	}
	return ""
}

func holds(root fs.FS, file, mark string) bool {
	info, err := fs.Stat(root, file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxConfig {
		return false
	}
	if mark == "" {
		return true
	}
	b, err := fs.ReadFile(root, file)
	return err == nil && bytes.Contains(b, []byte(mark))
}

// subdirs are the directories of the first levels, each before what is below it
// and sorted, without those that hold other people's code. Where there are too
// many, the deepest are left out.
func subdirs(root fs.FS) []string {
	var all []string
	level := children(root, ".")
	for range maxLevels {
		var next []string
		for _, dir := range level {
			if len(all) == maxDirs {
				break
			}
			all = append(all, dir)
			next = append(next, children(root, dir)...)
		}
		level = next
	}
	slices.SortFunc(all, func(a, b string) int { return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/")) })
	return all
}

func children(root fs.FS, dir string) []string {
	entries, err := fs.ReadDir(root, dir)
	if err != nil {
		return nil
	}
	var dirs []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() && !strings.HasPrefix(name, ".") && !slices.Contains([]string{"node_modules", "vendor", "venv", "env", "testdata", "build", "dist"}, name) {
			dirs = append(dirs, path.Join(dir, name))
		}
	}
	return dirs
}
