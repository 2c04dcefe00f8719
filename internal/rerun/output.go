package rerun

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// cappedWriter writes up to a bound and drops the rest without an error, so that
// a flood does not block the test.
type cappedWriter struct {
	w    io.Writer
	left int64
	// cut is set once something was dropped.
	cut bool
	err error
}

// Write never fails towards the process; a full disk is kept in err.
func (c *cappedWriter) Write(b []byte) (int, error) {
	n := min(int64(len(b)), c.left)
	c.cut = c.cut || n < int64(len(b))
	if n > 0 && c.err == nil {
		_, c.err = c.w.Write(b[:n])
		c.left -= n
	}
	return len(b), nil
}

// excerpt is the end of an output, whole lines where that is possible, valid
// UTF-8, at most limit bytes.
func excerpt(b []byte, limit int) string {
	if len(b) > limit {
		b = b[len(b)-limit:]
		if i := slices.Index(b, '\n'); i >= 0 && i < len(b)-1 {
			b = b[i+1:]
		}
	}
	return strings.ToValidUTF8(strings.ReplaceAll(string(b), "\x16", ""), "\uFFFD")
}

// maxLeftFiles bounds the files that are named.
const maxLeftFiles = 20

// leftFiles lists what a test left in its temporary directory: a late writer
// often shows itself here.
func leftFiles(tmp string) []triage.Leftover {
	var left []triage.Leftover
	_ = filepath.WalkDir(tmp, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == tmp {
			return nil // a file that vanishes while we look is no leftover
		}
		if len(left) == maxLeftFiles {
			return fs.SkipAll
		}
		if !d.IsDir() {
			rel, _ := filepath.Rel(tmp, path)
			left = append(left, triage.Leftover{Kind: "file", Name: filepath.ToSlash(rel)})
		}
		return nil
	})
	return left
}

// RemoveAll deletes a directory, also one with read-only directories in it, as a
// test leaves when its TMPDIR held a Go module cache.
func RemoveAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
