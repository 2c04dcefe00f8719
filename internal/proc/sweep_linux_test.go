package proc

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestSweepFindsWhatOutlivesTheLeader(t *testing.T) {
	for name, tc := range map[string]struct {
		how       string
		survivors int
	}{
		"child that holds the output":             {"hold", 1},
		"child that does not":                     {"quiet", 1},
		"child in its own session":                {"setsid", 1},
		"own session and a clean environment":     {"bare", 1},
		"child that has a child":                  {"tree", 2},
		"nobody: the leader waited for the child": {"", 0},
	} {
		t.Run(name, func(t *testing.T) {
			how := "spawn:" + tc.how
			if tc.how == "" {
				how = "exit:0"
			}
			r := run(t, role(t, how))
			if r.Exit != 0 || len(r.Survivors) != tc.survivors || r.Warning != "" || r.Wall > time.Minute {
				t.Errorf("got %+v", r)
			}
			for _, p := range r.Survivors {
				if !strings.Contains(p.Command, ".test") {
					t.Errorf("command of %d is %q", p.PID, p.Command)
				}
				goneSoon(t, p.PID)
			}
		})
	}
}

func TestSweepAfterAKillFindsWhatLeftTheGroup(t *testing.T) {
	s := Spec{Argv: []string{"sh", "-c", `setsid sh -c 'echo child $$; sleep 1000' & sleep 1000`}, Env: os.Environ()}
	ctx, cancel := context.WithCancel(t.Context())
	s.Sink = readySink{cancel}
	r, err := Run(ctx, s)
	if err != nil || !r.Cancelled || len(r.Survivors) == 0 {
		t.Errorf("got %+v, %v", r, err)
	}
	goneSoon(t, childPID(t, r.Output))
}

func TestPipelineThatEndsAMomentLaterIsNoSurvivor(t *testing.T) {
	defer func(d time.Duration) { settle = d }(settle)
	settle = time.Minute
	r := run(t, Spec{Argv: []string{"sh", "-c", "(sleep 0.01; echo late) & echo early"}, Env: os.Environ()})
	if len(r.Survivors) != 0 || string(r.Output) != "early\nlate\n" {
		t.Errorf("got %+v: %q", r, r.Output)
	}
}

func TestOrphansAreReapedWhileTheTreeRuns(t *testing.T) {
	// A daemon's end is seen with kill -0 only when somebody reaps it; we are the
	// one whom orphans come to.
	script := `pid=$(sh -c 'setsid sleep 0.05 >/dev/null 2>&1 & echo $!')
		for i in $(seq 6000); do kill -0 $pid 2>/dev/null || { echo reaped; exit 0; }; sleep 0.01; done; exit 1`
	r := run(t, Spec{Argv: []string{"sh", "-c", script}, Env: os.Environ()})
	if r.Exit != 0 || string(r.Output) != "reaped\n" {
		t.Errorf("got %+v: %q", r, r.Output)
	}
}

func TestChildOfOthersInItsOwnGroupIsNotReapedAside(t *testing.T) {
	run(t, Spec{Argv: []string{"true"}, Env: os.Environ()}) // the reaper is at work
	Aside(func() {
		c := exec.Command("true")
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for unix.Waitid(unix.P_PID, c.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		}
		adopt.reap()
		if err := c.Wait(); err != nil {
			t.Errorf("the child was taken for an orphan: %v", err)
		}
	})
}

func TestConcurrentRunsDoNotTouchEachOther(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 10 {
				s := Spec{Argv: []string{"sh", "-c", "sleep 0.02; setsid sleep 1000 & exit 5"}, Env: os.Environ()}
				r, err := Run(t.Context(), s)
				if err != nil || r.Exit != 5 || len(r.Survivors) != 1 || r.Warning != "" {
					t.Errorf("run %d: %+v, %v", i, r, err)
				}
			}
		})
		// Other children of this process are not stolen from their own Wait.
		wg.Go(func() {
			for range 20 {
				if out, err := exec.Command("sh", "-c", "sleep 0.01; echo ok").CombinedOutput(); err != nil || string(out) != "ok\n" {
					t.Errorf("foreign command: %q, %v", out, err)
				}
			}
		})
	}
	wg.Wait()
	adopt.mu.Lock()
	defer adopt.mu.Unlock()
	if len(adopt.leaders) != 0 {
		t.Errorf("leaders still registered: %v", adopt.leaders)
	}
}

func TestOutputHeldFromOutsideTheTreeIsCutOff(t *testing.T) {
	held := make(chan *os.File, 1)
	pick := pickSink{t: t, held: held, ready: filepath.Join(t.TempDir(), "ready")}
	script := "echo $$; until [ -e '" + pick.ready + "' ]; do sleep 0.01; done"
	s := Spec{Argv: []string{"sh", "-c", script}, Env: os.Environ(), Sink: &pick}
	r := run(t, s)
	defer (<-held).Close()
	if r.Exit != 0 || !strings.Contains(r.Warning, "held open") {
		t.Errorf("got %+v", r)
	}
}

// pickSink opens the writing end of the leader's output for itself, as a
// daemon that is handed the descriptor would, and then makes the file ready.
type pickSink struct {
	t     *testing.T
	held  chan *os.File
	ready string
	done  bool
}

func (s *pickSink) Write(p []byte) (int, error) {
	if !s.done {
		s.done = true
		f, err := os.OpenFile(fmt.Sprintf("/proc/%s/fd/1", strings.TrimSpace(string(p))), os.O_WRONLY, 0)
		if err != nil {
			s.t.Error(err)
		}
		s.held <- f
		if err := os.WriteFile(s.ready, nil, 0o644); err != nil {
			s.t.Error(err)
		}
	}
	return len(p), nil
}

func TestStatLineOfAnyNameIsRead(t *testing.T) {
	rest := " S 7 42 40 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2"
	for name, tc := range map[string]struct {
		line string
		ok   bool
		comm string
	}{
		"plain":                      {"42 (sleep)" + rest, true, "sleep"},
		"spaces and parentheses":     {"42 (a) S (b c)" + rest, true, "a) S (b c"},
		"at its end":                 {"42 (sleep)" + strings.Replace(rest, "4194560", "4194564", 1), true, "sleep"},
		"cut off":                    {"42 (sleep) S 7 42", false, ""},
		"empty":                      {"", false, ""},
		"not a number":               {"x (sleep)" + rest, false, ""},
		"closing before the opening": {")42(" + rest, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, ok := parseStat(tc.line)
			if ok != tc.ok {
				t.Fatalf("ok is %v", ok)
			}
			want := stat{exiting: name == "at its end", pid: 42, ppid: 7, pgrp: 42, session: 40, state: 'S', comm: tc.comm, started: "98765"}
			if ok && s != want {
				t.Errorf("got %+v, want %+v", s, want)
			}
		})
	}
}

func TestChildrenAreFoundWithoutTheKernelsList(t *testing.T) {
	c := exec.Command("sleep", "1000")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	for name, list := range map[string]func(int) []int{"list": childIDs, "scan": scanChildIDs} {
		found := false
		for _, id := range list(os.Getpid()) {
			found = found || id == c.Process.Pid
		}
		if !found {
			t.Errorf("%s does not have child %d", name, c.Process.Pid)
		}
	}
}

func init() {
	beInit = func() {
		s := Spec{Argv: []string{"sh", "-c", "setsid sleep 0.01 & setsid sleep 1000 & exit 4"}, Env: os.Environ()}
		r, err := Run(context.Background(), s)
		fmt.Println("pid", os.Getpid(), "exit", r.Exit, "survivors", len(r.Survivors), r.Warning, err)
		for end := time.Now().Add(time.Minute); len(adopt.children()) > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				fmt.Printf("not reaped: %+v\n", adopt.children())
				os.Exit(1)
			}
		}
		fmt.Println("reaped")
		syscall.Exit(0)
	}
}

func TestAsPIDOneOrphansAreSweptAndReaped(t *testing.T) {
	s := role(t, "init")
	s.Argv = append([]string{"unshare", "--fork", "--pid", "--mount-proc"}, s.Argv...)
	if out, err := exec.Command("unshare", "--fork", "--pid", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("being process 1 needs a process namespace: %v %s", err, out)
	}
	r := run(t, s)
	if want := "pid 1 exit 4 survivors 1  <nil>\nreaped\n"; string(r.Output) != want || r.Exit != 0 {
		t.Errorf("got exit %d, %q, want %q", r.Exit, r.Output, want)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("42 (sleep) S 7 42 40 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2")
	f.Add("1 (a) b) Z 0 0 0")
	f.Fuzz(func(t *testing.T, line string) {
		if s, ok := parseStat(line); ok && s.started == "" {
			t.Errorf("%q gives %+v", line, s)
		}
	})
}

func BenchmarkSweep(b *testing.B) {
	if _, err := Run(b.Context(), Spec{Argv: []string{"/bin/true"}}); err != nil {
		b.Fatal(err)
	}
	t := &tree{pid: 1 << 30, mark: "none", known: map[identity]bool{}}
	for b.Loop() {
		t.members()
	}
}
