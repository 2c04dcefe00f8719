package rerun

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLinesOfTheLagRuntimeAreFoundInAnOutput(t *testing.T) {
	long := strings.Repeat("x", 70<<10)
	for name, c := range map[string]struct {
		out  string
		want []string
	}{
		"none":                    {"a\ntriagebot: other\n", nil},
		"a line of its own":       {"a\ntriagebot lag: uvloop is loaded\nb\n", []string{"uvloop is loaded"}},
		"behind half a line":      {"test_a.py .triagebot lag: uvloop is loaded", []string{"uvloop is loaded"}},
		"twice":                   {"triagebot lag: a\ntriagebot lag: b\ntriagebot lag: a\n", []string{"a", "b"}},
		"behind a very long line": {long + "\ntriagebot lag: a\n", []string{"a"}},
		"empty":                   {"triagebot lag: \n", nil},
		"hostile":                 {"triagebot lag: \x1b[31m\xff\r\x00red\x07\n", []string{"[31m\uFFFD  red"}},
		"too many":                {strings.Repeat("triagebot lag: a\n", 9) + "triagebot lag: b\ntriagebot lag: c\ntriagebot lag: d\ntriagebot lag: e\ntriagebot lag: f\n", []string{"a", "b", "c", "d", "e"}},
		"too long":                {"triagebot lag: " + strings.Repeat("é", 400) + "\n", []string{strings.Repeat("é", 150)}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "output")
			if err := os.WriteFile(path, []byte(c.out), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := lagNotes(path)
			if err != nil || !cmp.Equal(got, c.want) {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}
