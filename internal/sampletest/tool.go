package sampletest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/sample"
)

// tool is a framework whose sources are run as they are. Facts are proved on the
// tree itself, or on a copy of it that has the delay in it.
type tool struct {
	// variable names the interpreter, required makes its absence an error, and
	// target is what make has to be asked for to get it.
	variable, required, target string
	// report is the file's name of a red check that is run.
	report string
	// env is for the commands that prove facts and make the check red.
	env []string
	// one runs what a fact names, all runs everything and writes a report. Both
	// are started in the root of the tree.
	one func(f Fact) []string
	all func(report string) []string
	// late is a statement that sleeps.
	late func(l Late) string
	// none are the exit codes which say that no test was selected.
	none []int
	// ran, when set, is in the output when a test was selected, whatever the exit code.
	ran *regexp.Regexp
	// modules is set when variable names a node_modules, not an interpreter.
	modules bool
}

// tools are the frameworks other than go test, by the header's name of them.
var tools = map[string]tool{
	"pytest": {
		variable: "TRIAGEBOT_TEST_PYTHON", required: "TRIAGEBOT_REQUIRE_PYTHON", target: "python-env",
		report: "ci.xml",
		env:    []string{"PYTHONDONTWRITEBYTECODE=1", "PYTEST_ADDOPTS=-p no:cacheprovider -p no:randomly"},
		one:    pytestOne,
		all: func(report string) []string {
			return []string{"python3", "-m", "pytest", "-q", "--junitxml=" + report}
		},
		late: pythonLate,
		none: []int{4, 5},
	},
	"vitest":   vitestTool(),
	"jest":     jestTool(),
	"mocha":    mochaTool(),
	"nodetest": nodeTestTool(),
}

func pytestOne(f Fact) []string {
	argv := append([]string{"python3", "-m", "pytest", "-q", "-rA"}, f.Flags...)
	switch {
	case f.Package == "":
		return argv
	case f.Test == "":
		return append(argv, f.Package)
	}
	return append(argv, f.Package+"::"+f.Test)
}

func pythonLate(l Late) string {
	seconds := float64(l.MS) / 1000
	if l.Await {
		return fmt.Sprintf(`await __import__("asyncio").sleep(%g)`, seconds)
	}
	return fmt.Sprintf(`__import__("time").sleep(%g)`, seconds)
}

// Missing says why the sample cannot be run here, "" when it can. It is an error
// where the environment demands that it can.
func (s Sample) Missing() (string, error) {
	t, ok := tools[s.Framework]
	if !ok {
		return "", nil
	}
	path := os.Getenv(t.variable)
	why := t.variable + " is not set"
	if path != "" {
		_, err := exec.LookPath(path)
		if t.modules {
			err = missingModules(path)
		}
		if err == nil {
			return "", nil
		}
		why = fmt.Sprintf("%s: %v", t.variable, err)
	}
	why = fmt.Sprintf("%s needs an interpreter with %s, and %s: run \"make %s\", or name one", s.Name, s.Framework, why, t.target)
	if os.Getenv(t.required) == "1" {
		return why, errors.New(why)
	}
	return why, nil
}

// path is the PATH under which the interpreter of the tool is found first.
func (t tool) path() string {
	own, err := exec.LookPath(os.Getenv(t.variable))
	if err != nil {
		return os.Getenv("PATH")
	}
	return filepath.Dir(own) + string(os.PathListSeparator) + os.Getenv("PATH")
}

// env is what the sample's commands need: where the tools are, and for those of
// the harness itself, not of triagebot, how they leave nothing in the tree. What
// is in the directory first is found before all others.
func (s Sample) env(own bool, first string) []string {
	t, ok := tools[s.Framework]
	if !ok {
		return nil
	}
	path := t.path()
	if first != "" {
		path = first + string(os.PathListSeparator) + path
	}
	env := []string{"PATH=" + path}
	if own {
		env = append(env, t.env...)
	}
	return env
}

// toolTimeout ends a process whose event loop never runs empty.
const toolTimeout = time.Minute

func runTool(ctx context.Context, dir string, env, argv []string) (string, int, error) {
	ctx, cancel := context.WithTimeout(ctx, toolTimeout)
	defer cancel()
	return run(ctx, dir, env, argv[0], argv[1:]...)
}

// proveBy checks a fact by running the sources as they are.
func (f Fact) proveBy(ctx context.Context, t tool, env []string, tree, dir string) ([]string, error) {
	low, high, runs, err := f.counts()
	if err != nil {
		return nil, err
	}
	if runs == 0 {
		return nil, fmt.Errorf("reading fact: red %q is for Go only, name the file and how often it is red", f.Red)
	}
	if f.Late != nil {
		if tree, err = f.Late.copyTree(t, tree, dir); err != nil {
			return nil, err
		}
	}
	says := regexp.MustCompile(f.Says)
	red := 0
	argv := t.one(f)
	env = slices.Concat(env, f.Env)
	for range runs {
		out, code, err := runTool(ctx, tree, env, argv)
		if err != nil {
			return nil, err
		}
		if slices.Contains(t.none, code) || t.ran != nil && !t.ran.MatchString(out) {
			return []string{"selects no test: " + out}, nil
		}
		if code == 0 {
			continue
		}
		red++
		if !says.MatchString(out) {
			return []string{fmt.Sprintf("a red does not say %q: %s", f.Says, out)}, nil
		}
	}
	if red < low || red > high {
		return []string{fmt.Sprintf("red %d/%d, want %s", red, runs, f.Red)}, nil
	}
	return nil, nil
}

// copyTree copies a tree and writes the delay into the copy, on the very line, so
// that the numbers of lines stay.
func (l *Late) copyTree(t tool, tree, dir string) (string, error) {
	work, err := os.MkdirTemp(dir, "late")
	if err != nil {
		return "", fmt.Errorf("delaying: %w", err)
	}
	if err := os.CopyFS(work, os.DirFS(tree)); err != nil {
		return "", fmt.Errorf("delaying: %w", err)
	}
	name := filepath.Join(work, filepath.FromSlash(l.File))
	src, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("delaying: %w", err)
	}
	lines, hit, err := l.find(string(src))
	if err != nil {
		return "", err
	}
	late := t.late(*l)
	if l.Before != "" {
		bare := strings.TrimLeft(lines[hit], " \t")
		indent := strings.TrimSuffix(lines[hit], bare)
		lines[hit] = indent + late + "; " + bare
	} else {
		lines[hit] += strings.TrimSuffix("; "+late+"; "+l.Insert, "; ")
	}
	return work, sample.Write(work, map[string][]byte{l.File: []byte(strings.Join(lines, "\n"))})
}
