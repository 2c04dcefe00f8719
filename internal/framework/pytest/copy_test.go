package pytest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

// makeEnv makes an environment at its argument that has what the interpreter has.
const makeEnv = `import pathlib, sys, sysconfig, venv
venv.create(sys.argv[1], symlinks=True)
(packages,) = pathlib.Path(sys.argv[1]).glob("lib/python*/site-packages")
(packages / "all.pth").write_text(sysconfig.get_path("purelib") + "\n")
print(packages)
`

// environment makes one at a path, and gives its interpreter and its packages.
func environment(t *testing.T, at string) (python3, packages string) {
	t.Helper()
	out, err := exec.Command(python(t), "-c", makeEnv, at).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(at, "bin", "python"), strings.TrimSpace(string(out))
}

// dist is a distribution as pip leaves it.
type dist struct {
	name string
	// from is the URL it was installed from, empty for an index.
	from string
	// wheel is set when the URL is that of a file.
	wheel bool
	// egg is set for the metadata that old tools write.
	egg   bool
	files map[string]string
}

func (d dist) install(t *testing.T, packages string) {
	t.Helper()
	info := d.name + "-1.0.dist-info"
	all := map[string]string{info + "/METADATA": "Metadata-Version: 2.1\nName: " + d.name + "\nVersion: 1.0\n"}
	record := "../../../bin/shop-cli,,\n" + info + "/RECORD,,\n"
	for name, text := range d.files {
		all[name] = text
		record += name + ",,\n"
	}
	all[info+"/RECORD"] = record
	switch {
	case d.egg:
		all = with(d.files, d.name+"-1.0-py3.9.egg-info/top_level.txt", d.name+"\n")
	case d.wheel:
		all[info+"/direct_url.json"] = fmt.Sprintf(`{"archive_info": {}, "url": %q}`, d.from)
	case d.from != "":
		all[info+"/direct_url.json"] = fmt.Sprintf(`{"dir_info": {}, "url": %q}`, d.from)
	}
	lay(t, packages, all)
}

func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// repository is a checkout that git knows, with files that it ignores.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := tree(t, files)
	for _, argv := range [][]string{{"init", "-q"}, {"add", "-A"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, argv...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", argv, err, out)
		}
	}
	return dir
}

// with is a set of files with more.
func with(files map[string]string, more ...string) map[string]string {
	all := map[string]string{}
	for k, v := range files {
		all[k] = v
	}
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return all
}

const (
	project  = "[build-system]\nrequires = []\n[project]\nname = \"shop\"\nversion = \"1.0\"\n"
	sold     = "def parse(text): return int(float(text)) * 100\n" // what head makes of it
	whole    = "def parse(text): return round(float(text) * 100)\n"
	testShop = "import subprocess, sys\nfrom shop import price\n\ndef test_cents():\n    assert price.parse('12.34') == 1234\n\n" +
		"def test_child():\n    assert subprocess.run([sys.executable, '-c', 'from shop import price; print(price.parse(\"12.34\"))'], capture_output=True, text=True, cwd='/').stdout == '1234\\n'\n"
)

// A job that installs the project, and not in editable mode, has one copy of it:
// that of head. Base must not be red with that.
func TestInstalledCopyIsNotTakenForATree(t *testing.T) {
	src := map[string]string{"pyproject.toml": project, "src/shop/__init__.py": "", "src/shop/price.py": whole, "tests/test_shop.py": testShop}
	installed := map[string]string{"shop/__init__.py": "", "shop/price.py": sold}
	head := with(src, "src/shop/price.py", sold)
	for _, c := range []struct {
		name string
		// checkout is what is red; base what the trial is run in.
		checkout, base map[string]string
		dists          func(checkout string) []dist
		want           triage.Outcome
	}{
		{"its files are the tree's", head, src, func(at string) []dist {
			return []dist{{name: "shop", from: "file://" + at, files: installed}}
		}, triage.Pass},
		{"of a wheel", head, src, func(at string) []dist {
			return []dist{{name: "shop", from: "file:///elsewhere/shop-1.0-py3-none-any.whl", wheel: true, files: installed}}
		}, triage.Pass},
		{"by its name only", head, src, func(string) []dist { return []dist{{name: "shop", files: installed}} }, triage.Pass},
		{"head adds a module", with(head, "src/shop/tax.py", ""), src, func(at string) []dist {
			return []dist{{name: "shop", from: "file://" + at, files: with(installed, "shop/tax.py", "")}}
		}, triage.Pass},
		{"one is generated", with(head, ".gitignore", "_version.py\n", "src/shop/_version.py", ""), src, func(at string) []dist {
			return []dist{{name: "shop", from: "file://" + at, files: with(installed, "shop/_version.py", "")}}
		}, triage.Invalid},
		{"one is compiled", head, src, func(at string) []dist {
			return []dist{{name: "shop", from: "file://" + at, files: with(installed, "shop/_fast.cpython-39-x86_64-linux-gnu.so", "")}}
		}, triage.Invalid},
		{"one is generated, and the tests load the tree's", map[string]string{"pyproject.toml": project, "shop/__init__.py": "", "shop/price.py": sold, "tests/test_shop.py": testShop},
			map[string]string{"pyproject.toml": project, "shop/__init__.py": "", "shop/price.py": whole, "tests/test_shop.py": testShop}, func(at string) []dist {
				return []dist{{name: "shop", from: "file://" + at, files: with(installed, "shop/_version.py", "")}}
			}, triage.Pass},
		{"a package of a monorepo", map[string]string{"packages/a/pyproject.toml": project, "packages/a/src/shop/__init__.py": "", "packages/a/src/shop/price.py": sold},
			map[string]string{"packages/a/pyproject.toml": project, "packages/a/src/shop/__init__.py": "", "packages/a/src/shop/price.py": whole, "tests/test_shop.py": testShop}, func(at string) []dist {
				return []dist{{name: "shop", from: "file://" + at + "/packages/a", files: installed}}
			}, triage.Pass},
		{"an old one of which no file is told", head, src, func(string) []dist {
			return []dist{{name: "shop", egg: true, files: installed}}
		}, triage.Invalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			py, packages := environment(t, filepath.Join(t.TempDir(), "env"))
			checkout, base := repository(t, c.checkout), tree(t, c.base)
			for _, d := range c.dists(checkout) {
				d.install(t, packages)
			}
			rs := trialOf(t, Adapter{Python: py, Checkout: checkout}, base, "tests/test_shop.py")
			r := own(t, rs, triage.Target{Suite: "pytest", Framework: Name, Package: "tests/test_shop.py", Test: "test_cents"})
			if r.Outcome != c.want {
				t.Errorf("%v: %s", r.Outcome, r.Note)
			}
			if c.want == triage.Invalid && !(strings.Contains(r.Note, "contaminated: the run loaded "+packages) && strings.Contains(r.Note, "set-up commands")) {
				t.Errorf("note %q", r.Note)
			}
			if child := own(t, rs, triage.Target{Suite: "pytest", Framework: Name, Package: "tests/test_shop.py", Test: "test_child"}); strings.HasPrefix(c.name, "its files") && child.Outcome != triage.Pass {
				t.Errorf("a child process loads the copy: %v", child.Failure)
			}
		})
	}
}

// trialOf runs a file once in a tree.
func trialOf(t *testing.T, a Adapter, dir, file string) []triage.Result {
	t.Helper()
	p, err := a.Prepare(t.Context(), start, triage.BuildSpec{Tree: dir, Out: filepath.Join(t.TempDir(), "out")})
	if err != nil {
		t.Fatal(err)
	}
	rs, _ := trial(t, a, triage.RunSpec{Prepared: p, Tree: dir, Target: triage.Target{Suite: "pytest", Framework: Name, Package: file}, Scope: triage.InPackage})
	return rs
}

// An environment that a set-up made in the tree itself has the tree's own copy.
func TestCopyInTheTreesOwnEnvironmentIsTheTrees(t *testing.T) {
	checkout := repository(t, map[string]string{"pyproject.toml": project, "src/shop/price.py": sold})
	base := tree(t, map[string]string{"pyproject.toml": project, "src/shop/price.py": whole, "tests/test_shop.py": testShop})
	_, packages := environment(t, filepath.Join(base, ".venv"))
	dist{name: "shop", from: "file://" + base, files: map[string]string{"shop/__init__.py": "", "shop/price.py": whole, "shop/_version.py": ""}}.install(t, packages)
	for _, r := range trialOf(t, Adapter{Checkout: checkout}, base, "tests/test_shop.py") {
		if r.Target.Test != "" && r.Outcome != triage.Pass {
			t.Errorf("%v %v: %s", r.Target, r.Outcome, r.Note)
		}
	}
}

// What others wrote stays theirs, though the tree has a directory, or even a
// project, of that name.
func TestOthersPackagesAreNotTakenForTheProject(t *testing.T) {
	files := map[string]string{
		"pyproject.toml": project, "src/shop/__init__.py": "", "src/acme/shop.py": "X = 1\n",
		"src/left/__init__.py": "X = 'the twin'\n", "vendor/left/pyproject.toml": "[project]\nname = \"left\"\n", "vendor/left/left/__init__.py": "X = 'the twin'\n",
		"packages/right/pyproject.toml": "[project]\nname = \"right\"\n", "packages/right/right/__init__.py": "X = 'the twin'\n",
		"tests/test_a.py": "import sys\nsys.path[:] = [p for p in sys.path if not p.endswith('src')]\nimport left, right, acme.core\n\ndef test_theirs(): assert (left.X, right.X) == ('theirs', 'theirs')\n",
	}
	py, packages := environment(t, filepath.Join(t.TempDir(), "env"))
	checkout := repository(t, files)
	for _, d := range []dist{
		{name: "shop", from: "file://" + checkout, files: map[string]string{"shop/__init__.py": "", "acme/shop.py": "X = 1\n"}},
		{name: "acme_core", files: map[string]string{"acme/core.py": ""}},
		{name: "left", files: map[string]string{"left/__init__.py": "X = 'theirs'\n"}},
		{name: "right", files: map[string]string{"right/__init__.py": "X = 'theirs'\n"}},
	} {
		d.install(t, packages)
	}
	rs := trialOf(t, Adapter{Python: py, Checkout: checkout}, checkout, "tests/test_a.py")
	i := slices.IndexFunc(rs, func(r triage.Result) bool { return r.Target.Test == "test_theirs" })
	if i < 0 || rs[i].Outcome != triage.Pass {
		t.Errorf("%+v", rs)
	}
}

// The module path has the tree's own directory in front only where that is safe.
func TestSourcesStandInForWhatIsInstalled(t *testing.T) {
	a := Adapter{Checkout: "/checkout"}
	git := func(listed string, exit int) triage.Exec {
		return func(_ context.Context, c triage.Command) ([]byte, triage.End, error) {
			if c.Dir != "/checkout" || c.Argv[0] != "git" {
				t.Errorf("%+v", c)
			}
			return []byte(listed), triage.End{Exit: exit}, nil
		}
	}
	for _, c := range []struct {
		name string
		copy installedCopy
		exec triage.Exec
		want int
	}{
		{"nothing is missing", installedCopy{Source: "src"}, nil, 1},
		{"the tree has no such files", installedCopy{}, nil, 0},
		{"a commit adds one", installedCopy{Source: "src", Missing: []string{"src/a.py"}}, git("src/a.py\x00", 0), 1},
		{"one of two is in no commit", installedCopy{Source: "src", Missing: []string{"src/a.py", "src/b.py"}}, git("src/a.py\x00", 0), 0},
		{"git refuses", installedCopy{Source: "src", Missing: []string{"src/a.py"}}, git("src/a.py\x00", 128), 0},
	} {
		if got := a.sources(t.Context(), c.exec, []installedCopy{c.copy}); len(got) != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// What others left in an environment or in the tree does not end the asking.
func TestMetadataThatCannotBeReadIsPassedOver(t *testing.T) {
	py, packages := environment(t, filepath.Join(t.TempDir(), "env"))
	checkout := repository(t, map[string]string{"pyproject.toml": project, "shop.py": "X = 1\n", "test_a.py": "import rate\ndef test_a(): pass\n"})
	dist{name: "shop", from: "file://" + checkout, files: map[string]string{"rate.py": ""}}.install(t, packages)
	lay(t, packages, map[string]string{
		"shop-1.0.dist-info/RECORD":         strings.Repeat("x", 1<<18) + ".py,,\n",
		"shop-1.0.dist-info/top_level.txt":  "rate\n",
		"rate-1.0.dist-info/RECORD":         "\xff\x00,,\n",
		"tax-1.0.dist-info/RECORD/x":        "a directory",
		"tax-1.0.dist-info/direct_url.json": `{"url": 5, "dir_info": [1]}`,
	})
	if out, err := exec.Command("mkfifo", filepath.Join(checkout, "setup.py")).CombinedOutput(); err != nil {
		t.Skipf("mkfifo: %v: %s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	p, err := Adapter{Checkout: checkout}.ask(ctx, start, checkout, checkout, py)
	if err != nil || p.Pytest == "" || len(p.Copies) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	rs := trialOf(t, Adapter{Python: py, Checkout: checkout}, checkout, "test_a.py")
	if len(rs) == 0 || rs[0].Outcome != triage.Invalid || !strings.Contains(rs[0].Note, "rate.py") {
		t.Errorf("what belongs to an unreadable copy of the project is taken for the tree's: %+v", rs)
	}
}
