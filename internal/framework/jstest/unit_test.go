package jstest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

var (
	arrows = Dialect{Name: "vitest", Package: "vitest", Separator: " > ", Reporter: "vitest.mjs", Arguments: func(t Trial) []string { return []string{t.File, t.Pattern} }}
	spaces = Dialect{Name: "jest", Package: "jest", Separator: " ", Reporter: "jest.cjs"}
	nodes  = Dialect{Name: "nodetest", Separator: " > ", Reporter: "nodetest.mjs"}
)

func TestPattern(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d        Dialect
		id, want string
	}{
		{spaces, "a b [1]", `^a b \[1\]$`},
		{spaces, "^x$ (a|b) {2} \\ / .*+?", `^\^x\$ \(a\|b\) \{2\} \\ \/ \.\*\+\?$`},
		{spaces, "a\nb\tc\r", `^a\nb\tc\r$`},
		{arrows, "a > b", `^a(?: | > )b$`},
	} {
		if got := c.d.Pattern(c.id); got != c.want {
			t.Errorf("%q: %s, want %s", c.id, got, c.want)
		}
	}
}

func TestNormaliseTakesOutWhatVaries(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"AssertionError: expected undefined to be 'pane-a' // Object.is equality": "expected undefined to be 'pane-a' // Object.is equality",
		"expected 17 to be 3 // Object.is equality":                               "expected N to be 3 // Object.is equality",
		"TypeError: fetch failed at /home/u/p/src/a.ts:3:7":                       "TypeError: fetch failed at a.ts",
		"connect ECONNREFUSED 127.0.0.1:43117":                                    "connect ECONNREFUSED 127.0.0.1:PORT",
		"ENOENT: no such file, open '/tmp/dl-x8Gh2k/a'":                           "ENOENT: no such file, open 'TMP'",
		"took 312ms":          "took DUR",
		"\x1b[31mred\x1b[39m": "red",
	} {
		if got := Normalise(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestFirstLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: 2\nReceived: 1":              "expect(received).toBe(expected) // Object.is equality Expected: 2",
		"Expected values to be strictly deep-equal:\n+ actual - expected\n\n+ 1\n- 2":                           "Expected values to be strictly deep-equal: - 2",
		"AssertionError [ERR_ASSERTION]: The input did not match the regular expression /x/. Input:\n\n'abc'\n": "The input did not match the regular expression /x/. Input: 'abc'",
		"TypeError: x is not a function": "TypeError: x is not a function",
		"":                               "",
	} {
		if got := firstLine(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

const fence = "F00"

// trial makes the results of a target from records.
func trial(t *testing.T, test string, end triage.End, lines ...string) (own triage.Result, others []triage.Result) {
	t.Helper()
	spec := triage.RunSpec{
		Prepared: triage.Prepared{Env: []string{envFence + "=" + fence}},
		Target:   triage.Target{Suite: "vitest", Framework: "vitest", Package: "a.test.ts", Test: test},
	}
	rs, err := Project{}.Results(arrows, spec, end, strings.NewReader(strings.Join(lines, "\n")+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rs {
		if r.Target == spec.Target {
			own = r
		} else {
			others = append(others, r)
		}
	}
	return own, others
}

func TestResults(t *testing.T) {
	t.Parallel()
	const (
		file  = fence + ` {"type":"file","file":"a.test.ts"}`
		start = fence + ` {"type":"start","file":"a.test.ts","names":["x"]}`
		pass  = fence + ` {"type":"test","file":"a.test.ts","names":["x"],"state":"pass"}`
		fail  = fence + ` {"type":"test","file":"a.test.ts","names":["x"],"state":"fail","errors":[{"message":"m"}]}`
		skip  = fence + ` {"type":"test","file":"a.test.ts","names":["x"],"state":"skip"}`
		twin  = fence + ` {"type":"test","file":"a.test.tsx","names":["x"],"state":"fail","errors":[{"message":"m"}]}`
		hook  = fence + ` {"type":"broken","file":"a.test.ts","names":["x"],"phase":"setup","errors":[{"message":"h"}]}`
		stray = fence + ` {"type":"stray","errors":[{"message":"late"}]}`
		over  = fence + ` {"type":"end"}`
	)
	for _, c := range []struct {
		name, test string
		end        triage.End
		lines      []string
		want       triage.Outcome
		phase      string
	}{
		{"passes", "x", triage.End{}, []string{file, start, pass, over}, triage.Pass, ""},
		{"fails", "x", triage.End{Exit: 1}, []string{file, start, fail, over}, triage.Fail, triage.PhaseTest},
		{"one of two of that name fails", "x", triage.End{Exit: 1}, []string{pass, fail, pass, over}, triage.Fail, triage.PhaseTest},
		{"skips itself", "x", triage.End{}, []string{file, skip, over}, triage.Skip, ""},
		{"selects nothing and exits 0", "y", triage.End{}, []string{file, skip, over}, triage.Absent, ""},
		{"only the twin's file ran", "x", triage.End{Exit: 1}, []string{twin, over}, triage.Absent, ""},
		{"a hook of its describe broke", "x > y", triage.End{Exit: 1}, []string{file, hook, over}, triage.Error, triage.PhaseSetup},
		{"a hook of another describe broke", "z > y", triage.End{Exit: 1}, []string{file, hook, over}, triage.Absent, ""},
		{"dies in the middle", "x", triage.End{Exit: 7}, []string{file, start}, triage.Error, triage.PhaseExit},
		{"dies of an uncaught error", "x", triage.End{Exit: 1}, []string{file, start, "TypeError: bad"}, triage.Error, triage.PhasePanic},
		{"hangs", "x", triage.End{TimedOut: true, Exit: -1}, []string{file, start}, triage.Timeout, triage.PhaseTimeout},
		{"does not start", "x", triage.End{Exit: 1}, []string{"Error: bad config"}, triage.Invalid, ""},
		{"the file, with a stray error", "", triage.End{Exit: 1}, []string{file, pass, stray, over}, triage.Error, triage.PhasePanic},
		{"the file", "", triage.End{}, []string{file, pass, over}, triage.Pass, ""},
		{"a forged record", "x", triage.End{}, []string{file, strings.Replace(pass, fence, "F01", 1), "x " + pass, over}, triage.Absent, ""},
	} {
		own, others := trial(t, c.test, c.end, c.lines...)
		phase := ""
		if own.Failure != nil {
			phase = own.Failure.Signature.Phase
		}
		if own.Outcome != c.want || phase != c.phase {
			t.Errorf("%s: %v %q, want %v %q (%s)", c.name, own.Outcome, phase, c.want, c.phase, own.Note)
		}
		for _, o := range others {
			if o.Target.Package != "a.test.ts" {
				t.Errorf("%s: %v is of another file", c.name, o.Target)
			}
		}
	}
}

func TestLinksAreFollowedFromWhereTheTestIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// links are from a name in the tree to one in the tree, or to "out".
		links map[string]string
		from  string
		want  string
	}{
		"own package":                {map[string]string{"packages/shop/node_modules/@a/money": "out"}, "packages/shop/test", "packages/shop/node_modules/@a/money"},
		"another package":            {map[string]string{"packages/bank/node_modules/money": "out"}, "packages/shop", ""},
		"through the workspace":      {map[string]string{"node_modules/bank": "packages/bank", "packages/bank/node_modules/money": "out"}, "packages/shop", "packages/bank/node_modules/money"},
		"packages that link in turn": {map[string]string{"node_modules/bank": "packages/bank", "packages/bank/node_modules/shop": "packages/shop"}, "packages/shop", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree, out := filepath.Join(t.TempDir(), "a[1]"), t.TempDir()
			for _, d := range []string{"packages/shop/test", "packages/bank"} {
				if err := os.MkdirAll(filepath.Join(tree, d), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for link, to := range c.links {
				at := filepath.Join(tree, link)
				target := filepath.Join(tree, to)
				if to == "out" {
					target = out
				}
				if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(target, at)); err != nil {
					t.Fatal(err)
				}
			}
			got, _, _ := strings.Cut(linkedOutside(tree, filepath.Join(tree, c.from)), " -> ")
			if rel, err := filepath.Rel(tree, got); c.want == "" && got != "" || c.want != "" && (err != nil || rel != c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestALinkOutsideTheTreeMakesTrialsInvalid(t *testing.T) {
	t.Parallel()
	tree, other := t.TempDir(), t.TempDir()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(tree, "node_modules", "@shop"), 0o755))
	must(os.MkdirAll(filepath.Join(tree, "packages", "in"), 0o755))
	must(os.Symlink(filepath.Join(tree, "packages", "in"), filepath.Join(tree, "node_modules", "in")))
	if got := linkedOutside(tree, tree); got != "" {
		t.Errorf("a link into the tree: %s", got)
	}
	must(os.Symlink(other, filepath.Join(tree, "node_modules", "@shop", "core")))
	link := linkedOutside(tree, tree)
	if !strings.Contains(link, "@shop/core") {
		t.Errorf("not found: %q", link)
	}
	spec := triage.RunSpec{Prepared: triage.Prepared{Env: []string{envFence + "=" + fence, envOutside + "=" + link}}, Target: triage.Target{Package: "a"}}
	rs, err := Project{}.Results(arrows, spec, triage.End{}, strings.NewReader(fence+" {\"type\":\"end\"}\n"))
	if err != nil || len(rs) != 1 || rs[0].Outcome != triage.Invalid || !strings.Contains(rs[0].Note, "install") {
		t.Errorf("%v %+v", err, rs)
	}
}

// answer is a Node of some version.
func answer(version string, err error) triage.Exec {
	return func(context.Context, triage.Command) ([]byte, triage.End, error) {
		return []byte(version + "\n"), triage.End{}, err
	}
}

func TestPrepareSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	tree := t.TempDir()
	for _, c := range []struct {
		name string
		exec triage.Exec
		want string
	}{
		{"no Node", answer("", errors.New("not found")), "install Node 20 or newer"},
		{"an old Node", answer("18.19.0", nil), "Node 18.19.0 is too old"},
		{"not a Node", answer("hello", nil), "does not work"},
		{"no vitest", answer("22.1.0", nil), "vitest is not installed: run the project's install command"},
	} {
		p, err := Project{}.Prepare(t.Context(), c.exec, arrows, triage.BuildSpec{Tree: tree, Package: "a.test.ts", Out: filepath.Join(tree, "out")})
		if err != nil || p.Failure == nil || !strings.Contains(p.Failure.Message, c.want) || p.Failure.Signature.Phase != triage.PhaseSetup {
			t.Errorf("%s: %v %+v", c.name, err, p.Failure)
		}
	}
}

func TestPrepareAndCommand(t *testing.T) {
	t.Parallel()
	tree := t.TempDir()
	for name, text := range map[string]string{
		"node_modules/vitest/package.json": `{"bin":{"vitest":"vitest.mjs"}}`,
		"web/a.test.ts":                    "x",
	} {
		file := filepath.Join(tree, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	p := Project{Dir: "web", Args: []string{"--own"}, Env: []string{"NODE_OPTIONS=--max-old-space-size=99"}}
	out := filepath.Join(t.TempDir(), "out")
	ready, err := p.Prepare(t.Context(), answer("20.1.0", nil), arrows, triage.BuildSpec{Tree: tree, Package: "web/a.test.ts", Out: out, Overlay: `/lag "dir`})
	if err != nil || ready.Failure != nil {
		t.Fatalf("%v %+v", err, ready.Failure)
	}
	if got, want := lookup(ready.Env, "NODE_OPTIONS"), `--require "/lag \"dir/preload.cjs" --max-old-space-size=99`; got != want {
		t.Errorf("NODE_OPTIONS %s, want %s", got, want)
	}
	c := p.Command(arrows, triage.RunSpec{Prepared: ready, Tree: tree, Target: triage.Target{Package: "web/a.test.ts", Test: "x"}})
	want := []string{"node", filepath.Join(tree, "node_modules", "vitest", "vitest.mjs"), "a.test.ts", "^x$", "--own"}
	if d := cmp.Diff(want, c.Argv); d != "" || c.Dir != filepath.Join(tree, "web") {
		t.Errorf("in %s:\n%s", c.Dir, d)
	}
	if _, err := os.Stat(filepath.Join(out, "fence.cjs")); err != nil {
		t.Error(err)
	}
	if c := p.Command(arrows, triage.RunSpec{Prepared: ready, Tree: tree, Target: triage.Target{Test: "x"}}); len(c.Argv) > 0 {
		t.Errorf("a name without a file is run: %q", c.Argv)
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	root := fstest.MapFS{
		"package.json":                     file(`{"devDependencies":{"jest":"30"}}`),
		"pnpm-lock.yaml":                   file(""),
		"packages/web/package.json":        file(`{"devDependencies":{"vitest":"3"}}`),
		"packages/api/package.json":        file(`{"scripts":{"test":"node --import tsx --test src"}}`),
		"packages/bad/package.json":        file(`{`),
		"node_modules/vitest/package.json": file(`{"dependencies":{"vitest":"3"}}`),
	}
	for _, c := range []struct {
		d    Dialect
		want []Found
	}{
		{spaces, []Found{{"", "devDependencies of package.json", "pnpm install --frozen-lockfile", false, false}}},
		{arrows, []Found{{"packages/web", "devDependencies of packages/web/package.json", "pnpm install --frozen-lockfile", false, false}}},
		{nodes, []Found{{"packages/api", "a test script of packages/api/package.json", "pnpm install --frozen-lockfile", true, true}}},
	} {
		if d := cmp.Diff(c.want, Detect(root, c.d)); d != "" {
			t.Errorf("%s: %s", c.d.Name, d)
		}
	}
}

func TestScriptsThatRunNodesTests(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]bool{
		`"test":"node --test"`:                          true,
		`"test":"tsx --test src/*.test.ts"`:             true,
		`"test":"A=1 tsx --tsconfig t.json --test src"`: true,
		`"test":"tsx src/test.ts"`:                      false,
		`"test":"npm run lint && npm run unit","unit":"c8 node --enable-source-maps --test"`: true,
		`"test":"npm run lint && borp --timeout 60000"`:                                      true,
		`"borp":"borp --coverage","test":"npm run borp"`:                                     true,
		`"test":"c8 borp"`:                            true,
		`"test":"npm run borp"`:                       false, // which is not there
		`"test":"node scripts/build.js && jest"`:      false,
		`"test":"node test.js","run":"x --test"`:      false,
		`"test":"node build.js && other-tool --test"`: false,
	} {
		root := fstest.MapFS{"package.json": &fstest.MapFile{Data: []byte(`{"scripts":{` + script + `}}`)}}
		if got := len(Detect(root, nodes)) == 1; got != want {
			t.Errorf("%s: node:test is found: %v, want %v", script, got, want)
		}
	}
}

func TestPathsOfAReportBecomePathsOfTheTree(t *testing.T) {
	t.Parallel()
	exists := func(f string) bool { return f == "web/src/a.test.ts" }
	for _, c := range []struct {
		o        Options
		in, want string
	}{
		{Options{}, "./src/a.test.ts", "src/a.test.ts"},
		{Options{Dir: "web"}, "src/a.test.ts", "web/src/a.test.ts"},
		{Options{Dir: "web", Exists: exists}, "web/src/a.test.ts", "web/src/a.test.ts"},
		{Options{Root: "/w"}, "/w/src/a.test.ts", "src/a.test.ts"},
		{Options{Exists: exists}, "/home/runner/work/shop/web/src/a.test.ts", "web/src/a.test.ts"},
		{Options{Exists: exists}, "/elsewhere/b.test.ts", "/elsewhere/b.test.ts"},
		{Options{}, "", ""},
	} {
		if got := c.o.file(c.in); got != c.want {
			t.Errorf("%+v %s: %s, want %s", c.o, c.in, got, c.want)
		}
	}
}

func FuzzRecords(f *testing.F) {
	f.Add([]byte(fence + ` {"type":"test","file":"a","names":["x"],"state":"pass"}` + "\n"))
	f.Add([]byte("x\n" + fence + " {\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := readRun(arrows, Options{}, fence, bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		rs := s.results(triage.RunSpec{Target: triage.Target{Package: "a", Test: "never"}}, triage.End{})
		if own := rs[len(rs)-1]; own.Outcome == triage.Pass && !bytes.Contains(b, []byte("never")) {
			t.Error("a pass without a record")
		}
	})
}

// What was expected stands a few lines below an assertion of Node's that shows a
// difference; the report and the trial have to come to one signature.
func TestDifferenceInAJUnitReportHasWhatWasExpected(t *testing.T) {
	const report = `<?xml version="1.0" encoding="utf-8"?>
<testsuites><testcase name="parses" classname="test"><failure type="testCodeFailure" message="x">
Error [ERR_TEST_FAILURE]: Expected values to be strictly equal:
+ actual - expected

+ 'mail'
- 'mail.example.com'
    at AsyncResource.runInAsyncScope (node:async_hooks:206:9) {
  cause: AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:
  + actual - expected
  
  + 'mail'
  - 'mail.example.com'
         ^
      at TestContext.&lt;anonymous> (file:///home/runner/work/m/m/test/a.test.js:6:10)
      at Test.run (node:internal/test_runner/test:796:25) {
    generatedMessage: true
  }
}</failure></testcase></testsuites>`
	fs, err := ReadJUnit(strings.NewReader(report), Dialect{Name: "nodetest", Separator: " > "}, Options{})
	if err != nil || len(fs) != 1 {
		t.Fatalf("%d failures, %v", len(fs), err)
	}
	if got, want := fs[0].Signature.Message, "Expected values to be strictly equal: - 'mail.example.com'"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

func TestTheOrderOfTestsThatCanBeSelectedIsTold(t *testing.T) {
	t.Parallel()
	records := func(tests ...string) string {
		var b strings.Builder
		for _, id := range tests {
			names, _ := json.Marshal(strings.Split(id, "/"))
			fmt.Fprintf(&b, "%s {\"type\":\"start\",\"file\":\"a\",\"names\":%s}\n", fence, names)
			fmt.Fprintf(&b, "%s {\"type\":\"test\",\"file\":\"a\",\"names\":%s,\"state\":\"pass\"}\n", fence, names)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		d     Dialect
		major string
		env   []string
		out   string
		want  []int
	}{
		"another runner":                     {spaces, "20", nil, records("x", "y"), []int{1, 2}},
		"Node 20":                            {nodes, "20", nil, records("x", "s/y", "z"), []int{1, 2, 3}},
		"Node 20, a name twice":              {nodes, "20", nil, records("x", "s/x", "z"), []int{0, 0, 0}},
		"Node 20, a suite's name":            {nodes, "20", nil, records("s/y", "s"), []int{0, 0}},
		"Node 20, a name in two suites":      {nodes, "20", nil, records("s/x", "r/x"), []int{0, 0}},
		"Node 22, a name twice":              {nodes, "22", nil, records("x", "s/x", "z"), []int{1, 2, 3}},
		"Node 22, tests that make tests":     {nodes, "22", []string{envNested + "=1"}, records("x", "y"), []int{0, 0}},
		"another runner that may make tests": {spaces, "20", []string{envNested + "=1"}, records("x", "y"), []int{1, 2}},
	} {
		s, err := readRun(c.d, Options{}, fence, strings.NewReader(c.out))
		if err != nil {
			t.Fatal(err)
		}
		spec := triage.RunSpec{
			Scope: triage.InPackage, Target: triage.Target{Suite: c.d.Name, Framework: c.d.Name, Package: "a", Test: "none"},
			Prepared: triage.Prepared{Env: append(c.env, envMajor+"="+c.major)},
		}
		var got []int
		for _, r := range s.results(spec, triage.End{}) {
			if r.Target.Test != "none" {
				got = append(got, r.Start)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
