package framework_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/framework"
)

// Two packages have a test file of the same name, as many repositories do.
func TestAReportIsOfTheSuiteThatItMayBeOf(t *testing.T) {
	t.Parallel()
	const (
		junit  = `<testsuites><testsuite name="pytest"><testcase classname="tests.test_price" name="test_total[1]"><failure message="assert 4 == 3">tests/test_price.py:4: AssertionError</failure></testcase></testsuite></testsuites>`
		nested = `<testsuites><testsuite name="pytest"><testcase classname="pkg.a.tests.test_price" name="test_total"><failure message="assert 4 == 3">pkg/a/tests/test_price.py:4: AssertionError</failure></testcase></testsuite></testsuites>`
		vitest = `{"numTotalTests":1,"testResults":[{"name":"/home/runner/work/r/r/pkg/a/test/p.test.js","status":"failed","assertionResults":[{"ancestorTitles":[],"title":"adds","fullName":"adds","status":"failed","failureMessages":["AssertionError: no\n    at /home/runner/work/r/r/pkg/a/test/p.test.js:5:3"]}]}]}`
		log    = "=== FAILURES ===\n=== short test summary info ===\nFAILED tests/test_price.py::test_total - assert 4 == 3\n=== 1 failed in 0.02s ===\n"
	)
	python := []string{"pkg/a/tests/test_price.py", "pkg/b/tests/test_price.py"}
	script := []string{"pkg/a/test/p.test.js", "pkg/b/test/p.test.js"}
	for name, c := range map[string]struct {
		report, at, holds string
		files             []string
		want              string
		doubt             bool
	}{
		"in the folder of one":        {junit, "pkg/b", "", python, "pkg/b", false},
		"below the folder of one":     {junit, "pkg/b/out", "", python, "pkg/b", false},
		"in a copy of the folders":    {junit, "artifacts/pkg/b", "", python, "pkg/b", false},
		"named from another":          {`<testsuites><testsuite name="pkg"><testcase classname="../b/test/p.test.js" name="adds"><failure message="no">AssertionError: no</failure></testcase></testsuite></testsuites>`, "pkg/a", "", script, "pkg/b", false},
		"one file has the test":       {junit, "out", "pkg/b/tests/test_price.py test_total", python, "pkg/b", true},
		"one file is there":           {junit, "", "", python[1:], "pkg/b", false},
		"none is there":               {junit, "", "", nil, "pkg/a", false},
		"nothing tells":               {junit, "out", "", python, "pkg/a pkg/b", true},
		"written in the root":         {nested, "pkg/b", "", python, "pkg/a", false},
		"a name that begins the same": {junit, "pkg/bb", "", python, "pkg/a pkg/b", true},
		"absolute":                    {vitest, "pkg/b", "pkg/b/test/p.test.js adds", script, "pkg/a", false},
		"a log":                       {log, "", "pkg/b/tests/test_price.py test_total", python, "pkg/b", true},
	} {
		doubts := 0
		in := framework.Reading{
			At:     c.at,
			Exists: func(file string) bool { return slices.Contains(c.files, file) },
			Holds:  func(file, text string) bool { return c.holds == file+" "+text },
			Doubt:  func(string) { doubts++ },
		}
		for _, f := range []string{"pytest", "vitest"} {
			for _, dir := range []string{"pkg/a", "pkg/b"} {
				in.Suites = append(in.Suites, framework.Suite{Name: f + ":" + dir, Framework: f, Dir: dir})
			}
		}
		_, fs, err := framework.ReadReport(strings.NewReader(c.report), in)
		var got []string
		for _, f := range fs {
			dir := strings.TrimPrefix(f.Target.Suite, f.Target.Framework+":")
			got = append(got, dir)
			if !strings.HasPrefix(f.Target.Package, dir+"/test") || c.report != log && f.Location.File != f.Target.Package {
				t.Errorf("%s: %+v at %+v", name, f.Target, f.Location)
			}
		}
		if strings.Join(got, " ") != c.want || err != nil || fmt.Sprint(doubts > 0) != fmt.Sprint(c.doubt) {
			t.Errorf("%s: %q, %v, %d doubts, want %q, doubt %v", name, got, err, doubts, c.want, c.doubt)
		}
	}
}
