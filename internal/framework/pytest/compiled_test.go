package pytest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// compiledIn lists the compiled files below a directory, by module.
func compiledIn(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".pyc") {
			name, _, _ := strings.Cut(d.Name(), ".")
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}

func TestWhatPythonCompilesIsKeptOutsideTheTree(t *testing.T) {
	dir := tree(t, map[string]string{
		"shop_core.py": "X = 1\n",
		"child.py":     "import shop_late\n",
		"shop_late.py": "",
		"test_n.py":    "import subprocess, sys\nfrom shop_core import X\ndef test_a():\n    subprocess.run([sys.executable, 'child.py'], check=True)\n    assert sys.dont_write_bytecode and sys.pycache_prefix is None\n    assert X == 1\n",
	})
	a := Adapter{}
	p := prepare(t, a, dir, "test_n.py")
	spec := triage.RunSpec{Prepared: p, Tree: dir, Target: triage.Target{Suite: "pytest", Framework: Name, Package: "test_n.py", Test: "test_a"}}
	for _, c := range []struct {
		text string
		want triage.Outcome
	}{{"X = 1\n", triage.Pass}, {"X = 2  # changed\n", triage.Fail}} {
		if err := os.WriteFile(filepath.Join(dir, "shop_core.py"), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		rs, out := trial(t, a, spec)
		if r := own(t, rs, spec.Target); r.Outcome != c.want {
			t.Errorf("%q: %v, want %v\n%s", c.text, r.Outcome, c.want, out)
		}
	}
	if got := compiledIn(t, dir); got != "" {
		t.Errorf("compiled in the tree: %s", got)
	}
	kept := compiledIn(t, pluginDir(p))
	for _, name := range []string{"shop_core", "test_n", pluginName} {
		if !strings.Contains(" "+kept+" ", " "+name+" ") {
			t.Errorf("%s is compiled anew each time; kept are %s", name, kept)
		}
	}
}

// pluginDir is the directory that our plugin was laid into.
func pluginDir(p triage.Prepared) string {
	dirs := lookup(p.Env, "PYTHONPATH")
	dir, _, _ := strings.Cut(dirs, string(os.PathListSeparator))
	return dir
}
