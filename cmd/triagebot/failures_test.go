package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/framework"
	"github.com/triagebot/triagebot/internal/triage"
)

// What the runners write of one red test, with the seed where they print one, and
// of a second run of another order. A report has no seed.
const (
	pytestXML = `<testsuites name="pytest tests"><testsuite name="pytest"><testcase classname="tests.test_a" name="test_x"><failure message="AssertionError: assert 1 == 2">` +
		"def test_x():\n&gt;       assert 1 == 2\nE       AssertionError: assert 1 == 2\n\ntests/test_a.py:5: AssertionError</failure></testcase></testsuite></testsuites>"
	pytestLog = "============================= test session starts ==============================\nSEEDrootdir: /r\n\ntests/test_a.py F\n\n" +
		"=================================== FAILURES ===================================\n____________________________________ test_x ____________________________________\n\n" +
		"    def test_x():\n>       assert 1 == 2\nE       AssertionError: assert 1 == 2\n\ntests/test_a.py:5: AssertionError\n" +
		"=========================== short test summary info ============================\nFAILED tests/test_a.py::test_x - AssertionError: assert 1 == 2\n" +
		"============================== 1 failed in 0.04s ===============================\n"
	pytestQuiet = "============================= test session starts ==============================\nSEED1 failed in 0.04s\n"

	vitestJSON = `{"numTotalTests":1,"testResults":[{"name":"/r/a.test.ts","status":"failed","assertionResults":[{"ancestorTitles":["d"],"title":"x","status":"failed","failureMessages":["Error: y"]}]}]}`
	vitestLog  = " RUN  v3.2.4 /r\nSEED\n FAIL  a.test.ts > d > x\nError: y\n"
	jestJSON   = `{"numTotalTests":1,"testResults":[{"name":"/r/a.test.js","status":"failed","assertionResults":[{"ancestorTitles":["d"],"title":"x","status":"failed","failureMessages":["Error: y"]}]}]}`
	jestLog    = "FAIL a.test.js\n  ● d › x\n\n    y\n\nSEEDTest Suites: 1 failed, 1 total\n"
)

var seedForms = map[string]string{"pytest": "Using --randomly-seed=N\n", "vitest": "      Running tests with seed \"N\"\n", "jest": "Seed:        N\n"}

// seeded is an output with a seed of a framework in it, or without one for "".
func seeded(framework, text, seed string) string {
	line := strings.ReplaceAll(seedForms[framework], "N", seed)
	if seed == "" {
		line = ""
	}
	return strings.Replace(text, "SEED", line, 1)
}

func TestASeedOfAnySourceReachesItsFailure(t *testing.T) {
	const other = "KeyError: 'left'"
	for name, c := range map[string]struct {
		framework     string
		reports, logs []string
		command       string
		want          int64
	}{
		"pytest: a log":                         {"pytest", nil, []string{seeded("pytest", pytestLog, "4")}, "", 4},
		"pytest: a report":                      {"pytest", []string{pytestXML}, nil, "", 0},
		"pytest: a report and a log":            {"pytest", []string{pytestXML}, []string{seeded("pytest", pytestLog, "4")}, "", 4},
		"pytest: a log that names no test":      {"pytest", []string{pytestXML}, []string{seeded("pytest", pytestQuiet, "4")}, "", 4},
		"pytest: a report and a command":        {"pytest", []string{pytestXML}, nil, "python3 -m pytest -p randomly --randomly-seed=4", 4},
		"pytest: a log wins over a command":     {"pytest", nil, []string{seeded("pytest", pytestLog, "5")}, "pytest -p randomly --randomly-seed=4", 5},
		"pytest: two logs, the first counts":    {"pytest", []string{pytestXML}, []string{seeded("pytest", pytestLog, "4"), seeded("pytest", pytestLog, "5")}, "", 4},
		"pytest: that with the same failure":    {"pytest", []string{pytestXML}, []string{strings.ReplaceAll(seeded("pytest", pytestLog, "5"), "AssertionError: assert 1 == 2", other), seeded("pytest", pytestLog, "4")}, "", 4},
		"pytest: no log has the same failure":   {"pytest", []string{pytestXML}, []string{strings.ReplaceAll(seeded("pytest", pytestLog, "5"), "AssertionError: assert 1 == 2", other)}, "", 5},
		"pytest: a run in order stays so":       {"pytest", nil, []string{seeded("pytest", pytestLog, ""), seeded("pytest", pytestLog, "5")}, "", 0},
		"pytest: runs without a failure differ": {"pytest", []string{pytestXML}, []string{seeded("pytest", pytestQuiet, "4"), seeded("pytest", pytestQuiet, "5")}, "", 0},
		"vitest: a log":                         {"vitest", nil, []string{seeded("vitest", vitestLog, "4")}, "", 4},
		"vitest: a report and a log":            {"vitest", []string{vitestJSON}, []string{seeded("vitest", vitestLog, "4")}, "", 4},
		"vitest: a log that names no test":      {"vitest", []string{vitestJSON}, []string{seeded("vitest", "SEED", "4")}, "", 4},
		"vitest: a report and a command":        {"vitest", []string{vitestJSON}, nil, "npx vitest run --sequence.shuffle --sequence.seed=4", 4},
		"vitest: another framework's seed":      {"vitest", []string{vitestJSON}, []string{seeded("jest", "SEED", "4")}, "", 0},
		"jest: a log":                           {"jest", nil, []string{seeded("jest", jestLog, "-4")}, "", -4},
		"jest: a report and a log":              {"jest", []string{jestJSON}, []string{seeded("jest", jestLog, "4")}, "", 4},
		"jest: a log that names no test":        {"jest", []string{jestJSON}, []string{seeded("jest", "SEED", "4")}, "", 4},
		"jest: a report and a command":          {"jest", []string{jestJSON}, nil, "npx jest --randomize --seed=4", 4},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := func(name, text string) string {
				at := filepath.Join(dir, name)
				if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				return at
			}
			f := &measureFlags{}
			for i, text := range c.reports {
				f.reports = append(f.reports, file("report"+string(rune('0'+i)), text))
			}
			for i, text := range c.logs {
				f.logs = append(f.logs, file("log"+string(rune('0'+i)), text))
			}
			su := config.Suite{Name: c.framework, Framework: c.framework, Command: strings.Fields(c.command)}
			exists := func(name string) bool { return name == "tests/test_a.py" }
			got, err := collect(f, framework.Reading{Root: "/r", Exists: exists, Suites: []framework.Suite{{Name: su.Name, Framework: su.Framework, Dir: "."}}})
			if err != nil {
				t.Fatal(err)
			}
			(&session{suites: []*suite{{Suite: su}}}).commandSeeds(got.failures)
			if len(got.failures) != 1 || got.failures[0].Seed != c.want {
				t.Errorf("want the seed %d: %+v", c.want, got.failures)
			}
		})
	}
}

func TestTheSeedThatACommandPrintsIsThatOfItsReport(t *testing.T) {
	report := func(framework, file, test string) triage.Failure {
		return triage.Failure{Target: triage.Target{Suite: framework, Framework: framework, Package: file, Test: test}, Outcome: triage.Fail}
	}
	x, y := report("vitest", "a.test.ts", "d > x"), report("vitest", "b.test.ts", "d > x")
	one := seeded("vitest", vitestLog, "4")
	for name, c := range map[string]struct {
		fs   []triage.Failure
		out  string
		want []int64
	}{
		"one run":                       {[]triage.Failure{x}, one, []int64{4}},
		"one run that names nothing":    {[]triage.Failure{x, y}, seeded("vitest", "SEED", "4"), []int64{4, 4}},
		"two runs":                      {[]triage.Failure{x, y}, one + strings.ReplaceAll(seeded("vitest", vitestLog, "5"), "a.test.ts", "b.test.ts"), []int64{4, 5}},
		"a red that no report tells of": {[]triage.Failure{y}, one, []int64{4}},
		"no seed":                       {[]triage.Failure{x}, seeded("vitest", vitestLog, ""), []int64{0}},
		"nothing":                       {[]triage.Failure{x}, "", []int64{0}},
	} {
		in := framework.Reading{Root: "/r", Suites: []framework.Suite{{Name: "vitest", Framework: "vitest", Dir: "."}}}
		var got []int64
		for _, f := range printedSeeds(c.fs, strings.NewReader(c.out), in) {
			got = append(got, f.Seed)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
