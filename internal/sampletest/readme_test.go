package sampletest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const readmeHead = `# Sample repositories

Small real repositories with a planted truth, one an archive. A test builds each of them with git, lets triagebot measure its
red check, and compares the report with what is planted. The comment of an archive is a YAML document: what is planted and
why, how the check became red, the verdicts that are right, and facts that go test, or the framework that the header
names, proves without triagebot. Its files are base/ (first commit of main), head/ (the pull request, laid over it), main/ (a
later commit of main, for a merge) and dirty/ (edits that were never committed). Package internal/sampletest has the format.

Where a red is too rare to wait for, the archive has a recorded report of head with one line delayed, that is, a real red
of the planted kind: ci.json is the output of go test -json or of a runner of JavaScript, ci.xml the JUnit report of pytest.
The red of late-writer was caught with fewer rounds of its seal.

Some samples draw lots, and no number of runs makes a verdict on them certain. Those that the simulation of docs/simulation.md
gives in about one of a thousand checks or more are in the header too (by_chance): such a run is counted as a stray, and repeated. Too many
of them are an error (decision 0012).

Samples named py-*, seam-option and seam-python need pytest, py-aio-* pytest-asyncio and some of them anyio; make python-env installs all. Those of JavaScript's runners need make
node-env. A sample whose tools are not here is skipped, and says so.

- Facts: go test ./internal/sampletest -run Facts -facts .
- Verdicts: go test ./internal/sampletest -run Truth -truth 10 (and -sample NAME)
- This page, from the headers: go test ./internal/sampletest -run Readme -update

`

// readme is the page that the headers make.
func readme(all []Sample) string {
	var b strings.Builder
	b.WriteString(readmeHead)
	b.WriteString("| sample | verdicts | planted | why |\n|---|---|---|---|\n")
	for _, s := range all {
		fmt.Fprintf(&b, "| [%s](%s.txtar) | %s | %s | %s |\n", s.Name, s.Name, summary(s.Verdicts), cell(s.Plants), cell(s.Why))
	}
	return b.String()
}

// summary says each different verdict once, with its number when there are more.
func summary(wants []Want) string {
	var order []string
	n := map[string]int{}
	for _, w := range wants {
		text := join(w.Class)
		if len(w.ByChance) > 0 {
			text += ", by chance " + join(w.ByChance)
		}
		if w.Cause != nil && w.Origin != "" {
			text += ", origin " + string(w.Origin)
		}
		for _, r := range w.Reasons {
			text += ", " + string(r)
		}
		for _, r := range w.IfBaseRed {
			text += ", " + string(r) + " when base was red"
		}
		if w.Cause != nil {
			text += fmt.Sprintf(" (%s)", w.Cause.Kind)
		}
		if n[text]++; n[text] == 1 {
			order = append(order, text)
		}
	}
	for i, text := range order {
		if n[text] > 1 {
			order[i] = fmt.Sprintf("%d × %s", n[text], text)
		}
	}
	return strings.Join(order, "; ")
}

func cell(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(s), "|", `\|`)
}

func TestReadmeIsWhatTheHeadersSay(t *testing.T) {
	path := filepath.Join(samples, "README.md")
	want := readme(loadAll(t))
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("README.md is not what -update writes (-want +got):\n%s", diff)
	}
}
