package sampletest

import (
	"bytes"
	"flag"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

const samples = "../../testdata/samples"

var (
	update = flag.Bool("update", false, "write the README of the samples")
	facts  = flag.String("facts", "^((py-)?regression|race-by-head)$", "prove the facts of the samples whose name matches")
	record = flag.String("record", "", "record the red reports of the samples whose name matches anew")
)

func loadAll(t *testing.T) []Sample {
	t.Helper()
	all, err := LoadAll(samples)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatalf("no sample in %s", samples)
	}
	return all
}

// each runs f for the samples whose name matches and whose tools are here.
func each(t *testing.T, all []Sample, pattern string, f func(*testing.T, Sample)) {
	t.Helper()
	re, err := regexp.Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if re.MatchString(s.Name) {
			t.Run(s.Name, func(t *testing.T) {
				if missing, err := s.Missing(); err != nil {
					t.Fatal(err)
				} else if missing != "" {
					t.Skip(missing)
				}
				f(t, s)
			})
		}
	}
}

func TestFactsAreTrue(t *testing.T) {
	each(t, loadAll(t), *facts, func(t *testing.T, s Sample) {
		r, err := s.Build(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if s.CI.Recorded == "" {
			t.Logf("red at try %d", r.Tries)
		}
		scratch := t.TempDir()
		for _, f := range s.Facts {
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

func TestGoFilesAreFormatted(t *testing.T) {
	for _, s := range loadAll(t) {
		for root, files := range map[string]map[string][]byte{"base": s.Layout.Base, "head": s.Layout.Head, "main": s.Layout.Main, "dirty": s.Layout.Uncommitted} {
			for name, src := range files {
				if !strings.HasSuffix(name, ".go") {
					continue
				}
				if got, err := format.Source(src); err != nil || !bytes.Equal(got, src) {
					t.Errorf("%s: %s/%s is not formatted: %v", s.Name, root, name, err)
				}
			}
		}
	}
}

// TestRecord writes the red reports anew with -record: head is run with the
// delay of the first fact that makes it red, so the message and shape are real.
func TestRecord(t *testing.T) {
	if *record == "" {
		return
	}
	each(t, loadAll(t), *record, func(t *testing.T, s Sample) {
		if s.CI.Recorded == "" || s.CI.Recorded == "ci.log" {
			return
		}
		r, err := s.Build(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.recordRed(t.Context(), r.Dir, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(samples, s.Name+".txtar")
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range a.Files {
			if a.Files[i].Name == s.CI.Recorded {
				a.Files[i].Data = []byte(out)
			}
		}
		if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	})
}
