package beside

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of /proc: USER_HZ is 100 wherever Linux runs, time(7).
const tick = 10 * time.Millisecond

func readSample() (sample, bool) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return sample{}, false
	}
	var set unix.CPUSet
	ours := func(int) bool { return true }
	if unix.SchedGetaffinity(0, &set) == nil {
		ours = set.IsSet
	}
	s := sample{at: time.Now()}
	s.busy, s.cores = busyOf(string(b), ours)
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			return sample{}, false
		}
		s.own += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return s, s.cores > 0
}

// busyOf adds up what programs used of the cores that ours names: the columns user,
// nice and system of the lines "cpuN", proc(5). Interrupts are nobody's.
func busyOf(stat string, ours func(int) bool) (busy time.Duration, cores int) {
	for line := range strings.Lines(stat) {
		name, found := strings.CutPrefix(line, "cpu")
		f := strings.Fields(name)
		if !found || len(f) < 4 || name[0] == ' ' {
			continue
		}
		n, err := strconv.Atoi(f[0])
		if err != nil || !ours(n) {
			continue
		}
		cores++
		for _, column := range f[1:4] {
			ticks, err := strconv.ParseInt(column, 10, 64)
			if err == nil {
				busy += time.Duration(ticks) * tick
			}
		}
	}
	return busy, cores
}
