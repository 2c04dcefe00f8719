package nodetest

import (
	"os"
	"path/filepath"
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
		{"a test of a suite", jstest.Trial{Run: triage.RunSpec{Seed: 7}, Reporter: "/r", File: "a.mjs", Test: "s > x", Major: 20}, []string{"--test", "--test-reporter=/r", "--test-reporter-destination=stdout", "--test-name-pattern=^s > x$", "--test-name-pattern=^x$", "a.mjs"}},
		{"a subtest, Node 20", jstest.Trial{Reporter: "/r", File: "a.mjs", Test: "s > x", Nested: true, Major: 20}, []string{"--test", "--test-reporter=/r", "--test-reporter-destination=stdout", "--test-name-pattern=^s > x$", "--test-name-pattern=^s$", "--test-name-pattern=^x$", "a.mjs"}},
		{"a subtest, Node 22", jstest.Trial{Reporter: "/r", File: "a.mjs", Test: "s > x", Nested: true, Major: 22}, []string{"--test", "--test-reporter=/r", "--test-reporter-destination=stdout", "--test-name-pattern=^s$", "--test-name-pattern=^s(?: | > )x$", "a.mjs"}},
		{"spaces at the ends, Node 22", jstest.Trial{Reporter: "/r", File: "a.mjs", Test: " s >  x\u00a0 ", Major: 22}, []string{"--test", "--test-reporter=/r", "--test-reporter-destination=stdout", "--test-name-pattern=^s(?: | > ) x$", "a.mjs"}},
		{"a test after two others, Node 20", jstest.Trial{Reporter: "/r", File: "a.mjs", Test: "s > x", With: []string{"y", "s > z"}, Major: 20}, []string{"--test", "--test-reporter=/r", "--test-reporter-destination=stdout", "--test-name-pattern=^y$", "--test-name-pattern=^s > z$", "--test-name-pattern=^z$", "--test-name-pattern=^s > x$", "--test-name-pattern=^x$", "a.mjs"}},
		{"a test after another, Node 22", jstest.Trial{Reporter: "/r", File: "a.mjs", Test: "s > x", With: []string{"y"}, Major: 22}, []string{"--test", "--test-reporter=/r", "--test-reporter-destination=stdout", "--test-name-pattern=^y$", "--test-name-pattern=^s(?: | > )x$", "a.mjs"}},
	} {
		if d := cmp.Diff(c.want, arguments(c.t)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestTheRedsAreLookedForInTheFilesOfTheCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.test.ts", "b.test.ts"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for major, want := range map[string]string{"20": "a.test.ts b.test.ts more none/*.ts", "22": "*.test.ts more none/*.ts"} {
		p, ok := ParseCommand(strings.Fields("node --import tsx --test --test-reporter spec --test-only *.test.ts more none/*.ts"))
		spec := triage.RunSpec{Prepared: triage.Prepared{Bin: "node", Dir: dir, Env: []string{"TRIAGEBOT_JS_NODE=" + major}}, Scope: triage.InSuite}
		if got := strings.Join(Adapter(p).Command(spec).Argv, " "); !ok || !strings.HasSuffix(got, "destination=stdout "+want) {
			t.Errorf("Node %s: the command is %s", major, got)
		}
	}
}
