package report

import (
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestWhatATestFailsAfterIsNamed(t *testing.T) {
	for _, c := range []struct {
		name string
		p    triage.Polluters
		want string
		ok   bool
	}{
		{"a test of its package", triage.Polluters{Tests: []string{"TestA"}, Red: 2, Runs: 2, Of: 9},
			"It fails when TestA runs before it in the same process, and no other of the 9 that do in its package (2 of 2 runs).", true},
		{"a test of another file", triage.Polluters{InSuite: true, Files: []string{"tests/test_a.py"}, Tests: []string{"test_x"}, Red: 2, Runs: 2, Of: 3},
			"It fails when test_x of tests/test_a.py runs before it in the same process, and no other of the 3 files that do in its suite (2 of 2 runs).", true},
		{"another file", triage.Polluters{InSuite: true, Files: []string{"a.py"}, Tests: []string{}, Red: 2, Runs: 2, Of: 3},
			"It fails when a.py runs before it in the same process, and no other of the 3 files that do in its suite (2 of 2 runs).", true},
		{"the only other file", triage.Polluters{InSuite: true, Files: []string{"a.py"}, Tests: []string{"x"}, Red: 2, Runs: 2, Of: 1},
			"It fails when x of a.py runs before it in the same process, and that is the only file that does in its suite (2 of 2 runs).", true},
		{"two other files", triage.Polluters{InSuite: true, Files: []string{"a.py", "b.py"}, Tests: []string{}, Red: 1, Runs: 2, Of: 3},
			"It fails when a.py, b.py run before it in the same process, and no other of the 3 files that do in its suite (1 of 2 runs). No half of these is enough by itself.", true},
		{"no file", triage.Polluters{InSuite: true, Tests: []string{}, Runs: 1, Of: 3},
			"No file can be named: run again after nothing but those that had run before it (3), in the same order, it failed 0 of 1 times.", true},
		{"tests of two files", triage.Polluters{InSuite: true, Files: []string{"a.py", "b.py"}, Tests: []string{"x"}, Of: 3}, "", false},
		{"more files than ran", triage.Polluters{InSuite: true, Files: []string{"a.py", "b.py"}, Of: 1}, "", false},
		{"files in its package", triage.Polluters{Files: []string{"a.py"}, Of: 1}, "", false},
	} {
		if possible(c.p) != c.ok {
			t.Errorf("%s: possible is %v, want %v", c.name, possible(c.p), c.ok)
		}
		var lines []string
		for _, l := range polluters(c.p) {
			lines = append(lines, l.String())
		}
		if got := strings.Join(lines, " "); c.ok && got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestTheColumnOfCompanyShowsTheSuiteWhereThatWasRun(t *testing.T) {
	b := newBuilder()
	suite := triage.Arm{Scope: triage.InSuite}
	x := b.red(goTest("refine", "TestOrder"), "got 1, want 2", "")
	b.both(x, plainArm, "....", "....")
	b.both(x, packageArm, ".", "")
	b.both(x, suite, "FFFF", "....")
	b.verdict(x, triage.LikelyRegression, wrong(0.01), triage.ReasonOrder)
	page := Markdown(b.done(), Options{})
	for _, want := range []string{"| with its package or suite |", "4/4", "In the whole suite: failed 4 of 4 times on head; passed 4 of 4 times on base.", "No file is known to run before it in its process"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}
