package framework

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/framework/gotest"
)

// Suite is a set of tests that one command runs.
type Suite struct {
	// Name is the suite's name in targets and in the configuration: the
	// framework's short name, followed by ":" and the directory when that is
	// not the root.
	Name string
	// Framework is the adapter, as in a target.
	Framework string
	// Dir is the suite's directory relative to the tree's root, with forward
	// slashes, "." for the root.
	Dir string
	// Command runs the whole suite, in Dir.
	Command []string
}

// row is what Detect knows of one framework.
type row struct {
	framework string
	// short is the first part of a suite's name.
	short string
	// markers are the file names that make a directory a suite, the stronger
	// first: a suite with an earlier marker covers what it says it covers.
	markers []string
	// covers lists the directories below dir that the suite in dir runs as
	// well, relative to dir; nil when it covers none.
	covers func(marker string, content []byte) []string
	// command runs the suite.
	command func(marker string, content []byte) []string
}

// rows is the table: one row per framework.
var rows = []row{
	{
		framework: gotest.Name,
		short:     "go",
		markers:   []string{"go.work", "go.mod"},
		covers:    goWorkUses,
		command:   goCommand,
	},
}

// Limits on the search: a tree is not walked deeper or wider than a person
// would lay out suites.
const (
	maxSuites  = 200
	maxFiles   = 500_000
	maxContent = 1 << 20
)

// Detect finds the suites of a tree, sorted by directory. It looks into every
// directory but vendor, testdata, node_modules and those that begin with "." or "_".
func Detect(root string) ([]Suite, error) {
	found := map[string]map[string]string{} // framework -> dir -> strongest marker
	files := 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if p == root {
				return err
			}
			return nil // what cannot be read has no suite for us
		}
		if d.IsDir() {
			if p != root && skip(d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if files++; files > maxFiles {
			return fs.SkipAll
		}
		rel, err := filepath.Rel(root, filepath.Dir(p))
		if err != nil {
			return err
		}
		note(found, filepath.ToSlash(rel), d.Name())
		return nil
	})
	if err != nil && !errors.Is(err, fs.SkipAll) {
		return nil, fmt.Errorf("detecting suites in %q: %w", root, err)
	}
	var out []Suite
	for _, r := range rows {
		suites, err := r.suites(root, found[r.framework])
		if err != nil {
			return nil, err
		}
		out = append(out, suites...)
	}
	out = append(out, detectOthers(os.DirFS(root))...)
	slices.SortStableFunc(out, func(a, b Suite) int { return strings.Compare(a.Dir, b.Dir) })
	return out[:min(len(out), maxSuites)], nil
}

func skip(dir string) bool {
	return dir == "vendor" || dir == "testdata" || dir == "node_modules" || dir[0] == '.' || dir[0] == '_'
}

// note keeps a directory's strongest marker of each framework.
func note(found map[string]map[string]string, dir, file string) {
	for _, r := range rows {
		at := slices.Index(r.markers, file)
		if at < 0 {
			continue
		}
		dirs := found[r.framework]
		if dirs == nil {
			dirs = map[string]string{}
			found[r.framework] = dirs
		}
		if old, ok := dirs[dir]; !ok || at < slices.Index(r.markers, old) {
			dirs[dir] = file
		}
	}
}

// suites turns a framework's marked directories into suites, without those that
// another suite covers.
func (r row) suites(root string, dirs map[string]string) ([]Suite, error) {
	covered := map[string]bool{}
	content := map[string][]byte{}
	for dir, marker := range dirs {
		b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(dir), marker))
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path.Join(dir, marker), err)
		}
		content[dir] = b[:min(len(b), maxContent)]
		if r.covers != nil {
			for _, sub := range r.covers(marker, b) {
				if c := path.Join(dir, sub); c != dir {
					covered[c] = true
				}
			}
		}
	}
	var out []Suite
	for dir, marker := range dirs {
		if covered[dir] {
			continue
		}
		s := Suite{Name: r.short, Framework: r.framework, Dir: dir, Command: r.command(marker, content[dir])}
		if dir != "." {
			s.Name += ":" + dir
		}
		out = append(out, s)
	}
	return out, nil
}

// goWorkUses are the directories that a go.work uses.
func goWorkUses(marker string, content []byte) []string {
	if marker != "go.work" {
		return nil
	}
	var out []string
	in := false
	for line := range strings.SplitSeq(string(content), "\n") {
		line, _, _ = strings.Cut(line, "//")
		line = strings.TrimSpace(line)
		use, single := strings.CutPrefix(line, "use ")
		switch {
		case line == "use (" || line == "use(":
			in = true
		case line == ")":
			in = false
		case in && line != "":
			out = append(out, strings.Trim(line, "\"`"))
		case single:
			out = append(out, strings.Trim(strings.TrimSpace(use), "\"`"))
		}
	}
	return out
}

// goCommand runs all packages of a module, or of all modules of a workspace.
func goCommand(marker string, content []byte) []string {
	argv := []string{"go", "test"}
	uses := goWorkUses(marker, content)
	if len(uses) == 0 {
		return append(argv, "./...")
	}
	for _, u := range uses {
		u = path.Clean(u)
		switch {
		case u == ".":
			argv = append(argv, "./...")
		case strings.HasPrefix(u, "../"), path.IsAbs(u):
			argv = append(argv, u+"/...")
		default:
			argv = append(argv, "./"+u+"/...")
		}
	}
	return argv
}
