package demo

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/framework"
	"github.com/triagebot/triagebot/internal/sampletest"
)

var facts = flag.Bool("facts", false, "prove with the go tool what the demo plants (half a minute)")

func load(t *testing.T, language string) sampletest.Sample {
	t.Helper()
	s, err := sampletest.Load(language + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// each runs a test for the demo of each language.
func each(t *testing.T, test func(t *testing.T, language string)) {
	for _, language := range Languages {
		t.Run(language, func(t *testing.T) { test(t, language) })
	}
}

func TestBuildMakesTheRepositoryAndItsReport(t *testing.T) {
	each(t, func(t *testing.T, language string) {
		r, err := Build(t.TempDir(), language)
		if err != nil {
			t.Fatal(err)
		}
		if r.Head == r.Base || len(r.Head) != 40 || len(r.Base) != 40 {
			t.Errorf("head is %q and base %q, want two commits", r.Head, r.Base)
		}
		for file := range load(t, language).Layout.Base {
			if _, err := os.Stat(filepath.Join(r.Dir, filepath.FromSlash(file))); err != nil {
				t.Error(err)
			}
		}
		if strings.HasPrefix(r.Report, r.Dir+string(filepath.Separator)) {
			t.Errorf("report %q stands in the repository and makes it dirty", r.Report)
		}
	})
}

func TestBuildRefusesWhatItCannotMake(t *testing.T) {
	if _, err := Build(filepath.Join(t.TempDir(), "absent"), "go"); err == nil {
		t.Error("no error for a folder that is not there")
	}
	if _, err := Build(t.TempDir(), "../go"); err == nil || !strings.Contains(err.Error(), "there are go, python, node") {
		t.Errorf("an unknown language gives %v", err)
	}
}

// The report has each planted red, and no other.
func TestReportHasThePlantedReds(t *testing.T) {
	each(t, func(t *testing.T, language string) {
		r, err := Build(t.TempDir(), language)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(r.Report)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		in := framework.Reading{Root: r.Dir, Exists: func(file string) bool {
			st, err := os.Stat(filepath.Join(r.Dir, filepath.FromSlash(file)))
			return err == nil && st.Mode().IsRegular()
		}}
		_, fs, err := framework.ReadReport(f, in)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, red := range fs {
			got[red.Target.Test] = true
		}
		wants := load(t, language).Verdicts
		for _, w := range wants {
			if !got[w.Test] {
				t.Errorf("the report has no red %s", w.Test)
			}
		}
		if len(fs) != len(wants) || r.Reds != len(wants) {
			t.Errorf("the report has %d reds and the repository says %d, want %d", len(fs), r.Reds, len(wants))
		}
	})
}

func TestFactsAreTrue(t *testing.T) {
	each(t, func(t *testing.T, language string) {
		s := load(t, language)
		if missing, err := s.Missing(); err != nil {
			t.Fatal(err)
		} else if missing != "" {
			t.Skip(missing)
		}
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
	})
}
