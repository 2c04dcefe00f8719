package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/triage"
)

// seamTree is a tree of empty files, and a module in go.mod.
func seamTree(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range files {
		text := ""
		if filepath.Base(f) == "go.mod" {
			text = "module example.com/app\n"
		}
		path := filepath.Join(root, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestSeamsAreFoundInTheTrees(t *testing.T) {
	head := seamTree(t, "go.mod", "store/a.go", "src/the_loop/sessions.py", "api/jobs/__init__.py", "web/src/store.ts")
	base := seamTree(t, "go.mod", "store/a.go", "the_loop/sessions.py")
	for name, tc := range map[string]struct {
		framework, dir, seam string
		want                 []lag.Seam
		err                  string
	}{
		"an option":                          {"pytest", "", "--lag={seconds}", []lag.Seam{{Option: "--lag={seconds}"}}, ""},
		"a module that moved":                {"pytest", "", "the_loop.sessions:S.register", []lag.Seam{{Sites: []string{"the_loop/sessions.py:S.register", "src/the_loop/sessions.py:S.register"}}}, ""},
		"a package below":                    {"pytest", "api", "jobs:run", []lag.Seam{{Sites: []string{"api/jobs/__init__.py:run"}}}, ""},
		"a file of Python":                   {"pytest", "", "the_loop/sessions.py:f", []lag.Seam{{Sites: []string{"the_loop/sessions.py:f", "src/the_loop/sessions.py:f"}}}, ""},
		"a file of TypeScript":               {"vitest", "web", "src/store.ts:Store.put", []lag.Seam{{Sites: []string{"web/src/store.ts:Store.put"}}}, ""},
		"a package of Go":                    {"gotest", "", "example.com/app/store:Registry.Register", []lag.Seam{{Sites: []string{"store/:Registry.Register"}}}, ""},
		"the module itself":                  {"gotest", "", "example.com/app:main", []lag.Seam{{Sites: []string{"./:main"}}}, ""},
		"a file of Go":                       {"gotest", "", "store/a.go:Put", []lag.Seam{{Sites: []string{"store/a.go:Put"}}}, ""},
		"a module that is not there":         {"pytest", "", "nosuch.mod:f", nil, `seam "nosuch.mod:f": there is no such file or module on either side`},
		"a package of another module":        {"gotest", "", "example.com/application:f", nil, "no such file or module"},
		"a file out of the tree":             {"vitest", "", "../store.ts:f", nil, "no such file or module"},
		"node:test does not hand options on": {"nodetest", "", "--lag={ms}", nil, "node:test hands no options on to tests: declare a function"},
		"vitest knows its own options only":  {"vitest", "", "--dispatch-lag={seconds}", nil, "vitest ends at an option that is not its own: declare a function"},
		"mocha hands options on":             {"mocha", "", "--lag={ms}", []lag.Seam{{Option: "--lag={ms}"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			lang, _ := newLanguage(tc.framework)
			su := &suite{Suite: config.Suite{Name: "s", Framework: tc.framework, Dir: tc.dir, Seams: []string{tc.seam}}, lang: lang}
			err := su.findSeams([]string{head, base})
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("error %v, want %q in it", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, su.seams); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A suite without seams has the ladder of its framework, as it was before there
// were any; one with seams has its own beside it.
func TestOnlyASuiteWithSeamsHasALadderOfItsOwn(t *testing.T) {
	lang, _ := newLanguage("pytest")
	plain := &suite{Suite: config.Suite{Name: "plain", Framework: "pytest"}, lang: lang}
	seamed := &suite{Suite: config.Suite{Name: "seamed", Framework: "pytest"}, lang: lang, seams: []lag.Seam{{Option: "--lag={ms}"}}}
	ladders := func(suites ...*suite) map[string][]string {
		s := &session{cfg: config.Defaults(), suites: suites}
		plan := triage.Plan{Ladders: map[string][]string{}, Detectors: map[string]string{}, LagPlans: map[string]triage.LagPlan{}}
		var red []triage.Failure
		for _, su := range suites {
			red = append(red, triage.Failure{Target: triage.Target{Suite: su.Name, Framework: "pytest", Package: "a.py", Test: "t"}})
		}
		if err := s.addLadders(&plan, red); err != nil {
			t.Fatal(err)
		}
		return plan.Ladders
	}
	want, err := lag.Ladder(capabilities("pytest"), config.Defaults().Seed, "auto")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, p := range want {
		ids = append(ids, p.ID())
	}
	if diff := cmp.Diff(map[string][]string{"pytest": ids}, ladders(plain)); diff != "" {
		t.Errorf("without seams (-want +got)\n%s", diff)
	}
	both := ladders(plain, seamed)
	own := both[triage.LadderOf("pytest", "seamed")]
	if len(both) != 2 || !cmp.Equal(both["pytest"], ids) || len(own) != len(ids)+2 || !cmp.Equal(own[2:], ids) {
		t.Errorf("with seams: %v", both)
	}
}
