package demo

import (
	"embed" // the repositories are part of the binary, so the demo needs no network
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/triagebot/triagebot/internal/sample"
)

//go:embed go.txtar python.txtar node.txtar
var archives embed.FS

// Languages are those that there is a demo of, the default first.
var Languages = []string{"go", "python", "node"}

// reports are the names of the red check's report, in the archive and on disk.
var reports = map[string]string{"go": "ci.json", "python": "ci.xml", "node": "ci.xml"}

// Repo is the demo's repository on disk.
type Repo struct {
	// Dir is the absolute root of the worktree, with head checked out.
	Dir string
	// Head and Base are commit ids.
	Head, Base string
	// Report is the absolute path of the red check's report. It stands beside the
	// repository, not in it.
	Report string
	// Reds is the number of red tests in it.
	Reds int
}

// Build writes the repository of a language and the report of its red check
// below dir, which must exist and be empty.
func Build(dir, language string) (Repo, error) {
	if !slices.Contains(Languages, language) {
		return Repo{}, fmt.Errorf("building demo: no language %q (there are %s)", language, strings.Join(Languages, ", "))
	}
	archive, err := archives.ReadFile(language + ".txtar")
	if err != nil {
		return Repo{}, fmt.Errorf("building demo: %w", err)
	}
	l, rest, err := sample.Parse(txtar.Parse(archive), sample.Plain, nil)
	if err != nil {
		return Repo{}, fmt.Errorf("building demo: %w", err)
	}
	r, err := sample.Build(dir, l)
	if err != nil {
		return Repo{}, fmt.Errorf("building demo: %w", err)
	}
	name := reports[language]
	report := filepath.Join(filepath.Dir(r.Dir), name)
	if err := os.WriteFile(report, rest[name], 0o644); err != nil {
		return Repo{}, fmt.Errorf("building demo: %w", err)
	}
	return Repo{Dir: r.Dir, Head: r.Head, Base: r.Base, Report: report, Reds: reds[language]}, nil
}

// reds are the numbers of red tests.
var reds = map[string]int{"go": 6, "python": 5, "node": 5}
