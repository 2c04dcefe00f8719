package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// lockPoll is how often a taken lock is tried again.
const lockPoll = 100 * time.Millisecond

// errTaken is what tryLock returns for a lock that another process holds.
var errTaken = errors.New("lock is taken")

// lock is a locked file, or a temporary file that goes with the workspace. The
// system gives a lock back when its process dies, however it dies.
type lock struct {
	path string
	file *os.File
	temp string
	// drop removes the file; dropDir its directory too, when nothing else is in it.
	drop, dropDir bool
}

// acquire takes the lock on a file that open opens and locks, and says so once when
// it has to wait.
func (w *Workspace) acquire(ctx context.Context, path string, open func(string) (*os.File, error), drop bool) error {
	for said := false; ; {
		f, err := open(path)
		if err == nil {
			_ = f.Truncate(0)
			_, _ = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
			w.locks = append(w.locks, &lock{path: path, file: f, drop: drop, dropDir: drop && w.madeDir})
			return nil
		}
		var taken *takenError
		if !errors.As(err, &taken) {
			return fmt.Errorf("locking %q: %w", path, err)
		}
		if w.opt.NoWait {
			return &Error{ErrBusy, "another triagebot run is in progress on this machine" + taken.holder, "wait for its end"}
		}
		if !said {
			w.opt.Logf("waiting for another triagebot run on this machine to end%s", taken.holder)
			said = true
		}
		select {
		case <-time.After(lockPoll):
		case <-ctx.Done():
			return fmt.Errorf("locking %q: %w", path, context.Cause(ctx))
		}
	}
}

// openLocked opens and locks the file. One that was removed by its last holder
// between the two is no lock at all, and is opened anew.
func openLocked(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if errors.Is(err, os.ErrNotExist) && os.MkdirAll(filepath.Dir(path), 0o755) == nil {
			continue // its directory went with it
		}
		if err != nil {
			return nil, err
		}
		if f, err = lockOpened(f, path); !errors.Is(err, os.ErrExist) {
			return f, err
		}
	}
}

// release gives the lock back.
func (l *lock) release() {
	if l.temp != "" {
		_ = os.Remove(l.temp)
	}
	if l.drop {
		// While it is locked: whoever waits for it sees that it is gone.
		_ = os.Remove(l.path)
		if l.dropDir {
			_ = os.Remove(filepath.Dir(l.path))
		}
	}
	if l.file != nil {
		_ = l.file.Close()
	}
}
