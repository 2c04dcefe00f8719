package jstest_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/framework/jest"
	"github.com/triagebot/triagebot/internal/framework/mocha"
	"github.com/triagebot/triagebot/internal/framework/vitest"
	"github.com/triagebot/triagebot/internal/triage"
)

// Tests that ask their runner for retries would pass in a trial although they
// flaked, or hide that they broke: the first attempt is the result, and the only one.
func TestRetriesThatTestsAskForAreNotMade(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		title, name, file, release string
		adapter                    adapter
		red                        []string
		green                      []string
	}{
		{"vitest", vitest.Name, "a.test.js", "", vitest.Adapter{Dir: vitest.Name}, []string{"config", "option", "suite > inner"}, []string{"expected", "set up"}},
		{"vitest-4", vitest.Name, "a.test.js", "vitest-4", vitest.Adapter{Dir: vitest.Name}, []string{"config", "option", "suite > inner"}, []string{"expected", "set up"}},
		{"vitest vmThreads", vitest.Name, "a.test.js", "", vitest.Adapter{Dir: vitest.Name, Args: []string{"--pool=vmThreads"}}, []string{"config", "option", "suite > inner"}, []string{"expected", "set up"}},
		{"vitest-4 vmForks", vitest.Name, "a.test.js", "vitest-4", vitest.Adapter{Dir: vitest.Name, Args: []string{"--pool=vmForks"}}, []string{"config", "option", "suite > inner"}, []string{"expected", "set up"}},
		{"jest", jest.Name, "config.test.js", "", jest.Adapter{Dir: jest.Name}, []string{"config", "option", "suite inner"}, nil},
		{"mocha", mocha.Name, "a.spec.cjs", "", mocha.Adapter{Dir: mocha.Name}, []string{"config", "option", "suite inner", "hook each", "chained"}, nil},
	} {
		t.Run(c.title, func(t *testing.T) {
			t.Parallel()
			want := map[string]string{}
			for _, id := range c.red {
				want[id] = "fail: " + leaf(id) + " is red at first, 1 attempt"
			}
			for _, id := range c.green {
				want[id] = "pass: , 0 attempt"
			}
			if d := cmp.Diff(want, attempts(t, c.name, c.file, c.release, c.adapter)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A test sees its own contexts of vm as node made them.
func TestTheReporterOfJestLeavesTheContextsOfTests(t *testing.T) {
	t.Parallel()
	want := map[string]string{}
	for _, id := range []string{"plain", "frozen", "proxy"} {
		want[id] = "pass: , 0 attempt"
	}
	for _, id := range []string{"retried", "second"} { // one of each file
		want[id] = "fail: " + id + " is red at first, 1 attempt"
	}
	const dir = "jest-contexts"
	if d := cmp.Diff(want, attempts(t, dir, "a.test.js", "", jest.Adapter{Dir: dir})); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// An environment of a client reads only what its server allows; ours must be among it.
func TestRetriesAreNotMadeInAClientsEnvironment(t *testing.T) {
	t.Parallel()
	want := map[string]string{"config": "fail: config is red at first, 1 attempt", "document": "pass: , 0 attempt"}
	for _, dir := range []string{"vitest-client", "vitest-docblock"} {
		for _, release := range []string{"", "vitest-4"} {
			t.Run(dir+" "+release, func(t *testing.T) {
				t.Parallel()
				if d := cmp.Diff(want, attempts(t, dir, "a.test.js", release, vitest.Adapter{Dir: dir})); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
			})
		}
	}
}

// attempts runs the suite of testdata/retries/DIR and tells of each test how it
// ended and how often it was run.
func attempts(t *testing.T, dir, file, release string, a adapter) map[string]string {
	t.Helper()
	root, noted := tree(t, "testdata/retries", release), t.TempDir()
	p, err := a.Prepare(t.Context(), run, triage.BuildSpec{Tree: root, Package: dir + "/" + file, Out: filepath.Join(t.TempDir(), "out")})
	if err != nil || p.Failure != nil {
		t.Fatalf("%v %+v", err, p.Failure)
	}
	spec := triage.RunSpec{Prepared: p, Tree: root, Scope: triage.InSuite}
	c := a.Command(spec)
	c.Env = append(c.Env, "ATTEMPTS="+noted)
	out, end, err := run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	results, err := a.Results(spec, end, bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range results {
		if r.Target.Test == "" {
			continue
		}
		said := r.Outcome.String() + ": "
		if r.Failure != nil {
			said += r.Failure.Signature.Message
		}
		n, err := os.ReadFile(filepath.Join(noted, leaf(r.Target.Test)))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		got[r.Target.Test] = said + ", " + string(rune('0'+len(n))) + " attempt"
	}
	if t.Failed() || len(got) == 0 {
		t.Logf("%s", out)
	}
	return got
}

// leaf is the last word of a test's id.
func leaf(id string) string {
	for i := len(id) - 1; i >= 0; i-- {
		if id[i] == ' ' {
			return id[i+1:]
		}
	}
	return id
}
