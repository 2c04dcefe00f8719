package demo

import (
	_ "embed" // the repository is part of the binary, so the demo needs no network
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/tools/txtar"

	"github.com/triagebot/triagebot/internal/sample"
)

//go:embed demo.txtar
var archive []byte

// reportName is the red check's report, in the archive and on disk.
const reportName = "ci.json"

// Repo is the demo's repository on disk.
type Repo struct {
	// Dir is the absolute root of the worktree, with head checked out.
	Dir string
	// Head and Base are commit ids.
	Head, Base string
	// Report is the absolute path of the red check's "go test -json" report. It
	// stands beside the repository, not in it.
	Report string
}

// Build writes the repository and the report of its red check below dir, which
// must exist and be empty.
func Build(dir string) (Repo, error) {
	l, rest, err := sample.Parse(txtar.Parse(archive), sample.Plain, nil)
	if err != nil {
		return Repo{}, fmt.Errorf("building demo: %w", err)
	}
	r, err := sample.Build(dir, l)
	if err != nil {
		return Repo{}, fmt.Errorf("building demo: %w", err)
	}
	report := filepath.Join(filepath.Dir(r.Dir), reportName)
	if err := os.WriteFile(report, rest[reportName], 0o644); err != nil {
		return Repo{}, fmt.Errorf("building demo: %w", err)
	}
	return Repo{Dir: r.Dir, Head: r.Head, Base: r.Base, Report: report}, nil
}
