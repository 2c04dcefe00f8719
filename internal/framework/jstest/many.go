package jstest

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/framework/shell"
)

// spreaders run the scripts of a workspace's packages, each of which is a suite
// with a script of its own.
var spreaders = []string{"turbo", "nx", "lerna", "wireit", "rush", "moon", "lage"}

// many is a command that runs a script in many packages.
type many struct {
	words []string
	// at is where it stands, and what came with it.
	at place
	// trailing is set when it hands on all words behind the script's name, tasks
	// when a script can be part of a word, as in "nx run app:test".
	trailing, tasks bool
}

// parts are the words that may name a script, each with those that are handed on
// to that.
func (m many) parts() (names []string, extra [][]string) {
	words, behind := m.words, []string(nil)
	if i := slices.Index(words, "--"); i >= 0 {
		words, behind = words[:i], words[i+1:]
	}
	for i, w := range words {
		on := behind
		if m.trailing {
			on = slices.Concat(words[i+1:], behind)
		}
		names, extra = append(names, w), append(extra, on)
	}
	return names, extra
}

// inMany reads the script of a package that the commands which were met run in
// many of them.
func (w *walker) inMany(dir string) (found Run, ok bool) {
	if w.root == nil {
		return Run{}, false
	}
	met := w.many // reading a script may meet more of them
	defer func() { w.many = met }()
	scripts := w.manifest(dir).Scripts
	for _, m := range met {
		names, extra := m.parts()
		seen := map[string]bool{}
		for i, word := range names {
			name := m.script(word, scripts)
			if seen[name] {
				continue
			}
			seen[name] = true
			at := m.at
			at.dir, at.script = dir, ""
			if run, hit := w.named(name, extra[i], at); hit {
				own, here := run.in(inDir(dir))
				found, ok = w.also(found, ok, own, here)
			}
		}
	}
	return found, ok
}

// script is the script that a word of the command may name.
func (m many) script(word string, scripts map[string]string) string {
	if _, ok := scripts[word]; ok {
		return word
	}
	if m.tasks { // nx run app:test, nx run-many --target=test
		word = word[strings.LastIndexAny(word, ":=")+1:]
	}
	if word == "t" || word == "tst" {
		return "test"
	}
	return word
}

// fromRoot is how the test script of the workspace's root runs the framework in one
// of its packages; empty when it does not.
func (w *walker) fromRoot(dir string) Run {
	if dir == "." || w.root == nil {
		return Run{}
	}
	w.many, w.visits = nil, 0
	var own Run
	if run, ok := w.named("test", nil, place{dir: "."}); ok {
		own, ok = run.in(inDir(dir))
		if ok {
			return own
		}
	}
	if run, ok := w.inMany(dir); ok {
		own = run
		own.Script = scriptName("test", ".")
	}
	return own
}

// spreads tells whether a command that was met runs the framework by the scripts
// of the workspace's packages.
func (w *walker) spreads() bool {
	return len(w.many) > 0 && slices.ContainsFunc(w.members(), func(dir string) bool {
		_, ok := w.inMany(dir)
		return ok
	})
}

// members are the packages of the workspace.
func (w *walker) members() []string {
	if w.packages == nil && w.root != nil {
		w.packages = members(w.root)
	}
	return w.packages
}

// Apart names the script of a package below a suite's directory that runs a test
// file in another way than the suite does, empty for none. run is the suite's, dir its
// directory, and command what it is run by, started in from; file is relative to the
// root. A command counts only as far as it runs scripts of many packages.
func (r Runner) Apart(root fs.FS, run Run, dir, file, from string, command []string) string {
	w := walker{r: r, root: root}
	dir = path.Clean("./" + dir)
	read := w.scripts
	if len(command) > 0 {
		w.command(command, place{dir: path.Clean("./" + from)})
		if len(w.many) == 0 {
			return ""
		}
		read = w.inMany
	}
	for at := path.Dir(file); at != dir && at != "." && at != "/"; at = path.Dir(at) {
		own, ok := read(at)
		switch {
		case ok && own.alike(run):
			return ""
		case ok:
			return own.Script
		case len(command) == 0 && !w.leadsTo(dir, at, run):
			if hidden := w.hidden(at); hidden != "" {
				return hidden
			}
		}
	}
	return ""
}

// noTests are programs that run no tests of these frameworks, beside those that run
// nothing.
var noTests = slices.Concat(quiet, spreaders, []string{"tsc", "tsd", "vue-tsc", "playwright", "cypress", "biome", "exit", "true", ":", "attw", "publint"})

// hidden names the test script of a package that does not show how it runs the
// framework, empty for none.
func (w *walker) hidden(dir string) string {
	m := w.manifest(dir)
	for _, name := range []string{"test", "unit"} {
		line, ok := m.Scripts[name]
		if !ok || isDefault(line) {
			continue
		}
		for _, step := range shell.Parse(line) {
			words := step.Words
			if len(words) > 1 && words[0] == "npx" {
				words = words[1:]
			}
			if len(words) > 0 && !slices.Contains(noTests, path.Base(words[0])) && !shell.Passive(words[0]) {
				return scriptName(name, dir)
			}
		}
	}
	return ""
}

// leadsTo tells whether the test script of a package runs the framework in the
// suite's directory, as the suite does.
func (w *walker) leadsTo(dir, at string, run Run) bool {
	own, ok := w.named("test", nil, place{dir: at})
	if ok {
		own, ok = own.in(inDir(dir))
	}
	return ok && own.alike(run)
}
