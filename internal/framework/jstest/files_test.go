package jstest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/framework/jstest"
)

func TestTheFilesOfATitleHaveItsLongestEnd(t *testing.T) {
	t.Parallel()
	tree := t.TempDir()
	for file, text := range map[string]string{
		"a/test/art.test.js":   "require('node:assert/strict')\nit('strict', f)\n",
		"b/test/price.test.js": "describe('prices', () => it('strict', f))\nit('is Bob\\'s', f)\n",
		"b/test/other.test.js": "describe('prices', () => it(`round ${n}`, f))\n",
		"b/src/price.js":       "'prices strict'\n",
		"c/test/whole.test.js": "test('adds two prices', f)\n",
		"d/test/whole.test.js": "test('prices', f)\n",
	} {
		path := filepath.Join(tree, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for title, want := range map[string]string{
		"prices strict":   "b/test/price.test.js",
		"strict":          "a/test/art.test.js b/test/price.test.js",
		"other strict":    "a/test/art.test.js b/test/price.test.js",
		"adds two prices": "c/test/whole.test.js",
		"prices is Bob's": "b/test/price.test.js",
		"prices round 3":  "",
		"adds two":        "c/test/whole.test.js",
		"":                "",
	} {
		found, err := jstest.FilesWithTitles(t.Context(), tree, []string{title, "prices"})
		if got := strings.Join(found[title], " "); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", title, got, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := jstest.FilesWithTitles(ctx, tree, []string{"strict"}); err == nil {
		t.Error("it was not stopped")
	}
}
