package proc

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// settle is how long a process may take to end after its leader without being a
// survivor: the last stages of a pipeline end a moment later. It is only spent
// when somebody is left.
var settle = 100 * time.Millisecond

// poll is the step of the sweep's waits.
const poll = time.Millisecond

// tree is one running process tree.
type tree struct {
	cmd  *exec.Cmd
	mark string
	// ended is closed when the leader has ended. It is still a zombie then, which
	// keeps its process id and group id from being given to somebody else.
	ended chan struct{}
	pid   int
	// known are the members that the sweep has seen.
	known map[identity]bool
}

func (t *tree) start() error {
	adopt.once.Do(adopt.begin)
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	adopt.mu.Lock()
	defer adopt.mu.Unlock()
	if err := t.cmd.Start(); err != nil {
		return err
	}
	t.pid = t.cmd.Process.Pid
	adopt.leaders[t.pid] = true
	t.ended, t.known = make(chan struct{}), map[identity]bool{}
	go func() {
		defer close(t.ended)
		for unix.Waitid(unix.P_PID, t.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		}
	}()
	return nil
}

// wait reaps the leader. The registration ends under the same lock, so that the
// reaper never sees the id of a process that is being awaited here.
func (t *tree) wait() error {
	<-t.ended
	adopt.mu.Lock()
	defer adopt.mu.Unlock()
	delete(adopt.leaders, t.pid)
	err := t.cmd.Wait()
	if _, ok := err.(*exec.ExitError); ok {
		return nil
	}
	return err
}

// signal reaches the whole group, as a key typed at a terminal does.
func (t *tree) signal(s syscall.Signal) { _ = unix.Kill(-t.pid, s) }

// kill also names the leader, which may have moved to another group.
func (t *tree) kill() {
	t.signal(unix.SIGKILL)
	_ = unix.Kill(t.pid, unix.SIGKILL)
}

// sweep kills what is left of the tree and waits for its end. It returns those
// that were alive, and a warning when some could not be killed. After a kill of
// ours the group's members are no survivors: they were told to go.
func (t *tree) sweep(killed bool) ([]Process, string) {
	alive := t.members()
	for end := time.Now().Add(settle); len(alive) > 0 && !killed && time.Now().Before(end); {
		time.Sleep(poll)
		alive = t.members()
	}
	seen := map[int]bool{}
	var survivors []Process
	for end := time.Now().Add(killWait); len(alive) > 0; alive = t.members() {
		if time.Now().After(end) {
			return survivors, fmt.Sprintf("%d processes could not be killed, first %d (%s)", len(alive), alive[0].pid, command(alive[0]))
		}
		t.signal(unix.SIGKILL)
		for _, m := range alive {
			if !seen[m.pid] && !(killed && m.pgrp == t.pid) {
				survivors = append(survivors, Process{PID: m.pid, Command: command(m)})
			}
			seen[m.pid] = true
			adopt.kill(m)
		}
		time.Sleep(poll)
	}
	return survivors, ""
}

// members lists the living processes of the tree, without the leader. The
// kernel's list of children may skip one while another of them ends, so only
// two empty readings are an empty tree; and a process in the middle of an exec
// shows no environment, so one that cannot be judged is looked at again.
func (t *tree) members() []stat {
	end := time.Now().Add(settle)
	for readings := 1; ; readings++ {
		found, unclear := t.look()
		switch {
		case len(found) > 0:
			return found
		case unclear && time.Now().Before(end):
			time.Sleep(poll)
		case readings > 1:
			return nil
		}
	}
}

// look reads the tree once. Unclear says that an orphan could not be judged.
func (t *tree) look() (found []stat, unclear bool) {
	adopt.mu.Lock()
	defer adopt.mu.Unlock()
	for _, child := range adopt.children() {
		if adopt.leaders[child.pid] || !child.alive() {
			continue
		}
		owner := t.owns(child)
		if owner == mine {
			found = append(found, child)
			found = appendDescendants(found, child.pid)
		}
		unclear = unclear || owner == unknown
	}
	for _, m := range found {
		t.known[m.id()] = true
	}
	return found, unclear
}

// ownership says whether an orphan is of this tree.
type ownership int

const (
	unknown ownership = iota
	mine
	foreign
)

// owns judges an orphan that came to us: by its group, by its mark, or, when it
// has dropped its mark and its session too, by this being the only tree there
// is. An init gets strangers' orphans and cannot tell.
func (t *tree) owns(s stat) ownership {
	switch {
	case s.pgrp == t.pid || t.known[s.id()]:
		return mine
	case adopt.inherited[s.id()] || s.pgrp == adopt.group || s.exiting:
		// One that is at its end has no mark any more: most likely the sweep of
		// another tree has just killed it.
		return foreign
	}
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", s.pid))
	mark, marked := markIn(env)
	only := s.session != adopt.session && len(adopt.leaders) == 1 && adopt.self != 1
	switch {
	case marked && mark == t.mark, !marked && only:
		return mine
	case err == nil && len(env) == 0:
		return unknown
	}
	return foreign
}

func markIn(env []byte) (string, bool) {
	_, rest, ok := strings.Cut("\x00"+string(env), "\x00"+markName+"=")
	mark, _, _ := strings.Cut(rest, "\x00")
	return mark, ok
}

func command(s stat) string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", s.pid))
	if err != nil || len(raw) == 0 {
		return "[" + s.comm + "]"
	}
	return commandLine(string(raw))
}
