package zzlag

import (
	"syscall"
	"time"
)

var sleep = syscall.NewLazyDLL("kernel32.dll").NewProc("Sleep")

func init() { block = kernelSleep }

// kernelSleep blocks the thread in the kernel. It compiles; it has not been
// tried on a machine of this kind.
//
//go:norace
func kernelSleep(d time.Duration) {
	sleep.Call(uintptr((d + time.Millisecond - 1) / time.Millisecond))
}
