package main

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/framework/jest"
	"github.com/triagebot/triagebot/internal/framework/jstest"
	"github.com/triagebot/triagebot/internal/framework/mocha"
	"github.com/triagebot/triagebot/internal/framework/nodetest"
	"github.com/triagebot/triagebot/internal/framework/vitest"
	"github.com/triagebot/triagebot/internal/lag/nodelag"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
)

// dialect is what is particular to one framework of JavaScript.
type dialect struct {
	name    string
	adapter func(jstest.Project) rerun.Adapter
	runner  jstest.Runner
	// reporting are the arguments that make the framework's own command write a
	// report into a file, and go on printing.
	reporting func(file string) []string
}

var dialects = map[string]dialect{
	vitest.Name: {vitest.Name, func(p jstest.Project) rerun.Adapter { return vitest.Adapter(p) }, vitest.Runner, func(f string) []string {
		return []string{"--reporter=default", "--reporter=json", "--outputFile.json=" + f}
	}},
	jest.Name: {jest.Name, func(p jstest.Project) rerun.Adapter { return jest.Adapter(p) }, jest.Runner, func(f string) []string {
		return []string{"--json", "--outputFile=" + f}
	}},
	mocha.Name: {mocha.Name, func(p jstest.Project) rerun.Adapter { return mocha.Adapter(p) }, mocha.Runner, func(f string) []string {
		return []string{"--reporter", "json", "--reporter-option", "output=" + f}
	}},
	nodetest.Name: {nodetest.Name, func(p jstest.Project) rerun.Adapter { return nodetest.Adapter(p) }, nodetest.Runner, nil},
}

// scriptLanguage is that of a framework of JavaScript.
type scriptLanguage struct {
	dialect dialect
	project jstest.Project
	// direct is set when the suite's command is the framework's own.
	direct bool
	// base is how base's own script runs the tests, when that is another way.
	base *jstest.Project
	// baseTree is base's directory.
	baseTree string
	// run is what was read of the command or the scripts.
	run jstest.Run
}

func (j *scriptLanguage) adapter() rerun.Adapter {
	head := j.dialect.adapter(j.project)
	if j.base == nil {
		return head
	}
	return bySide(head, j.dialect.adapter(*j.base), j.baseTree)
}

func (j *scriptLanguage) sets() []string { return j.project.Env }

func (j *scriptLanguage) engine(*session, *suite) rerun.Engine {
	return runtimeEngine(func(ctx context.Context, exec triage.Exec, tree, pkg, pkgDir, out string) (rerun.Instrumentation, error) {
		return nodelag.Engine{}.Instrument(ctx, exec, tree, pkg, pkgDir, out)
	})
}

func (j *scriptLanguage) configure(_ string, su *suite) error {
	own, direct := j.dialect.runner.Parse(su.Command)
	j.project, j.direct = j.of(su, own), direct && su.Command[0] != "sh" && su.Command[0] != "bash"
	return nil
}

// ready gives both trees their packages, unless the project says how.
func (j *scriptLanguage) ready(ctx context.Context, s *session, su *suite) error {
	if len(su.Setup) == 0 {
		err := s.install(su, func() error { return s.ws.InstallModules(ctx, su.dir(), s.before(su)) })
		if err != nil {
			return err
		}
	}
	return s.tryBoth(ctx, su, j.adapter())
}

func (j *scriptLanguage) command(ctx context.Context, s *session, su *suite) ([]suiteCommand, error) {
	if len(su.Command) == 0 {
		return s.ownCommand(ctx, su, j.dialect.name)
	}
	c := suiteCommand{Command: triage.Command{Dir: s.commandDir(su), Argv: su.Command, Env: callersOptions()}}
	if j.direct && j.dialect.reporting != nil {
		c.report = filepath.Join(s.dir, "suite-"+fileName(su.Name)+".json")
		c.Argv = slices.Concat(c.Argv, j.dialect.reporting(c.report))
	}
	return []suiteCommand{c}, nil
}

func (j *scriptLanguage) plain() []string { return j.with(j.project.Env) }

// with is the command of trials behind an environment.
func (j *scriptLanguage) with(env []string) []string {
	if len(env) > 0 {
		env = append([]string{"env"}, env...)
	}
	if j.dialect.name == nodetest.Name {
		return slices.Concat(env, []string{"node"}, j.project.Args, []string{"--test"})
	}
	return slices.Concat(env, []string{"npx", "--no-install", j.dialect.name}, j.project.Args)
}

// named reads "file > describe > test": the file, then the framework's own id.
func (j *scriptLanguage) named(id string, su *suite) (triage.Failure, bool) {
	file, test, _ := strings.Cut(id, " > ")
	switch path.Ext(file) {
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx":
	default:
		return triage.Failure{}, false
	}
	return triage.Failure{
		Target:  triage.Target{Suite: su.Name, Framework: j.dialect.name, Package: path.Join(su.dir(), filepath.ToSlash(file)), Test: test},
		Outcome: triage.Fail,
	}, true
}

// resolve refuses files that are not there: a name of --test has its file, and for
// failures of a report that names none, [session.locate] has found it.
func (j *scriptLanguage) resolve(_ context.Context, s *session, su *suite, fs []triage.Failure) ([]triage.Failure, error) {
	return s.filesThere(su, fs)
}

// leaf is the test's own name, as its file has it.
func (j *scriptLanguage) leaf(id string) string {
	if at := strings.LastIndex(id, " > "); at >= 0 {
		return id[at+len(" > "):]
	}
	return id
}

func (j *scriptLanguage) reach(context.Context, *session, string) *triage.Reach { return nil }
