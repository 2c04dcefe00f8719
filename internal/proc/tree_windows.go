package proc

import (
	"os"
	"os/exec"
	"syscall"
)

// tree is the leader only: see the package documentation.
type tree struct {
	cmd     *exec.Cmd
	mark    string
	ended   chan struct{}
	waitErr error
}

func (t *tree) start() error {
	if err := t.cmd.Start(); err != nil {
		return err
	}
	t.ended = make(chan struct{})
	go func() {
		defer close(t.ended)
		t.waitErr = t.cmd.Wait()
	}()
	return nil
}

func (t *tree) wait() error {
	<-t.ended
	if _, ok := t.waitErr.(*exec.ExitError); ok {
		return nil
	}
	return t.waitErr
}

// signal can only kill: Windows has no other signal for a foreign process.
func (t *tree) signal(syscall.Signal) { t.kill() }

func (t *tree) kill() { _ = t.cmd.Process.Kill() }

func (t *tree) sweep(bool) ([]Process, string) { return nil, "" }

func signalName(*os.ProcessState) string { return "" }

func maxRSS(*os.ProcessState) int64 { return 0 }
