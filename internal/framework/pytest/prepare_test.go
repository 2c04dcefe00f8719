package pytest

import (
	"context"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

// pythons answers for interpreters that are not there.
type pythons map[string]string

func (p pythons) exec(_ context.Context, c triage.Command) ([]byte, triage.End, error) {
	key := c.Argv[0] // a tool that is asked for what it keeps, or its version
	if n := len(c.Argv); n > 2 && c.Argv[n-2] == "-c" {
		key = strings.Join(c.Argv[:n-2], " ")
	}
	answer, ok := p[key]
	if !ok {
		return nil, triage.End{}, osexec.ErrNotFound
	}
	if answer == "" {
		return []byte("it does not work\n"), triage.End{Exit: 1}, nil
	}
	return []byte("some warning\n" + answer + "\n"), triage.End{}, nil
}

const good = `{"executable":"/py","major":3,"minor":11,"pytest":"9.2.0","error":""}`

func TestTheInterpreterIsFound(t *testing.T) {
	for _, c := range []struct {
		name    string
		files   map[string]string
		adapter Adapter
		pythons func(dir string) pythons
		fails   string
	}{
		{"the system's", nil, Adapter{}, func(string) pythons { return pythons{"python3": good} }, ""},
		{"the configured one", nil, Adapter{Python: "/opt/py"}, func(string) pythons { return pythons{"/opt/py": good} }, ""},
		{"one below the tree", nil, Adapter{Python: "tools/py"}, func(d string) pythons { return pythons{filepath.Join(d, "tools/py"): good} }, ""},
		{"a virtual environment", map[string]string{".venv/pyvenv.cfg": "", ".venv/bin/python": ""}, Adapter{}, func(d string) pythons {
			return pythons{filepath.Join(d, ".venv/bin/python"): good}
		}, ""},
		{"a virtual environment below", map[string]string{"b/venv/pyvenv.cfg": "", "b/venv/bin/python": "", "b/x": ""}, Adapter{Dir: "b"}, func(d string) pythons {
			return pythons{filepath.Join(d, "b/venv/bin/python"): good}
		}, ""},
		{"uv is not there", map[string]string{"uv.lock": ""}, Adapter{}, func(string) pythons { return pythons{"python3": good} }, ""},
		{"no Python", nil, Adapter{}, func(string) pythons { return pythons{} }, "there is no python3 on the PATH: install Python 3.9 or newer"},
		{"a broken one", nil, Adapter{Python: "/opt/py"}, func(string) pythons { return pythons{"/opt/py": ""} }, "is no working Python: it does not work"},
		{"too old", nil, Adapter{Python: "/opt/py"}, func(string) pythons {
			return pythons{"/opt/py": strings.ReplaceAll(good, `"minor":11`, `"minor":8`)}
		}, "Python 3.8, at least 3.9 is needed"},
		{"an environment whose Python is gone", map[string]string{".venv/pyvenv.cfg": ""}, Adapter{}, func(string) pythons { return pythons{} }, "make it anew"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := tree(t, c.files)
			p, err := c.adapter.Prepare(t.Context(), c.pythons(dir).exec, triage.BuildSpec{Tree: dir, Out: filepath.Join(t.TempDir(), "out")})
			switch {
			case c.fails == "" && (err != nil || p.Failure != nil || p.Bin != "/py"):
				t.Errorf("%+v, %v", p, err)
			case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
				t.Errorf("error %v, want one with %q", err, c.fails)
			}
		})
	}
}

func TestMissingPytestIsAFailureOfTheTree(t *testing.T) {
	dir := tree(t, nil)
	none := strings.ReplaceAll(strings.ReplaceAll(good, "9.2.0", ""), `"error":""`, `"error":"ModuleNotFoundError: No module named 'pytest'"`)
	p, err := Adapter{}.Prepare(t.Context(), pythons{"python3": none}.exec, triage.BuildSpec{Tree: dir, Package: "test_a.py", Out: filepath.Join(t.TempDir(), "out")})
	if err != nil || p.Failure == nil || p.Failure.Signature.Phase != triage.PhaseSetup || !strings.Contains(p.Failure.Message, "install it") {
		t.Errorf("%+v, %v", p.Failure, err)
	}
}

func TestTheLagRuntimeGoesOnThePath(t *testing.T) {
	dir := tree(t, nil)
	out := filepath.Join(t.TempDir(), "out")
	a := Adapter{Env: []string{"PYTHONPATH=/own", "PYTEST_PLUGINS=theirs"}}
	p, err := a.Prepare(t.Context(), pythons{"python3": good}.exec, triage.BuildSpec{Tree: dir, Out: out, Overlay: "/lag"})
	if err != nil {
		t.Fatal(err)
	}
	if got := lookup(p.Env, "PYTHONPATH"); got != strings.Join([]string{out, "/lag", "/own"}, string(os.PathListSeparator)) {
		t.Errorf("PYTHONPATH %s", got)
	}
	if got := lookup(p.Env, "PYTEST_PLUGINS"); got != "zzlag.plugin,theirs" {
		t.Errorf("PYTEST_PLUGINS %s", got)
	}
	again, _ := a.Prepare(t.Context(), pythons{"python3": good}.exec, triage.BuildSpec{Tree: dir, Out: out})
	if lookup(again.Env, envFence) == lookup(p.Env, envFence) || slices.ContainsFunc(again.Env, func(s string) bool { return strings.Contains(s, "lag") }) {
		t.Errorf("without an overlay: %v", again.Env)
	}
}

func TestCommands(t *testing.T) {
	fence := []string{envFence + "=f"}
	own := []string{"-p", "zztriagebot", "-o", "cache_dir=$TRIAGEBOT_PYTEST_CACHE", "-o", "tmp_path_retention_policy=none"}
	target := triage.Target{Package: "b/tests/test_a.py", Test: "T::test_x[a b]"}
	for _, c := range []struct {
		name  string
		a     Adapter
		scope triage.Scope
		want  []string
	}{
		{"alone", Adapter{Args: []string{"-W", "error"}}, triage.Alone, append(append([]string{"/py", "-m", "pytest"}, own...), "-W", "error", "b/tests/test_a.py::T::test_x[a b]")},
		{"alone, below", Adapter{Dir: "b"}, triage.Alone, append(append([]string{"/py", "-m", "pytest"}, own...), "tests/test_a.py::T::test_x[a b]")},
		{"its file", Adapter{}, triage.InPackage, append(append([]string{"/py", "-m", "pytest"}, own...), "b/tests/test_a.py")},
		{"the suite", Adapter{}, triage.InSuite, append([]string{"/py", "-m", "pytest"}, own...)},
		{"the suite's command", Adapter{SuiteCommand: []string{"make", "check"}}, triage.InSuite, []string{"make", "check"}},
	} {
		got := c.a.Command(triage.RunSpec{Prepared: triage.Prepared{Bin: "/py", Env: fence}, Tree: "/t", Target: target, Scope: c.scope, Seed: 7})
		if diff := cmp.Diff(c.want, got.Argv); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if lookup(got.Env, envSeed) != "7" {
			t.Errorf("%s: environment %v", c.name, got.Env)
		}
	}
}
