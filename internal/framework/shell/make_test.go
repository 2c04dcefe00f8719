package shell

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestRecipe(t *testing.T) {
	t.Parallel()
	root := fstest.MapFS{
		"Makefile":     {Data: []byte("X := 1\nPY = python3\n.PHONY: test lint\nall test: build\n\t@A=1 pytest -p no:x $(ARGS) \\\n\t\t--strict\n\t-echo $$HOME\n\n# other\nlint:\n\truff\ntest:\n\t${PY} -m pytest\napart:\n\tcd a && npm ci\n\tm\n")},
		"sub/makefile": {Data: []byte("test:\n\tmocha\n")},
	}
	for words, want := range map[string][]Step{
		"test": {
			{Env: []string{"A=1"}, Words: []string{"pytest", "-p", "no:x", Unknown, "--strict"}},
			{Words: []string{"echo", Unknown}},
			{Words: []string{Unknown, "-m", "pytest"}},
		},
		"apart":         {{Words: []string{"npm", "ci"}, Dir: "a"}, {Words: []string{"m"}}},
		"-s lint V=1":   {{Env: []string{"V=1"}, Words: []string{"ruff"}}},
		"-C sub test":   {{Words: []string{"mocha"}, Dir: "sub"}},
		"":              nil,
		"gone":          nil,
		"-C gone test":  nil,
		"-C ../up test": nil,
	} {
		if d := cmp.Diff(want, Recipe(root, ".", strings.Fields(words))); d != "" {
			t.Errorf("make %s (-want +got):\n%s", words, d)
		}
	}
	if Recipe(nil, "", []string{"test"}) != nil {
		t.Error("a recipe without a tree")
	}
}
