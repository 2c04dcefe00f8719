//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// pythonRepo has a Python project whose pull request changes a file, and what is
// given besides.
func pythonRepo(t *testing.T, base, head map[string]string) *Workspace {
	t.Helper()
	r := newRepo(t, filepath.Join(t.TempDir(), "repo"))
	r.write(".gitignore", ".venv\n")
	for name, text := range base {
		r.write(name, text)
	}
	r.commit("a.py", "1")
	for name, text := range head {
		r.write(name, text)
	}
	r.commit("a.py", "2")
	o := r.options()
	o.Base = "HEAD~1"
	return r.open(o)
}

// install runs InstallPython with a uv and a python that tell of themselves in
// the environment they make.
func install(t *testing.T, w *Workspace) {
	t.Helper()
	manager(t, "uv", `mkdir -p .venv && echo "uv $@" > .venv/made`)
	if err := w.InstallPython(t.Context(), "", "python3", []string{"PATH=" + os.Getenv("PATH")}); err != nil {
		t.Fatal(err)
	}
}

func TestTreesThatPinTheSameGetNoEnvironment(t *testing.T) {
	w := pythonRepo(t, map[string]string{"uv.lock": "1", "pyproject.toml": "[project]\nversion = \"1.0\"\ndependencies = []\n"},
		map[string]string{"pyproject.toml": "[project]\nversion = \"1.1\"\ndependencies = []\n"})
	install(t, w)
	for _, s := range []triage.Side{triage.Head, triage.Base} {
		if there(w.Tree(s).Dir, "", ".venv") || w.Tree(s).Unbuildable != "" {
			t.Errorf("%s has an environment, or is given up: %q", s, w.Tree(s).Unbuildable)
		}
	}
	if got := strings.Join(w.Warnings(), "\n"); strings.Contains(got, "pyproject.toml") {
		t.Errorf("a new version of the project itself is warned of: %s", got)
	}
}

func TestAnotherLockIsInstalledOnItsSideOnly(t *testing.T) {
	w := pythonRepo(t, map[string]string{"uv.lock": "1"}, map[string]string{"uv.lock": "2"})
	install(t, w)
	if there(w.Tree(triage.Head).Dir, "", ".venv") {
		t.Error("head pins what the checkout does, and has an environment of its own")
	}
	if got := content(t, w, triage.Base, ".venv/made"); !strings.HasPrefix(got, "uv sync --frozen") {
		t.Errorf("base was made by %q", got)
	}
}

// A head that is not what the checkout has is measured with the checkout's
// packages, and that is said.
func TestHeadThatAsksForOtherPackagesIsSaid(t *testing.T) {
	r := newRepo(t, filepath.Join(t.TempDir(), "repo"))
	for _, version := range []string{"1", "2", "1"} {
		r.write("pyproject.toml", "[project]\ndependencies = ['x=="+version+"']\n")
		r.commit("a.py", version+"\n")
		r.commit("b.py", version+"\n")
	}
	o := r.options()
	o.Head, o.Base = "HEAD~2", "HEAD~4"
	w := r.open(o)
	install(t, w)
	if got := strings.Join(w.Warnings(), "\n"); !strings.Contains(got, "pyproject.toml of head asks otherwise") {
		t.Errorf("warnings %q", got)
	}
	if why := w.Tree(triage.Head).Unbuildable + w.Tree(triage.Base).Unbuildable; why != "" {
		t.Errorf("given up: %s", why)
	}
}

func TestFailedEnvironmentMakesOnlyThatSideUnbuildable(t *testing.T) {
	w := pythonRepo(t, map[string]string{"uv.lock": "1"}, map[string]string{"uv.lock": "2"})
	manager(t, "uv", `echo "no such package"; exit 3`)
	if err := w.InstallPython(t.Context(), "", "python3", []string{"PATH=" + os.Getenv("PATH")}); err != nil {
		t.Fatal(err)
	}
	if got := w.Tree(triage.Base).Unbuildable; !strings.Contains(got, "exited with 3: no such package") || w.Tree(triage.Head).Unbuildable != "" {
		t.Errorf("base %q, head %q", got, w.Tree(triage.Head).Unbuildable)
	}
}

func TestManagerThatIsNotThereIsNamed(t *testing.T) {
	w := pythonRepo(t, map[string]string{"poetry.lock": "1"}, map[string]string{"poetry.lock": "2"})
	install(t, w)
	if got := w.Tree(triage.Base).Unbuildable; !strings.Contains(got, "poetry is not in the PATH: install poetry") {
		t.Errorf("base %q", got)
	}
}

func TestRequirementsAreInstalledByPip(t *testing.T) {
	got := venvCommands("", []string{"requirements-dev.txt", "requirements.txt"}, "python3.12")
	if s := strings.Join(got[0], " "); s != "python3.12 -m venv .venv" {
		t.Error(s)
	}
	if s := strings.Join(got[1], " "); s != ".venv/bin/python -m pip install --quiet -r requirements-dev.txt -r requirements.txt" {
		t.Error(s)
	}
}

// What a package manager put into the checkout is no change of head alone, though
// git would show it.
func TestInstalledFilesAreNoUncommittedChange(t *testing.T) {
	r := newRepo(t, filepath.Join(t.TempDir(), "repo"))
	r.commit("a.py", "1")
	r.commit("a.py", "2")
	r.write("env/pyvenv.cfg", "home = /usr/bin\n")
	r.write("env/lib/python3/site-packages/x.py", "1")
	r.write("web/node_modules/left/index.js", "1")
	r.write("new.py", "1")
	o := r.options()
	o.Base = "HEAD~1"
	w := r.open(o)
	head := w.Tree(triage.Head).Dir
	if there(head, "", "env") || there(head, "web", "node_modules") || !there(head, "", "new.py") {
		t.Error("head has what is installed, or not what is new")
	}
	for _, f := range w.Diff() {
		if strings.HasPrefix(f, "env/") || strings.HasPrefix(f, "web/") {
			t.Errorf("%s counts as a change", f)
		}
	}
}
