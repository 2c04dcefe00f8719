package pytest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

// The log of a process that pytest-timeout ended by its method "thread".
func TestATestThatHungIsReadOutOfTheStacks(t *testing.T) {
	const (
		start = "============================= test session starts ==============================\nplatform linux -- Python 3.11.7\nrootdir: /home/runner/work/app/app, configfile: pytest.ini\ncollected 3 items\n\n"
		mark  = "+++++++++++++++++++++++++++++++++++ Timeout ++++++++++++++++++++++++++++++++++++\n"
		other = "~~~~~~~~~~~~~~~~~~~~~ Stack of test-worker (140186) ~~~~~~~~~~~~~~~~~~~~~~\n  File \"/home/runner/work/app/app/tests/other.py\", line 3, in test_thread\n    wait()\n"
		pyt   = "~~~~~~~~~~~~~~~~~~~~ Stack of MainThread (140185) ~~~~~~~~~~~~~~~~~~~~~\n  File \"/opt/venv/bin/pytest\", line 8, in <module>\n    sys.exit(main())\n" +
			"  File \"/home/runner/work/app/app/tests/conftest.py\", line 9, in test_hook\n    outcome = yield\n" +
			"  File \"/opt/venv/lib/python3.11/site-packages/_pytest/python.py\", line 187, in pytest_pyfunc_call\n    result = testfunction(**testargs)\n"
		test = "  File \"/home/runner/work/app/app/tests/test_w.py\", line 4, in test_work\n    assert work() == 1\n  File \"/home/runner/work/app/app/app.py\", line 4, in work\n    e.wait()\n"
	)
	for name, c := range map[string]struct {
		log, file, test string
	}{
		"verbose, with parameters": {start + "tests/test_w.py::TestW::test_work[a b] " + mark + pyt + test + mark, "tests/test_w.py", "TestW::test_work[a b]"},
		"file and dots":            {start + "tests/test_w.py .." + mark + other + pyt + test + mark, "tests/test_w.py", "test_work"},
		"nothing before it":        {start + mark + other + pyt + test + mark, "tests/test_w.py", "test_work"},
		"a fixture":                {start + "tests/test_w.py " + mark + pyt + strings.ReplaceAll(test, "test_work", "server") + mark, "", ""},
		"no stack":                 {start + mark, "", ""},
	} {
		got, err := ReadLog(strings.NewReader(c.log), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c.file == "" {
			if len(got) > 0 {
				t.Errorf("%s: %+v", name, got)
			}
			continue
		}
		if len(got) != 1 {
			t.Errorf("%s: %d failures", name, len(got))
			continue
		}
		f := got[0]
		want := triage.Signature{Phase: triage.PhaseTimeout, Message: timeoutMessage, Func: testFunc(c.test)}
		if f.Target.Package != c.file || f.Target.Test != c.test || f.Outcome != triage.Timeout || !strings.Contains(f.Excerpt, "in work") {
			t.Errorf("%s: %+v", name, f)
		}
		if diff := cmp.Diff(want, f.Signature); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
