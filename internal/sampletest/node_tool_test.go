package sampletest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/sample"
)

func TestNodeFactsSelectOneTestByItsName(t *testing.T) {
	f := Fact{Package: "test/a.test.js", Test: "group > adds [1]", Flags: []string{"--flag"}}
	joined := Fact{Package: f.Package, Test: "group adds [1]"}
	for name, c := range map[string]struct {
		fact Fact
		want string
	}{
		"vitest":   {f, `node node_modules/vitest/vitest.mjs run --cache=false --flag --testNamePattern=group adds \[1\]$ test/a.test.js`},
		"jest":     {joined, `node node_modules/jest/bin/jest.js --ci --testNamePattern=group adds \[1\]$ test/a.test.js`},
		"mocha":    {joined, `node node_modules/mocha/bin/mocha.js --grep=group adds \[1\]$ test/a.test.js`},
		"nodetest": {f, `node --test --test-reporter=tap --flag --test-name-pattern=adds \[1\]$ test/a.test.js`},
	} {
		if d := cmp.Diff(c.want, strings.Join(tools[name].one(c.fact), " ")); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if got := strings.Join(tools[name].one(Fact{}), " "); strings.Contains(got, "attern") || strings.Contains(got, "grep") {
			t.Errorf("%s: a fact about everything is %q", name, got)
		}
	}
}

func TestNodeOutputShowsWhetherATestRan(t *testing.T) {
	ran := vitestTool().ran
	for out, want := range map[string]bool{
		"      Tests  1 failed | 3 skipped (4)":     true,
		"      Tests  4 skipped (4)":                false,
		"Tests:       1 skipped, 1 passed, 2 total": true,
		"No tests found, exiting with code 1":       false,
		"  1 passing (5ms)":                         true,
		"  0 passing (1ms)":                         false,
		"# pass 0\n# fail 1":                        true,
		"# pass 0\n# fail 0":                        false,
		" Test Files  1 failed (1)":                 true,
	} {
		if got := ran.MatchString(out); got != want {
			t.Errorf("%q: ran is %v", out, got)
		}
	}
}

func TestNodeDelayWaitsOrBlocks(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node here")
	}
	for _, await := range []bool{false, true} {
		// A fake clock, as a test's framework would install it, must not reach the delay.
		src := "globalThis.setTimeout = () => {}; const began = process.hrtime.bigint(); " +
			nodeLate(Late{MS: 50, Await: await}) + "; console.log(process.hrtime.bigint() - began >= 45_000_000n)"
		name := filepath.Join(t.TempDir(), "late.mjs")
		if err := os.WriteFile(name, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		out, code, err := run(t.Context(), t.TempDir(), nil, "node", name)
		if err != nil || code != 0 || out != "true\n" {
			t.Errorf("await %v: %q, exit %d, %v", await, out, code, err)
		}
	}
}

func TestSamplesOfNodeShareOneNodeModules(t *testing.T) {
	modules := t.TempDir()
	t.Setenv(nodeModules, modules)
	s := Sample{Name: "x", Header: Header{Framework: "vitest"}}
	if why, err := s.Missing(); err != nil || !strings.Contains(why, "make node-env") {
		t.Errorf("without vitest in it: %q, %v", why, err)
	}
	t.Setenv("TRIAGEBOT_REQUIRE_NODE", "1")
	if _, err := s.Missing(); err == nil {
		t.Error("a sample that must run is skipped")
	}
	if err := sample.Write(modules, map[string][]byte{"vitest/package.json": []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if why, err := s.Missing(); err != nil || why != "" {
		t.Errorf("with it: %q, %v", why, err)
	}
	tree := t.TempDir()
	for range 2 { // base's tree is made once and used for each fact
		if err := tools["vitest"].linkModules(tree); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.Readlink(filepath.Join(tree, "node_modules")); err != nil || got != modules {
		t.Errorf("node_modules leads to %q, %v", got, err)
	}
	if err := tools["pytest"].linkModules(tree + "/none"); err != nil {
		t.Errorf("another language: %v", err)
	}
}
