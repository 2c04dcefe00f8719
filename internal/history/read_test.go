package history

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

func TestWithoutReportsThePastIsEmpty(t *testing.T) {
	for name, src := range map[string]Source{"nothing": memory{}, "an empty folder": Folder(t.TempDir()), "no folder": Folder(filepath.Join(t.TempDir(), "none"))} {
		r, err := Read(t.Context(), src, Limits{}, report.Decode)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r.Reports != 0 || r.Past(test("a"), hangUp) != nil || r.Substrates([]triage.Failure{{Target: test("a")}}) != nil || len(r.Durations()) != 0 {
			t.Errorf("%s: something is known", name)
		}
	}
}

func TestWhatCannotBeBelievedIsLeftOutAndSaid(t *testing.T) {
	good := with(night(0), test("a"), alone, "..")
	foreign, future := good, good
	foreign.Check.Repo = "evil/loop"
	future.Plan.Created = nov1.AddDate(1, 0, 0)
	src := encoded(t, good, foreign, future, good)
	src = append(src, src[0][:len(src[0])/2], []byte(`{"schema":"other"}`))
	r, err := Read(t.Context(), src, Limits{Repo: "acme/loop", Now: nov1.AddDate(0, 0, 1)}, report.Decode)
	if err != nil {
		t.Fatal(err)
	}
	if r.Reports != 1 || r.Past(test("a"), hangUp).Runs != 2 {
		t.Errorf("%d reports, %+v", r.Reports, r.Past(test("a"), hangUp))
	}
	if want := `4 of 6 files are left out, for example 1.json: it is of "evil/loop", not of "acme/loop"`; len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], want) {
		t.Errorf("warnings %q, want %q", r.Warnings, want)
	}
}

func TestReadingIsBounded(t *testing.T) {
	var rs []triage.Report
	for day := 9; day >= 0; day-- {
		rs = append(rs, with(night(day), test("a"), alone, "."))
	}
	src := encoded(t, rs...)
	r, err := Read(t.Context(), src, Limits{Reports: 3}, report.Decode)
	if err != nil || r.Reports != 3 || !r.Past(test("a"), hangUp).Since.Equal(nov1.AddDate(0, 0, 7)) {
		t.Errorf("%v, %d reports: want the newest 3", err, r.Reports)
	}
	r, err = Read(t.Context(), src, Limits{Bytes: int64(len(src[0])*4 + 10)}, report.Decode)
	if err != nil || r.Reports != 4 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "the first 4 of 10 reports are read") {
		t.Errorf("%v, %d reports, %q: want 4", err, r.Reports, r.Warnings)
	}
	endless := Entry{Name: "endless", Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(zeros{}), nil }}
	r, err = Read(t.Context(), entries{endless}, Limits{Bytes: 1 << 20}, report.Decode)
	if err != nil || r.Reports != 0 || len(r.Warnings) != 1 {
		t.Errorf("%v, %d reports, %q", err, r.Reports, r.Warnings)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

type entries []Entry

func (e entries) Entries(context.Context, int) ([]Entry, []string, error) { return e, nil, nil }

func TestASourceThatCannotBeAskedIsAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, encoded(t, night(0)), Limits{}, report.Decode); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(t.Context(), Folder(file), Limits{}, report.Decode); err == nil {
		t.Error("a file is read as a folder")
	}
}

func TestAFolderGivesItsNewestReportsAndNothingBehindLinks(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write := func(path string, r triage.Report, age time.Duration) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, encoded(t, r)[0], 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, nov1.Add(-age), nov1.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, "old.json"), with(night(0), test("old"), alone, "."), 3*time.Hour)
	write(filepath.Join(dir, "deep", "er", "report.json"), with(night(1), test("deep"), alone, "."), time.Hour)
	write(filepath.Join(dir, "notes.txt"), with(night(2), test("text"), alone, "."), 0)
	write(filepath.Join(outside, "secret.json"), with(night(3), test("secret"), alone, "."), 0)
	for link, to := range map[string]string{"file.json": filepath.Join(outside, "secret.json"), "folder": outside} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	r, err := Read(t.Context(), Folder(dir), Limits{}, report.Decode)
	if err != nil {
		t.Fatal(err)
	}
	if r.Reports != 2 || r.Past(test("old"), hangUp) == nil || r.Past(test("deep"), hangUp) == nil {
		t.Errorf("%d reports of %v, %q", r.Reports, r.Tests(), r.Warnings)
	}
	r, err = Read(t.Context(), Folder(dir), Limits{Reports: 1}, report.Decode)
	if err != nil || r.Reports != 1 || r.Past(test("deep"), hangUp) == nil || len(r.Warnings) != 1 {
		t.Errorf("%v, %v, %q: want the newest", err, r.Tests(), r.Warnings)
	}
}

// FuzzRead: whatever a file holds, reading ends, and what is told holds together.
func FuzzRead(f *testing.F) {
	f.Add(encoded(f, with(night(0), test("a"), alone, "..F"))[0])
	f.Add(encoded(f, pull(0, "a", triage.PreExistingFlake))[0])
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Read(t.Context(), memory{b}, Limits{}, report.Decode)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Tests() {
			if p := r.Past(x, hangUp); p != nil && (p.Red > p.Runs || p.Same > p.Red || p.Low > p.High || p.Older.Runs+p.Newer.Runs != p.Runs) {
				t.Fatalf("%+v", p)
			}
		}
	})
}
