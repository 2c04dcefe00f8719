//go:build unix

package workspace

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// childVar makes the test binary open a workspace and hang.
const childVar = "WORKSPACE_TEST_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(lockChildVar); path != "" {
		lockInChild(path)
	}
	os.Exit(withOwnLock(m))
}

// withOwnLock keeps the tests from waiting for whatever triagebot measures on this
// machine.
func withOwnLock(m *testing.M) int {
	dir, err := os.MkdirTemp("", "workspace-lock")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(dir)
	if os.Getenv(LockVar) == "" {
		os.Setenv(LockVar, filepath.Join(dir, "lock"))
	}
	if spec := os.Getenv(childVar); spec != "" {
		f := strings.Split(spec, "\n")
		o := Options{Repo: f[0], Dir: f[1], Lock: f[2], Base: "HEAD~1"}
		if f[3] != "" {
			o.Setup = [][]string{{"sh", "-c", f[3]}}
		}
		if _, err := Open(context.Background(), o); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println("open")
		select {}
	}
	return m.Run()
}

// inChild opens a workspace in another process and waits for a line of it.
func inChild(t *testing.T, o Options, setup, line string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childVar+"="+strings.Join([]string{o.Repo, o.Dir, o.Lock, setup}, "\n"))
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	sc := bufio.NewScanner(out)
	if !sc.Scan() || sc.Text() != line {
		t.Fatalf("child says %q, want %q", sc.Text(), line)
	}
	return c
}

func TestNextRunClearsWhatAKilledOneLeft(t *testing.T) {
	r := linear(t, 3)
	o := r.options()
	o.Base = "HEAD~1"
	r.unchanged(func() {
		c := inChild(t, o, "", "open")
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		if list := r.git("worktree", "list"); strings.Count(list, "\n") != 2 {
			t.Fatalf("the kill left nothing to clear: %s", list)
		}
		// A worktree that was being made when its run was killed.
		if err := os.Remove(filepath.Join(o.Dir, "base", ".git")); err != nil {
			t.Fatal(err)
		}
		w, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if content(t, w, triage.Head, "f") != "c" || content(t, w, triage.Base, "f") != "b" {
			t.Error("trees are wrong")
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSecondRunWaitsForTheFirst(t *testing.T) {
	r := linear(t, 2)
	o := r.options()
	o.Base = "HEAD~1"
	c := inChild(t, o, "", "open")
	o.NoWait = true
	var e *Error
	if _, err := Open(t.Context(), o); !errors.As(err, &e) || e.Kind != ErrBusy || !strings.Contains(err.Error(), fmt.Sprint(c.Process.Pid)) {
		t.Fatalf("got %v, want busy with process %d", err, c.Process.Pid)
	}
	o.NoWait = false
	var once sync.Once
	said := make(chan string, 1)
	o.Logf = func(format string, args ...any) { once.Do(func() { said <- fmt.Sprintf(format, args...) }) }
	opened := make(chan *Workspace)
	go func() {
		w, err := Open(context.Background(), o)
		if err != nil {
			t.Error(err)
		}
		opened <- w
	}()
	if text := <-said; !strings.Contains(text, "waiting for another triagebot run") {
		t.Errorf("said %q", text)
	}
	select {
	case <-opened:
		t.Fatal("did not wait")
	default:
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if w := <-opened; w != nil {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	r := linear(t, 2)
	o := r.options()
	inChild(t, o, "", "open")
	ctx, cancel := context.WithCancel(t.Context())
	o.Logf = func(string, ...any) { cancel() }
	if _, err := Open(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestRepositoryOfAnotherUserIsTrustedForThisRun(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("giving files to another user needs root")
	}
	r := linear(t, 2)
	err := filepath.WalkDir(r.dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, 12345, 12345)
	})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := r.try("status"); err == nil {
		t.Skipf("this git does not mind the owner: %s", out)
	}
	config := filepath.Join(os.Getenv("HOME"), ".gitconfig")
	if err := os.WriteFile(config, []byte("[user]\n\tname = Me\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	o := r.options()
	o.Base = "HEAD~1"
	r.unchanged(func() {
		w := r.open(o)
		if content(t, w, triage.Head, "f") != "b" || !hasWarning(w, "belongs to another user") {
			t.Errorf("warnings are %q", w.Warnings())
		}
		// The trees are ours: a tool that asks git there needs no such trust.
		if out, err := (&repo{t, w.Tree(triage.Head).Dir}).try("status", "--porcelain"); err != nil || out != "" {
			t.Errorf("git status in the tree: %q, %v", out, err)
		}
		if name, err := w.git.line(t.Context(), "config", "user.name"); err != nil || name != "Me" {
			t.Errorf("the user's configuration is not read: %q, %v", name, err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	})
	if b, _ := os.ReadFile(config); string(b) != "[user]\n\tname = Me\n" {
		t.Errorf("the user's configuration is now %q", b)
	}
	var st syscall.Stat_t
	if err := syscall.Stat(filepath.Join(r.dir, ".git", "HEAD"), &st); err != nil || st.Uid != 12345 {
		t.Errorf("owner is %d, %v", st.Uid, err)
	}
}

// TestNotesOfHalfMadeTreesAreRemoved plants what git leaves below .git/worktrees
// when it is killed at the several moments of "git worktree add".
func TestNotesOfHalfMadeTreesAreRemoved(t *testing.T) {
	r := linear(t, 2)
	o := r.options()
	o.Base = "HEAD~1"
	real, err := realPath(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	gitdir := filepath.Join(real, "base", ".git") + "\n"
	for name, files := range map[string]map[string]string{
		"just begun":        {},
		"locked":            {"locked": "initializing"},
		"its place is open": {"locked": "initializing", "gitdir": ""},
		"its place is told": {"locked": "initializing", "gitdir": gitdir},
		"with its HEAD":     {"locked": "initializing", "gitdir": gitdir, "HEAD": strings.Repeat("0", 40) + "\n", "commondir": "../..\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r.unchanged(func() {
				note := filepath.Join(r.dir, ".git", "worktrees", "base1")
				if err := os.MkdirAll(note, 0o755); err != nil {
					t.Fatal(err)
				}
				for file, text := range files {
					if err := os.WriteFile(filepath.Join(note, file), []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				w, err := Open(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				if err := w.Close(); err != nil {
					t.Error(err)
				}
				if _, err := os.Stat(filepath.Join(r.dir, ".git", "worktrees")); !os.IsNotExist(err) {
					t.Errorf("git's notes are still there: %v", err)
				}
			})
		})
	}
}

func TestNotesOfOthersAreLeftAlone(t *testing.T) {
	r := linear(t, 2)
	other := filepath.Join(t.TempDir(), "head")
	r.git("worktree", "add", "--quiet", "--detach", other)
	if err := os.RemoveAll(other); err != nil { // on a disk that is not mounted now
		t.Fatal(err)
	}
	o := r.options()
	o.Base = "HEAD~1"
	w := r.open(o)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if list := r.git("worktree", "list"); !strings.Contains(list, other) {
		t.Errorf("the user's own worktree is forgotten:\n%s", list)
	}
}
