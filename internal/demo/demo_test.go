package demo

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/sampletest"
)

var facts = flag.Bool("facts", false, "prove with the go tool what the demo plants (half a minute)")

func load(t *testing.T) sampletest.Sample {
	t.Helper()
	s, err := sampletest.Load("demo.txtar")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBuildMakesTheRepositoryAndItsReport(t *testing.T) {
	dir := t.TempDir()
	r, err := Build(dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.Head == r.Base || len(r.Head) != 40 || len(r.Base) != 40 {
		t.Errorf("head is %q and base %q, want two commits", r.Head, r.Base)
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "dispatch.go")); err != nil {
		t.Error(err)
	}
	if strings.HasPrefix(r.Report, r.Dir+string(filepath.Separator)) {
		t.Errorf("report %q stands in the repository and makes it dirty", r.Report)
	}
}

func TestBuildRefusesAFolderThatIsNotThere(t *testing.T) {
	if _, err := Build(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("no error")
	}
}

func TestReportHasTheSixReds(t *testing.T) {
	r, err := Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(r.Report)
	if err != nil {
		t.Fatal(err)
	}
	wants := load(t).Verdicts
	for _, w := range wants {
		if !strings.Contains(string(b), `"Action":"fail","Package":"`+w.Package+`","Test":"`+w.Test+`"`) {
			t.Errorf("the report has no red %s", w.Test)
		}
	}
	if n := strings.Count(string(b), `"Action":"fail"`); n != len(wants)+1 { // and the package's own
		t.Errorf("the report has %d reds, want %d", n, len(wants)+1)
	}
}

func TestFactsAreTrue(t *testing.T) {
	s := load(t)
	r, err := s.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	scratch := t.TempDir()
	for i, f := range s.Facts {
		if i > 1 && !*facts {
			break // the regression alone shows that the tree builds and is what it says
		}
		wrong, err := s.Prove(t.Context(), r.Repo, f, scratch)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range wrong {
			t.Errorf("%s: %s", f, m)
		}
	}
}
