package golag

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// run carries out a command; it is the triage.Exec of these tests.
func run(ctx context.Context, c triage.Command) ([]byte, triage.End, error) {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Env = c.Dir, append(os.Environ(), c.Env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return out, triage.End{}, err
	}
	return out, triage.End{Exit: cmd.ProcessState.ExitCode()}, nil
}

// corpus is the absolute path of the module of racy and correct tests.
func corpus(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("testdata/corpus")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestInstrumentFindsTheCorpus(t *testing.T) {
	in, err := Instrument(t.Context(), run, Spec{Tree: corpus(t), Package: "./...", Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Sites) < 100 {
		t.Fatalf("found %d sites", len(in.Sites))
	}
}
