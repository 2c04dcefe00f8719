package jstest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Found is a directory of a repository whose tests a framework runs.
type Found struct {
	// Dir is relative to the root with forward slashes, "" for the root.
	Dir string
	// Why is a phrase for people: "devDependencies of package.json".
	Why string
	// Install is the command that installs what the lock file says, for messages.
	Install string
	// Set is true when a script of the directory, or a configuration in it, is the
	// framework's: not only a dependency.
	Set bool
	// Called is true when it is a script.
	Called bool
}

const (
	maxManifest = 1 << 20
	maxDirs     = 400
)

// reNodeTest is a script that runs Node's own tests: with node, with tsx, which is
// node with a loader, or with borp, which finds the files and hands them to node's
// runner.
var reNodeTest = regexp.MustCompile(`\b(?:node|tsx)\b[^&|;]*\s--test\b|(?:^|[&|;]|\bc8)\s*borp\b`)

// Detect finds the directories that a framework is run in: the root, else those
// at most two levels below it, and the packages of a workspace, whose package.json
// uses it, as a dependency or in a script. A root that has it for the packages of
// its workspace leaves those the suites that are set up for themselves.
func Detect(root fs.FS, d Dialect) []Found {
	found := d.detect(root)
	for i, f := range found {
		found[i].Called = d.called(root, path.Join(".", f.Dir))
		found[i].Set = found[i].Called || d.config(root, path.Join(".", f.Dir)) != ""
	}
	return found
}

func (d Dialect) detect(root fs.FS) []Found {
	members := members(root)
	if why := d.uses(root, "."); why != "" {
		return d.suitesOf(root, members, Found{Why: why, Install: install(root, ".")})
	}
	var found []Found
	dirs := subdirs(root)
	for _, dir := range append(dirs[:min(len(dirs), maxDirs)], members...) {
		if slices.ContainsFunc(found, func(f Found) bool { return dir == f.Dir || strings.HasPrefix(dir, f.Dir+"/") }) {
			continue
		}
		if why := d.uses(root, dir); why != "" {
			found = append(found, Found{Dir: dir, Why: why, Install: install(root, dir)})
		}
	}
	return found
}

// manifest is what is read of a package.json.
type manifest struct {
	Scripts    map[string]string `json:"scripts"`
	Deps       map[string]string `json:"dependencies"`
	DevDeps    map[string]string `json:"devDependencies"`
	Optional   map[string]string `json:"optionalDependencies"`
	Workspaces json.RawMessage   `json:"workspaces"`
	Jest       json.RawMessage   `json:"jest"`
	Mocha      json.RawMessage   `json:"mocha"`
	Manager    string            `json:"packageManager"`
	Name       string            `json:"name"`
}

// PackageName is the name that a directory's package.json gives, empty for none.
func PackageName(root fs.FS, dir string) string {
	m, _ := readManifest(root, dir)
	return m.Name
}

// readManifest reads a directory's package.json; ok is false for none and for one that is broken.
// A part of the wrong kind, as a script that is a number, is as if it were not there.
func readManifest(root fs.FS, dir string) (m manifest, ok bool) {
	b, err := readSmall(root, path.Join(dir, "package.json"))
	if err != nil {
		return manifest{}, false
	}
	var kind *json.UnmarshalTypeError
	if err := json.Unmarshal(bytes.TrimPrefix(b, []byte("\ufeff")), &m); err != nil && !errors.As(err, &kind) {
		return manifest{}, false
	}
	return m, true
}

// readSmall reads a file of a project's own settings.
func readSmall(root fs.FS, file string) ([]byte, error) {
	info, err := fs.Stat(root, file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxManifest {
		return nil, fs.ErrInvalid
	}
	return fs.ReadFile(root, file)
}

// uses says why a directory's tests are this framework's, empty when they are not.
func (d Dialect) uses(root fs.FS, dir string) string {
	file := path.Join(dir, "package.json")
	m, _ := readManifest(root, dir)
	if d.Package == "" {
		return d.script(root, dir) // of any name: "test" is often "npm run lint && npm run unit"
	}
	if _, ok := m.DevDeps[d.Package]; ok {
		return "devDependencies of " + file
	}
	if _, ok := m.Deps[d.Package]; ok {
		return "dependencies of " + file
	}
	if d.Package == "jest" {
		for _, name := range bundlers {
			_, dev := m.DevDeps[name]
			if _, ok := m.Deps[name]; ok || dev {
				return name + " of " + file
			}
		}
	}
	return ""
}

// bundlers bring jest with them, and make its configuration.
var bundlers = []string{"react-scripts", "@craco/craco", "react-app-rewired"}

// subdirs are the directories of the first two levels, without those that hold
// other people's code.
func subdirs(root fs.FS) []string {
	var dirs []string
	for _, first := range children(root, ".") {
		dirs = append(append(dirs, first), children(root, first)...)
	}
	return dirs
}

func children(root fs.FS, dir string) []string {
	entries, err := fs.ReadDir(root, dir)
	if err != nil {
		return nil
	}
	var dirs []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() && !strings.HasPrefix(name, ".") && !slices.Contains([]string{"node_modules", "vendor", "testdata", "build", "dist"}, name) {
			dirs = append(dirs, path.Join(dir, name))
		}
	}
	return dirs
}
