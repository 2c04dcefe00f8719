//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// What asks for packages, and what only looks as if it did.
func TestWhatAManifestAsksFor(t *testing.T) {
	toml := "[project]\nname = \"shop\"\nversion = \"1\"\ndependencies = [\"rate==1.0\"]\n[tool.ruff]\nline-length = 100\n"
	for _, c := range []struct {
		name string
		read func([]byte) string
		a, b string
		same bool
	}{
		{"another version of a package", pyprojectAsks, toml, strings.Replace(toml, "1.0", "2.0", 1), false},
		{"another version of the project", pyprojectAsks, toml, strings.Replace(toml, `"1"`, `"2"`, 1), true},
		{"another tool's table", pyprojectAsks, toml, strings.Replace(toml, "100", "120", 1) + "[tool.mypy]\nstrict = true\n", true},
		{"another layout of the list", pyprojectAsks, toml, strings.Replace(toml, `["rate==1.0"]`, "[\n  'rate==1.0', # pinned\n]", 1), true},
		{"a table before it", pyprojectAsks, toml, "[build-system]\nrequires = [\"x\"]\n" + toml, true},
		{"a list of lists before it", pyprojectAsks, toml, "x = [\n[1],\n[2]]\n" + toml, true},
		{"an extra", pyprojectAsks, toml, toml + "[project.optional-dependencies]\ntest = [\"pytest\"]\n", false},
		{"an extra by its path", pyprojectAsks, toml, strings.Replace(toml, "[tool", "optional-dependencies.test = [\"pytest\"]\n[tool", 1), false},
		{"a group", pyprojectAsks, toml, toml + "[dependency-groups]\ntest = [\"pytest\"]\n", false},
		{"poetry's", pyprojectAsks, "[tool.poetry.dependencies]\npython = \"^3.9\"\nrate = \"^1\"\n", "[tool.poetry.dependencies]\npython = \"^3.9\"\nrate = \"^2\"\n", false},
		{"poetry's version of Python", pyprojectAsks, "[tool.poetry.dependencies]\npython = \"^3.9\"\nrate = \"^1\"\n", "[tool.poetry.dependencies]\npython = \"^3.10\"\nrate = \"^1\"\n", true},
		{"poetry's group", pyprojectAsks, "[tool.poetry.group.dev.dependencies]\nrate = {version=\"^1\"}\n", "[tool.poetry.group.dev.dependencies]\nrate = {version=\"^2\"}\n", false},
		{"uv's sources", pyprojectAsks, toml, toml + "[tool.uv.sources]\nrate = { git = \"https://example.com/rate\" }\n", false},
		{"a project in one line", pyprojectAsks, "project = {name = \"shop\", dependencies = [\"rate==1.0\"]}\n", "project = {name = \"shop\", dependencies = [\"rate==2.0\"]}\n", false},
		{"what is no TOML", pyprojectAsks, "project = {\ndependencies = rate==1.0\n", "project = {\ndependencies = rate==2.0\n", false},
		{"a text in three quotes", pyprojectAsks, toml, "[tool.x]\ny = \"\"\"\n[project]\ndependencies = ['z']\n\"\"\"\n" + toml, true},
		{"setup.cfg's", iniAsks, "[options]\ninstall_requires =\n  rate==1.0\n", "[options]\ninstall_requires =\n  rate==2.0\n", false},
		{"setup.cfg's on one line", iniAsks, "[options]\ninstall_requires = rate==1.0\n", "[options]\ninstall_requires = rate==2.0\n", false},
		{"setup.cfg's extras", iniAsks, "[options.extras_require]\ntest = rate==1.0\n", "[options.extras_require]\ntest = rate==2.0\n", false},
		{"setup.cfg's other parts", iniAsks, "[options]\ninstall_requires =\n  rate==1.0\n", "[metadata]\nversion = 2\n[options]\ninstall_requires =\n  rate==1.0 # pinned\n[flake8]\nmax = 3\n", true},
		{"tox.ini's", iniAsks, "[testenv]\ndeps =\n  pytest\n  rate==1.0\ncommands = pytest\n", "[testenv]\ndeps =\n  pytest\n  rate==2.0\ncommands = pytest\n", false},
		{"tox.ini's commands", iniAsks, "[testenv]\ndeps = pytest\ncommands = pytest\n", "[testenv]\ndeps = pytest\ncommands = pytest -x\n", true},
		{"setup.py's", setupAsks, "setup(version='1', install_requires=['rate==1.0'])", "setup(version='1', install_requires=['rate==2.0'])", false},
		{"setup.py's other arguments", setupAsks, "setup(\nversion='1',\ninstall_requires=['rate==1.0'])", "setup(\nversion='2',\ninstall_requires=[\"rate==1.0\",],\nurl='x')", true},
		{"setup.py's extras", setupAsks, "setup(extras_require={'test': ['rate==1.0']})", "setup(extras_require={'test': ['rate==2.0']})", false},
		{"setup.py's by a name", setupAsks, "needs = ['rate==1.0']\nsetup(install_requires=needs)", "needs = ['rate==2.0']\nsetup(install_requires=needs)", false},
		{"setup.py's with more added", setupAsks, "more = ['rate==1.0']\nsetup(install_requires=['a'] + more)", "more = ['rate==2.0']\nsetup(install_requires=['a'] + more)", false},
		{"setup.py's with more added on the next line", setupAsks, "setup(install_requires=['a']  # all\n + ['rate==1.0'])", "setup(install_requires=['a']  # all\n + ['rate==2.0'])", false},
		{"setup.py's in a dictionary", setupAsks, "kw['install_requires'] = ['rate==1.0']\nsetup(**kw)", "kw['install_requires'] = ['rate==2.0']\nsetup(**kw)", false},
		{"setup.py's by a call", setupAsks, "install_requires = ['a']\ninstall_requires.append('rate==1.0')", "install_requires = ['a']\ninstall_requires.append('rate==2.0')", false},
		{"after a text with escaped quotes", pyprojectAsks, "[project]\ndescription = \"\"\"a\\\"\"\" \"\"\"\ndependencies = ['rate==1.0']\n", "[project]\ndescription = \"\"\"a\\\"\"\" \"\"\"\ndependencies = ['rate==2.0']\n", false},
		{"after a text that ends in quotes", pyprojectAsks, "[project]\ndescription = \"\"\"a\"\"\"\"\"\ndependencies = ['rate==1.0']\n", "[project]\ndescription = \"\"\"a\"\"\"\"\"\ndependencies = ['rate==2.0']\n", false},
		{"tox.ini's of an environment without tests", iniAsks, "[testenv]\ndeps = pytest\n", "[testenv]\ndeps = pytest\n[testenv:lint]\ndeps = ruff\n", true},
		{"tox.ini's of another environment of tests", iniAsks, "[testenv]\ndeps = pytest\n", "[testenv]\ndeps = pytest\n[testenv:docs-tests]\ndeps = rate\n", false},
		{"a comment", plainText, "rate==1.0\n", "# prices\nrate==1.0  # pinned\n\n", true},
		{"a hash", plainText, "rate==1.0 \\\n  --hash=sha256:a\n", "rate==1.0 \\\n  --hash=sha256:b\n", false},
		{"an address with a mark", plainText, "git+https://x/y#egg=a\n", "git+https://x/y#egg=b\n", false},
	} {
		if a, b := c.read([]byte(c.a)), c.read([]byte(c.b)); (a == b) != c.same || a == "" {
			t.Errorf("%s:\n%s\nand\n%s", c.name, a, b)
		}
	}
}

func FuzzManifests(f *testing.F) {
	f.Add([]byte("[project]\ndependencies = ['a', \"b\"] # c\n"))
	f.Add([]byte("[options]\ninstall_requires =\n  a\n"))
	f.Add([]byte("setup(install_requires=['a'], extras_require={'x': [\"y\"]})"))
	f.Add([]byte("a = '''\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, read := range []func([]byte) string{pyprojectAsks, iniAsks, setupAsks, plainText} {
			if read(text) != read(append([]byte{}, text...)) {
				t.Error("two readings differ")
			}
		}
	})
}

// Where base asks for other packages than the environment that head was made for,
// it gets its own, or nothing on it counts.
func TestBaseIsNotRunWithThePackagesOfHead(t *testing.T) {
	project := "[project]\nname = 'shop'\ndependencies = ['rate==1.0']\n"
	for _, c := range []struct {
		name       string
		base, head map[string]string
		// made is what base's environment is made from, problem why nothing is run on it.
		made, problem string
	}{
		{"requirements in a directory", map[string]string{"requirements/base.txt": "rate==1.0\n", "requirements/test.txt": "-r base.txt\npytest\n"},
			map[string]string{"requirements/base.txt": "rate==2.0\n"}, "-r requirements/base.txt -r requirements/test.txt", ""},
		{"requirements of the tests", map[string]string{"tests/requirements.txt": "rate==1.0\n"}, map[string]string{"tests/requirements.txt": "rate==2.0\n"}, "-r tests/requirements.txt", ""},
		{"one that is included", map[string]string{"requirements.txt": "-r pins/all.txt\n", "pins/all.txt": "rate==1.0\n"}, map[string]string{"pins/all.txt": "rate==2.0\n"}, "-r requirements.txt", ""},
		{"constraints that are included", map[string]string{"requirements.txt": "-c limits.txt\nrate\n", "limits.txt": "rate==1.0\n"}, map[string]string{"limits.txt": "rate==2.0\n"}, "-r requirements.txt", ""},
		{"requirements that head adds to", map[string]string{"requirements.txt": "pytest\n"}, map[string]string{"requirements-extra.txt": "rate==2.0\n"}, "-r requirements.txt", ""},
		{"a comment in them", map[string]string{"requirements.txt": "rate==1.0\n"}, map[string]string{"requirements.txt": "# prices\nrate==1.0\n"}, "", ""},
		{"sources that were compiled", map[string]string{"requirements.in": "rate\n", "requirements.txt": "rate==1.0\n"}, map[string]string{"requirements.in": "rate>0\n"}, "", ""},
		{"sources alone", map[string]string{"requirements.in": "rate==1.0\n"}, map[string]string{"requirements.in": "rate==2.0\n"}, "-r requirements.in", ""},
		{"constraints alone", map[string]string{"constraints.txt": "rate==1.0\n"}, map[string]string{"constraints.txt": "rate==2.0\n"}, "", "constraints.txt of base asks otherwise"},
		{"conda's", map[string]string{"environment.yml": "dependencies: [rate=1.0]\n"}, map[string]string{"environment.yml": "dependencies: [rate=2.0]\n"}, "", "environment.yml of base asks otherwise"},
		{"pipenv's without a lock", map[string]string{"Pipfile": "[packages]\nrate = '==1.0'\n"}, map[string]string{"Pipfile": "[packages]\nrate = '==2.0'\n"}, "", "Pipfile of base asks otherwise"},
		{"a manifest", map[string]string{"pyproject.toml": project}, map[string]string{"pyproject.toml": strings.Replace(project, "1.0", "2.0", 1)}, "", "pyproject.toml of base asks otherwise"},
		{"another part of a manifest", map[string]string{"pyproject.toml": project}, map[string]string{"pyproject.toml": project + "[tool.ruff]\nx = 1\n"}, "", ""},
		{"two files", map[string]string{"setup.cfg": "[options]\ninstall_requires = rate==1.0\n", "tox.ini": "[testenv]\ndeps = rate==1.0\n"},
			map[string]string{"setup.cfg": "[options]\ninstall_requires = rate==2.0\n", "tox.ini": "[testenv]\ndeps = rate==2.0\n"}, "", "setup.cfg, tox.ini of base ask otherwise"},
		{"a name in quotes that is included", map[string]string{"requirements.txt": "-r \"all pins.txt\"\n", "all pins.txt": "rate==1.0\n"}, map[string]string{"all pins.txt": "rate==2.0\n"}, "-r requirements.txt", ""},
		{"files that include each other", map[string]string{"requirements.txt": "-r pins.txt\n", "pins.txt": "-r requirements.txt\nrate==1.0\n"}, map[string]string{"pins.txt": "-r requirements.txt\nrate==2.0\n"}, "-r requirements.txt", ""},
		{"a directory with brackets", map[string]string{"requirements[x]/all.txt": "rate==1.0\n"}, map[string]string{"requirements[x]/all.txt": "rate==2.0\n"}, "-r requirements[x]/all.txt", ""},
		{"a file that pyproject.toml names", map[string]string{"pyproject.toml": "[tool.setuptools.dynamic]\ndependencies = {file = ['deps.in']}\n", "deps.in": "rate==1.0\n"}, map[string]string{"deps.in": "rate==2.0\n"}, "", "deps.in of base asks otherwise"},
		{"a file that setup.cfg names", map[string]string{"setup.cfg": "[options]\ninstall_requires = file: deps.txt\n", "deps.txt": "rate==1.0\n"}, map[string]string{"deps.txt": "rate==2.0\n"}, "", "deps.txt of base asks otherwise"},
		{"a file that setup.py reads", map[string]string{"setup.py": "setup(long_description=open('README.txt'), install_requires=open('pins/all.pip').read())\n", "pins/all.pip": "rate==1.0\n", "README.txt": "1"},
			map[string]string{"pins/all.pip": "rate==2.0\n", "README.txt": "2"}, "", "pins/all.pip of base asks otherwise"},
		{"a text that setup.py reads", map[string]string{"setup.py": "setup(long_description=open('README.txt'), install_requires=needs)\n", "README.txt": "1"}, map[string]string{"README.txt": "2"}, "", ""},
		{"constraints that tox.ini names", map[string]string{"tox.ini": "[testenv]\ndeps = -cconstraints.txt\n", "constraints.txt": "rate==1.0\n"}, map[string]string{"constraints.txt": "rate==2.0\n"}, "", "constraints.txt of base asks otherwise"},
		{"a project that is named by its directory", map[string]string{"requirements.txt": "-e ./libs/b[test]\n", "libs/b/setup.cfg": "[options]\ninstall_requires = rate==1.0\n"},
			map[string]string{"libs/b/setup.cfg": "[options]\ninstall_requires = rate==2.0\n"}, "-r requirements.txt", ""},
		{"the project itself, which names the file", map[string]string{"requirements.txt": "-e .\n", "setup.cfg": "[options]\ninstall_requires = file: requirements.txt\n[metadata]\nversion = 1\n"},
			map[string]string{"setup.cfg": "[options]\ninstall_requires = file: requirements.txt\n[metadata]\nversion = 2\n"}, "", ""},
		{"a lock that head adds", map[string]string{"pyproject.toml": project}, map[string]string{"uv.lock": "1"}, "", "uv.lock of base asks otherwise"},
		{"requirements beside a lock", map[string]string{"uv.lock": "1", "requirements.txt": "rate==1.0\n"}, map[string]string{"requirements.txt": "rate==2.0\n"}, "-r requirements.txt", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := pythonRepo(t, c.base, c.head)
			manager(t, "python9", `mkdir -p .venv/bin && printf '#!/bin/sh\necho "$@" > .venv/made\n' > .venv/bin/python && chmod +x .venv/bin/python`)
			if err := w.InstallPython(t.Context(), "", "python9", []string{"PATH=" + os.Getenv("PATH")}); err != nil {
				t.Fatal(err)
			}
			base, head := w.Tree(triage.Base), w.Tree(triage.Head)
			made, _ := os.ReadFile(filepath.Join(base.Dir, ".venv", "made"))
			if got := strings.TrimPrefix(strings.TrimSpace(string(made)), "-m pip install --quiet "); got != c.made {
				t.Errorf("base is made from %q", got)
			}
			if (base.Unbuildable == "") != (c.problem == "") || !strings.Contains(base.Unbuildable, c.problem) || c.problem != "" && !strings.Contains(base.Unbuildable, "--setup") {
				t.Errorf("base: %q", base.Unbuildable)
			}
			if head.Unbuildable != "" || there(head.Dir, "", ".venv") {
				t.Errorf("head, which is what the checkout is, has an environment of its own, or is given up: %q", head.Unbuildable)
			}
		})
	}
}
