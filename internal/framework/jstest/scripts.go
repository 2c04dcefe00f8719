package jstest

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/framework/shell"
)

// Run is how a suite's tests are run, as its command or a script of its
// package.json tells.
type Run struct {
	// Dir is the directory that it happens in, below the root; "" for the root.
	Dir string
	// Script names the script that was read, empty for a command that names the
	// framework itself.
	Script string
	// Line is the framework's own command, or the script that was not understood.
	Line string
	// Env are the variables, Node the options of Node, and Args those of the
	// framework that belong to every run.
	Env, Node, Args []string
	// Files are those of Env that a file of variables has, of which people are told
	// the names only.
	Files []string
	// Chosen are the words that choose the files; nil where they are not known.
	Chosen []string
	// Before are commands that make something before the tests run.
	Before []string
	// Doubts say what of it trials cannot repeat.
	Doubts []string
	// Also are further runs of the same command, in other directories.
	Also []Run
}

// shellWord stands for what only a shell knows.
const shellWord = "$…"

// Partly tells that only a shell knows some of the command.
func (r Run) Partly() bool { return strings.Contains(r.Line, shellWord) }

// Same tells that two runs give trials the same command.
func (r Run) Same(o Run) bool { return r.alike(o) && slices.Equal(r.Chosen, o.Chosen) }

// alike tells that two runs give the trials of one test the same command.
func (r Run) alike(o Run) bool {
	return slices.Equal(r.Env, o.Env) && slices.Equal(r.Node, o.Node) && slices.Equal(r.Args, o.Args)
}

// plain is a run without what changes no test: colours, the heap, and that CI runs it.
func (r Run) plain() Run {
	r.Env = slices.DeleteFunc(slices.Clone(r.Env), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{"FORCE_COLOR", "NO_COLOR", "CI"}, name) || name == "NODE_OPTIONS" && strings.HasPrefix(value, "--max") && !strings.Contains(value, " ")
	})
	r.Args = slices.DeleteFunc(slices.Clone(r.Args), func(o string) bool { return o == "--ci" })
	return r
}

// Told is an environment as people are told it: without the values of a file of
// variables, which may be secrets.
func (r Run) Told(env []string) []string {
	out := slices.Clone(env)
	for i, kv := range out {
		if name, _, _ := strings.Cut(kv, "="); slices.Contains(r.Files, kv) {
			out[i] = name + "=…"
		}
	}
	return out
}

// String is the command as a person would write it.
func (r Run) String() string {
	words := r.Told(r.Env)
	if len(r.Node) > 0 {
		words = append(append(words, "node"), r.Node...)
	}
	return strings.Join(append(words, r.Line), " ")
}

// Project is what trials take over. nodeOptions is the caller's NODE_OPTIONS, which
// holds unless the script sets its own.
func (r Run) Project(nodeOptions string) Project {
	p := Project{Args: r.Args, Chosen: r.Chosen}
	for _, kv := range r.Env {
		if v, ok := strings.CutPrefix(kv, "NODE_OPTIONS="); ok {
			nodeOptions = v
			continue
		}
		p.Env = append(p.Env, kv)
	}
	for _, w := range r.Node {
		if strings.ContainsAny(w, " \"\\") {
			w = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(w) + `"`
		}
		nodeOptions = strings.TrimSpace(nodeOptions + " " + w)
	}
	if nodeOptions != "" {
		p.Env = append(p.Env, "NODE_OPTIONS="+nodeOptions)
	}
	return p
}

const (
	// maxNested bounds scripts that run scripts, maxVisits all that is read for one answer.
	maxNested = 8
	maxVisits = 200
)

// walker follows commands to the one that runs the framework.
type walker struct {
	r Runner
	// root is nil when only the command itself is read.
	root   fs.FS
	nested int
	visits int
	// many are the commands that were met that run a script in many packages.
	many []many
	// read are the manifests by directory, packages the workspace's.
	read     map[string]manifest
	packages []string
}

// manifest reads a directory's package.json once.
func (w *walker) manifest(dir string) manifest {
	m, ok := w.read[dir]
	if !ok {
		m, _ = readManifest(w.root, dir)
		if w.read == nil {
			w.read = map[string]manifest{}
		}
		w.read[dir] = m
	}
	return m
}

// place is where a command stands, and what came with it.
type place struct {
	dir, script string
	env, node   []string
	files       []string
	doubts      []string
	// before are the commands that made something on the way.
	before []string
}

// Resolve reads how the tests of a directory are run: by the command, which is
// started in from, where that leads to the framework in this directory, or to a
// script of it; else by the directory's own scripts, "test" first. ok is false when
// neither does; Doubts then say so, unless there is nothing to read.
func (r Runner) Resolve(root fs.FS, dir, from string, command []string) (run Run, ok bool) {
	w := walker{r: r, root: root}
	dir = path.Clean("./" + dir)
	if len(command) == 0 {
		run, ok = w.scripts(dir)
		if root := w.fromRoot(dir); root.Script != "" && !root.plain().alike(run.plain()) {
			run.Doubts = append(run.Doubts, root.Script+" runs it in another way")
		}
		return run, ok
	}
	by, led := w.command(command, place{dir: path.Clean("./" + from)})
	if led && len(by.Also) == 0 && by.Script == "" && by.Dir == inDir(path.Clean("./"+from)) && len(w.many) == 0 {
		return by, true // the framework itself, told by its paths what to run
	}
	if led {
		run, ok = by.in(inDir(dir))
	}
	if own, hit := w.inMany(dir); hit {
		run, ok = w.also(run, ok, own, true)
	}
	if ok {
		return run, true
	}
	line := strings.Join(command, " ")
	run, ok = w.scripts(dir)
	switch {
	case led: // what it says is for other directories
		run.Doubts = append(run.Doubts, fmt.Sprintf("%q runs %s in %q", line, r.word(), path.Join(".", by.Dir)))
	case run.Script == "":
		run.Line, run.Doubts = line, []string{fmt.Sprintf("%q does not show how it runs %s", line, r.word())}
	case len(run.Doubts) == 0: // some script of the directory's, and not the one that CI ran
		run.Doubts = []string{fmt.Sprintf("%q does not show how it runs %s, and %s stands in for it", line, r.word(), run.Script)}
	}
	return run, ok
}

// in is what a command runs in one directory.
func (r Run) in(dir string) (Run, bool) {
	for _, run := range append([]Run{r}, r.Also...) {
		if run.Dir == dir {
			return run, true
		}
	}
	return Run{}, false
}

// Called is where a command runs the framework, if it does in one directory of the
// tree.
func (r Runner) Called(root fs.FS, from string, command []string) (dir string, ok bool) {
	w := walker{r: r, root: root}
	run, ok := w.command(command, place{dir: path.Clean("./" + from)})
	return run.Dir, ok && len(run.Also) == 0 && fs.ValidPath(path.Join(".", run.Dir)) && !w.spreads()
}

// word is the framework as a person calls it.
func (r Runner) word() string {
	if r.node() {
		return "node --test"
	}
	return r.Binary
}

// scripts reads the scripts of a directory.
func (w *walker) scripts(dir string) (Run, bool) {
	m := w.manifest(dir)
	var best, away Run
	var open string
	found := 0
	for _, name := range candidates(m.Scripts) {
		met := len(w.many)
		run, ok := w.named(name, nil, place{dir: dir})
		here, mine := run.in(inDir(dir))
		if ok && mine {
			run = here
		}
		switch {
		case ok && !mine:
			away = run
		case ok && found == 0:
			best, found = run, 1
		case ok && name != "test" && best.Script != scriptName("test", dir) && !run.alike(best):
			best.Doubts = append(best.Doubts, fmt.Sprintf("%s runs %s in another way", run.Script, w.r.word()))
			found++
		case !ok && open == "" && isTest(name) && !isDefault(m.Scripts[name]) && len(w.many) == met:
			open = name
		}
	}
	if found > 0 {
		return best, true
	}
	if away.Line != "" && open == "" {
		return Run{Script: away.Script, Line: away.Line, Doubts: []string{fmt.Sprintf("%s runs %s in %q", away.Script, w.r.word(), path.Join(".", away.Dir))}}, false
	}
	if open != "" {
		return Run{Script: scriptName(open, dir), Line: m.Scripts[open], Doubts: []string{fmt.Sprintf("%s (%q) does not show how it runs %s", scriptName(open, dir), short(m.Scripts[open]), w.r.word())}}, false
	}
	return Run{}, false
}

// candidates are the names of scripts in the order that they are read.
func candidates(scripts map[string]string) []string {
	rank := func(name string) int {
		switch {
		case name == "test":
			return 0
		case name == "unit" || name == "test:unit" || name == "test:ci":
			return 1
		case strings.HasPrefix(name, "test:"):
			return 2
		case strings.Contains(name, "test"):
			return 3
		}
		return 4
	}
	names := slices.Sorted(maps.Keys(scripts))
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	return names
}

func isTest(name string) bool {
	return name == "test" || strings.HasPrefix(name, "test:") || name == "unit"
}

// maxShown is how much of a line people are shown, in bytes.
const maxShown = 300

// short is a line as people are shown it.
func short(line string) string {
	if len(line) <= maxShown {
		return line
	}
	return strings.ToValidUTF8(line[:maxShown], "") + "…"
}

// isDefault is the script that npm writes into a new package.json.
func isDefault(script string) bool { return strings.Contains(script, "no test specified") }

func scriptName(name, dir string) string {
	return fmt.Sprintf("the script %q of %s", name, path.Join(dir, "package.json"))
}

// inDir is a cleaned directory as suites have it.
func inDir(dir string) string {
	if dir == "." {
		return ""
	}
	return dir
}

// named reads a script; extra are words that come behind its line.
func (w *walker) named(name string, extra []string, at place) (Run, bool) {
	if w.root == nil || w.nested >= maxNested {
		return Run{}, false
	}
	m := w.manifest(at.dir)
	line, ok := m.Scripts[name]
	if !ok {
		return Run{}, false
	}
	if at.script == "" {
		at.script = scriptName(name, at.dir)
	}
	w.nested++
	defer func() { w.nested-- }()
	if pre, has := m.Scripts["pre"+name]; has {
		at.before = slices.Concat(at.before, w.builds(shell.Parse(pre)))
	}
	return w.line(line, extra, at)
}

// line reads a line of a shell; the first command that runs the framework counts.
func (w *walker) line(line string, extra []string, at place) (Run, bool) {
	steps := shell.Parse(line)
	if len(steps) > 0 {
		last := &steps[len(steps)-1]
		last.Words = append(last.Words, extra...)
	}
	return w.steps(steps, at)
}

func (w *walker) steps(steps []shell.Step, at place) (found Run, ok bool) {
	for i, s := range steps {
		here := at
		here.env = slices.Concat(at.env, s.Env)
		if s.Odd != "" {
			here.doubts = append(slices.Clone(at.doubts), "it stands in "+s.Odd)
		}
		here.dir = path.Join(at.dir, s.Dir)
		here.before = slices.Concat(at.before, w.builds(steps[:i]))
		run, hit := w.command(s.Words, here)
		found, ok = w.also(found, ok, run, hit)
	}
	return found, ok
}

// also adds a further run to what was found: the first in a directory counts.
func (w *walker) also(found Run, ok bool, run Run, hit bool) (Run, bool) {
	switch {
	case !hit:
		return found, ok
	case !ok:
		return run, true
	}
	for _, o := range append([]Run{run}, run.Also...) {
		o.Also = nil
		same := &found
		if o.Dir != found.Dir {
			i := slices.IndexFunc(found.Also, func(r Run) bool { return r.Dir == o.Dir })
			if i < 0 {
				found.Also = append(slices.Clone(found.Also), o)
				continue
			}
			same = &found.Also[i]
		}
		if !o.alike(*same) && !slices.Contains(same.Doubts, w.twice()) {
			same.Doubts = append(slices.Clone(same.Doubts), w.twice())
		}
	}
	return found, true
}

func (w *walker) twice() string {
	return "it runs " + w.r.word() + " in more than one way, and the first is taken"
}

// makers are programs that write files which tests are then run from.
var makers = []string{"tsc", "babel", "webpack", "rollup", "esbuild", "tsup", "swc", "vite", "make", "ncc", "parcel", "grunt", "gulp"}

// builds are the steps that make something.
func (w *walker) builds(steps []shell.Step) []string {
	var out []string
	for _, s := range steps {
		words := strings.Join(s.Words, " ")
		i := 0
		for i < len(s.Words) && (slices.Contains([]string{"npx", "npm", "pnpm", "yarn", "run"}, s.Words[i])) {
			i++
		}
		if i < len(s.Words) && (slices.Contains(makers, path.Base(s.Words[i])) && !slices.Contains(s.Words, "--noEmit") || i > 0 && strings.HasPrefix(s.Words[i], "build")) {
			out = append(out, words)
		}
	}
	return out
}

// hit is the framework's own command.
func (w *walker) hit(words, rest []string, at place) Run {
	run := Run{Dir: inDir(at.dir), Script: at.script, Line: short(strings.ReplaceAll(strings.Join(words, " "), shell.Unknown, shellWord)), Node: at.node, Files: at.files, Before: at.before, Doubts: slices.Clone(at.doubts)}
	args, unsure := w.r.args(rest)
	for _, o := range unsure {
		run.Doubts = append(run.Doubts, fmt.Sprintf("%s has the option %s, which trials leave out", w.r.word(), o))
	}
	known := func(kind string, list []string) []string {
		var out []string
		for i, v := range list {
			if strings.Contains(v, shell.Unknown) {
				name, _, _ := strings.Cut(v, "=")
				if i > 0 && strings.HasPrefix(v, shell.Unknown) && kind == "option" {
					name = list[i-1]
					out = out[:max(0, len(out)-1)]
				}
				run.Doubts = append(run.Doubts, fmt.Sprintf("the value of the %s %s is known to a shell only", kind, name))
				continue
			}
			out = append(out, v)
		}
		return out
	}
	run.Env, run.Args = known("variable", at.env), known("option", args)
	if w.r.Chosen != nil && !strings.Contains(strings.Join(rest, " "), shell.Unknown) {
		run.Chosen = w.r.Chosen(rest)
	}
	return run
}
