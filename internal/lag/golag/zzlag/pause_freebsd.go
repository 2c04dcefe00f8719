package zzlag

import (
	"syscall"
	"time"
)

func init() { block = nanosleep }

// nanosleep blocks the thread in the kernel: to testing/synctest that is a
// running goroutine, and the bubble's clock stands still.
//
//go:norace
func nanosleep(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	for {
		var left syscall.Timespec
		if err := syscall.Nanosleep(&ts, &left); err != syscall.EINTR {
			return
		}
		ts = left
	}
}
