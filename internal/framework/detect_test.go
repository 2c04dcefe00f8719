package framework

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

func tree(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestDetect(t *testing.T) {
	goSuite := func(name, dir string, pkgs ...string) Suite {
		return Suite{Name: name, Framework: "gotest", Dir: dir, Command: append([]string{"go", "test"}, pkgs...)}
	}
	for name, c := range map[string]struct {
		archive string
		want    []Suite
	}{
		"nothing":  {"-- README.md --\n", nil},
		"a module": {"-- go.mod --\nmodule m\n", []Suite{goSuite("go", ".", "./...")}},
		"nested modules": {
			"-- go.mod --\nmodule m\n-- tools/go.mod --\nmodule m/tools\n-- a/b/go.mod --\nmodule m/b\n",
			[]Suite{goSuite("go", ".", "./..."), goSuite("go:a/b", "a/b", "./..."), goSuite("go:tools", "tools", "./...")},
		},
		"a workspace": {
			"-- go.work --\ngo 1.26\nuse (\n\t./a // first\n\t\"./b\"\n)\nuse ./c\n-- a/go.mod --\nmodule a\n-- b/go.mod --\nmodule b\n-- c/go.mod --\nmodule c\n-- d/go.mod --\nmodule d\n",
			[]Suite{goSuite("go", ".", "./a/...", "./b/...", "./c/..."), goSuite("go:d", "d", "./...")},
		},
		"a workspace with the root": {
			"-- go.work --\nuse .\n-- go.mod --\nmodule m\n",
			[]Suite{goSuite("go", ".", "./...")},
		},
		"not in testdata, vendor and hidden directories": {
			"-- testdata/x/go.mod --\nmodule x\n-- vendor/y/go.mod --\nmodule y\n-- .cache/go.mod --\nmodule z\n-- _old/go.mod --\nmodule o\n-- node_modules/n/go.mod --\nmodule n\n",
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Detect(tree(t, c.archive))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("suites (-want +got):\n%s", d)
			}
		})
	}
}

func TestScriptsDecideBetweenRunners(t *testing.T) {
	const all = `"devDependencies":{"vitest":"3","jest":"30","mocha":"11"}}`
	for name, c := range map[string]struct {
		archive string
		want    []string
	}{
		"one script":                  {"-- package.json --\n{\"scripts\":{\"test\":\"vitest run\"}," + all, []string{"vitest"}},
		"two scripts":                 {"-- package.json --\n{\"scripts\":{\"test\":\"vitest run\",\"e2e\":\"mocha e2e\"}," + all, []string{"vitest", "mocha"}},
		"a configuration of its own":  {"-- package.json --\n{\"scripts\":{\"test\":\"vitest run\"}," + all + "\n-- jest.config.js --\n", []string{"vitest", "jest"}},
		"scripts that name none":      {"-- package.json --\n{\"scripts\":{\"test\":\"node run.js\"}," + all, []string{"vitest", "jest", "mocha"}},
		"Node's own beside one":       {"-- package.json --\n{\"scripts\":{\"test\":\"node --test\"}," + all, []string{"nodetest"}},
		"jest behind react-scripts":   {"-- package.json --\n" + `{"scripts":{"test":"react-scripts test"},"dependencies":{"react-scripts":"5"}}`, []string{"jest"}},
		"mocha beside react-scripts":  {"-- package.json --\n" + `{"scripts":{"test":"react-scripts test","e2e":"mocha"},"dependencies":{"react-scripts":"5","mocha":"11"}}`, []string{"jest", "mocha"}},
		"another directory's scripts": {"-- a/package.json --\n{\"scripts\":{\"test\":\"vitest\"}," + all + "\n-- b/package.json --\n{" + all, []string{"vitest:a", "vitest:b", "jest:b", "mocha:b"}},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := Detect(tree(t, c.archive+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range found {
				got = append(got, s.Name)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("suites (-want +got):\n%s", d)
			}
		})
	}
}

func TestDetectOfNoTree(t *testing.T) {
	if _, err := Detect(filepath.Join(t.TempDir(), "gone")); err == nil {
		t.Error("no error for a tree that is not there")
	}
}
