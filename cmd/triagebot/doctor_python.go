package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/triagebot/triagebot/internal/framework/pytest"
	"github.com/triagebot/triagebot/internal/lag/pylag"
	"github.com/triagebot/triagebot/internal/workspace"
)

// pluginNotes say what a trial makes of a package that is installed.
var pluginNotes = []struct{ name, note string }{
	{"pytest-xdist", "one process in trials (-n0)"},
	{"pytest-randomly", "its seed is kept in trials, or it is left out"},
	{"pytest-random-order", "its seed is kept in trials, or it is left out"},
	{"pytest-rerunfailures", "left out of trials"},
	{"flaky", "left out of trials"},
	{"pytest-cov", "left out of trials"},
	{"pytest-asyncio", "its tasks are delayed"},
	{"anyio", "its tasks on asyncio are delayed"},
	{"pytest-timeout", "kept: a stretch does not reach its time-outs"},
}

// unmoved are packages that lag does not reach.
var unmoved = []struct{ name, note string }{
	{"uvloop", "tasks on uvloop's loops are not delayed: where the tests can do without, set them to asyncio's own loop"},
	{"trio", "tasks of trio are not delayed"},
	{"gevent", "greenlets of gevent are not delayed"},
}

func (p *pythonLanguage) diagnose(d *diagnosis, su *suite) []finding {
	names := []string{}
	for _, n := range pluginNotes {
		names = append(names, n.name)
	}
	for _, n := range unmoved {
		names = append(names, n.name)
	}
	s, err := p.Survey(d.ctx, d.exec(su), d.top, names...)
	if err != nil {
		found, fix := partFix(strings.TrimPrefix(err.Error(), "preparing pytest: "))
		return []finding{{"Python", found, fix, true}}
	}
	out := []finding{{what: "Python", found: fmt.Sprintf("%s %s, %s", s.Implementation, s.Version, s.Python)}, pytestFinding(s)}
	out = append(out, finding{what: "environment", found: environmentOf(s.Python, d.top)})
	out = append(out, d.pinned(su, workspace.PythonPins(d.top, su.dir()), true))
	return append(append(out, pluginFindings(s)...), pythonLag(su, s))
}

func pytestFinding(s pytest.Survey) finding {
	if s.Pytest == "" {
		return finding{"pytest", "cannot be imported: " + s.Problem, fmt.Sprintf("install it (%s -m pip install pytest), or name the environment's own interpreter in the suite's command", s.Python), true}
	}
	return finding{what: "pytest", found: s.Pytest}
}

// environmentOf says whose packages an interpreter has.
func environmentOf(python, top string) string {
	venv := filepath.Dir(filepath.Dir(python))
	switch {
	case within(top, venv):
		rel, _ := filepath.Rel(top, venv)
		return "the checkout's " + filepath.ToSlash(rel)
	case isFile(filepath.Join(venv, "pyvenv.cfg")):
		return venv
	}
	return "no virtual environment: both sides have the packages of " + python
}

// pluginFindings say what a trial makes of the plugins that are installed.
func pluginFindings(s pytest.Survey) []finding {
	var out []finding
	for _, n := range pluginNotes {
		if v := s.Packages[n.name]; v != "" {
			out = append(out, finding{what: "plugin", found: fmt.Sprintf("%s %s: %s", n.name, v, n.note)})
		}
	}
	return out
}

// pythonLag is the engine and what it does not move here.
func pythonLag(su *suite, s pytest.Survey) finding {
	limits := []string{"not moved: waits in C extensions, threads that C started"}
	for _, n := range unmoved {
		if s.Packages[n.name] != "" {
			limits = append(limits, n.note)
		}
	}
	if s.FreeThreaded {
		limits = append(limits, "this is a free-threaded build: delays are as asked, but nothing was measured on one")
	}
	if s.Implementation != "CPython" {
		limits = append(limits, "the engine is made for CPython, and not measured on "+s.Implementation)
	}
	return lagFinding(su, "Python", pylag.Capabilities(), strings.Join(limits, "; "))
}

// reAdvice begins the advice at the end of an error.
var reAdvice = regexp.MustCompile(`: (?:install|make|name|put|run) `)

// partFix parts an error from the advice at its end.
func partFix(message string) (found, fix string) {
	at := reAdvice.FindAllStringIndex(message, -1)
	if len(at) == 0 {
		return message, ""
	}
	i := at[len(at)-1][0]
	return message[:i], message[i+2:]
}
