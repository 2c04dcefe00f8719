package workspace

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/proc"
)

// askInstalled prints what an interpreter has installed, as one line of JSON: by
// its normal name the version, where it came from, and whether it is pytest or a
// plugin of pytest that nothing else that is there asks for.
const askInstalled = `import json, re
from importlib import metadata
normal = lambda n: re.sub(r"[-_.]+", "-", n).lower()
found, needed = {}, set()
for d in metadata.distributions():
    try:
        name = normal(d.metadata["Name"])
        for r in d.requires or []:
            if not re.search(r"\bextra\s*==", r):
                needed.add(normal(re.match(r"[\w.-]+", r).group()))
        came = json.loads(d.read_text("direct_url.json") or "{}")
        found.setdefault(name, {"version": d.version, "url": came.get("url", ""), "directory": "dir_info" in came,
                                "plugin": any(e.group == "pytest11" for e in d.entry_points)})
    except Exception:
        pass
for name, d in found.items():
    d["plugin"] = name == "pytest" or d["plugin"] and name not in needed
print()
print(json.dumps(found))`

// installedOne is one distribution that an interpreter has.
type installedOne struct {
	Version   string `json:"version"`
	URL       string `json:"url"`
	Directory bool   `json:"directory"`
	Plugin    bool   `json:"plugin"`
}

// installedIn asks an interpreter; nil where it does not tell.
func (w *Workspace) installedIn(ctx context.Context, dir, python string, env []string) map[string]installedOne {
	r, err := proc.Run(ctx, proc.Spec{Dir: dir, Argv: []string{python, "-c", askInstalled}, Env: env, Timeout: w.setupLimit()})
	if err != nil || r.Exit != 0 {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(string(r.Output)), "\n")
	var found map[string]installedOne
	if json.Unmarshal([]byte(lines[len(lines)-1]), &found) != nil {
		return nil
	}
	return found
}

// completeVenv are the commands that add to an environment made of requirements
// what a job installs beside them: pytest, its plugins and the project itself.
// Without a plugin or the project's entry points base could fail in a way of its
// own, which would look as if head had brought the other failure. What a file
// names that is not the same in the tree is left to that file.
func (w *Workspace) completeVenv(ctx context.Context, t *Tree, dir string, pins []string, python string, env []string) [][]string {
	at := filepath.Join(t.Dir, filepath.FromSlash(dir))
	has := w.installedIn(ctx, at, python, env)
	if len(has) == 0 {
		return nil
	}
	own := w.installedIn(ctx, at, filepath.Join(at, venvPython), env)
	if own == nil {
		return nil
	}
	differing := w.namedOtherwise(t.Dir, dir)
	var more, local []string
	for _, name := range slices.Sorted(maps.Keys(has)) {
		d := has[name]
		_, there := own[name]
		switch project, ok := w.projectAt(t.Dir, d); {
		case there:
		case ok:
			local = append(local, "-e", project)
		case d.Plugin && d.URL == "" && !differing[name]:
			more = append(more, name+"=="+d.Version)
		}
	}
	install := []string{filepath.Join(".", venvPython), "-m", "pip", "install", "--quiet"}
	var commands [][]string
	if len(more) > 0 {
		argv := slices.Clone(install)
		for _, p := range pins {
			argv = append(argv, "-r", p)
		}
		commands = append(commands, append(argv, more...))
	}
	if len(local) > 0 {
		commands = append(commands, append(append(slices.Clone(install), "--no-deps"), local...))
	}
	return commands
}

// projectAt is the directory of a tree that has the project which was installed
// from the checkout's.
func (w *Workspace) projectAt(tree string, d installedOne) (dir string, ok bool) {
	u, err := url.Parse(d.URL)
	if err != nil || u.Scheme != "file" || !d.Directory {
		return "", false
	}
	rel, in := below(w.top, filepath.FromSlash(u.Path))
	if !in || !there(tree, rel, "pyproject.toml") && !there(tree, rel, "setup.py") {
		return "", false
	}
	return filepath.Join(tree, rel), true
}

// reWord is what a name of a package may be among.
var reWord = regexp.MustCompile(`[A-Za-z0-9][A-Za-z0-9._-]*`)

// reSeparators are all one in the name of a package.
var reSeparators = regexp.MustCompile(`[-_.]+`)

// namedOtherwise are the words of the checkout's files that ask otherwise than the tree's.
func (w *Workspace) namedOtherwise(tree, dir string) map[string]bool {
	words := map[string]bool{}
	for _, read := range []func(root, dir string) asked{requirementsAsked, manifestsAsked} {
		ours := read(w.top, dir)
		for _, name := range read(tree, dir).differs(ours) {
			for _, word := range reWord.FindAllString(ours[name], -1) {
				words[reSeparators.ReplaceAllString(strings.ToLower(word), "-")] = true
			}
		}
	}
	return words
}
