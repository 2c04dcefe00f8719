package jstest

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

//go:embed reporters
var reporters embed.FS

const (
	// The variables that our reporters and the lag runtime read.
	envFence = "TRIAGEBOT_JS_FENCE"
	envTree  = "TRIAGEBOT_TREE"
	// What Prepare hands on to Command and Results.
	envOut     = "TRIAGEBOT_JS_OUT"
	envMajor   = "TRIAGEBOT_JS_NODE"
	envOutside = "TRIAGEBOT_JS_OUTSIDE"
	envNested  = "TRIAGEBOT_JS_NESTED"
	// lagPreload is the file of a lag overlay that Node is to load first.
	lagPreload = "preload.cjs"
	// leastNode is the oldest major version of Node that works.
	leastNode = 20
)

// reFatal is an uncaught error of Node, or its running out of memory.
var reFatal = regexp.MustCompile(`^(?:(?:Exception during run: )?\w*Error(?: \[\w+\])?: |FATAL ERROR: )`)

// Project is a directory whose tests one framework runs. It keeps no state.
type Project struct {
	// Suite is the suite's name in the targets; the framework's when empty.
	Suite string
	// Dir is the directory below the tree that the tests are started in, with
	// forward slashes; empty for the root.
	Dir string
	// Node is the interpreter, a path or a name; "node" when empty.
	Node string
	// Args are the suite's own arguments of the framework, kept in every trial;
	// for node:test those of Node.
	Args []string
	// Chosen are the words of the suite's own command that choose its files; for the
	// whole suite around a test.
	Chosen []string
	// SuiteCommand is the suite's own command; empty for the framework over everything.
	SuiteCommand []string
	// Env is added to the environment of every process, as KEY=VALUE.
	Env []string
}

func (p Project) options(tree string) Options { return Options{Suite: p.Suite, Dir: p.Dir, Root: tree} }

func (p Project) node() string {
	if p.Node == "" {
		return "node"
	}
	return p.Node
}

// Prepare finds Node and the framework, and lays our reporter into the
// directory b.Out. A tree on which nothing can run is Prepared.Failure; a file
// that is not there leaves Prepared.Bin empty.
//
// b.Overlay, when set, is the directory of the lag runtime; NODE_OPTIONS then
// makes every Node of a trial load it. Prepared.Bin is the framework's script
// (Node itself for node:test) and Prepared.Env what every trial needs.
func (p Project) Prepare(ctx context.Context, exec triage.Exec, d Dialect, b triage.BuildSpec) (triage.Prepared, error) {
	dir := filepath.Join(b.Tree, filepath.FromSlash(p.Dir))
	ready := triage.Prepared{Dir: dir}
	if _, err := os.Stat(dir); err != nil {
		return ready, fmt.Errorf("preparing %s: %w", d.Name, err)
	}
	_, major, problem, err := p.version(ctx, exec, dir)
	if err != nil {
		return ready, fmt.Errorf("preparing %s: %w", d.Name, err)
	}
	bin := p.node()
	if problem == "" && d.Package != "" {
		bin, problem = findScript(dir, b.Tree, d.Package)
	}
	if problem != "" {
		t := d.target(p.options(b.Tree), b.Package, "")
		f := d.failure(p.options(b.Tree), t, triage.PhaseSetup, thrown{Message: problem})
		ready.Failure, ready.Output = &f, []byte(problem)
		return ready, nil
	}
	if err := lay(b.Out, d.Reporter); err != nil {
		return ready, fmt.Errorf("preparing %s: %w", d.Name, err)
	}
	ready.Env = p.env(b, major)
	if b.Package != "" {
		source, err := os.ReadFile(filepath.Join(b.Tree, filepath.FromSlash(b.Package)))
		if errors.Is(err, os.ErrNotExist) {
			return ready, nil
		}
		if reNested.Match(source) {
			ready.Env = append(ready.Env, envNested+"=1")
		}
	}
	ready.Bin = bin
	return ready, nil
}

// reNested is a subtest of node:test, which is made by its parent while that
// runs ("await t.test("). A regular expression's method looks the same, and
// costs a wider run.
var reNested = regexp.MustCompile(`\w\.(?:test|it)\(`)

// version asks Node for its version; problem says why it cannot be used.
func (p Project) version(ctx context.Context, exec triage.Exec, dir string) (version string, major int, problem string, err error) {
	out, end, err := exec(ctx, triage.Command{Dir: dir, Argv: []string{p.node(), "-p", "process.versions.node"}, Env: p.Env})
	if ctx.Err() != nil {
		return "", 0, "", ctx.Err()
	}
	if errors.Is(err, osexec.ErrNotFound) {
		return "", 0, fmt.Sprintf("there is no %s on the PATH: install Node %d or newer, or put it on the PATH", p.node(), leastNode), nil
	}
	if err != nil {
		return "", 0, fmt.Sprintf("%s cannot be started: %v (install Node %d or newer, or name another interpreter)", p.node(), err, leastNode), nil
	}
	version = truncate(strings.TrimSpace(string(out)), 40)
	first, _, _ := strings.Cut(version, ".")
	major, numErr := strconv.Atoi(first)
	switch {
	case end.Exit != 0 || numErr != nil:
		return "", 0, fmt.Sprintf("%s does not work: %s: install Node %d or newer", p.node(), lastLine(out), leastNode), nil
	case major < leastNode:
		return version, major, fmt.Sprintf("Node %s is too old: put Node %d or newer on the PATH", version, leastNode), nil
	}
	return version, major, "", nil
}

// findScript finds the first binary of an npm package, in dir or above it within the tree.
func findScript(dir, tree, name string) (script, problem string) {
	for at := dir; ; at = filepath.Dir(at) {
		home := filepath.Join(at, "node_modules", name)
		if b, err := os.ReadFile(filepath.Join(home, "package.json")); err == nil {
			if rel := binOf(b, name); rel != "" {
				return filepath.Join(home, filepath.FromSlash(rel)), ""
			}
			return "", fmt.Sprintf("node_modules/%s has no binary of that name: install it anew", name)
		}
		if at == tree || at == filepath.Dir(at) || !strings.HasPrefix(at, tree) {
			return "", notInstalled(dir, tree, name)
		}
	}
}

// binOf is the path of a package's binary of its own name.
func binOf(manifest []byte, name string) string {
	var m struct {
		Bin json.RawMessage `json:"bin"`
	}
	if json.Unmarshal(manifest, &m) != nil {
		return ""
	}
	var one string
	if json.Unmarshal(m.Bin, &one) == nil {
		return one
	}
	var many map[string]string
	_ = json.Unmarshal(m.Bin, &many) // anything else has no binary
	return many[name]
}

// beside are the files that a reporter needs beside the fence.
var beside = map[string]string{"vitest.mjs": "vitest-once.mjs"}

// lay writes the fence and one reporter into dir.
func lay(dir, reporter string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("path %q is not absolute", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"fence.cjs", reporter, beside[reporter]} {
		if name == "" {
			continue
		}
		b, err := reporters.ReadFile("reporters/" + name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// env is what every trial of a prepared package needs. The fence is new each time.
func (p Project) env(b triage.BuildSpec, major int) []string {
	var word [12]byte
	_, _ = rand.Read(word[:]) // never fails
	env := []string{
		envFence + "=" + hex.EncodeToString(word[:]),
		envTree + "=" + b.Tree,
		envOut + "=" + b.Out,
		envMajor + "=" + strconv.Itoa(major),
		"NO_COLOR=1", "FORCE_COLOR=0", "CI=1",
	}
	if b.Overlay != "" {
		option := `--require "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(filepath.Join(b.Overlay, lagPreload)) + `"`
		env = append(env, strings.TrimSpace("NODE_OPTIONS="+option+" "+lookup(p.Env, "NODE_OPTIONS")))
	}
	from := p.Dir
	if b.Package != "" {
		from = path.Dir(b.Package)
	}
	if outside := linkedOutside(b.Tree, filepath.Join(b.Tree, filepath.FromSlash(from))); outside != "" {
		env = append(env, envOutside+"="+outside)
	}
	return env
}

// maxHomes bounds how many node_modules are looked into for links.
const maxHomes = 200

// linkedOutside is a package of node_modules that is a link to a directory
// outside the tree, as linked workspaces make them: the tests would load another
// tree's files. What code in a directory can import is looked at, and what the
// packages of the workspace import in turn. A package manager's own store is none.
func linkedOutside(tree, dir string) string {
	root, err := filepath.EvalSymlinks(tree)
	if err != nil {
		return ""
	}
	inside := func(p string) bool { return p == root || strings.HasPrefix(p, root+string(os.PathSeparator)) }
	seen := map[string]bool{}
	for queue := []string{dir}; len(queue) > 0 && len(seen) < maxHomes; queue = queue[1:] {
		at, err := filepath.EvalSymlinks(queue[0])
		for ; err == nil && inside(at) && !seen[at]; at = filepath.Dir(at) {
			seen[at] = true
			if copied := copiedOutside(at, inside); copied != "" {
				return copied
			}
			for _, link := range linksOf(filepath.Join(at, "node_modules")) {
				full, err := filepath.EvalSymlinks(link)
				switch {
				case err != nil:
				case inside(full):
					queue = append(queue, full)
				case !strings.Contains(filepath.ToSlash(full), "/node_modules/"):
					return link + " -> " + full
				}
			}
		}
	}
	return ""
}

// linksOf are the packages of a node_modules that are links.
func linksOf(home string) []string {
	var links []string
	entries, _ := os.ReadDir(home) // most directories have none
	for _, e := range entries {
		switch p := filepath.Join(home, e.Name()); {
		case e.Type()&os.ModeSymlink != 0:
			links = append(links, p)
		case e.IsDir() && strings.HasPrefix(e.Name(), "@"):
			links = append(links, linksOf(p)...)
		}
	}
	return links
}

// Command is the process of one trial; its Argv is empty when the tree does not
// have the file, or the file is not known: a name alone is no test's.
func (p Project) Command(d Dialect, r triage.RunSpec) triage.Command {
	c := triage.Command{Dir: r.Prepared.Dir, Env: append(append([]string{}, p.Env...), r.Prepared.Env...)}
	if c.Dir == "" {
		c.Dir = filepath.Join(r.Tree, filepath.FromSlash(p.Dir))
	}
	if r.Scope == triage.InSuite && r.WithFiles == nil && len(p.SuiteCommand) > 0 {
		c.Argv = p.SuiteCommand
		return c
	}
	if r.Prepared.Bin == "" || r.Target.Package == "" && !r.Target.IsCommand() {
		return c
	}
	out := lookup(r.Prepared.Env, envOut)
	t := Trial{Run: r, Reporter: filepath.Join(out, d.Reporter), Cache: filepath.Join(out, "cache")}
	t.Nested = lookup(r.Prepared.Env, envNested) != ""
	t.Major, _ = strconv.Atoi(lookup(r.Prepared.Env, envMajor))
	if r.Scope != triage.InSuite || r.WithFiles != nil {
		t.File = p.relative(r.Target.Package)
	}
	for _, f := range r.WithFiles {
		t.Before = append(t.Before, p.relative(f))
	}
	switch {
	case r.Scope == triage.Alone:
		t.Test, t.Pattern = r.Target.Test, d.Pattern(r.Target.Test)
	case r.With != nil:
		t.Test, t.With, t.Pattern = r.Target.Test, r.With, d.AnyPattern(append(slices.Clone(r.With), r.Target.Test))
	}
	c.Argv = []string{p.node()}
	if d.Package == "" {
		c.Argv = append(c.Argv, p.Args...)
	} else {
		c.Argv = append(c.Argv, r.Prepared.Bin)
	}
	c.Argv = append(c.Argv, d.Arguments(t)...)
	if d.Package != "" {
		c.Argv = append(append(c.Argv, p.Args...), r.Args...)
	}
	switch {
	case r.Scope != triage.InSuite || r.WithFiles != nil:
	case d.Package != "":
		c.Argv = append(c.Argv, p.Chosen...)
	case r.Target.Package == "": // by itself Node finds no TypeScript
		c.Argv = append(c.Argv, spelt(p.Chosen, c.Dir, t.Major)...)
	}
	return c
}

// relative is a file of the tree as the directory of the run sees it.
func (p Project) relative(file string) string {
	rel := file
	if r, err := filepath.Rel(filepath.FromSlash(p.Dir), filepath.FromSlash(file)); p.Dir != "" && err == nil {
		rel = filepath.ToSlash(r)
	}
	if strings.HasPrefix(rel, "-") || strings.HasPrefix(rel, "@") {
		rel = "./" + rel
	}
	return rel
}

// Results reads what a trial told. There is always one for the target: Absent
// when nothing was selected, which is exit 0 to these frameworks, and Error when
// its file cannot be imported or its process broke.
func (p Project) Results(d Dialect, r triage.RunSpec, end triage.End, output io.Reader) ([]triage.Result, error) {
	fence := lookup(r.Prepared.Env, envFence)
	if fence == "" || r.Scope == triage.InSuite && r.WithFiles == nil && len(p.SuiteCommand) > 0 {
		return p.logResults(d, r, end, output)
	}
	s, err := readRun(d, p.options(r.Tree), fence, output)
	if err != nil {
		return nil, err
	}
	out := s.results(r, end)
	if link := lookup(r.Prepared.Env, envOutside); link != "" {
		for i := range out {
			out[i].Outcome, out[i].Failure = triage.Invalid, nil
			out[i].Note = truncate("contaminated: "+link+" is outside this tree; install the project anew in each tree (set-up command)", 600)
		}
	}
	return out, nil
}

// logResults reads the raw output of a suite's command that our reporter was not
// loaded into.
func (p Project) logResults(d Dialect, r triage.RunSpec, end triage.End, output io.Reader) ([]triage.Result, error) {
	failures, err := ReadLog(output, d, p.options(r.Tree))
	if err != nil && !errors.Is(err, ErrEmpty) {
		return nil, err
	}
	own := triage.Result{Target: r.Target, Outcome: triage.Pass, Note: "the suite's own command tells of failures only"}
	switch {
	case end.TimedOut:
		own.Outcome = triage.Timeout
	case end.Exit != 0 && r.Target.IsCommand():
		own.Outcome = triage.Error
	case end.Exit != 0:
		own.Outcome = triage.Unknown
	case !r.Target.IsCommand() && len(failures) == 0 && errors.Is(err, ErrEmpty):
		own.Outcome = triage.Invalid
	}
	var out []triage.Result
	for i := range failures {
		f := &failures[i]
		if f.Target == r.Target {
			own.Outcome, own.Failure = f.Outcome, f
			continue
		}
		out = append(out, triage.Result{Target: f.Target, Outcome: f.Outcome, Failure: f})
	}
	return append(out, own), nil
}

// lookup finds the last value of a variable.
func lookup(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			value = v
		}
	}
	return value
}
