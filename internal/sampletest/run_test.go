package sampletest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/sample"
)

// script writes a shell script that stands for a triagebot binary.
func script(t *testing.T, body string) string {
	t.Helper()
	dir := t.TempDir()
	if err := sample.Write(dir, map[string][]byte{"triagebot": []byte("#!/bin/sh\n" + body)}); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "triagebot")
}

func TestMeasureReadsTheReportOfTheBinary(t *testing.T) {
	out := t.TempDir()
	r := Repo{Report: "/x/ci.json"}
	r.Dir = t.TempDir()
	s := Sample{Name: "tiny"}
	report, _, err := s.Measure(t.Context(), script(t, `echo "$1 $2 $3" >"`+out+`/report.json"`), r, out)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(report), "measure --repo "+r.Dir+"\n"; got != want {
		t.Errorf("report is %q, want %q", got, want)
	}
}

func TestMeasureTellsHowTheBinaryFailed(t *testing.T) {
	r := Repo{}
	r.Dir = t.TempDir()
	for body, want := range map[string]string{
		"echo no such revision; exit 2": "exit 2: no such revision",
		"exit 0":                        "report.json",
	} {
		_, _, err := Sample{Name: "tiny"}.Measure(t.Context(), script(t, body), r, t.TempDir())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
}

func TestRunLeavesNoChildBehind(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("needs /proc to look for the child")
	}
	out, code, err := run(t.Context(), t.TempDir(), nil, "sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!")
	if err != nil || code != 0 {
		t.Fatalf("exit %d, %v", code, err)
	}
	pid := strings.TrimSpace(out)
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		b, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(b), ") Z ") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %s is still there: %s", pid, b)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := run(ctx, t.TempDir(), nil, "sleep", "60"); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want %v", err, context.Canceled)
	}
}

func TestRunShowsTheCommandNoForeignVariable(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "secret")
	out, _, err := run(t.Context(), t.TempDir(), nil, "env")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out, "secret") {
		t.Error("a token reached the command")
	}
}

func TestBuildSaysWhenHeadIsNeverRed(t *testing.T) {
	s, err := parse("tiny", []byte(strings.Replace(tiny, "[go, test, -json]", "['true'], tries: 2", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Build(t.Context(), t.TempDir()); !errors.Is(err, ErrGreen) {
		t.Errorf("error is %v, want %v", err, ErrGreen)
	}
}
