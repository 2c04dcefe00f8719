package rerun

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/triagebot/triagebot/internal/triage"
)

func journalTrial(seq int, note string) triage.Trial {
	return triage.Trial{
		Seq:     seq,
		Request: triage.Request{Target: triage.Target{Suite: "go", Framework: "gotest", Package: "p", Test: "T"}, Purpose: triage.Measure},
		Start:   time.Date(2026, 1, 2, 3, 4, seq, 5_000, time.UTC), DurationMS: 1.5, Outcome: triage.Pass, Note: note,
	}
}

func openJournal(t *testing.T, path string) (*Journal, []triage.Trial) {
	t.Helper()
	j, trials, err := OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j, trials
}

func fillJournal(t *testing.T, path string, n int) []byte {
	t.Helper()
	j, _ := openJournal(t, path)
	for seq := 1; seq <= n; seq++ {
		if err := j.Record(journalTrial(seq, "")); err != nil {
			t.Fatal(err)
		}
	}
	return read(t, path)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAJournalGivesBackWhatWasRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trials.jsonl")
	whole := fillJournal(t, path, 4)
	j, trials := openJournal(t, path)
	want := []triage.Trial{journalTrial(1, ""), journalTrial(2, ""), journalTrial(3, ""), journalTrial(4, "")}
	if diff := cmp.Diff(want, trials); diff != "" {
		t.Errorf("trials (-want +got):\n%s", diff)
	}
	for _, tr := range trials { // as a resumed run does
		if err := j.Record(tr); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(whole), string(read(t, path))); diff != "" {
		t.Errorf("recording the same again changed the file:\n%s", diff)
	}
}

func TestAnyPrefixOfAJournalCanBeResumed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trials.jsonl")
	whole := fillJournal(t, path, 3)
	for cut := range whole {
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		j, trials, err := OpenJournal(path)
		if err != nil {
			t.Fatalf("cut at byte %d: %v", cut, err)
		}
		if want := strings.Count(string(whole[:cut]), "\n"); len(trials) != want {
			t.Fatalf("cut at byte %d: %d trials, want %d", cut, len(trials), want)
		}
		for seq := len(trials) + 1; seq <= 3; seq++ {
			if err := j.Record(journalTrial(seq, "")); err != nil {
				t.Fatalf("cut at byte %d: %v", cut, err)
			}
		}
		j.Close()
		if got := read(t, path); string(got) != string(whole) {
			t.Fatalf("cut at byte %d: resumed to\n%s", cut, got)
		}
	}
}

func TestAnotherTrialDropsTheTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trials.jsonl")
	fillJournal(t, path, 4)
	j, _ := openJournal(t, path)
	if err := j.Record(journalTrial(2, "another")); err != nil {
		t.Fatal(err)
	}
	if err := j.Record(journalTrial(3, "")); err != nil {
		t.Fatal(err)
	}
	_, trials := openJournal(t, path)
	if diff := cmp.Diff([]triage.Trial{journalTrial(1, ""), journalTrial(2, "another"), journalTrial(3, "")}, trials); diff != "" {
		t.Errorf("trials (-want +got):\n%s", diff)
	}
}

func TestAJournalRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trials.jsonl")
	whole := fillJournal(t, path, 2)
	j, _ := openJournal(t, path)
	for _, seq := range []int{-1, 0, 4} {
		if err := j.Record(journalTrial(seq, "")); err == nil {
			t.Errorf("trial %d is recorded behind two", seq)
		}
	}
	if got := read(t, path); string(got) != string(whole) {
		t.Errorf("a refused trial changed the file:\n%s", got)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	for name, text := range map[string]string{
		"a bad line in the middle": lines[0] + "{\n" + lines[1],
		"a field of the future":    strings.Replace(lines[0], `{"seq"`, `{"new":1,"seq"`, 1),
		"a trial out of its place": lines[1] + lines[0],
		"a trial missing":          lines[1],
		"two objects on a line":    strings.TrimSpace(lines[0]) + lines[1],
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, trials, err := OpenJournal(path); err == nil {
			t.Errorf("%s: no error, %d trials", name, len(trials))
		} else if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "trial ") {
			t.Errorf("%s: the error names no place: %v", name, err)
		}
		if got := read(t, path); string(got) != text {
			t.Errorf("%s: reading changed the file to\n%s", name, got)
		}
	}
}

func TestOpeningAJournalWhereNoneCanBe(t *testing.T) {
	if _, _, err := OpenJournal(filepath.Join(t.TempDir(), "no", "such", "dir")); err == nil {
		t.Error("no error")
	}
	if _, _, err := OpenJournal(t.TempDir()); err == nil {
		t.Error("a directory is a journal")
	}
}

// TestAFullDiskLeavesWholeLines stands in for a full disk with the limit on the
// size of files: a write is cut short by it just as by the disk. The limit is one of
// a whole process, and the testing package writes files too (which the test opened,
// for the cache), so the test has a process of its own.
func TestAFullDiskLeavesWholeLines(t *testing.T) {
	const ownProcess = "TRIAGEBOT_TEST_FULL_DISK"
	if os.Getenv(ownProcess) == "" {
		c := exec.Command(os.Args[0], "-test.run=^TestAFullDiskLeavesWholeLines$", "-test.v")
		c.Env = append(os.Environ(), ownProcess+"=1")
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestAFullDiskLeavesWholeLines") {
			t.Fatalf("%v:\n%s", err, out)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "trials.jsonl")
	whole := fillJournal(t, path, 2)
	j, _ := openJournal(t, path)
	limit(t, syscall.RLIMIT_FSIZE, uint64(len(whole)+40))
	err := j.Record(journalTrial(3, ""))
	if err == nil {
		t.Fatal("a trial was recorded beyond the limit")
	}
	if want := "recording trial 3: "; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %q, want %q…", err, want)
	}
	if got := read(t, path); string(got) != string(whole) {
		t.Errorf("half a line is left: %q", got[len(whole):])
	}
	if _, trials := openJournal(t, path); len(trials) != 2 {
		t.Errorf("%d trials can be read again", len(trials))
	}
}

// limit sets a soft limit of this process until the test is over.
func limit(t *testing.T, what int, to uint64) {
	t.Helper()
	var old syscall.Rlimit
	if err := syscall.Getrlimit(what, &old); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(what, &syscall.Rlimit{Cur: to, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Setrlimit(what, &old); err != nil {
			t.Fatal(err)
		}
	})
}
