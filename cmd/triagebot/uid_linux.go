package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// hideProcess keeps processes of the same user from reading our environment and
// memory through /proc. It does not hold against root.
func hideProcess() {
	// Not fatal: where it is refused, so is what it forbids.
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

// isolate makes a command a group of its own and, with an account, another
// user's, without groups. Then the calling thread, which has to be locked and has
// to start the command, gives up the way back to more rights for both: no setuid
// program helps the tests.
func isolate(c *exec.Cmd, acc *account) error {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if acc == nil {
		return nil
	}
	c.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(acc.uid), Gid: uint32(acc.gid), Groups: []uint32{}}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("taking rights from the measuring process: %w", err)
	}
	// What it leaves becomes our child, which endAll finds. In the container we
	// are its init, and get it anyway.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("taking over what the measuring process leaves: %w", err)
	}
	return nil
}

const (
	// endWait is how long what is left of a child may take to die.
	endWait = 10 * time.Second
	endPoll = time.Millisecond
)

// endAll kills what a child of another user has left, also what has gone to a
// session of its own or has lost its parents. It is an error when some remain.
func endAll(acc account) error {
	self := os.Getpid()
	for end, empty := time.Now().Add(endWait), 0; empty < 2; {
		left, err := descendants(self, acc.uid)
		if err != nil {
			return fmt.Errorf("ending the tests: %w", err)
		}
		if empty++; len(left) > 0 {
			empty = 0
		}
		if len(left) > 0 && time.Now().After(end) {
			return fmt.Errorf("ending the tests: %d processes of the user %d remain, so what was hidden from them stays so", len(left), acc.uid)
		}
		for _, pid := range left {
			p, err := os.FindProcess(pid) // holds on to this process, and to no later one of its number
			if err != nil {
				continue
			}
			if ppid, uid, ok := parentOf(pid); ok && uid == acc.uid {
				_ = p.Kill()
				if ppid == self {
					_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
				}
			}
			_ = p.Release()
		}
		if len(left) > 0 {
			time.Sleep(endPoll)
		}
	}
	return nil
}

// descendants are the processes below one, of those that a user has.
func descendants(of, uid int) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	parents, theirs := map[int]int{}, []int{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		ppid, owner, ok := parentOf(pid)
		if !ok {
			continue
		}
		parents[pid] = ppid
		if owner == uid {
			theirs = append(theirs, pid)
		}
	}
	return slices.DeleteFunc(theirs, func(pid int) bool {
		for range len(parents) { // a number given anew may make a ring
			if pid = parents[pid]; pid == of {
				return false
			}
		}
		return true
	}), nil
}

// parentOf reads who a process belongs to. The owner of its directory does not
// tell: a process may give that to root.
func parentOf(pid int) (ppid, uid int, ok bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, 0, false
	}
	seen := 0
	for line := range strings.Lines(string(b)) {
		name, rest, _ := strings.Cut(line, ":")
		fields := strings.Fields(rest)
		if len(fields) == 0 {
			continue
		}
		switch name {
		case "PPid":
			ppid, err = strconv.Atoi(fields[0])
		case "Uid":
			uid, err = strconv.Atoi(fields[0])
		default:
			continue
		}
		if seen++; err != nil {
			return 0, 0, false
		}
	}
	return ppid, uid, seen == 2
}

// nonBlocking keeps a pipe that stands where a file should from holding us up.
const nonBlocking = unix.O_NONBLOCK

// killGroup ends what is left of the command's group.
func killGroup(pid int) { _ = unix.Kill(-pid, unix.SIGKILL) }

// interrupt asks a command to end in an orderly way.
func interrupt(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// mayOpen reports whether an account could open a file for writing, by its mode.
func mayOpen(path string, acc account) bool {
	st, err := os.Stat(path)
	if err != nil {
		return false
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	switch mode := st.Mode().Perm(); {
	case int(sys.Uid) == acc.uid:
		return mode&0o200 != 0
	case int(sys.Gid) == acc.gid:
		return mode&0o020 != 0
	default:
		return mode&0o002 != 0
	}
}

// owner is who a file belongs to.
func owner(path string) (account, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return account{}, err
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return account{}, errors.New("the system does not tell owners")
	}
	return account{int(sys.Uid), int(sys.Gid)}, nil
}

// closeOff shuts directories to everybody but their owner and returns what
// opens them again. One that is not there is no error.
func closeOff(paths ...string) (restore func(), err error) {
	type was struct {
		path string
		mode os.FileMode
	}
	var done []was
	restore = func() {
		for _, w := range done {
			_ = os.Chmod(w.path, w.mode) // it was so before; there is nobody left to tell
		}
	}
	for _, path := range paths {
		if path == "" {
			continue
		}
		path, err := filepath.EvalSymlinks(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			restore()
			return nil, fmt.Errorf("hiding %s from the tests: %w", path, err)
		}
		st, err := os.Stat(path)
		if err == nil && st.Mode().Perm()&0o077 != 0 {
			mode := st.Mode() & (os.ModePerm | os.ModeSetuid | os.ModeSetgid | os.ModeSticky)
			done = append(done, was{path, mode})
			err = os.Chmod(path, mode&^0o077)
		}
		if err != nil {
			restore()
			return nil, fmt.Errorf("hiding %s from the tests: %w", path, err)
		}
	}
	return restore, nil
}
