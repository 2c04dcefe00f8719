package sampletest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

var (
	truth = flag.Int("truth", 0, "measure every sample this often with the real binary; 0 measures those of quick once")
	only  = flag.String("sample", "", "with -truth, measure only the samples whose name matches")
	keep  = flag.String("keep", "", "with -truth, leave the repositories and reports in this folder")
)

const (
	// quick are the samples that a plain run of the tests measures: one verdict
	// each from a plain arm, from rates, and from lag, and one of pytest.
	quick = "^(regression|flake|(py-)?race-on-base)$"
	// sampleWall is what measuring one sample may take on two cores.
	sampleWall = 10 * time.Second
	// demoWall is the same for the demo, which has six red tests.
	demoWall = time.Minute
	// sampleTimeout ends a measurement that hangs.
	sampleTimeout = 12 * time.Minute
)

// TestTruth measures the samples with the real binary, one after the other, and
// compares each report with what is planted.
func TestTruth(t *testing.T) {
	pattern, times := quick, 1
	if *truth > 0 {
		pattern, times = *only, *truth
	}
	all := append(loadAll(t), demoSamples(t)...)
	binary := buildBinary(t)
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "sample\tright\tmean s\tmax s")
	each(t, all, pattern, func(t *testing.T, s Sample) {
		right, sum, longest := 0, time.Duration(0), time.Duration(0)
		for i := range times {
			wall, wrong := measureOnce(t, binary, s)
			sum, longest = sum+wall, max(longest, wall)
			for _, m := range wrong {
				t.Errorf("run %d: %s", i+1, m)
			}
			if len(wrong) == 0 {
				right++
			}
		}
		allowed := sampleWall
		if strings.HasPrefix(s.Name, "demo-") {
			allowed = demoWall
		}
		if longest > allowed {
			t.Logf("took %.1f s, more than the %s it may take on an idle machine", longest.Seconds(), allowed)
		}
		fmt.Fprintf(w, "%s\t%d/%d\t%.1f\t%.1f\n", s.Name, right, times, sum.Seconds()/float64(times), longest.Seconds())
	})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Logf("verdicts against the truth\n%s", table.String())
}

// demoSamples are the repositories of "triagebot demo", which are samples too.
func demoSamples(t *testing.T) []Sample {
	t.Helper()
	var out []Sample
	for _, lang := range []string{"go", "python", "node"} {
		s, err := Load("../demo/" + lang + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		s.Name = "demo-" + lang
		out = append(out, s)
	}
	return out
}

// buildBinary builds triagebot, or skips when this tree has no measure command.
func buildBinary(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "triagebot")
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if sources, err := filepath.Glob(filepath.Join(root, "cmd/triagebot/*.go")); err != nil || len(sources) == 0 {
		t.Skip("cmd/triagebot has no source here")
	}
	for _, c := range [][]string{{"go", "build", "-o", binary, "./cmd/triagebot"}, {binary, "measure", "--help"}} {
		out, code, err := run(t.Context(), root, nil, c[0], c[1:]...)
		if err != nil || code != 0 {
			t.Fatalf("%v: exit %d, %v\n%s", c, code, err, out)
		}
	}
	return binary
}

// measureOnce builds the sample afresh, measures it and returns what is wrong.
func measureOnce(t *testing.T, binary string, s Sample) (time.Duration, []string) {
	t.Helper()
	parent := *keep
	if parent == "" {
		parent = t.TempDir()
	}
	dir, err := os.MkdirTemp(parent, s.Name+"-")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), sampleTimeout)
	defer cancel()
	r, err := s.Build(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	report, wall, err := s.Measure(ctx, binary, r, filepath.Join(dir, "out"))
	if err != nil {
		return wall, []string{err.Error()}
	}
	return wall, s.Check(report, r)
}
