package report

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func legs() []Part {
	return []Part{
		{Name: "linux", Report: threeReds()},
		{Name: "macos `|<!-- triagebot:x -->\n@everyone", Report: regression()},
		{Name: "windows", Problem: "it is larger than 5 MiB"},
		{Name: "arm", Report: nothingRed()},
	}
}

func TestSeveralReportsAreOnePage(t *testing.T) {
	page := Several(legs(), Options{Marker: "acme/loop", ReportPath: "report.json"})
	golden(t, filepath.Join("testdata", "several.md"), []byte(page))
	if bad := unsafe(page, "<!-- triagebot:acme/loop -->"); bad != "" {
		t.Error(bad)
	}
	if n := strings.Count(page, "<!--"); n != 1 {
		t.Errorf("%d hidden comments, want the marker alone", n)
	}
}

func TestOneOfSeveralIsTheUsualPage(t *testing.T) {
	o := Options{Marker: "acme/loop", Forgeable: true}
	if got, want := Several([]Part{{Name: "linux", Report: threeReds()}}, o), Markdown(threeReds(), o); got != want {
		t.Errorf("Several of one:\n%s\nwant:\n%s", got, want)
	}
}

func TestSeveralReportsKeepEveryLimit(t *testing.T) {
	var parts []Part
	for i := range 40 {
		parts = append(parts, Part{Name: fmt.Sprint("shard ", i), Report: hostile()}, Part{Name: "broken", Problem: "it is no zip"})
	}
	for _, limit := range []int{1, 60, 300, 1000, 5000, 20000, 0} {
		page := Several(parts, Options{Limit: limit, Marker: "acme/loop"})
		if limit == 0 {
			limit = CommentLimit
		}
		if len(page) > limit {
			t.Errorf("limit %d: %d bytes", limit, len(page))
		}
		if bad := unsafe(page, "<!-- triagebot:acme/loop -->"); page != "" && bad != "" {
			t.Errorf("limit %d: %s", limit, bad)
		}
	}
	page := Several(parts, Options{Limit: 20000})
	if !strings.Contains(page, "35 more reports are not in here") || !strings.Contains(page, "counts 40 reports") {
		t.Errorf("what is left out is not said:\n%.2000s", page)
	}
	if n := strings.Count(page, "\n### "); n < 5 || n < 40 && !strings.Contains(page, "more reports did not fit") {
		t.Errorf("%d reports are shown and nothing is said of the others", n)
	}
}
