package report

import (
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestReachIsAHintAndNoProof(t *testing.T) {
	for _, c := range []struct {
		reach triage.Reach
		want  string
	}{
		{triage.Reach{Changed: 3}, "None of the 3 files that the change touches is in a folder that the test is built from; that is a hint, no proof."},
		{triage.Reach{Changed: 1}, "The one file that the change touches is in no folder"},
		{triage.Reach{Changed: 1, Loaded: 1, First: "a.go"}, "The one file that the change touches is in a folder that the test is built from: a.go."},
		{triage.Reach{Changed: 4, Loaded: 2, First: "a.go"}, "2 of the 4 files that the change touches, for example a.go."},
	} {
		if got := reachText(c.reach).String(); !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q, want %q in it", c.reach, got, c.want)
		}
	}
}
