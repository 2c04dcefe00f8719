package jstest

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// spreaders run the scripts of a workspace's packages, each of which is a suite
// with a script of its own.
var spreaders = []string{"turbo", "nx", "lerna", "wireit", "rush", "moon", "lage"}

// spreads tells that a script runs others in many packages.
func spreads(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains(spreaders, path.Base(w)) || slices.Contains([]string{"-r", "--recursive", "-ws", "--workspaces", "--filter", "-F", "workspaces"}, w)
	})
}

// many is a command that runs a script in many packages.
type many struct {
	words []string
	// at is where it stands, and what came with it.
	at place
	// trailing is set when it hands on all words behind the script's name.
	trailing bool
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
	seen := map[string]bool{}
	for _, m := range met {
		names, extra := m.parts()
		for i, word := range names {
			name := scriptOf(word, scripts)
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

// scriptOf is the script that a word of such a command may name: as it is, or as
// in "nx run app:test" and "--target=test".
func scriptOf(word string, scripts map[string]string) string {
	if _, ok := scripts[word]; ok {
		return word
	}
	word = word[strings.LastIndexAny(word, ":=")+1:]
	if word == "t" || word == "tst" {
		return "test"
	}
	return word
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
// file in another way than the suite does, empty for none. run is the suite's, and
// dir its directory; file is relative to the root.
func (r Runner) Apart(root fs.FS, run Run, dir, file string) string {
	w := walker{r: r, root: root}
	dir = path.Clean("./" + dir)
	for at := path.Dir(file); at != dir && at != "." && at != "/"; at = path.Dir(at) {
		if own, ok := w.scripts(at); ok {
			if own.alike(run) {
				return ""
			}
			return own.Script
		}
	}
	return ""
}
