package pytest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// keep lays a tool down that answers for one directory only, as those do that
// know an environment by its project's path.
func keep(t *testing.T, tool, project, answer string) {
	t.Helper()
	script := "#!/bin/sh\ncase \"$1\" in run|sync|install) touch made; exit 0;; esac\n" +
		"[ \"$(pwd -P)\" = '" + project + "' ] || { echo 'no environment' >&2; exit 1; }\necho 'a warning' >&2\n" + answer + "\n"
	dir := t.TempDir()
	lay(t, dir, map[string]string{tool: script})
	if err := os.Chmod(filepath.Join(dir, tool), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
}

// What poetry and its like keep for the checkout is found there, and by asking
// none is made for a tree.
func TestKeptEnvironmentIsThatOfTheProjectsPath(t *testing.T) {
	for _, c := range []struct{ tool, lock string }{
		{"poetry", "poetry.lock"}, {"pipenv", "Pipfile.lock"}, {"pdm", "pdm.lock"}, {"uv", "uv.lock"},
	} {
		t.Run(c.tool, func(t *testing.T) {
			py, _ := environment(t, filepath.Join(t.TempDir(), "kept"))
			checkout, base := tree(t, map[string]string{c.lock: ""}), tree(t, map[string]string{c.lock: ""})
			keep(t, c.tool, checkout, "echo "+py)
			switch c.tool {
			case "pdm":
				lay(t, checkout, map[string]string{".pdm-python": py + "\n"})
			case "uv":
				t.Setenv("UV_PROJECT_ENVIRONMENT", filepath.Join(checkout, "kept"))
				if err := os.Symlink(filepath.Dir(filepath.Dir(py)), filepath.Join(checkout, "kept")); err != nil {
					t.Fatal(err)
				}
			}
			got := Kept(t.Context(), start, checkout)
			if want, err := filepath.EvalSymlinks(filepath.Dir(py)); err != nil || got == "" || resolved(t, filepath.Dir(got)) != want {
				t.Errorf("for the checkout: %q, want %q", got, py)
			}
			if got := Kept(t.Context(), start, base); c.tool != "uv" && got != "" {
				t.Errorf("for a tree: %q", got)
			}
			if isThere(filepath.Join(base, "made")) || isThere(filepath.Join(checkout, "made")) {
				t.Error("an environment was made")
			}
		})
	}
}

func resolved(t *testing.T, path string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// An environment that a set-up made by the tree's path is the tree's.
func TestKeptEnvironmentOfATreeIsUsed(t *testing.T) {
	py, _ := environment(t, filepath.Join(t.TempDir(), "kept"))
	base := tree(t, map[string]string{"poetry.lock": ""})
	keep(t, "poetry", base, "echo "+py)
	p, err := Adapter{}.Prepare(t.Context(), start, triage.BuildSpec{Tree: base, Out: filepath.Join(t.TempDir(), "out")})
	if err != nil || p.Failure != nil || p.Bin != py {
		t.Errorf("%+v, %v", p, err)
	}
}

// A project whose tool or environment is not here says which, and what to run.
func TestMissingEnvironmentNamesItsTool(t *testing.T) {
	none := strings.ReplaceAll(strings.ReplaceAll(good, "9.2.0", ""), `"error":""`, `"error":"ModuleNotFoundError: No module named 'pytest'"`)
	for _, c := range []struct {
		lock, answers, want string
	}{
		{"uv.lock", "", "uv.lock is there, but uv is not on the PATH: run \"uv sync\" in the checkout, or declare it as the set-up (--setup 'uv sync')"},
		{"poetry.lock", "", "poetry is not on the PATH: run \"poetry install\""},
		{"poetry.lock", "poetry", "poetry keeps no environment with pytest for /checkout: run \"poetry install\""},
		{"pdm.lock", "", "pdm is not on the PATH"},
		{"Pipfile.lock", "", "pipenv is not on the PATH: run \"pipenv sync --dev\""},
	} {
		fake := pythons{"python3": none}
		if c.answers != "" {
			fake[c.answers] = ""
		}
		dir := tree(t, map[string]string{c.lock: ""})
		p, err := Adapter{Checkout: "/checkout"}.Prepare(t.Context(), fake.exec, triage.BuildSpec{Tree: dir, Out: filepath.Join(t.TempDir(), "out")})
		if err != nil || p.Failure == nil || !strings.Contains(p.Failure.Message, c.want) {
			t.Errorf("%s: %+v, %v", c.lock, p.Failure, err)
		}
	}
}

// A python3 that has pytest, and not the project's packages, is not the tool's.
func TestModuleOfAMissingEnvironmentNamesItsTool(t *testing.T) {
	py := python(t)
	dir := tree(t, map[string]string{"uv.lock": "", "test_a.py": "import absent_package\n", "bin/python3": "#!/bin/sh\nexec " + py + " \"$@\"\n"})
	if err := os.Chmod(filepath.Join(dir, "bin/python3"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(dir, "bin")+":/usr/bin:/bin")
	p, err := Adapter{}.Prepare(t.Context(), start, triage.BuildSpec{Tree: dir, Package: "test_a.py", Out: filepath.Join(t.TempDir(), "out")})
	if err != nil || p.Failure == nil || !strings.Contains(p.Failure.Message, "No module named 'absent_package' (uv.lock is there, but uv is not on the PATH") {
		t.Errorf("%+v, %v", p.Failure, err)
	}
	if p.Failure != nil && strings.Contains(p.Failure.Signature.Message, "uv.lock") {
		t.Errorf("signature %+v", p.Failure.Signature)
	}
}
