package beside

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// burnVar makes the test binary use a processor.
const burnVar = "BESIDE_TEST_BURN"

func TestMain(m *testing.M) {
	if text := os.Getenv(burnVar); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			os.Exit(2)
		}
		for u := time.Duration(0); u < d; u = used(syscall.RUSAGE_SELF) {
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func used(who int) time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(who, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// beside starts a busy process for each core that is no child of ours, called as a
// Go test is. They end by themselves after a minute of use.
func beside(t *testing.T) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "planted.test")
	if err := os.Symlink(os.Args[0], program); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("sh", "-c", `for i in $(seq "$N"); do "$PROGRAM" </dev/null >/dev/null 2>&1 & echo $!; done`)
	c.Env = append(os.Environ(), "PROGRAM="+program, "N="+strconv.Itoa(runtime.NumCPU()), burnVar+"=10m")
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	}
}

func TestABusyProcessBesideIsToldByName(t *testing.T) {
	w := New()
	beside(t)
	deadline := time.Now().Add(time.Minute)
	var note string
	for !strings.Contains(note, "go test") && time.Now().Before(deadline) {
		time.Sleep(leastWindow + leastWindow/10) // a window of the watch
		w.looked = time.Time{}
		if n := w.Note(); n != "" {
			note = n
		}
	}
	if !strings.Contains(note, "other processes used") || !strings.Contains(note, "go test") {
		t.Errorf("the note is %q", note)
	}
}

// What we and our children use is not others'; on a busy machine only that can be
// told apart.
func TestOwnUseIsCounted(t *testing.T) {
	before, ok := readSample()
	if !ok {
		t.Fatal("the machine does not tell")
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), burnVar+"=600ms")
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	after, _ := readSample()
	if own := after.own - before.own; own < 600*time.Millisecond {
		t.Errorf("our own use is %s", own)
	}
	if busy := after.busy - before.busy; busy < 400*time.Millisecond {
		t.Errorf("the use of the machine is %s, with 600 ms of ours", busy)
	}
	if after.cores < 1 || after.cores > 4096 {
		t.Errorf("%d cores", after.cores)
	}
}

func TestChildrenAndAncestorsAreNotOthers(t *testing.T) {
	c := exec.Command("cat")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = c.Wait() })
	if _, err := in.Write([]byte("there\n")); err != nil {
		t.Fatal(err)
	}
	bufio.NewScanner(out).Scan()
	all := processes()
	for name, pid := range map[string]int{"itself": os.Getpid(), "a child": c.Process.Pid, "the parent": os.Getppid()} {
		if !related(all, pid) {
			t.Errorf("%s counts as another", name)
		}
	}
}

func TestBusyOfTheCoresThatAreOurs(t *testing.T) {
	const stat = "cpu  100 100 100 900 5 7 7 0 0 0\ncpu0 10 20 30 400 5 7 7 0 0 0\ncpu1 1 2 3 500 0 0 0 0 0 0\nintr 1 2 3\ncpux 9 9 9 9\ncpu2\n"
	if busy, cores := busyOf(stat, func(int) bool { return true }); busy != 660*time.Millisecond || cores != 2 {
		t.Errorf("%s on %d cores", busy, cores)
	}
	if busy, cores := busyOf(stat, func(n int) bool { return n == 1 }); busy != 60*time.Millisecond || cores != 1 {
		t.Errorf("%s on %d cores", busy, cores)
	}
}

func FuzzParseProcess(f *testing.F) {
	f.Add("12 (a b) c) S 1 1 1 0 -1 4194560 1 2 3 4 50 60 7 8 20 0 1 0 999 0 0")
	f.Add("12 (x) R")
	f.Add("")
	f.Fuzz(func(t *testing.T, line string) {
		if p, ok := parseProcess(12, line); ok && p.pid != 12 {
			t.Errorf("%+v", p)
		}
	})
}

func TestParseProcess(t *testing.T) {
	p, ok := parseProcess(12, "12 (a b) c) S 1 1 1 0 -1 4194560 1 2 3 4 50 60 7 8 20 0 1 0 999 0 0")
	if want := (process{12, 1, 110, 999}); !ok || p != want {
		t.Errorf("%+v, %v, want %+v", p, ok, want)
	}
}
