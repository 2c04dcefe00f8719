package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// LockVar is the variable that names another file for the lock of the machine: one
// on a volume that containers share, say.
const LockVar = "TRIAGEBOT_LOCK"

const machineLockName = "triagebot.lock"

// sharedDirs are where the lock of the machine may be. They do not depend on the
// environment, which differs from user to user: every run must come to the same.
var sharedDirs = []string{"/run/lock", "/var/lock", "/tmp"}

// MachineLock is the file that every triagebot run on this machine locks, whoever
// starts it: that of [LockVar], else one in the first of /run/lock, /var/lock and
// /tmp that everyone can write and nobody can remove another's file from. It is
// empty where there is no such directory; then only the runs of one user wait for
// each other.
func MachineLock() string {
	if path := os.Getenv(LockVar); path != "" {
		return path
	}
	for _, dir := range sharedDirs {
		if st, err := os.Stat(dir); err == nil && st.IsDir() && st.Mode()&fs.ModeSticky != 0 && st.Mode().Perm() == 0o777 {
			return filepath.Join(dir, machineLockName)
		}
	}
	return ""
}

// lockMachine waits for the runs of all users. That this cannot be done is told,
// and is no reason not to measure.
func (w *Workspace) lockMachine(ctx context.Context) error {
	path := MachineLock()
	if path == "" {
		return nil
	}
	err := w.acquire(ctx, path, openShared, false)
	if errors.Is(err, errUnfit) {
		w.warn("runs of other users on this machine were not waited for: %v", err)
		return nil
	}
	return err
}

// errUnfit is what openShared returns for a file that somebody put in the lock's place.
var errUnfit = errors.New("it cannot be the lock")

// sharedTries is how often a file that cannot be opened is tried again: whoever
// makes it gives it to everybody only a moment later.
const sharedTries = 20

// openShared opens and locks a file in a directory that everybody can write to.
// It follows no link, waits for no pipe, and nothing is ever written to a file
// that has another name besides.
func openShared(path string) (*os.File, error) {
	var err error
	for range sharedTries {
		var f *os.File
		if f, err = openPlain(path); err == nil {
			return lockOpened(f, path)
		}
		if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrExist) {
			break
		}
		time.Sleep(lockPoll / 10)
	}
	return nil, fmt.Errorf("%w: %w", errUnfit, err)
}

// openPlain opens a file, or makes it. An existing one is opened without O_CREATE,
// which Linux refuses for a file of another user in a sticky directory.
func openPlain(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|openFlags, 0)
	if errors.Is(err, fs.ErrPermission) {
		f, err = os.OpenFile(path, os.O_RDONLY|openFlags, 0) // enough for a lock
	}
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|openFlags, 0o666); err == nil {
			err = f.Chmod(0o666) // whatever the umask says
		}
	}
	if err != nil {
		if f != nil {
			f.Close()
		}
		return nil, err
	}
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() || links(st) > 1 {
		f.Close()
		return nil, fmt.Errorf("%q is not a plain file with one name", path)
	}
	return f, nil
}

// takenError tells that another process holds the lock.
type takenError struct{ holder string }

func (e *takenError) Error() string   { return errTaken.Error() + e.holder }
func (e *takenError) Is(t error) bool { return t == errTaken }

// lockOpened locks an open file. It closes it when it cannot, and returns
// [fs.ErrExist] for one that was removed meanwhile: such a lock holds nobody off.
func lockOpened(f *os.File, path string) (*os.File, error) {
	if err := tryLock(f); err != nil {
		if errors.Is(err, errTaken) {
			err = &takenError{holderIn(f)}
		}
		f.Close()
		return nil, err
	}
	mine, err := f.Stat()
	if there, serr := os.Stat(path); err == nil && serr == nil && os.SameFile(mine, there) {
		return f, nil
	}
	f.Close()
	return nil, fs.ErrExist
}

// holderIn names the process that wrote itself into a lock. Anybody may have
// written there: nothing but a number is taken.
func holderIn(f *os.File) string {
	b := make([]byte, 12)
	n, _ := f.ReadAt(b, 0)
	if pid, err := strconv.ParseUint(strings.TrimSpace(string(b[:n])), 10, 32); err == nil && pid > 0 {
		return " (process " + strconv.FormatUint(pid, 10) + ")"
	}
	return ""
}
