package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// testSteps are the rows of the table in docs/install.md: the command and the
// report of each runner.
func testSteps() (map[string][2]string, error) {
	page, err := os.ReadFile("../../docs/install.md")
	if err != nil {
		return nil, err
	}
	steps := map[string][2]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| ([a-z: ]+) \\| `actions/[^|]*\\| `([^`]+)` \\| `([^`]+)` \\|$").FindAllSubmatch(page, -1) {
		steps[string(m[1])] = [2]string{string(m[2]), string(m[3])}
	}
	return steps, nil
}

// cmdTestStep: "teststep RUNNER" makes a repository of $WORK/RUNNER, commits the
// files of its base and then those of its head, and runs the test step of the page
// in it, which has to be red. REPORT is the report that the page names.
func cmdTestStep(ts *testscript.TestScript, _ bool, args []string) {
	steps, err := testSteps()
	ts.Check(err)
	step, ok := steps[args[0]]
	if !ok {
		ts.Fatalf("docs/install.md has no test step of %s", args[0])
	}
	dir := strings.NewReplacer(" ", "", ":", "").Replace(args[0])
	ts.Check(ts.Chdir(ts.Getenv("WORK") + "/" + dir))
	ts.Check(ts.Exec("sh", "-ec", `git init -q -b main repo; cd repo
cp -R ../base/. .; if [ -f package.json ]; then ln -s "$NODE_MODULES" node_modules; fi
printf 'node_modules\ntest.json\ntest.xml\ntriagebot-out\n' >.gitignore
git add -A; git commit -q -m base; git checkout -q -b change; cp -R ../head/. .; git add -A; git commit -q -m change`))
	ts.Check(ts.Chdir("repo"))
	if ts.Exec("sh", "-c", step[0]) == nil {
		ts.Fatalf("%s is green", step[0])
	}
	ts.Setenv("REPORT", step[1])
}

func TestTheTestStepOfEveryRunnerIsTried(t *testing.T) {
	steps, err := testSteps()
	if err != nil {
		t.Fatal(err)
	}
	var tried []string
	for _, script := range []string{"teststep_go", "teststep_python", "teststep_node"} {
		text, err := os.ReadFile("testdata/script/" + script + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^teststep '?([^'\n]+)'?$`).FindAllSubmatch(text, -1) {
			tried = append(tried, string(m[1]))
		}
	}
	for name := range steps {
		if !slices.Contains(tried, name) {
			t.Errorf("the test step of %s in docs/install.md is not tried", name)
		}
	}
	if len(steps) < 6 {
		t.Errorf("the table has %d rows: the pattern misses some", len(steps))
	}
}
