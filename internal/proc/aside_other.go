//go:build !linux

package proc

// Aside runs f. There is no reaper here.
func Aside(f func()) { f() }
