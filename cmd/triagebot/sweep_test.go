package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/triage"
	"golang.org/x/tools/txtar"
)

// pythonMail is a small suite of pytest: a race, an honest deadline, a broken test,
// and correct twins.
const pythonMail = `
-- mail.py --
import threading


class Box:
    def __init__(self, mailer):
        self.mailer, self.sent = mailer, set()

    def post(self, name):
        self.thread = threading.Thread(target=self._work, args=(name,))
        self.thread.start()

    def _work(self, name):
        self.mailer.send(name)
        self.mark(name)

    def mark(self, name):
        self.sent.add(name)
-- tests/test_mail.py --
import threading
import time

from mail import Box


class FakeMailer:
    def __init__(self):
        self.calls = []

    def send(self, name):
        self.calls.append(name)


def test_waits_for_the_attempt():
    mailer = FakeMailer()
    box = Box(mailer)
    box.post("a")
    while not mailer.calls:
        time.sleep(0.005)
    assert "a" in box.sent, "not marked"


def test_waits_for_the_outcome():
    box = Box(FakeMailer())
    box.post("a")
    box.thread.join()
    assert "a" in box.sent


def test_polls_for_the_outcome():
    box = Box(FakeMailer())
    box.post("a")
    while "a" not in box.sent:
        time.sleep(0.005)
-- tests/test_other.py --
def test_fine():
    assert True


def test_broken():
    assert 1 == 2
-- pytest.ini --
[pytest]
pythonpath = .
`

func TestASweepOfPytest(t *testing.T) {
	python := os.Getenv("TRIAGEBOT_TEST_PYTHON")
	if python == "" {
		t.Skip("there is no interpreter with pytest: run make python-env")
	}
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(pythonMail)).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, f.Data, 0o644))
	}
	commitAll(t, dir)
	r := sweepHere(t, dir, "-q", "--lag", "doubles", "--budget", "5m", "--", python, "-m", "pytest")
	got := map[string]string{}
	for _, v := range r.Verdicts {
		got[v.Target.Test] = v.Class.String()
		if v.Class == triage.LagRevealedRace && (v.Cause == nil || v.Cause.Kind != triage.CauseRace) {
			t.Errorf("%s: %+v", v.Target, v.Cause)
		}
	}
	if len(got) != 2 || got["test_waits_for_the_attempt"] != "lag-revealed-race" || got["test_broken"] != "broken-on-base" {
		t.Errorf("%v, %v", got, r.Warnings)
	}
	if r.Sweep.Tests != 5 || r.Sweep.Units != 1 {
		t.Errorf("%+v", r.Sweep)
	}
}

// A night is not red for what is known, open or honest.
func TestOnlyFindingsOffTheLedgerHitThePolicyOfASweep(t *testing.T) {
	known := swept(triage.BrokenOnBase)
	known.Failures[0].Ledger = true
	deadline := swept(triage.Inconclusive)
	deadline.Verdicts[0].Reasons = []triage.Reason{triage.ReasonLagArtefact}
	for _, c := range []struct {
		name   string
		policy string
		r      triage.Report
		want   bool
	}{
		{"a race", config.FailOnAny, swept(triage.LagRevealedRace), true},
		{"a race, with the default", config.FailOnNone, swept(triage.LagRevealedRace), false},
		{"a race, where only a pull request's faults count", config.FailOnIntroduced, swept(triage.LagRevealedRace), false},
		{"a flake beside an open lead", config.FailOnAny, swept(triage.Inconclusive, triage.PreExistingFlake), true},
		{"an open lead", config.FailOnAny, swept(triage.Inconclusive), false},
		{"an honest deadline", config.FailOnAny, deadline, false},
		{"a broken test on the ledger", config.FailOnAny, known, false},
		{"nothing", config.FailOnAny, swept(), false},
	} {
		if got := sweepFails(config.Config{FailOn: c.policy}, c.r); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestFilesThatChangedAreMatchedByTheirStem(t *testing.T) {
	for name, want := range map[string]string{
		"tests/test_mail.py": "mail", "src/mail.py": "mail", "a/mail_test.py": "mail", "src/mail.test.ts": "mail", "src/mail.ts": "mail",
	} {
		if got := stem(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestFilesOfTestsAreKnownByTheirNames(t *testing.T) {
	for name, want := range map[string]bool{
		"tests/test_a.py": true, "a_test.py": true, "conftest.py": false, "src/attest.py": false, "test_a.txt": false,
	} {
		if got := pythonTests.MatchString(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for name, want := range map[string]bool{
		"src/a.test.ts": true, "a.spec.mjs": true, "test/a.js": true, "src/__tests__/a.jsx": true, "src/latest.js": false, "test/data.json": false,
	} {
		if got := scriptTests.MatchString(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestOnlyTheFlagsThatChooseFilesAreGivenToGoList(t *testing.T) {
	got := strings.Join(listFlags([]string{"-race", "-tags", "a,b", "-ldflags=-s", "-mod=vendor", "-gcflags", "-N"}), " ")
	if got != "-race -tags a,b -mod=vendor" {
		t.Error(got)
	}
}
