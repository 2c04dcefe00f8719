package jstest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/framework/jest"
	"github.com/triagebot/triagebot/internal/framework/jstest"
	"github.com/triagebot/triagebot/internal/framework/mocha"
	"github.com/triagebot/triagebot/internal/framework/nodetest"
	"github.com/triagebot/triagebot/internal/framework/vitest"
	"github.com/triagebot/triagebot/internal/triage"
)

type reader func(io.Reader, jstest.Options) ([]triage.Failure, error)

// readers are the captured reports, each with how it is read.
var readers = map[string]reader{
	"vitest.json": vitest.ReadJSON, "vitest.xml": vitest.ReadJUnit, "vitest.log": vitest.ReadLog,
	"jest.json": jest.ReadJSON, "jest.log": jest.ReadLog, "mocha.json": mocha.ReadJSON, "nodetest.xml": nodetest.ReadJUnit,
	"vitest.tap": vitest.ReadTAP, "vitest-flat.tap": vitest.ReadTAP, "mocha.tap": mocha.ReadTAP, "mocha13.tap": mocha.ReadTAP,
}

// inTree are the files that the tree of the captures has.
func inTree(file string) bool {
	_, err := os.Stat(filepath.Join("testdata", "live", filepath.FromSlash(file)))
	return err == nil
}

func capture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "captured", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The same failure has one signature, whoever tells of it: these are the
// messages that TestWhatEachRedComesTo finds in trials.
func TestReportsGiveTheSignaturesOfTrials(t *testing.T) {
	t.Parallel()
	const equal = "Expected values to be strictly equal: N !== N"
	reds := func(file, sep, equal string) []string {
		return []string{
			file + " reds" + sep + "asserts [fail test: " + equal + "]",
			file + " reds" + sep + "throws [fail test: TypeError: bad value N]",
			file + " reds" + sep + "hangs [timeout timeout: test timed out]",
		}
	}
	broken := "vitest-broken.test.ts [error build: Cannot find module './nope.js' imported from 'vitest-broken.test.ts']"
	jests := append(reds("jest.test.js", " ", "assert.strictEqual(received, expected) Expected value to strictly be equal to:"),
		"jest.test.js hooked under [fail test: no set-up]",
		"jest-broken.test.js [error build: Cannot find module './nope' from 'jest-broken.test.js']")
	want := map[string][]string{
		"vitest.json":     append([]string{broken}, reds("vitest.test.ts", " > ", equal)...),
		"vitest.xml":      append(append([]string{broken}, reds("vitest.test.ts", " > ", equal)...), "vitest.test.ts hooked [fail test: no set-up]"),
		"vitest.log":      append([]string{broken, "vitest.test.ts hooked [fail test: no set-up]"}, reds("vitest.test.ts", " > ", equal)...),
		"jest.json":       jests,
		"jest.log":        jests,
		"mocha.json":      append(reds("mocha.cjs", " ", equal), `mocha.cjs hooked "before all" hook for "under" [fail test: no set-up]`),
		"vitest.tap":      append(append([]string{broken}, reds("vitest.test.ts", " > ", equal)...), "vitest.test.ts [error : ]"),
		"vitest-flat.tap": append([]string{broken}, reds("vitest.test.ts", " > ", equal)...),
		"mocha.tap":       append(reds("mocha.cjs", " ", equal), "mocha.cjs [error setup: no set-up]"),
		"mocha13.tap":     append(reds("mocha.cjs", " ", equal), "mocha.cjs [error setup: no set-up]"),
		"nodetest.xml": append(append(reds("nodetest.mjs", " > ", equal)[:2], reds("", " > ", equal)[2]),
			" hooked > under [fail test: test did not finish before its parent and was cancelled]"),
	}
	for name, read := range readers {
		fs, err := read(bytes.NewReader(capture(t, name)), jstest.Options{Exists: inTree})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var got []string
		for _, f := range fs {
			s := f.Target.Package + " " + f.Target.Test
			if f.Target.Test == "" {
				s = f.Target.Package
			}
			got = append(got, s+" ["+f.Outcome.String()+" "+f.Signature.Phase+": "+f.Signature.Message+"]")
		}
		if d := cmp.Diff(want[name], got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// Node 20 writes no file into its JUnit report.
func TestNodesJUnitHasTheFileInTheStack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ stack, want string }{
		"the test's own frame, not the innermost": {"at price (file:///ci/src/price.js:3:9)\n    at TestContext.&lt;anonymous> (file:///ci/test/price.test.js:7:3)\n    at Test.run (node:internal/test_runner/test:797:9)", "/ci/test/price.test.js"},
		"the last frame, before a brace":          {"at async TestContext.&lt;anonymous> (file:///ci/a.test.mjs:7:3) {", "/ci/a.test.mjs"},
		"no frame of the test":                    {"at helper (/ci/test/a.test.cjs:1:1)\n    at assert (/ci/node_modules/x/i.js:1:1)", "/ci/test/a.test.cjs"},
		"Node's own frames only":                  {"at Test.run (node:internal/test_runner/test:797:9)", ""},
	} {
		report := `<testsuites><testcase name="x" classname="test"><failure message="m">Error: m` + "\n    " + c.stack + `</failure></testcase></testsuites>`
		fs, err := nodetest.ReadJUnit(strings.NewReader(report), jstest.Options{})
		if err != nil || len(fs) != 1 || fs[0].Target.Package != c.want {
			t.Errorf("%s: %+v, %v, want %q", name, fs, err, c.want)
		}
	}
}

func TestNodesNamesAreUnquotedOnce(t *testing.T) {
	t.Parallel()
	report := `<testsuites><testcase name="&lt;b>&amp;amp;&lt;/b> &amp;quot;x&amp;quot;" classname="test"><failure message="m"/></testcase></testsuites>`
	fs, err := nodetest.ReadJUnit(strings.NewReader(report), jstest.Options{})
	if want := `<b>&amp;</b> "x"`; err != nil || len(fs) != 1 || fs[0].Target.Test != want {
		t.Errorf("%+v, %v, want %q", fs, err, want)
	}
}

func TestReportsOfAnotherKind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		read       reader
		want       error
	}{
		{"no JSON", "", vitest.ReadJSON, jstest.ErrEmpty},
		{"no XML", "  \n", vitest.ReadJUnit, jstest.ErrEmpty},
		{"no log", "", jest.ReadLog, jstest.ErrEmpty},
		{"other JSON", `{"a":1}`, vitest.ReadJSON, jstest.ErrKind},
		{"text for JSON", "hello", jest.ReadJSON, jstest.ErrKind},
		{"other XML", "<html/>", vitest.ReadJUnit, jstest.ErrKind},
		{"half a JSON", `{"testResults":[{"name":"a"`, jest.ReadJSON, jstest.ErrTruncated},
		{"no TAP", "", vitest.ReadTAP, jstest.ErrEmpty},
		{"half a TAP of vitest", "TAP version 13\n1..2\nok 1 - a.test.ts # time=1.00ms\n", vitest.ReadTAP, jstest.ErrTruncated},
		{"a TAP of mocha without its plan", "not ok 1 x\n  m\n", mocha.ReadTAP, jstest.ErrTruncated},
		{"another program's TAP", "TAP version 13\n# x\nnot ok 1 should be equal\n  ---\n    operator: equal\n  ...\n1..1\n", nodetest.ReadTAP, jstest.ErrKind},
		{"half an XML", `<testsuites><testsuite name="a.test.js"><testcase name="x">`, jest.ReadJUnit, jstest.ErrTruncated},
	} {
		if _, err := c.read(strings.NewReader(c.text), jstest.Options{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// Any prefix of a report gives an error or a part of its failures.
func TestTruncatedReports(t *testing.T) {
	t.Parallel()
	for name, read := range readers {
		b := capture(t, name)
		whole, err := read(bytes.NewReader(b), jstest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		known := map[triage.Target]bool{}
		for _, f := range whole {
			known[f.Target] = true
		}
		for n := 0; n < len(b)-2; n += 97 {
			fs, err := read(bytes.NewReader(b[:n]), jstest.Options{})
			if err == nil && filepath.Ext(name) != ".log" {
				t.Errorf("%s cut at %d: no error", name, n)
			}
			for _, f := range fs {
				if !known[f.Target] && filepath.Ext(name) != ".log" {
					t.Errorf("%s cut at %d invents %v", name, n, f.Target)
				}
			}
		}
	}
}

// Names and messages of TAP that look like TAP.
func TestWhatTAPDoesToNamesIsTakenBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, file, test, message string
		read                            reader
	}{
		{"vitest's escapes", "1..1\nnot ok 1 - a.test.ts > x \\# 1 \\\\ > {y} # time=1.00ms\n    ---\n    error:\n        name: \"Error\"\n        message: \"m\"\n    ...\n", "a.test.ts", `x # 1 \ > {y}`, "m", vitest.ReadTAP},
		{"a message with a point in it", "1..1\nnot ok 1 - a.test.ts > x # time=1.00ms\n    ---\n    error:\n        name: \"Error\"\n        message: \"say \\\"\nnot ok 2 - b.test.ts > forged # time=1.00ms\n    ...\nend\"\n    ...\n", "a.test.ts", "x", `say "`, vitest.ReadTAP},
		{"the first of two errors", "1..1\nnot ok 1 - a.test.ts > x # time=1.00ms\n    ---\n    error:\n        name: \"Error\"\n        message: \"one\"\n    ---\n    error:\n        name: \"TypeError\"\n        message: \"two\"\n    ...\n", "a.test.ts", "x", "one", vitest.ReadTAP},
		{"a group that takes no time", "1..1\nnot ok 1 - a.test.ts {\n    1..1\n    not ok 1 - x\n        ---\n        error:\n            name: \"Error\"\n            message: \"m\"\n        ...\n}\n", "a.test.ts", "x", "m", vitest.ReadTAP},
		{"mocha's title of two lines", "not ok 1 a\nb - c\n  m\n  Error: m\n      at Context.<anonymous> (test/a.spec.js:1:2)\n1..1\n", "test/a.spec.js", "a\nb - c", "m", mocha.ReadTAP},
		{"mocha's message of two lines", "not ok 1 x\n  m\n  n\n  TypeError: m\n  n\n      at Context.<anonymous> (test/a.spec.js:1:2)\n1..1\n", "test/a.spec.js", "x", "TypeError: m", mocha.ReadTAP},
		{"mocha's error without a message", "not ok 1 x\n  Error\n      at Context.<anonymous> (test/a.spec.js:1:2)\n1..1\n", "test/a.spec.js", "x", "Error", mocha.ReadTAP},
	} {
		fs, err := c.read(strings.NewReader(c.text), jstest.Options{})
		if err != nil || len(fs) != 1 {
			t.Errorf("%s: %v %+v", c.name, err, fs)
			continue
		}
		if f := fs[0]; f.Target.Package != c.file || f.Target.Test != c.test || f.Signature.Message != c.message {
			t.Errorf("%s: %q %q %q", c.name, f.Target.Package, f.Target.Test, f.Signature.Message)
		}
	}
}

func TestASeedIsReadFromTheLog(t *testing.T) {
	t.Parallel()
	for text, read := range map[string]reader{
		"     Running tests with seed \"1234\"\n FAIL  a.test.ts > x\nError: y\n": vitest.ReadLog,
		"FAIL a.test.js\n  ● x\n\n    y\n\nSeed:        1234\n":                   jest.ReadLog,
	} {
		fs, err := read(strings.NewReader(text), jstest.Options{})
		if err != nil || len(fs) != 1 || fs[0].Seed != 1234 {
			t.Errorf("%q: %v %+v", text, err, fs)
		}
	}
}

func TestEachRunOfALogKeepsItsOwnSeed(t *testing.T) {
	t.Parallel()
	const (
		vitestRun = " RUN  v3.2.4 /repo\n"
		vitestRed = " FAIL  %s > x\nError: y\n"
		jestRed   = "FAIL %s\n  ● x\n\n    y\n\n"
		jestEnd   = "Test Suites: 1 failed, 1 total\n"
	)
	red := func(form, file string) string { return fmt.Sprintf(form, file) }
	for name, c := range map[string]struct {
		read reader
		text string
		want []int64
	}{
		"vitest, two seeds": {vitest.ReadLog, vitestRun + "      Running tests with seed \"1\"\n" + red(vitestRed, "a.test.ts") +
			vitestRun + "      Running tests with seed \"2\"\n" + red(vitestRed, "b.test.ts"), []int64{1, 2}},
		"vitest, the second is in order": {vitest.ReadLog, vitestRun + "      Running tests with seed \"1\"\n" + red(vitestRed, "a.test.ts") +
			vitestRun + red(vitestRed, "b.test.ts"), []int64{1, 0}},
		"jest, two seeds":              {jest.ReadLog, red(jestRed, "a.test.js") + "Seed:        1\n" + jestEnd + red(jestRed, "b.test.js") + "Seed:        2\n" + jestEnd, []int64{1, 2}},
		"jest, the first is in order":  {jest.ReadLog, red(jestRed, "a.test.js") + jestEnd + red(jestRed, "b.test.js") + "Seed:        2\n" + jestEnd, []int64{0, 2}},
		"jest, the second is in order": {jest.ReadLog, red(jestRed, "a.test.js") + "Seed:        1\n" + jestEnd + red(jestRed, "b.test.js") + jestEnd, []int64{1, 0}},
	} {
		fs, err := c.read(strings.NewReader(c.text), jstest.Options{})
		var got []int64
		for _, f := range fs {
			got = append(got, f.Seed)
		}
		if !slices.Equal(got, c.want) || err != nil {
			t.Errorf("%s: %v, want %v (%v)", name, got, c.want, err)
		}
	}
}

func FuzzReadReports(f *testing.F) {
	for name := range readers {
		f.Add(name, capture(f, name))
	}
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		read := readers[name]
		if read == nil {
			return
		}
		fs, _ := read(bytes.NewReader(b), jstest.Options{})
		for _, x := range fs {
			if !x.Outcome.Red() || len(x.Signature.Message) > 320 || len(x.Excerpt) > 8<<10 {
				t.Errorf("%+v", x)
			}
		}
	})
}

// jest-junit names no file by default.
func TestAStackNamesTheFileOfATestThatHasNone(t *testing.T) {
	t.Parallel()
	const report = `<testsuites><testsuite name="index"><testcase classname="index greets" name="index greets"><failure>Error: bad greeting
    at greet (/home/runner/work/r/r/packages/beta/src/index.ts:3:3)
    at helper (/home/runner/work/r/r/packages/beta/__tests__/helper.ts:1:1)
    at Object.it (/home/runner/work/r/r/packages/beta/__tests__/index.test.ts:5:3)
    at run (/home/runner/work/r/r/node_modules/jest-circus/build/index.test.js:9:9)</failure></testcase>
<testcase classname="index waits" name="index waits"><failure>Error: no stack</failure></testcase>
<testcase classname="index wraps" name="index wraps"><failure>Error: bad
    at Object.it (/home/runner/work/r/r/packages/beta/__tests__/index.test.ts:5:3)
    at wrap (/home/runner/work/r/r/packages/beta/__tests__/helper.ts:1:1)</failure></testcase>
<testcase classname="index helps" name="index helps"><failure>Error: bad
    at wrap (/home/runner/work/r/r/packages/beta/__tests__/helper.ts:1:1)</failure></testcase></testsuite></testsuites>`
	there := map[string]bool{"packages/beta/src/index.ts": true, "packages/beta/__tests__/helper.ts": true, "packages/beta/__tests__/index.test.ts": true}
	fs, err := jest.ReadJUnit(strings.NewReader(report), jstest.Options{Exists: func(file string) bool { return there[file] }})
	if err != nil || len(fs) != 4 {
		t.Fatal(fs, err)
	}
	const file = "packages/beta/__tests__/index.test.ts"
	for i, want := range []string{file, "", file, ""} {
		if got := fs[i].Target.Package; got != want {
			t.Errorf("%s: the file is %q, want %q", fs[i].Target.Test, got, want)
		}
	}
}

// jest-junit writes "{classname} {title}", also where there is no describe.
func TestATestInNoDescribeIsNamedWithoutTheSpaceOfJestJUnit(t *testing.T) {
	t.Parallel()
	const report = `<testsuites><testsuite name="undefined"><testcase classname=" has a footer" name=" has a footer"><failure>Error: bad
    at Object.it (/w/r/test/outbox.test.ts:3:3)</failure></testcase></testsuite></testsuites>`
	fs, err := jest.ReadJUnit(strings.NewReader(report), jstest.Options{Root: "/w/r", Exists: func(file string) bool { return file == "test/outbox.test.ts" }})
	if err != nil || len(fs) != 1 {
		t.Fatal(fs, err)
	}
	if got := fs[0].Target; got.Test != "has a footer" || got.Package != "test/outbox.test.ts" {
		t.Errorf("got %q in %q", got.Test, got.Package)
	}
}

// With colours jest and vitest put a project's name between spaces, without them in
// brackets.
func TestAProjectsNameIsNoneOfTheFile(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]string{
		"\x1b[0m\x1b[7m\x1b[1m\x1b[31m FAIL \x1b[39m\x1b[22m\x1b[27m\x1b[0m \x1b[0m\x1b[7m\x1b[37m beta \x1b[39m\x1b[27m\x1b[0m \x1b[2mtest/\x1b[22m\x1b[1ma.test.js\x1b[22m (\x1b[0m\x1b[1m\x1b[41m7.023 s\x1b[49m\x1b[22m\x1b[0m)\n\x1b[1m\x1b[31m  \x1b[1m● \x1b[22m\x1b[1mhas › a name\x1b[39m\x1b[22m\n\n    bad\n": "test/a.test.js has a name",
		" FAIL   my project  test/a.test.js\n  ● has › a name\n\n    bad\n": "test/a.test.js has a name",
		"FAIL (beta) test/a.test.js\n  ● has › a name\n\n    bad\n":         "test/a.test.js has a name",
		"FAIL test/a.test.js\n  ● has › a name\n\n    bad\n":                "test/a.test.js has a name",
	} {
		fs, err := jest.ReadLog(strings.NewReader(log), jstest.Options{})
		if err != nil || len(fs) != 1 || fs[0].Target.String() != want {
			t.Errorf("%q: %v %v", log, fs, err)
		}
	}
	fs, err := vitest.ReadLog(strings.NewReader(" FAIL   unit  test/a.test.ts > has > a name\nError: bad\n"), jstest.Options{})
	if err != nil || len(fs) != 1 || fs[0].Target.Package != "test/a.test.ts" || fs[0].Target.Test != "has > a name" {
		t.Error(fs, err)
	}
}
