package zzlag

import (
	"syscall"
	"time"
)

func init() { block = selectNothing }

// selectNothing blocks the thread in the kernel. It compiles; it has not been
// tried on a machine of this kind.
//
//go:norace
func selectNothing(d time.Duration) {
	for end := time.Now().Add(d); d > 0; d = time.Until(end) {
		tv := syscall.NsecToTimeval(int64(d))
		if err := syscall.Select(0, nil, nil, nil, &tv); err != syscall.EINTR {
			return
		}
	}
}
