package main

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/framework"
	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/framework/jstest"
	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/triage"
)

// suite is one test suite of a check.
type suite struct {
	config.Suite
	lang language
	// typed is set when the command came with the flags, and so runs where it was
	// typed.
	typed bool
	// ready is set once its tools are found and its trees have what it needs.
	ready bool
	// seams are the declared ones.
	seams []lag.Seam
	// env is the clean environment of its processes.
	env []string
	// doubts say what of its command or scripts trials cannot take over.
	doubts []string
	// unread says what of its script a run without a command leaves out; empty for nothing.
	unread string
	// unlike is set when what they cannot take over may decide a test.
	unlike bool
}

// dir is the suite's directory below the root of a tree, "" for the root.
func (su *suite) dir() string {
	if su.Dir == "." {
		return ""
	}
	return su.Dir
}

// chosen are the suites of a check, without their languages: those of the
// configuration, that of the command, or those that are found in a tree.
//
// names are those of --suite, with commas between them. A single suite that
// nobody has named gets that name.
func chosen(configured []config.Suite, command []string, tree, prefix, names string) ([]config.Suite, error) {
	found, err := framework.Detect(tree)
	if err != nil {
		return nil, err
	}
	if f, dir, ok := led(tree, prefix, command); ok && len(configured) == 0 {
		all, err := pick([]config.Suite{{Name: suiteName(f), Framework: f, Dir: dir}}, names, false)
		if err == nil {
			all[0].Command = command
		}
		return all, err
	}
	return choose(settled(configured, tree), found, command, prefix, names)
}

// choose is chosen for the suites that were found.
func choose(configured []config.Suite, found []framework.Suite, command []string, prefix, names string) ([]config.Suite, error) {
	all := slices.Clone(configured)
	for i := range all {
		if all[i].Framework == "" {
			all[i].Framework = frameworkOf(all[i].Command, all[i].Dir, found)
		}
	}
	switch {
	case len(all) > 0:
	case len(command) > 0:
		all = typedSuites(command, prefix, found)
	default:
		all = detected(found)
	}
	picked, err := pick(all, names, len(configured) > 0)
	switch {
	case err == nil:
		all = picked
	case len(command) == 0 || len(configured) > 0 || strings.Contains(names, ","):
		return nil, err
	default: // a name for all that the command runs, or that of a framework
		if some := ofFramework(all, names); len(some) > 0 {
			all = some
		}
	}
	if len(command) == 0 {
		return all, nil
	}
	if len(configured) > 0 {
		all = all[:1]
	}
	for i := range all {
		all[i].Command = command
	}
	return all, nil
}

// ofFramework keeps the suites of a framework, by the name that its only suite has.
func ofFramework(all []config.Suite, name string) []config.Suite {
	return slices.DeleteFunc(slices.Clone(all), func(s config.Suite) bool { return suiteName(s.Framework) != name })
}

// typedSuites are those of a command that does not show where it runs which
// framework: those that are found where it was typed and below, for a script that
// runs those of many packages gives each its own options and variables. A command
// that names Go or pytest runs them where it was typed, and so may one of a
// project that has Go.
func typedSuites(command []string, prefix string, found []framework.Suite) []config.Suite {
	f, word := frameworkOf(command, prefix, found), namedBy(command)
	hasGo := slices.ContainsFunc(found, func(s framework.Suite) bool { return s.Framework == gotest.Name })
	open := word == "" && !hasGo
	inside := slices.DeleteFunc(slices.Clone(found), func(s framework.Suite) bool {
		return !open && s.Framework != f || !lies(s.Dir, prefix)
	})
	if _, script := dialects[f]; len(inside) == 0 || !open && !script {
		return []config.Suite{{Name: suiteName(f), Framework: f, Dir: below(f, prefix, found)}}
	}
	all := detected(inside)
	if len(all) == 1 && path.Clean(all[0].Dir) == path.Clean(prefix) {
		all[0].Name = suiteName(f)
	}
	return all
}

// lies tells that a path is that of a directory, or below it.
func lies(at, dir string) bool {
	dir = path.Clean(dir)
	return dir == "." || at == dir || strings.HasPrefix(at, dir+"/")
}

// below is the directory of a command's suite: where it was typed, for what is
// not Go. The suite of Go is all its modules.
func below(f, prefix string, found []framework.Suite) string {
	if f == gotest.Name {
		return ""
	}
	for _, s := range found {
		if s.Framework == f && (s.Dir == prefix || s.Dir == "." && prefix == "") {
			return s.Dir
		}
	}
	return prefix
}

// suiteName is the name of a framework's only suite.
func suiteName(f string) string {
	if f == gotest.Name {
		return "go"
	}
	return f
}

// detected makes one suite of all modules of Go, and one of each directory of
// the other frameworks.
func detected(found []framework.Suite) []config.Suite {
	var out []config.Suite
	for _, s := range found {
		if s.Framework != gotest.Name {
			out = append(out, config.Suite{Name: s.Name, Framework: s.Framework, Dir: s.Dir})
		} else if !slices.ContainsFunc(out, func(o config.Suite) bool { return o.Framework == gotest.Name }) {
			out = append(out, config.Suite{Name: "go", Framework: gotest.Name})
		}
	}
	if len(out) == 0 {
		out = []config.Suite{{Name: "go", Framework: gotest.Name}}
	}
	return out
}

// pick keeps the suites with these names, in the order of the names.
func pick(all []config.Suite, names string, configured bool) ([]config.Suite, error) {
	if names == "" {
		return all, nil
	}
	var out []config.Suite
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(s config.Suite) bool { return s.Name == name })
		switch {
		case i >= 0:
			out = append(out, all[i])
		case !configured && len(all) == 1 && name == names:
			all[0].Name = name
			out = all
		default:
			return nil, fmt.Errorf("reading --suite: no suite %q%s (there are %s)", name, inConfig(configured), strings.Join(suiteNames(all), ", "))
		}
	}
	return out, nil
}

func inConfig(configured bool) string {
	if configured {
		return " in " + config.Path
	}
	return ""
}

func suiteNames(all []config.Suite) []string {
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names
}

// words are what a command that runs a framework has in it.
var words = []struct{ word, framework string }{
	{"pytest", "pytest"}, {"py.test", "pytest"}, {"unittest", "pytest"}, {"tox", "pytest"}, {"nox", "pytest"},
	{"vitest", "vitest"}, {"jest", "jest"}, {"mocha", "mocha"}, {"--test", "nodetest"},
	{"gotestsum", gotest.Name}, {"go", gotest.Name},
}

// frameworkOf tells the framework of a command by its words, else by what is
// found in its directory, else by what is found at all: a command in the root of a
// workspace runs the tests of its packages.
func frameworkOf(command []string, dir string, found []framework.Suite) string {
	if f := namedBy(command); f != "" {
		return f
	}
	for _, s := range found {
		if s.Dir == path.Clean(dir) || s.Dir == "." && dir == "" {
			return s.Framework
		}
	}
	if len(found) > 0 && (len(command) == 0 || !slices.ContainsFunc(found, func(s framework.Suite) bool { return s.Framework != found[0].Framework })) {
		return found[0].Framework
	}
	return gotest.Name
}

// namedBy is the framework that a word of a command names, empty for none.
func namedBy(command []string) string {
	for _, w := range words {
		if slices.ContainsFunc(command, func(c string) bool { return path.Base(filepath.ToSlash(c)) == w.word }) {
			return w.framework
		}
	}
	return ""
}

// reading is what reports are read with, for a checkout and its suites.
func reading(dir string, suites []config.Suite) (framework.Reading, error) {
	in := framework.Reading{Root: dir, Exists: fileIn(dir), Holds: func(file, text string) bool { return jstest.Mentions(dir, file, text) }}
	for _, s := range suites {
		in.Suites = append(in.Suites, framework.Suite{Name: s.Name, Framework: s.Framework, Dir: path.Clean(s.Dir)})
	}
	opt, err := goOptions(dir, "")
	in.Go = opt
	return in, err
}

// of is the suite of a target; nil when the check has none of that name.
func (s *session) of(t triage.Target) *suite {
	for _, su := range s.suites {
		if su.Name == t.Suite {
			return su
		}
	}
	return nil
}

// assign gives failures the names of the check's suites: they were read before
// the configuration was.
func (s *session) assign(fs []triage.Failure) error {
	for i, f := range fs {
		if s.of(f.Target) != nil && s.of(f.Target).Framework == f.Target.Framework {
			continue
		}
		su := s.suiteFor(f.Target)
		if su == nil {
			return fmt.Errorf("reading failures: %s is a test of %s, and no suite is of that framework (there are %s): choose others with --suite, or declare one in %s", f.Target, f.Target.Framework, strings.Join(s.names(), ", "), config.Path)
		}
		fs[i].Target.Suite = su.Name
	}
	return nil
}

// suiteFor is the suite of a framework that a target's file lies deepest in, the
// first for one that lies in none; nil when none is of that framework.
func (s *session) suiteFor(t triage.Target) *suite {
	var first, best *suite
	for _, su := range s.suites {
		if su.Framework != t.Framework {
			continue
		}
		if first == nil {
			first = su
		}
		if lies(t.Package, su.dir()) && (best == nil || len(su.dir()) > len(best.dir())) {
			best = su
		}
	}
	if best == nil {
		return first
	}
	return best
}

// typed is the command that came with the flags, nil for none: what the
// configuration has is read from there again.
func (s *session) typed() []string {
	if s.suites[0].typed {
		return s.suites[0].Command
	}
	return nil
}

func (s *session) names() []string {
	var names []string
	for _, su := range s.suites {
		names = append(names, su.Name)
	}
	return names
}
