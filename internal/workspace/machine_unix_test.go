//go:build unix

package workspace

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

// lockChildVar makes the test binary hold a lock of the machine.
const lockChildVar = "WORKSPACE_TEST_LOCK"

func lockInChild(path string) {
	syscall.Umask(0o077)
	w := &Workspace{opt: Options{NoWait: true, Logf: func(string, ...any) {}}}
	if err := w.acquire(context.Background(), path, openShared, false); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println("locked")
	time.Sleep(time.Hour)
}

// holdLock holds a lock in another process, of another user when uid is not 0.
func holdLock(t *testing.T, path string, uid uint32) *exec.Cmd {
	t.Helper()
	c := exec.Command(runnable(t))
	c.Env = []string{lockChildVar + "=" + path, "HOME=" + t.TempDir()}
	if uid != 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		c.Dir = "/"
	}
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	if sc := bufio.NewScanner(out); !sc.Scan() || sc.Text() != "locked" {
		t.Fatalf("the other process says %q", sc.Text())
	}
	return c
}

// runnable is a copy of the test binary that any user may run.
func runnable(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "child")
	if err := os.WriteFile(path, b, 0o755); err != nil {
		t.Fatal(err)
	}
	for dir := filepath.Dir(path); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if st, err := os.Stat(dir); err == nil && st.Mode().Perm()&0o001 == 0 {
			_ = os.Chmod(dir, st.Mode().Perm()|0o011)
		}
	}
	return path
}

// everybodys is a directory as /run/lock is.
func everybodys(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	t.Setenv(LockVar, "")
	was := sharedDirs
	sharedDirs = []string{filepath.Join(dir, "nowhere"), t.TempDir(), dir}
	t.Cleanup(func() { sharedDirs = was })
	return dir
}

func TestRunOfAnotherHomeIsWaitedFor(t *testing.T) {
	r := linear(t, 2)
	o := r.options()
	o.Base, o.Lock = "HEAD~1", ""
	t.Setenv(LockVar, filepath.Join(t.TempDir(), "lock"))
	t.Setenv("HOME", t.TempDir())
	c := inChild(t, o, "", "open")
	other := linear(t, 2) // has a home of its own
	o = other.options()
	o.Base, o.Lock, o.NoWait = "HEAD~1", "", true
	var e *Error
	if _, err := Open(t.Context(), o); !errors.As(err, &e) || e.Kind != ErrBusy || !strings.Contains(err.Error(), fmt.Sprint(c.Process.Pid)) {
		t.Fatalf("got %v, want busy with process %d", err, c.Process.Pid)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if w := other.open(o); len(w.Warnings()) > 0 {
		t.Errorf("warnings are %q", w.Warnings())
	}
}

// A container that has the user's cache as a volume, and a /run/lock of its own.
func TestRunThatSharesOnlyTheCacheIsWaitedFor(t *testing.T) {
	r := linear(t, 2)
	o := r.options()
	o.Base, o.Lock = "HEAD~1", ""
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv(LockVar, filepath.Join(t.TempDir(), "inside"))
	inChild(t, o, "", "open")
	t.Setenv(LockVar, filepath.Join(t.TempDir(), "outside"))
	o.NoWait = true
	if _, err := Open(t.Context(), o); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v, want busy", err)
	}
}

func TestRunOfAnotherUserIsWaitedFor(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("running as another user needs root")
	}
	const alice, bob = 12345, 12346
	for name, users := range map[string][2]uint32{
		"root, then alice": {0, alice}, "alice, then root": {alice, 0}, "alice, then bob": {alice, bob},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(everybodys(t), machineLockName)
			openUp(t, filepath.Dir(path))
			if got := MachineLock(); got != path {
				t.Fatalf("the lock is %q, want %q", got, path)
			}
			c := holdLock(t, path, users[0])
			second := exec.Command(runnable(t))
			second.Env, second.Dir = []string{lockChildVar + "=" + path}, "/"
			if users[1] != 0 {
				second.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: users[1], Gid: users[1]}}
			}
			out, err := second.Output()
			if err == nil || !strings.Contains(string(out), fmt.Sprintf("another triagebot run is in progress on this machine (process %d)", c.Process.Pid)) {
				t.Errorf("the second says %q, %v", out, err)
			}
			_ = c.Process.Kill()
			_ = c.Wait()
			holdLock(t, path, users[1]) // a file that another user made serves as well
		})
	}
}

// openUp lets other users reach a directory of the test.
func openUp(t *testing.T, dir string) {
	t.Helper()
	for dir = filepath.Dir(dir); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if st, err := os.Stat(dir); err == nil && st.Mode().Perm()&0o001 == 0 {
			if err := os.Chmod(dir, st.Mode()|0o011); err != nil {
				t.Skipf("others cannot reach %s: %v", dir, err)
			}
		}
	}
}

// Everybody can write to the directory of the lock, so anything may stand there.
func TestWhatSomebodyPutInTheLocksPlaceIsNotTouched(t *testing.T) {
	for name, plant := range map[string]func(path, victim string) error{
		"a link":        func(path, victim string) error { return os.Symlink(victim, path) },
		"a link to /":   func(path, victim string) error { return os.Symlink("/nowhere/x", path) },
		"a second name": func(path, victim string) error { return os.Link(victim, path) },
		"a pipe":        func(path, victim string) error { return syscall.Mkfifo(path, 0o666) },
		"a directory":   func(path, victim string) error { return os.Mkdir(path, 0o777) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := everybodys(t)
			victim := filepath.Join(t.TempDir(), "victim")
			if err := os.WriteFile(victim, []byte("precious"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := plant(filepath.Join(dir, machineLockName), victim); err != nil {
				t.Fatal(err)
			}
			r := linear(t, 2)
			o := r.options()
			o.Base, o.Lock = "HEAD~1", ""
			began := time.Now()
			w := r.open(o)
			if !hasWarning(w, "runs of other users on this machine were not waited for") || content(t, w, triage.Head, "f") != "b" {
				t.Errorf("warnings are %q", w.Warnings())
			}
			if b, err := os.ReadFile(victim); err != nil || string(b) != "precious" {
				t.Errorf("the file is now %q, %v", b, err)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestLockIsWhereNobodyCanTakeItAway(t *testing.T) {
	dir := everybodys(t)
	if err := os.Chmod(dir, 0o777); err != nil { // others could remove it
		t.Fatal(err)
	}
	if got := MachineLock(); got != "" {
		t.Errorf("the lock is %q", got)
	}
	r := linear(t, 2)
	o := r.options()
	o.Base, o.Lock = "HEAD~1", ""
	r.open(o)
}

func TestHolderIsANumber(t *testing.T) {
	for text, want := range map[string]string{"12\n": " (process 12)", "": "", "rm -rf": "", "-4": "", "99999999999999999999": "", "::error::": ""} {
		f, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if got := holderIn(f); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		f.Close()
	}
}
