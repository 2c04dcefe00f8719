package jstest

import (
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// maxLevels bounds how deep the pattern "**" of a workspace looks.
const maxLevels = 5

// maxParts bounds the length of a pattern, for each "**" multiplies the work.
const maxParts = 12

// members are the packages of the workspace that the root's package.json or
// pnpm-workspace.yaml declares, sorted; nil for no workspace.
func members(root fs.FS) []string {
	patterns := declared(root)
	if len(patterns) == 0 {
		return nil
	}
	var out []string
	queue := children(root, ".")
	for seen := 0; len(queue) > 0 && seen < maxDirs; seen++ {
		dir := queue[0]
		queue = queue[1:]
		if strings.Count(dir, "/") < maxLevels {
			queue = append(queue, children(root, dir)...)
		}
		if _, err := fs.Stat(root, path.Join(dir, "package.json")); err == nil && chosen(patterns, dir) {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return out
}

// chosen applies the patterns in turn; one behind "!" takes out again.
func chosen(patterns []string, dir string) bool {
	in := false
	for _, p := range patterns {
		rest, not := strings.CutPrefix(p, "!")
		rest = strings.TrimSuffix(strings.TrimPrefix(rest, "./"), "/")
		if parts := strings.Split(rest, "/"); len(parts) <= maxParts && globs(parts, strings.Split(dir, "/")) {
			in = !not
		}
	}
	return in
}

// globs matches a path part by part; "**" stands for any number of them.
func globs(pattern, parts []string) bool {
	switch {
	case len(pattern) == 0:
		return len(parts) == 0
	case pattern[0] == "**":
		return globs(pattern[1:], parts) || len(parts) > 0 && globs(pattern, parts[1:])
	case len(parts) == 0:
		return false
	}
	ok, err := path.Match(pattern[0], parts[0])
	return err == nil && ok && globs(pattern[1:], parts[1:])
}

// declared are the patterns of the workspace, of npm, yarn and pnpm.
func declared(root fs.FS) []string {
	var patterns []string
	if m, ok := readManifest(root, "."); ok {
		var wide struct {
			Packages []string `json:"packages"`
		}
		if json.Unmarshal(m.Workspaces, &patterns) != nil && json.Unmarshal(m.Workspaces, &wide) == nil { // yarn's older form
			patterns = wide.Packages
		}
	}
	if b, err := readSmall(root, "pnpm-workspace.yaml"); err == nil {
		patterns = append(patterns, pnpmPackages(b)...)
	}
	var out []string
	for _, p := range patterns {
		out = append(out, braces(p, maxBraces)...)
	}
	return out
}

// maxBraces bounds how many braces of a pattern are spelt out.
const maxBraces = 4

var reBraces = regexp.MustCompile(`^(.*?)\{([^{}]*,[^{}]*)\}(.*)$`)

// braces spells out the first n "{a,b}" of a pattern, which path.Match does not know.
func braces(pattern string, n int) []string {
	m := reBraces.FindStringSubmatch(pattern)
	if m == nil || n == 0 {
		return []string{pattern}
	}
	var out []string
	for word := range strings.SplitSeq(m[2], ",") {
		out = append(out, braces(m[1]+word+m[3], n-1)...)
	}
	return out
}

// pnpmPackages are the patterns of a pnpm-workspace.yaml; none of one that is broken,
// as of a broken package.json.
func pnpmPackages(text []byte) []string {
	var m struct {
		Packages []string `yaml:"packages"`
	}
	if yaml.Unmarshal(text, &m) != nil {
		return nil
	}
	return m.Packages
}

// suitesOf are the suites of a workspace whose root has the framework. The root is
// the only one when its configuration gathers the packages, or when none of them
// has tests set up of its own. Else those that have are suites, and the root if it
// has a configuration or its test script runs the framework: one that has neither
// may have it just for its packages. A package with a configuration and no script
// is the root's if the root has a script; one with a script and no configuration,
// if the root has a configuration. A file is the deepest suite's that it lies in.
func (d Dialect) suitesOf(root fs.FS, members []string, top Found) []Found {
	if d.gathers(root) {
		return []Found{top}
	}
	rootScript, rootConfig := d.script(root, "."), d.config(root, ".")
	var own []Found
	for _, dir := range members {
		why := d.script(root, dir)
		switch {
		case why == "" && rootScript == "":
			why = d.config(root, dir)
		case rootConfig != "" && !d.reads(root, dir):
			continue
		}
		if why != "" {
			own = append(own, Found{Dir: dir, Why: why, Install: install(root, dir)})
		}
	}
	if rootScript != "" || rootConfig != "" || len(own) == 0 {
		own = append([]Found{top}, own...)
	}
	return own
}

// script says that a test script of a directory names the framework, empty for no.
func (d Dialect) script(root fs.FS, dir string) string {
	m, _ := readManifest(root, dir)
	names := reNodeTest
	if d.Package != "" {
		names = configurations[d.Package].called
	}
	for name, script := range m.Scripts {
		if names.MatchString(script) && (d.Package == "" || strings.Contains(name, "test")) {
			return "a test script of " + path.Join(dir, "package.json")
		}
	}
	return ""
}

// called says that any script of a directory calls the framework.
func (d Dialect) called(root fs.FS, dir string) bool {
	if d.Package == "" {
		return d.script(root, dir) != ""
	}
	m, _ := readManifest(root, dir)
	for _, script := range m.Scripts {
		if configurations[d.Package].called.MatchString(script) || d.Package == "jest" && reBundled.MatchString(script) {
			return true
		}
	}
	return false
}

// reBundled is a script that runs jest by what makes its configuration.
var reBundled = regexp.MustCompile(`\b(?:react-scripts|craco|react-app-rewired)\s+test\b`)

// settings is what a framework's configuration looks like.
type settings struct {
	// called is how a script calls it.
	called *regexp.Regexp
	// files begin the names of files that only it has; an extension follows.
	files []string
	// shared are such files that others have too, with what tells that they are its.
	shared map[string]*regexp.Regexp
	// key is that of package.json, empty for none.
	key string
	// gathering is what makes a root's configuration that of its packages.
	gathering *regexp.Regexp
	// gatherers begin the names of files that do it by being there.
	gatherers []string
}

// command finds a program's name among the words of a script.
func command(program string) *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[\s/&|;"'])` + program + `(?:$|[\s&|;"'])`)
}

var configurations = map[string]settings{
	"vitest": {
		called: command("vitest"),
		files:  []string{"vitest.config"}, shared: map[string]*regexp.Regexp{"vite.config": regexp.MustCompile(`\btest["']?\s*:`)},
		gathering: regexp.MustCompile(`\b(?:projects|workspace)["']?\s*:|(?m:^|[{,])\s*(?:projects|workspace)\s*[,}]`), gatherers: []string{"vitest.workspace", "vitest.projects"},
	},
	"jest":  {called: command("jest"), files: []string{"jest.config"}, key: "jest", gathering: regexp.MustCompile(`\bprojects["']?\s*:|(?m:^|[{,])\s*projects\s*[,}]`)},
	"mocha": {called: command("mocha"), files: []string{".mocharc"}, key: "mocha"},
}

var extensions = []string{"", ".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".json", ".jsonc", ".yaml", ".yml"}

// config names the framework's configuration in a directory, empty for none.
func (d Dialect) config(root fs.FS, dir string) string {
	name, _ := d.configOf(root, dir)
	return name
}

// reads tells whether the framework, run in a directory, has a configuration there:
// also one that is another's as well and says nothing of tests.
func (d Dialect) reads(root fs.FS, dir string) bool {
	for f := range configurations[d.Package].shared {
		for _, ext := range extensions {
			if _, err := fs.Stat(root, path.Join(dir, f+ext)); err == nil {
				return true
			}
		}
	}
	return d.config(root, dir) != ""
}

func (d Dialect) configOf(root fs.FS, dir string) (name, content string) {
	s := configurations[d.Package]
	for _, ext := range extensions {
		for _, f := range s.files {
			if b, err := readSmall(root, path.Join(dir, f+ext)); err == nil {
				return path.Join(dir, f+ext), string(b)
			}
		}
		for f, mark := range s.shared {
			if b, err := readSmall(root, path.Join(dir, f+ext)); err == nil && mark.Match(b) {
				return path.Join(dir, f+ext), string(b)
			}
		}
	}
	m, _ := readManifest(root, dir)
	if raw := map[string]json.RawMessage{"jest": m.Jest, "mocha": m.Mocha}[s.key]; len(raw) > 0 {
		return path.Join(dir, "package.json"), string(raw)
	}
	return "", ""
}

// gathers tells whether the root's configuration runs its packages as projects.
func (d Dialect) gathers(root fs.FS) bool {
	s := configurations[d.Package]
	for _, f := range s.gatherers {
		for _, ext := range extensions {
			if _, err := fs.Stat(root, f+ext); err == nil {
				return true
			}
		}
	}
	_, content := d.configOf(root, ".")
	return s.gathering != nil && s.gathering.MatchString(content)
}
