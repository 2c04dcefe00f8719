package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/framework"
	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/rerun"
)

func TestNamesOfTests(t *testing.T) {
	s := &session{suites: []*suite{{Suite: config.Suite{Name: "go", Framework: gotest.Name}, lang: &goLanguage{}}}}
	for id, want := range map[string]string{
		"TestX":                               " TestX",
		"Test":                                " Test",
		"TestX/sub":                           " TestX/sub",
		"TestX/of two":                        " TestX/of_two",
		"TestX/with Example given":            " TestX/with_Example_given",
		"TestX/a.TestB":                       " TestX/a.TestB",
		"Test_x":                              " Test_x",
		"TestÄ":                               " TestÄ",
		"ExampleDouble":                       " ExampleDouble",
		"FuzzParse/582528ddfad69eb5":          " FuzzParse/582528ddfad69eb5",
		"example.com/app.TestX":               "example.com/app TestX",
		"example.com/app TestX/sub/b c":       "example.com/app TestX/sub/b_c",
		"example.com/app/v2.TestX":            "example.com/app/v2 TestX",
		"gopkg.in/yaml.v3.TestX":              "gopkg.in/yaml.v3 TestX",
		"example.com/app/calc/.TestX":         "example.com/app/calc TestX",
		"./calc.TestX":                        "./calc TestX",
		"./.TestX":                            ". TestX",
		"example.com/app/Testing.TestX":       "example.com/app/Testing TestX",
		"example.com/app.TestX/a.TestB/other": "example.com/app TestX/a.TestB/other",
	} {
		f, ok := s.namedOne(id)
		if !ok {
			t.Errorf("%q is not read", id)
			continue
		}
		if got := f.Target.Package + " " + f.Target.Test; got != want {
			t.Errorf("%q: got %q, want %q", id, got, want)
		}
	}
	for _, id := range []string{"", "test", "Testify", "example.com/app", "example.com/app.Testify", "example.com/app.", "BenchmarkX", "calc"} {
		if f, ok := s.namedOne(id); ok {
			t.Errorf("%q was read as %q %q", id, f.Target.Package, f.Target.Test)
		}
	}
}

func TestImportPathsOfFolders(t *testing.T) {
	mods := []gotest.Module{{Path: "example.com/app", Dir: "."}, {Path: "example.com/a", Dir: "a"}, {Path: "example.com/tool", Dir: "sub/tool"}}
	for dir, want := range map[string]string{
		".":          "example.com/app",
		"calc":       "example.com/app/calc",
		"a":          "example.com/a",
		"a/b":        "example.com/a/b",
		"ab":         "example.com/app/ab",
		"sub":        "example.com/app/sub",
		"sub/tool":   "example.com/tool",
		"sub/tool/x": "example.com/tool/x",
		"sub/tools":  "example.com/app/sub/tools",
	} {
		if got := importPath(mods, dir); got != want {
			t.Errorf("%s: got %q, want %q", dir, got, want)
		}
	}
	if got := importPath(mods[1:], "b"); got != "b" {
		t.Errorf("outside of all modules: got %q", got)
	}
}

func TestListedPackages(t *testing.T) {
	out := `TestX
ok  	example.com/a	0.002s
ok  	example.com/b	0.002s
TestX
TestXY
ok  	example.com/c	(cached)
?   	example.com/d	[no test files]
# example.com/e [example.com/e.test]
e/e_test.go:3:1: undefined: x
FAIL	example.com/e [build failed]
FAIL
`
	found, broken := listed([]byte(out), "TestX")
	if diff := cmp.Diff([]string{"example.com/a", "example.com/c"}, found); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"example.com/e"}, broken); diff != "" {
		t.Errorf("broken (-want +got):\n%s", diff)
	}
}

func TestCommandsOfSuites(t *testing.T) {
	for command, want := range map[string]string{
		"go test ./...":                    "go test -json ./...",
		"go test -json ./...":              "go test -json ./...",
		"env A=b go test -race ./x":        "env A=b go test -json -race ./x",
		"CGO_ENABLED=0 go test ./...":      "CGO_ENABLED=0 go test -json ./...",
		"make test":                        "make test",
		"gotestsum --jsonfile f -- ./...":  "gotestsum --jsonfile f -- ./...",
		"go run gotest.tools/gotestsum@v1": "go run gotest.tools/gotestsum@v1",
	} {
		if got := strings.Join(withJSON(strings.Fields(command)), " "); got != want {
			t.Errorf("%q: got %q, want %q", command, got, want)
		}
	}
	for command, want := range map[string][2]string{
		"go test":              {"go test", ""},
		"env A=b C= go test":   {"go test", "A=b C="},
		"A=b go test -run x=y": {"go test -run x=y", "A=b"},
		"./a=b c":              {"./a=b c", ""},
		"env":                  {"", ""},
		"A=b":                  {"", "A=b"},
	} {
		argv, env := rerun.SplitEnv(strings.Fields(command))
		if got := [2]string{strings.Join(argv, " "), strings.Join(env, " ")}; got != want {
			t.Errorf("%q: got %q, want %q", command, got, want)
		}
	}
}

func TestTheFrameworkOfACommandIsThatOfAllThatIsFound(t *testing.T) {
	web, api, python := framework.Suite{Framework: "vitest", Dir: "web"}, framework.Suite{Framework: "vitest", Dir: "api"}, framework.Suite{Framework: "pytest", Dir: "py"}
	for name, c := range map[string]struct {
		command string
		found   []framework.Suite
		want    string
	}{
		"packages of one framework":  {"npm test", []framework.Suite{web, api}, "vitest"},
		"packages of two frameworks": {"npm test", []framework.Suite{web, python}, "gotest"},
		"its own words":              {"npx jest", []framework.Suite{web}, "jest"},
		"nothing":                    {"npm test", nil, "gotest"},
	} {
		if got := frameworkOf(strings.Fields(c.command), "", c.found); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestAnyPrefixOfAReportIsAnErrorOrASubset(t *testing.T) {
	dir := "../../internal/framework/gotest/testdata/capture"
	for _, name := range []string{"events.json", "gotestsum.xml", "gojunitreport-v2.xml", "plain.log", "verbose.log"} {
		t.Run(name, func(t *testing.T) {
			whole, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), name)
			f := &measureFlags{reports: []string{path}}
			all := collectedFrom(t, f, path, whole)
			if len(all.failures) == 0 || len(all.warnings) > 0 {
				t.Fatalf("the whole report: %d failures, warnings %v", len(all.failures), all.warnings)
			}
			for cut := 0; cut < len(whole); cut += 1 + len(whole)/60 {
				c := collectedFrom(t, f, path, whole[:cut])
				if len(c.failures) > len(all.failures) {
					t.Errorf("cut at %d: %d failures of %d", cut, len(c.failures), len(all.failures))
				}
			}
		})
	}
}

// collectedFrom reads a report; an error must name the file on one line.
func collectedFrom(t *testing.T, f *measureFlags, path string, text []byte) collected {
	t.Helper()
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := collect(f, framework.Reading{})
	if err != nil && (!strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n")) {
		t.Errorf("%d bytes: %v", len(text), err)
	}
	if err == nil && len(c.failures) == 0 {
		t.Errorf("%d bytes: neither an error nor a failure", len(text))
	}
	return c
}
