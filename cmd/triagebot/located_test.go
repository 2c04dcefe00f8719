package main

import (
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestCommandLinesCanBeTypedHere(t *testing.T) {
	const recorded = "triagebot replay report.json --trial 3"
	for _, tc := range []struct{ path, repo, line, want string }{
		{"out/report.json", ".", recorded, "triagebot replay out/report.json --trial 3"},
		{"/tmp/my out/report.json", "../it's", recorded, `triagebot replay '/tmp/my out/report.json' --trial 3 --repo '../it'\''s'`},
		{"out/report.json", "/repo", recorded, "triagebot replay out/report.json --trial 3 --repo /repo"},
		{"out/report.json", ".", "", ""},
		{"out/report.json", ".", "make again", "make again"},
	} {
		r := triage.Report{Verdicts: []triage.Verdict{{Reproduce: tc.line}}}
		if got := located(r, tc.path, tc.repo).Verdicts[0].Reproduce; got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
		if r.Verdicts[0].Reproduce != tc.line {
			t.Errorf("the record was changed to %s", r.Verdicts[0].Reproduce)
		}
	}
}
