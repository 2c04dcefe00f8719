package bench

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/triagebot/triagebot/internal/lag/lagtest"
)

// scriptTest finds the tests of a corpus' files: Python's by their function, Node's
// by the words of it, which a truth has behind those of its describe.
var scriptTest = map[string]struct{ name, lead *regexp.Regexp }{
	"Python": {regexp.MustCompile(`(?m)^(?:async )?def (test_\w+)\(`), regexp.MustCompile(`^`)},
	"Node":   {regexp.MustCompile(`\bit\('([^']+)'`), regexp.MustCompile(`^\w+ > `)},
}

func TestTheTruthOfPythonAndNodeSpeaksOfTheirCorpora(t *testing.T) {
	for _, lang := range scriptLangs {
		known := lang.truth(t)
		first := 0
		tests := slices.Concat(known.Correct, known.Honest)
		for _, c := range known.Racy {
			if !c.Later {
				first++
			}
			if len(c.Kinds) == 0 || len(c.Funcs) == 0 {
				t.Errorf("%s: %s has no whole truth", lang.name, c.Test)
			}
			tests = append(tests, lagtest.Named{File: c.File, Test: c.Test})
		}
		if want := map[string]int{"Python": 16, "Node": 9}[lang.name]; first != want {
			t.Errorf("%s: %d racy tests count, want %d", lang.name, first, want)
		}
		find := scriptTest[lang.name]
		said := map[lagtest.Named]bool{}
		files := map[string]bool{}
		for _, c := range tests {
			said[lagtest.Named{File: c.File, Test: find.lead.ReplaceAllString(c.Test, "")}] = true
			files[c.File] = true
		}
		there := 0
		for file := range files {
			b, err := os.ReadFile(filepath.Join("..", "..", lang.corpus, file))
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range find.name.FindAllSubmatch(b, -1) {
				there++
				if !said[lagtest.Named{File: file, Test: string(m[1])}] {
					t.Errorf("%s: the truth does not speak of %s in %s", lang.name, m[1], file)
				}
			}
		}
		if there != len(tests) {
			t.Errorf("%s: the truth speaks of %d tests, its files have %d", lang.name, len(tests), there)
		}
	}
}
