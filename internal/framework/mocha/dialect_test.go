package mocha

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/framework/jstest"
	"github.com/triagebot/triagebot/internal/triage"
)

func TestArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		t    jstest.Trial
		want []string
	}{
		{"one test", jstest.Trial{Run: triage.RunSpec{Seed: 7}, Reporter: "/r", File: "a.js", Test: "x", Pattern: "^x$"}, []string{"a.js", "--exit", "--reporter", "/r", "--retries", "0", "--no-parallel", "--no-bail", "--no-watch", "--grep", "^x$"}},
	} {
		if d := cmp.Diff(c.want, arguments(c.t)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestFilesBeforeATestAreNamedFirst(t *testing.T) {
	t.Parallel()
	p := Adapter{Dir: "pkg"}
	spec := triage.RunSpec{
		Prepared: triage.Prepared{Bin: "/mocha.js"}, Scope: triage.InSuite,
		Target: triage.Target{Package: "pkg/c.js", Test: "c x"}, WithFiles: []string{"pkg/a.js", "pkg/b.js"},
	}
	command := func() string { return strings.Join(p.Command(spec).Argv, " ") }
	if got := command(); !strings.Contains(got, " a.js b.js c.js --exit ") || strings.Contains(got, "--grep") {
		t.Errorf("the command is %s", got)
	}
	spec.WithFiles, spec.With = spec.WithFiles[:1], []string{"a one"}
	if got := command(); !strings.Contains(got, " a.js c.js --exit ") || !strings.HasSuffix(got, "--grep ^(?:a one|c x)$") {
		t.Errorf("the command is %s", got)
	}
	spec.WithFiles, spec.With = nil, nil
	if got := command(); strings.Contains(got, ".js --exit") {
		t.Errorf("the whole suite is %s", got)
	}
}

func TestTheSuiteAroundATestIsWhatItsCommandChooses(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"mocha": "",
		"mocha -R spec --recursive src/**/*.spec.js":                 "--recursive src/**/*.spec.js",
		"mocha --require setup.js --grep=x --ignore a.js test/unit":  "--ignore a.js test/unit",
		"npx mocha --spec=test/a.js --timeout 5000 --bail test/b.js": "--spec=test/a.js test/b.js",
	} {
		p, ok := ParseCommand(strings.Fields(command))
		if got := strings.Join(p.Chosen, " "); !ok || got != want {
			t.Errorf("%s chooses %q, want %q", command, got, want)
		}
	}
	p := Adapter{Chosen: []string{"src/a.js"}}
	spec := triage.RunSpec{Prepared: triage.Prepared{Bin: "/mocha.js"}, Scope: triage.InSuite, Target: triage.Target{Package: "c.js", Test: "c x"}}
	if got := strings.Join(p.Command(spec).Argv, " "); !strings.HasSuffix(got, " src/a.js") {
		t.Errorf("the command is %s", got)
	}
	spec.Target = triage.Target{} // the reds are looked for: no test is known yet
	if got := strings.Join(p.Command(spec).Argv, " "); !strings.HasSuffix(got, " src/a.js") {
		t.Errorf("the whole suite is %s", got)
	}
	spec.WithFiles = []string{"b.js"}
	if got := strings.Join(p.Command(spec).Argv, " "); strings.Contains(got, "src/a.js") {
		t.Errorf("after one file the command is %s", got)
	}
}
