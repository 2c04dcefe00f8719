package jstest

import (
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestSurveySaysWhatIsThere(t *testing.T) {
	t.Parallel()
	tree := t.TempDir()
	home := filepath.Join(tree, "node_modules", "vitest")
	if err := errors.Join(os.MkdirAll(home, 0o755), os.Mkdir(filepath.Join(tree, "web"), 0o755), os.WriteFile(filepath.Join(home, "package.json"), []byte(`{"version": "3.2.4", "bin": "v.mjs"}`), 0o644)); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		p       Project
		d       Dialect
		version string
		err     error
		want    Survey
	}{
		"in the root":         {Project{}, arrows, "22.1.0", nil, Survey{Node: "22.1.0", Tool: "3.2.4"}},
		"above the directory": {Project{Dir: "web"}, arrows, "22.1.0", nil, Survey{Node: "22.1.0", Tool: "3.2.4"}},
		"Node's own runner":   {Project{}, Dialect{Name: "nodetest"}, "20.1.0", nil, Survey{Node: "20.1.0"}},
		"too old":             {Project{}, arrows, "18.19.0", nil, Survey{Node: "18.19.0", Tool: "3.2.4", NodeProblem: "put Node 20 or newer"}},
		"no Node":             {Project{}, arrows, "", fmt.Errorf("starting: %w", osexec.ErrNotFound), Survey{Tool: "3.2.4", NodeProblem: "there is no node on the PATH: install"}},
		"not installed":       {Project{}, Dialect{Name: "jest", Package: "jest"}, "22.1.0", nil, Survey{Node: "22.1.0", ToolProblem: "npm install"}},
	} {
		s, err := tc.p.Survey(t.Context(), answer(tc.version, tc.err), tc.d, tree)
		if err != nil || s.Node != tc.want.Node || s.Tool != tc.want.Tool {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		for got, want := range map[string]string{s.NodeProblem: tc.want.NodeProblem, s.ToolProblem: tc.want.ToolProblem} {
			if !strings.Contains(got, want) || want == "" && got != "" {
				t.Errorf("%s: problem %q, want %q", name, got, want)
			}
		}
	}
}
