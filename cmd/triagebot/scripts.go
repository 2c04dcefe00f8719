package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/framework/jest"
	"github.com/triagebot/triagebot/internal/framework/jstest"
	"github.com/triagebot/triagebot/internal/framework/mocha"
	"github.com/triagebot/triagebot/internal/framework/nodetest"
	"github.com/triagebot/triagebot/internal/framework/pytest"
	"github.com/triagebot/triagebot/internal/framework/shell"
	"github.com/triagebot/triagebot/internal/framework/vitest"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
)

// scripted is a language whose suites are often run by a script of the project. A
// trial takes over what the script gives the framework.
type scripted interface {
	// readScripts reads how the suite is run: by its command, started in from, or
	// without one by the project's scripts. base is empty when there is one tree.
	// What trials cannot take over is returned as warnings.
	readScripts(head, base, from string, su *suite) []string
}

// readScripts lets a suite's language read the scripts that run it.
func (s *session) readScripts(su *suite) {
	lang, ok := su.lang.(scripted)
	if !ok {
		return
	}
	from := su.dir()
	if su.typed {
		from = s.ws.Prefix()
	}
	su.doubts = lang.readScripts(s.ws.Tree(triage.Head).Dir, s.ws.Tree(triage.Base).Dir, from, su)
}

// of makes a project of what a command or script gives.
func (j *scriptLanguage) of(su *suite, p jstest.Project) jstest.Project {
	p.Suite, p.Dir = su.Name, su.dir()
	if !slices.ContainsFunc(p.Env, func(kv string) bool { return strings.HasPrefix(kv, "NODE_OPTIONS=") }) {
		p.Env = append(p.Env, callersOptions()...)
	}
	return p
}

// callersOptions are the options of Node in our own environment, as a variable.
func callersOptions() []string {
	if v := os.Getenv("NODE_OPTIONS"); v != "" {
		return []string{"NODE_OPTIONS=" + v}
	}
	return nil
}

// led is the framework that a command leads to through the scripts of a tree, and
// the directory that its tests are run in.
func led(tree, from string, command []string) (framework, dir string, ok bool) {
	files := treeFS(tree)
	if makesGo(files, from, command) {
		return "", "", false
	}
	for _, name := range []string{vitest.Name, jest.Name, mocha.Name, nodetest.Name} {
		if dir, ok := dialects[name].runner.Called(files, from, command); ok {
			return name, path.Join(".", dir), true
		}
	}
	if s, ok := pytest.Resolve(files, from, command); ok {
		return pytest.Name, path.Join(".", s.Dir), true
	}
	return "", "", false
}

// makesGo says that a command is one of make whose recipe runs the tests of Go,
// whatever it runs besides.
func makesGo(files fs.FS, from string, command []string) bool {
	at := slices.IndexFunc(command, func(w string) bool { return w == "make" || w == "gmake" })
	return at >= 0 && slices.ContainsFunc(shell.Recipe(files, path.Join(".", from), command[at+1:]), func(s shell.Step) bool {
		return slices.Contains(s.Words, "gotestsum") || slices.Contains(s.Words, "go") && slices.Contains(s.Words, "test")
	})
}

// treeFS are the files of a tree, without those that a link of the tree leads to
// elsewhere: what scripts say is shown to people.
func treeFS(tree string) fs.FS {
	root, err := os.OpenRoot(tree)
	if err != nil {
		return embed.FS{} // none
	}
	return root.FS()
}

// settled gives the suites of the configuration that name no framework the one
// that their command leads to.
func settled(configured []config.Suite, tree string) []config.Suite {
	all := slices.Clone(configured)
	for i, c := range all {
		if c.Framework == "" && len(c.Command) > 0 {
			all[i].Framework, _, _ = led(tree, c.Dir, c.Command)
		}
	}
	return all
}

func (j *scriptLanguage) readScripts(head, base, from string, su *suite) []string {
	read := func(tree string) (jstest.Run, bool) {
		return j.dialect.runner.Resolve(treeFS(tree), su.dir(), from, su.Command)
	}
	run, ok := read(head)
	var other jstest.Run
	there := false
	if base != "" && base != head {
		other, there = read(base)
	}
	var doubts []string
	switch {
	case !ok && there: // base's is nearer to what CI ran than no script at all
		run.Doubts = append(run.Doubts, fmt.Sprintf("base's does, and trials of both sides are run as it runs them: %s", other))
		run.Env, run.Node, run.Args, run.Files = other.Env, other.Node, other.Args, other.Files
	case ok && there && !run.Same(other):
		p := j.of(su, other.Project(os.Getenv("NODE_OPTIONS")))
		j.base, j.baseTree = &p, base
		doubts = append(doubts, su.sided(run.Script, run.String(), other.String()))
	}
	if run.Partly() && len(su.Command) == 0 {
		su.unread = fmt.Sprintf("suite %s: %s of %s has words that only a shell knows, and was run without them: give it as the command, behind --", su.Name, run, run.Script)
	}
	j.run = run
	j.project = j.of(su, run.Project(os.Getenv("NODE_OPTIONS")))
	su.unlike = len(run.Doubts)+len(other.Doubts) > 0 || len(run.Before)+len(other.Before) > 0 && len(su.Setup) == 0
	return append(doubts, j.doubts(su)...)
}

// readScripts reads a command that is not pytest's own. Without a command pytest's
// own configuration says how it is run.
func (p *pythonLanguage) readScripts(head, base, from string, su *suite) []string {
	if p.direct || len(su.Command) == 0 {
		return nil
	}
	s, ok := pytest.ResolveIn(treeFS(head), su.dir(), from, su.Command)
	var doubts []string
	if ok {
		p.line = strings.Fields(s.Line)
		if err := p.adopt(s.Adapter, p.Checkout, su); err != nil {
			s.Doubts = append(s.Doubts, err.Error())
		}
		if base != "" && base != head {
			other, there := pytest.ResolveIn(treeFS(base), su.dir(), from, su.Command)
			if there && !s.Same(other) {
				p.base, p.baseTree = &other, base
				doubts = append(doubts, su.sided(s.From, s.Line, other.Line))
			}
			su.unlike = len(other.Doubts) > 0
		}
		if path.Base(s.From) == "tox.ini" {
			s.Doubts = append(s.Doubts, "tox makes an environment of its own, and trials take another Python")
		}
	}
	su.unlike = su.unlike || len(s.Doubts) > 0
	if len(s.Doubts) > 0 {
		doubts = append(doubts, su.notCIs(s.Doubts, slices.Concat(p.Env, p.plain()), ".venv/bin/pytest -c FILE"))
	}
	return doubts
}

// sided warns of a script that is not the same on both sides.
func (su *suite) sided(script, onHead, onBase string) string {
	return fmt.Sprintf("suite %s: %s differs between head and base, and the trials of each side are run as its own says: %s on head, %s on base", su.Name, script, onHead, onBase)
}

// notCIs warns that the command of the trials may not be CI's, and shows how to give that.
func (su *suite) notCIs(doubts, command []string, example string) string {
	return fmt.Sprintf("suite %s: %s. Trials run %q, which may not be what CI ran: give the suite's command in %s, as in command: env KEY=VALUE %s",
		su.Name, strings.Join(doubts, "; "), shellWords(command), config.Path, example)
}

// doubts are warnings on what trials cannot take over, with what to do.
func (j *scriptLanguage) doubts(su *suite) []string {
	var out []string
	if len(j.run.Doubts) > 0 {
		out = append(out, su.notCIs(j.run.Doubts, j.with(j.run.Told(j.project.Env)), j.example()))
	}
	if len(j.run.Before) > 0 && len(su.Setup) == 0 {
		out = append(out, fmt.Sprintf("suite %s: %s first runs %s, and trials do not: if the tests need what it makes, give it as the suite's setup in %s, or with --setup",
			su.Name, j.run.Script, strings.Join(j.run.Before, ", "), config.Path))
	}
	return out
}

// example is a command with an option that belongs to every run.
func (j *scriptLanguage) example() string {
	switch {
	case j.dialect.name == mocha.Name:
		return "npx mocha --require ./setup.js"
	case j.dialect.name == nodetest.Name:
		return "node --import tsx --test"
	case strings.Contains(j.run.Line, "react-scripts") || strings.Contains(j.run.Line, "craco") || strings.Contains(j.run.Line, "react-app-rewired"):
		return "npx jest --config FILE, where FILE says what that program makes up for jest (babel-preset-react-app, jsdom, its file transforms)"
	}
	return "npx " + j.dialect.name + " --config FILE"
}

// apart notes which failing tests lie in a package whose own script runs them in
// another way than the trials of their suite, which CI may have used: the root of
// a workspace has a configuration, and so its packages that have none are its.
func (s *session) apart(failures []triage.Failure) {
	trees := []fs.FS{treeFS(s.ws.Tree(triage.Head).Dir), treeFS(s.ws.Tree(triage.Base).Dir)}
	asked := map[string]bool{}
	for _, f := range failures {
		su := s.of(f.Target)
		j, ok := su.lang.(*scriptLanguage)
		folder := su.Name + " " + path.Dir(f.Target.Package)
		if !ok || len(su.Command) > 0 && !su.typed || asked[folder] {
			continue
		}
		asked[folder] = true
		for _, tree := range trees {
			script := j.dialect.runner.Apart(tree, j.run, su.dir(), f.Target.Package, s.ws.Prefix(), su.Command)
			if script == "" {
				continue
			}
			su.unlike = true
			warning := su.notCIs([]string{script + " runs its tests in another way"}, j.with(j.run.Told(j.project.Env)), j.example())
			if !slices.Contains(s.warnings, warning) {
				s.warnings = append(s.warnings, warning)
			}
			break
		}
	}
}

// sided runs the trials of base by an adapter of its own.
type sided struct {
	head, base rerun.Adapter
	baseTree   string
}

// inOne is a sided adapter whose framework runs the files of a suite in one process.
type inOne struct{ sided }

// OneProcess says so.
func (inOne) OneProcess() {}

// bySide makes one adapter of two of the same framework.
func bySide(head, base rerun.Adapter, baseTree string) rerun.Adapter {
	s := sided{head, base, baseTree}
	if _, ok := head.(rerun.OneProcess); ok {
		return inOne{s}
	}
	return s
}

func (s sided) of(tree string) rerun.Adapter {
	if tree == s.baseTree {
		return s.base
	}
	return s.head
}

// Prepare makes a package ready on one tree.
func (s sided) Prepare(ctx context.Context, exec triage.Exec, b triage.BuildSpec) (triage.Prepared, error) {
	return s.of(b.Tree).Prepare(ctx, exec, b)
}

// Command is the process of one trial.
func (s sided) Command(r triage.RunSpec) triage.Command { return s.of(r.Tree).Command(r) }

// Results reads what a trial printed.
func (s sided) Results(r triage.RunSpec, end triage.End, output io.Reader) ([]triage.Result, error) {
	return s.of(r.Tree).Results(r, end, output)
}
