package beside

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// leastUse of a core is what a tool has to use to be named: one that watches
	// files in an editor is there all day.
	leastUse = 0.1
	// maxLine bounds what is read of a command line.
	maxLine = 4 << 10
	// maxNamed bounds the names that are told.
	maxNamed = 4
)

// finder looks for test tools that are no children of ours.
type finder struct {
	// seen is what each used when it was last looked at.
	seen map[int]usage
}

type usage struct {
	started, used int64 // in ticks
	at            time.Time
}

func newFinder() *finder { return &finder{seen: map[int]usage{}} }

// process is what is read of /proc/PID/stat.
type process struct {
	pid, ppid     int
	used, started int64
}

// busy names the test tools of others that use a processor.
func (f *finder) busy() []string {
	all := processes()
	since := uptime()
	now := time.Now()
	next := map[int]usage{}
	var names []string
	for _, p := range all {
		tool := ""
		if !related(all, p.pid) {
			tool = toolOf(commandLine(p.pid))
		}
		if tool == "" {
			continue
		}
		next[p.pid] = usage{p.started, p.used, now}
		ticks, of := float64(p.used), float64(since-p.started)
		if was, ok := f.seen[p.pid]; ok && was.started == p.started {
			ticks, of = float64(p.used-was.used), float64(now.Sub(was.at)/tick)
		}
		if ticks >= leastUse*max(of, 1) && !slices.Contains(names, tool) {
			names = append(names, tool)
		}
	}
	f.seen = next
	slices.Sort(names)
	return names[:min(len(names), maxNamed)]
}

// related reports whether a process is this one, a descendant of it, or one that
// it descends from.
func related(all map[int]process, pid int) bool {
	descends := func(from, to int) bool {
		for range len(all) { // a process that ended meanwhile may close a ring
			if from == to {
				return true
			}
			p, ok := all[from]
			if !ok {
				return false
			}
			from = p.ppid
		}
		return false
	}
	return descends(pid, os.Getpid()) || descends(os.Getpid(), pid)
}

func processes() map[int]process {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	all := map[int]process{}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			b, err := os.ReadFile("/proc/" + e.Name() + "/stat")
			if p, ok := parseProcess(pid, string(b)); err == nil && ok {
				all[pid] = p
			}
		}
	}
	return all
}

// parseProcess reads the fields 4, 14, 15 and 22 of a line of /proc/PID/stat,
// proc(5). The name before them may hold spaces and parentheses.
func parseProcess(pid int, line string) (process, bool) {
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) < 20 {
		return process{}, false
	}
	p := process{pid: pid}
	var user, system int64
	for _, n := range []struct {
		to   *int64
		text string
	}{{&user, fields[11]}, {&system, fields[12]}, {&p.started, fields[19]}} {
		v, err := strconv.ParseInt(n.text, 10, 64)
		if err != nil {
			return process{}, false
		}
		*n.to = v
	}
	p.used = user + system
	var err error
	p.ppid, err = strconv.Atoi(fields[1])
	return p, err == nil
}

func commandLine(pid int) []string {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, maxLine)) // of a process that is gone there is none
	if len(b) == 0 {
		return nil
	}
	return strings.Split(string(bytes.TrimSuffix(b, []byte{0})), "\x00")
}

// uptime is the time since the start of the machine in ticks.
func uptime() int64 {
	b, _ := os.ReadFile("/proc/uptime")
	text, _, _ := strings.Cut(string(b), " ")
	s, _ := strconv.ParseFloat(text, 64)
	return int64(s * float64(time.Second/tick))
}
