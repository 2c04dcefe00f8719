//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// An environment that is made of requirements has also what a job installs beside
// them: without a plugin base would fail in another way than head, and that looks
// like a regression.
func TestAnEnvironmentOfRequirementsHasThePluginsOfTheCheckouts(t *testing.T) {
	pins := map[string]string{"requirements.txt": "rate==1.0\n", "pyproject.toml": "[project]\nname = 'shop'\n", "app.py": "1"}
	for _, c := range []struct {
		name, has, own string
		head           map[string]string
		want           string
	}{
		{"a plugin that is missing", `"pytest": {"version": "8.0", "plugin": true}, "pytest-asyncio": {"version": "1.0", "plugin": true}, "rate": {"version": "2.0"}`,
			`"rate": {"version": "1.0"}`, nil, "-r requirements.txt pytest==8.0 pytest-asyncio==1.0"},
		{"one that is there in another version", `"pytest": {"version": "8.0", "plugin": true}`, `"pytest": {"version": "7.0"}`, nil, ""},
		{"one that head asks for", `"pytest-x": {"version": "1.0", "plugin": true}`, `"rate": {}`, map[string]string{"requirements.txt": "rate==2.0\nPytest_X\n"}, ""},
		{"one that head's manifest asks for", `"pytest-x": {"version": "1.0", "plugin": true}`, `"rate": {}`,
			map[string]string{"requirements.txt": "rate==2.0\n", "pyproject.toml": "[project]\nname = 'shop'\noptional-dependencies.test = ['pytest-x>=1']\n"}, ""},
		{"the project itself", `"shop": {"version": "1.0", "url": "file://TOP", "directory": true, "plugin": true}`, `"rate": {}`, nil, "--no-deps -e BASE"},
		{"a project of others", `"left": {"version": "1.0", "url": "file:///elsewhere", "directory": true}, "right": {"version": "1.0", "plugin": true, "url": "git+https://example.com/x"}`, `"rate": {}`, nil, ""},
		{"an answer that cannot be read", `"shop": [`, `"rate": {}`, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.head == nil {
				c.head = map[string]string{"requirements.txt": "rate==2.0\n"}
			}
			w := pythonRepo(t, pins, c.head)
			base := w.Tree(triage.Base)
			answers := t.TempDir()
			for name, text := range map[string]string{"has": c.has, "own": c.own} {
				text = "{" + strings.ReplaceAll(text, "TOP", w.top) + "}"
				if err := os.WriteFile(filepath.Join(answers, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			manager(t, "python9", `if [ "$1" = -c ]; then cat `+answers+`/has; exit; fi
mkdir -p .venv/bin && printf '#!/bin/sh\nif [ "$1" = -c ]; then cat `+answers+`/own; else echo "$@" >> .venv/made; fi\n' > .venv/bin/python && chmod +x .venv/bin/python`)
			if err := w.InstallPython(t.Context(), "", "python9", []string{"PATH=" + os.Getenv("PATH")}); err != nil {
				t.Fatal(err)
			}
			made, _ := os.ReadFile(filepath.Join(base.Dir, ".venv", "made"))
			lines := strings.Split(strings.TrimSpace(string(made)), "\n")
			got := strings.TrimPrefix(strings.Join(lines[1:], "\n"), "-m pip install --quiet ")
			if want := strings.ReplaceAll(c.want, "BASE", base.Dir); got != want || base.Unbuildable != "" {
				t.Errorf("installed %q, want %q (%s)", got, want, base.Unbuildable)
			}
		})
	}
}

// The question is one that a real interpreter answers.
func TestAnInterpreterTellsWhatItHas(t *testing.T) {
	python := os.Getenv("TRIAGEBOT_TEST_PYTHON")
	if python == "" {
		t.Skip("TRIAGEBOT_TEST_PYTHON names no interpreter with pytest")
	}
	w := pythonRepo(t, map[string]string{"a.py": "1"}, map[string]string{"a.py": "2"})
	if found := w.installedIn(t.Context(), t.TempDir(), python, nil); !found["pytest"].Plugin || found["pytest"].Version == "" || found["iniconfig"].Plugin {
		t.Errorf("%+v", found)
	}
}
