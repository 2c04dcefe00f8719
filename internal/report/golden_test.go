package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

var update = flag.Bool("update", false, "rewrite the goldens, the schema and the documents")

// golden compares with a file, or writes it.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got), -update rewrites it:\n%s", file, diff)
	}
}

func encoded(t *testing.T, r triage.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPagesAreAsTheGoldens(t *testing.T) {
	for name, build := range fixtures {
		t.Run(name, func(t *testing.T) {
			r := build()
			file := filepath.Join("testdata", name)
			golden(t, file+".json", encoded(t, r))
			golden(t, file+".md", []byte(Markdown(r, Options{Marker: "acme/loop", ReportPath: "report.json"})))
			var term bytes.Buffer
			if err := Terminal(&term, r, Options{Width: 100, ReportPath: "report.json"}); err != nil {
				t.Fatal(err)
			}
			golden(t, file+".txt", term.Bytes())
			var html bytes.Buffer
			if err := HTML(&html, r); err != nil {
				t.Fatal(err)
			}
			golden(t, file+".html", html.Bytes())
		})
	}
}

func TestFixturesHoldEveryClassAndReason(t *testing.T) {
	classes, reasons := map[string]bool{}, map[triage.Reason]bool{}
	for _, build := range fixtures {
		for _, v := range build().Verdicts {
			classes[ClassLabel(v.Class, v.Origin)] = true
			for _, r := range v.Reasons {
				reasons[r] = true
			}
		}
	}
	for _, c := range classTexts {
		if !classes[c.label] {
			t.Errorf("no fixture has class %s", c.label)
		}
	}
	for _, r := range Reasons() {
		if !reasons[r] {
			t.Errorf("no fixture has reason %s", r)
		}
	}
}
