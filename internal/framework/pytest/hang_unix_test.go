//go:build unix

package pytest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestATrialThatIsKilledNamesTheTestAndWhereItHangs(t *testing.T) {
	dir := tree(t, map[string]string{"test_n.py": "import time\ndef stuck():\n    open('stuck', 'w').close()\n    time.sleep(60)\ndef test_hang(): stuck()\n"})
	a := Adapter{}
	p := prepare(t, a, dir, "test_n.py")
	target := triage.Target{Suite: "pytest", Framework: Name, Package: "test_n.py", Test: "test_hang"}
	spec := triage.RunSpec{Prepared: p, Tree: dir, Target: target}
	out, end, err := endOnce(t, a.Command(spec), filepath.Join(dir, "stuck"))
	if err != nil {
		t.Fatal(err)
	}
	end.TimedOut = true
	rs, err := a.Results(spec, end, strings.NewReader(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	r := own(t, rs, target)
	want := triage.Signature{Phase: triage.PhaseTimeout, Message: timeoutMessage, Func: "test_hang"}
	if r.Outcome != triage.Timeout || r.Failure.Signature != want || !strings.Contains(r.Failure.Excerpt, "in stuck") {
		t.Errorf("%+v\n%s", r.Failure, out)
	}
}

// endOnce runs a command and sends it one SIGQUIT once it opens the named pipe. One,
// for a second would end the process in the midst of its dump.
func endOnce(t *testing.T, c triage.Command, pipe string) ([]byte, triage.End, error) {
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, quit := context.WithTimeout(t.Context(), time.Minute)
	defer quit()
	go func() {
		if _, err := os.ReadFile(pipe); err == nil { // there is a writer, and it has gone on
			quit()
		}
	}()
	return startUntil(ctx, c, syscall.SIGQUIT)
}
