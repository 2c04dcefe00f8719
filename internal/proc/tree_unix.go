//go:build unix && !linux

package proc

import (
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tree is one running process tree.
type tree struct {
	cmd     *exec.Cmd
	mark    string
	ended   chan struct{}
	pid     int
	waitErr error
}

func (t *tree) start() error {
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := t.cmd.Start(); err != nil {
		return err
	}
	t.pid = t.cmd.Process.Pid
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

// signal reaches the whole group, as a key typed at a terminal does.
func (t *tree) signal(s syscall.Signal) { _ = unix.Kill(-t.pid, s) }

func (t *tree) kill() { t.signal(unix.SIGKILL) }

// sweep kills the rest of the group. Who was in it is not told by the kernel
// without a privileged interface, so one entry stands for all.
func (t *tree) sweep(killed bool) ([]Process, string) {
	gone := func() bool { return unix.Kill(-t.pid, 0) == unix.ESRCH }
	for end := time.Now().Add(100 * time.Millisecond); !gone() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if gone() {
		return nil, ""
	}
	var survivors []Process
	if !killed {
		survivors = []Process{{PID: t.pid, Command: "[process group]"}}
	}
	for end := time.Now().Add(killWait); !gone(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return survivors, fmt.Sprintf("process group %d could not be killed", t.pid)
		}
		t.signal(unix.SIGKILL)
	}
	return survivors, ""
}
