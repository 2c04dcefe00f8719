//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package workspace

import (
	"io/fs"
	"syscall"
)

// openFlags keep an open from following a link and from waiting for a pipe.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// links is how many names a file has.
func links(st fs.FileInfo) uint64 {
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}
