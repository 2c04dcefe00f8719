package jstest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The reporter understands vitest 1 and 2 by events that vitest 3 sends as well,
// beside the newer ones: there they must tell nothing.
func TestTheReporterUnderstandsOlderVitest(t *testing.T) {
	t.Parallel()
	got := strings.Fields(strings.ReplaceAll(report(t, "vitest2.mjs", "vitest.mjs"), "left out", "left-out"))
	const a = `"file":"src/a.test.ts",`
	want := []string{
		`{"type":"file","file":"src/a.test.ts"}`,
		`{"type":"start",` + a + `"names":["outer","passes"]}`,
		`{"type":"test",` + a + `"names":["outer","passes"],"state":"pass","ms":3,"errors":[]}`,
		`{"type":"test",` + a + `"names":["outer","fails"],"state":"fail","ms":4,"errors":[{"name":"AssertionError","message":"no","stack":""}]}`,
		`{"type":"test",` + a + `"names":["outer","retried"],"state":"fail","ms":5,"errors":[{"name":"Error","message":"first","stack":""}]}`,
		`{"type":"test",` + a + `"names":["outer","left-out"],"state":"skip","ms":0,"errors":[]}`,
		`{"type":"test",` + a + `"names":["on`, `top"],"state":"pass","ms":0,"errors":[]}`,
		`{"type":"broken",` + a + `"names":["outer"],"phase":"setup","errors":[{"name":"Error","message":"hook","stack":""}]}`,
		`{"type":"broken","file":"src/b.test.ts","names":[],"phase":"build","errors":[{"name":"SyntaxError","message":"import","stack":""}]}`,
		`{"type":"end"}`,
	}
	var records []string
	for _, w := range got {
		if w != "fence" {
			records = append(records, w)
		}
	}
	if d := cmp.Diff(want, records); d != "" {
		t.Error(d)
	}
}

// An environment that is no context of vm keeps its retries; the reporter tells of the first attempt.
func TestTheReporterOfJestTellsOfTheFirstAttempt(t *testing.T) {
	t.Parallel()
	const a = `fence {"type":"test","file":"a.test.js","names":["outer",`
	want := a + `"once"],"ms":3,"state":"pass","errors":[]}` + "\n\n" +
		a + `"told"],"ms":3,"state":"fail","errors":[{"name":"","message":"Error: first","stack":"Error: first"}]}` + "\n\n" +
		a + `"untold"],"ms":3,"state":"fail","errors":[{"name":"","message":"Error: the first attempt failed, and jest tells no error of it","stack":"Error: the first attempt failed, and jest tells no error of it"}]}` + "\n\n" +
		a + `"red"],"ms":3,"state":"fail","errors":[{"name":"","message":"Error: no","stack":"Error: no"}]}`
	if d := cmp.Diff(want, strings.TrimSpace(report(t, "jest-retried.cjs", "jest.cjs"))); d != "" {
		t.Error(d)
	}
}

// report is what a reporter writes when a script of testdata sends it events.
func report(t *testing.T, script, reporter string) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node here")
	}
	file, err := filepath.Abs(filepath.Join("reporters", reporter))
	if err != nil {
		t.Fatal(err)
	}
	events, err := filepath.Abs(filepath.Join("testdata", script))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", events, file)
	cmd.Dir = t.TempDir()
	cmd.Env = append(cmd.Environ(), "TRIAGEBOT_JS_FENCE=fence", "TRIAGEBOT_TREE="+cmd.Dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}
