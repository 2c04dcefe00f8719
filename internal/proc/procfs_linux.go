package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// stat is what the sweep needs of /proc/PID/stat.
type stat struct {
	pid, ppid, pgrp, session int
	state                    byte
	// exiting is set from the moment that nothing stops the end: its memory, and
	// with it its environment and arguments, may be gone already.
	exiting       bool
	comm, started string
}

// identity tells a process from a later one with the same id.
type identity struct {
	pid     int
	started string
}

func (s stat) id() identity { return identity{s.pid, s.started} }

// alive is false for a zombie and for a process that is being removed.
func (s stat) alive() bool { return s.state != 'Z' && s.state != 'X' }

// exitingFlag is PF_EXITING of the kernel's include/linux/sched.h.
const exitingFlag = 0x4

func readStat(pid int) (stat, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	return parseStat(string(b))
}

// parseStat reads "pid (comm) state ppid pgrp session tty_nr tpgid flags …",
// proc(5). The name may hold spaces and parentheses; the last one ends it.
func parseStat(line string) (stat, bool) {
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return stat{}, false
	}
	f := strings.Fields(line[end+1:])
	const started = 19 // field 22 of the line
	if len(f) <= started {
		return stat{}, false
	}
	s := stat{state: f[0][0], comm: line[open+1 : end], started: f[started]}
	var flags int
	for _, n := range []struct {
		to   *int
		text string
	}{{&s.pid, strings.TrimSpace(line[:open])}, {&s.ppid, f[1]}, {&s.pgrp, f[2]}, {&s.session, f[3]}, {&flags, f[6]}} {
		v, err := strconv.Atoi(n.text)
		if err != nil {
			return stat{}, false
		}
		*n.to = v
	}
	s.exiting = flags&exitingFlag != 0
	return s, true
}

// childIDs lists the children of a process, thread by thread. A kernel without
// these lists (CONFIG_PROC_CHILDREN) has every process looked at instead.
func childIDs(pid int) []int {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	threads, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var ids []int
	for _, th := range threads {
		b, err := os.ReadFile(dir + "/" + th.Name() + "/children")
		if err != nil {
			if _, gone := os.Stat(dir + "/" + th.Name()); gone == nil {
				return scanChildIDs(pid)
			}
			continue
		}
		for _, f := range strings.Fields(string(b)) {
			if id, err := strconv.Atoi(f); err == nil {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

func scanChildIDs(pid int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var ids []int
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if s, ok := readStat(id); ok && s.ppid == pid {
			ids = append(ids, id)
		}
	}
	return ids
}

// appendDescendants adds the living descendants of pid.
func appendDescendants(found []stat, pid int) []stat {
	for _, id := range childIDs(pid) {
		if s, ok := readStat(id); ok && s.ppid == pid {
			if s.alive() {
				found = append(found, s)
			}
			found = appendDescendants(found, id)
		}
	}
	return found
}
