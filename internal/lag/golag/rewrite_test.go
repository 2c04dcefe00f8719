package golag

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestRewrite compares the rewritten sources of testdata/rewrite with what its
// archives want, and builds and runs them all.
func TestRewrite(t *testing.T) {
	archives, err := filepath.Glob("testdata/rewrite/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	tree := module(t, "-- go.mod --\nmodule example.com/m\n\ngo 1.26\n")
	for _, a := range archives {
		writeInputs(t, a, filepath.Join(tree, strings.TrimSuffix(filepath.Base(a), ".txtar")))
	}
	in := instrument(t, Spec{Tree: tree, Package: "./..."})
	for _, a := range archives {
		name := strings.TrimSuffix(filepath.Base(a), ".txtar")
		t.Run(name, func(t *testing.T) { compareArchive(t, in, a, filepath.Join(tree, name)) })
	}
	goRun(t, tree, append([]string{"test", "-count=1", "./..."}, in.BuildFlags()...)...)
	var skipped []string
	for _, s := range in.Skipped {
		skipped = append(skipped, s.File+": "+s.Why)
	}
	want := []string{"left/gen.go: it is generated", "left/line.go: it has //line directives"}
	if d := cmp.Diff(want, skipped); d != "" {
		t.Errorf("skipped (-want +got):\n%s", d)
	}
}

func writeInputs(t *testing.T, archive, dir string) {
	t.Helper()
	a, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		if strings.HasPrefix(f.Name, "want/") {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func compareArchive(t *testing.T, in *Instrumentation, archive, dir string) {
	a, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, f := range a.Files {
		want[f.Name] = string(f.Data)
	}
	a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "want/") })
	for _, f := range slices.Clone(a.Files) {
		got := readable(overlaid(t, in, filepath.Join(dir, f.Name)))
		if got != "" && strings.Count(got, "\n") < strings.Count(string(f.Data), "\n") {
			t.Errorf("%s has lost lines", f.Name)
		}
		if !*update {
			if d := cmp.Diff(want["want/"+f.Name], got); d != "" {
				t.Errorf("%s (-want +got):\n%s", f.Name, d)
			}
			continue
		}
		if got != "" {
			a.Files = append(a.Files, txtar.File{Name: "want/" + f.Name, Data: []byte(got)})
		}
	}
	if *update {
		if err := os.WriteFile(archive, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// readable cuts the variable at the end and puts the kind of each site where
// the code has the variable and a number: P(wake) for P(&__lag_1234, 7).
func readable(src string) string {
	at := strings.LastIndex(src, "\nvar __lag")
	if at < 0 {
		return src
	}
	body, tail := src[:at], src[at+len("\nvar __lag"):]
	handle := "__lag" + strings.Fields(tail)[0]
	_, table, _ := strings.Cut(tail, "Sites: \"")
	for i, line := range strings.Split(strings.TrimSuffix(strings.TrimSpace(table), "\"}"), `\n`) {
		kind, _, _ := strings.Cut(line, `\t`)
		for _, end := range []string{",", ")"} {
			body = strings.ReplaceAll(body, "(&"+handle+", "+strconv.Itoa(i)+end, "("+kind+end)
		}
	}
	return strings.TrimRight(body, "\n") + "\n"
}
