package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPins(t *testing.T) {
	for name, tc := range map[string]struct {
		files string
		dir   string
		pins  func(root, dir string) []Pin
		want  string
	}{
		"nothing of Python's":                {"", "", PythonPins, ""},
		"a lock file":                        {"uv.lock requirements.txt", "", PythonPins, "uv.lock: uv sync --frozen --all-groups --all-extras"},
		"the root's lock file":               {"poetry.lock", "api", PythonPins, "poetry.lock: poetry install --no-interaction --all-extras"},
		"the nearer lock file":               {"poetry.lock api/uv.lock", "api", PythonPins, "api/uv.lock: uv sync --frozen --all-groups --all-extras"},
		"requirements":                       {"requirements.txt requirements-dev.txt", "", PythonPins, "requirements-dev.txt: python3 -m pip install -r requirements-dev.txt; requirements.txt: python3 -m pip install -r requirements.txt"},
		"nothing of JavaScript's":            {"", "", ModulesPins, ""},
		"npm's lock file":                    {"package.json package-lock.json", "", ModulesPins, "package-lock.json: npm ci"},
		"the lock file of a whole workspace": {"package.json pnpm-lock.yaml web/package.json", "web", ModulesPins, "pnpm-lock.yaml: pnpm install --frozen-lockfile"},
		"a manifest alone":                   {"package.json", "", ModulesPins, "package.json: npm install --no-package-lock --no-audit --no-fund"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for _, f := range strings.Fields(tc.files) {
				path := filepath.Join(root, filepath.FromSlash(f))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(`{"devDependencies": {"vitest": "3"}}`), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for _, p := range tc.pins(root, tc.dir) {
				if p.Tool != p.Command[0] {
					t.Errorf("%s is installed by %s, by the command %v", p.File, p.Tool, p.Command)
				}
				got = append(got, p.File+": "+strings.Join(p.Command, " "))
			}
			if s := strings.Join(got, "; "); s != tc.want {
				t.Errorf("got %q, want %q", s, tc.want)
			}
		})
	}
}
